// SPDX-License-Identifier: GPL-3.0-or-later
// quit.mjs: C-g while the module works on large texts: the command ends, Emacs
// continues, and the core still works.
import { check, pause, test } from './terminal.mjs';

const options = {
    load: ['ecl-mcp'],
    form: `(progn
        (make-directory (setq ecl-mcp-workspace
            (expand-file-name "work" (getenv "HOME"))))
        (ecl-mcp-module-ensure)
        (defvar state nil)
        (defvar runs 0)
        (defmacro test-command (&rest body)
          \`(defun try-it () (interactive)
             (setq state 'running)
             (ecl-mcp-test-title (format "run %d" (cl-incf runs)))
             (condition-case nil (progn ,@body (setq state 'finished))
               (quit (setq state 'quit))))))`,
};

// Runs the command, presses C-g after MS, and waits until it has ended.
async function interrupt(emacs, ms) {
    await emacs.keys('M-x');
    await emacs.see(/^M-x/m);
    await emacs.type('try-it');
    const run = Number(await emacs.eval('runs')) + 1;
    await emacs.now('Enter');
    await emacs.titled(`run ${run}`);
    await pause(ms); // the command works
    await emacs.now('C-g');
    // No answer comes from an Emacs that is busy.
    await emacs.until(`(memq state '(quit finished))`);
    return emacs.eval('state');
}

async function typing(emacs) {
    await emacs.keys('C-x', 'b');
    await emacs.type('*scratch*');
    await emacs.keys('Enter');
    await emacs.type('typing goes on');
    await emacs.see(/typing goes on/);
}

test('quit: a comparison of large texts', options, async emacs => {
    // Half a million lines, which have much in common.
    await emacs.eval(`(let ((some (make-string 200000 ?a)))
        (dotimes (i 100000)
          (aset some (1+ (* 2 i)) ?\\n)
          (when (zerop (random 2)) (aset some (* 2 i) ?b)))
        (cl-flet ((text (step)
                    (mapconcat (lambda (i)
                                 (let ((at (* 2 step (% i 7))))
                                   (concat (substring some at)
                                           (substring some 0 at))))
                               (number-sequence 1 5) "")))
          (setq one (text 117) other (text 231)) nil))`, 30);
    await emacs.eval(`(test-command
        (while t (ecl-mcp-module-diff one other)))`);
    for (const ms of [50, 400, 1000])
        check(await interrupt(emacs, ms) === 'quit', 'it did not quit');
    await emacs.eval(`(test-command
        (while t (ecl-mcp-module-apply one other t one)))`);
    check(await interrupt(emacs, 400) === 'quit', 'it did not quit');
    check(await emacs.eval(`(ecl-mcp-module-diff "a\\n" "b\\n")`) ===
        '((1 1 1 1 ("-a" "+b")))', 'a small one');
    await typing(emacs);
});

test('quit: long lines for the core are fed whole, or not at all', options,
    async emacs => {
        await emacs.eval(`(progn
            (setq core (ecl-mcp-module-open '(:audit "off")) fed 0 heard 0
                  text (concat (make-string 4000000 ?λ) "\\377")
                  line (concat "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,"
                               "\\"method\\":\\"ping\\",\\"params\\":{\\"x\\":\\""
                               (encode-coding-string (make-string 4000000 ?λ) 'utf-8)
                               "\\"}}\\n"))
            (defun hear ()
              (while (eql (ecl-mcp-module-tick core) 0.0)) ; it reads in steps
              (let ((inhibit-quit t))
                (cl-incf heard (cl-count ?\\n (or (ecl-mcp-module-take
                                                  core 'client) ""))))))`, 30);
        await emacs.eval(`(test-command
            (while t
              (ignore-errors (ecl-mcp-module-feed core 'image text))
              (ecl-mcp-module-feed core 'client line)
              (cl-incf fed)
              (hear)))`);
        const counts = async () => {
            await emacs.eval('(hear)');
            return (await emacs.eval('(list fed heard)')).match(/\d+/g).map(Number);
        };
        let quits = 0, fed, heard;
        // A slow machine needs longer than 700 ms to feed the first line.
        for (let ms = 20; ms < 700 || (heard === 0 && ms < 30000); ms *= 2.4) {
            check(await interrupt(emacs, ms) === 'quit', 'it did not quit');
            quits++;
            [fed, heard] = await counts();
        }
        // A quit may come when a line is fed and not yet counted.
        check(heard > 0 && heard >= fed && heard <= fed + quits,
            `${heard} of ${fed}, ${quits} quits`);
        check(await emacs.eval(`(progn (ecl-mcp-module-feed core 'client
            "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":7,\\"method\\":\\"ping\\"}\\n")
            (ecl-mcp-module-take core 'client))`) ===
            '"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":7,\\"result\\":{}}\n"', 'a ping');
        await typing(emacs);
    });

test('quit: calls with a megabyte are answered, or were never made', options,
    async emacs => {
        await emacs.eval(`(progn
            (setq made 0 answered 0 code (concat "(length \\""
                                       (make-string 500000 ?λ) "\\")"))
            (ecl-mcp-client-ensure) nil)`, 30);
        await emacs.eval(`(test-command
            (while (< made 1000)
              (ecl-mcp-call "evaluate-lisp" \`((code . ,code))
                            (lambda (_) (cl-incf answered)))
              (cl-incf made)))`);
        for (const ms of [30, 90, 200, 450])
            check(await interrupt(emacs, ms) === 'quit', 'it did not quit');
        await emacs.until('(null (ecl-mcp-client-calls))');
        const [made, answered] = (await emacs.eval('(list made answered)'))
            .match(/\d+/g).map(Number);
        check(answered >= made && answered <= made + 4,
            `${answered} of ${made}`);
        await emacs.eval(`(progn (setq result nil)
            (ecl-mcp-call "evaluate-lisp" '((code . "(+ 1 1)"))
                          (lambda (it) (setq result it))))`);
        await emacs.until('result');
        check((await emacs.text('(plist-get result :content)')) === '=> 2',
            'an evaluation');
        await typing(emacs);
    });
