// SPDX-License-Identifier: GPL-3.0-or-later
// approval-keys.mjs: the keys of the buffer of approvals, what it shows, and
// windows and buffers in unexpected states.
import fs from 'node:fs';
import path from 'node:path';
import { QUICK, SCRATCH, ask, decided, open, question, quick, review,
    settle } from './asking.mjs';
import { check, test } from './terminal.mjs';

const POPUP = `(setq ecl-mcp-approval-style 'popup)`;
const QUEUE = `(setq ecl-mcp-approval-style 'queue)`;
const WINDOW = '(get-buffer-window "*ecl-mcp approval*")';
const IN_SCRATCH = '(equal (buffer-name (window-buffer)) "*scratch*")';

async function key(emacs, ...keys) {
    for (const one of keys) {
        await settle(emacs);
        await emacs.keys(one);
    }
}

const answer = (emacs, id, member) =>
    emacs.text(`(ecl-mcp-test-answer ${id} '${member})`);

async function command(emacs, name) {
    await emacs.keys('M-x');
    await emacs.type(name);
    await emacs.keys('Enter');
}

test('approval: a popup is shown and not selected', quick(POPUP), async emacs => {
    await emacs.type('some text ');
    await ask(emacs, 1, '(car x)');
    await emacs.until(WINDOW);
    await emacs.type('y n y ', 100);
    await settle(emacs);
    await emacs.keys('y');
    await emacs.until(`(string-suffix-p "some text y n y y" ${SCRATCH})`);
    await emacs.never('(ecl-mcp-test-decision 1)', 1);
    // Its window goes and does not come back; the request waits.
    await emacs.keys('C-x', '1');
    await emacs.until(`(not ${WINDOW})`);
    await emacs.never(WINDOW, 1);
    await open(emacs, 1);
    await review(emacs, QUICK);
    await key(emacs, 'y');
    await decided(emacs, 1, 'approve');
    await emacs.until(`(and (not ${WINDOW}) ${IN_SCRATCH})`);
});

test('approval: a queue shows only that a request waits', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.see(/MCP:1/);
        await emacs.never(`(or ${WINDOW} (ecl-mcp-approval-prompt-request))`, 2.5);
        await review(emacs, QUICK);
        await key(emacs, 'n');
        await decided(emacs, 1, 'deny');
        await emacs.unseen(/MCP:1/);
    });

test('approval: all facts about a request are shown', quick(QUEUE), async emacs => {
    await ask(emacs, 1, `(list "\u202e" "\u200b" "\u0007" "\u00a0")
(mapcar #'car x)
(launch-missiles)`, `:client '((name . "evil\u202e
%s") (version . "2"))`);
    await emacs.eval(`(ecl-mcp-test-ask 2 "some-tool" '((path . "../outside")
        (flag . :false) (list . [1 2]) (content . "one\ntwo")) :path "path")`);
    await review(emacs, QUICK);
    await emacs.see(/#1 · evil\\u202e\\n%s 2 in \S+ wants evaluate-lisp \(dangero.* · 1 of 2 · \d+ [ms]/);
    await emacs.see(/unknown +launch-missiles/);
    await emacs.see(/known-pure +car list mapcar/);
    await emacs.see(/hint, not a sandbox/);
    await emacs.see(/Code, read in the session's package/);
    await key(emacs, 'v');
    await emacs.see(/\(list "\\u{202e}" "\\u{200b}" "\^G" "\\u{00a0}"\)/);
    await emacs.see(/\(launch-missiles\)/);
    await key(emacs, 'Tab');
    await emacs.see(/#2 · claude 1.0 in \S+ wants some-tool/);
    await emacs.see(/path is outside the project/);
    await emacs.see(/flag: false/);
    await emacs.see(/list: \[1,2\]/);
    await emacs.see(/content: \(2 lines, 7 characters\)\n\| one\n\| two/);
    await key(emacs, 'i');
    await emacs.see(/"tool": "some-tool"/);
    await key(emacs, 'i', 'M-p');
    await emacs.see(/#1 ·/);
    await key(emacs, 'M-n');
    await emacs.see(/#2 ·/);
    await key(emacs, '?');
    await emacs.see(/y +allow it, once/);
});

test('approval: a line of 900 characters is shown to its end', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, `(list ${'"abcdefgh" '.repeat(90)}(delete-file "x"))`);
        await review(emacs, QUICK);
        await emacs.see(/file +delete-file/);
        await key(emacs, 'y');
        await emacs.see(/SPC to see the rest/);
        for (let count = 0; count < 8; count++)
            await key(emacs, 'Space');
        await emacs.see(/-file "x"\)\)/);
        await key(emacs, 'y');
        await decided(emacs, 1, 'approve');
    });

test('approval: e runs the call as it was edited', quick(QUEUE), async emacs => {
    await ask(emacs, 1, '(car x)');
    await ask(emacs, 2, '(cdr x)');
    await emacs.eval(`(ecl-mcp-test-ask 3 "some-tool"
        '((name . "a") (flag . :false) (list . [])))`);
    await review(emacs, QUICK);
    await key(emacs, 'e');
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp edit #1*")');
    await emacs.keys('C-f', 'M-d');
    await emacs.type('cddr');
    await settle(emacs);
    await emacs.keys('C-c', 'C-c');
    await decided(emacs, 1, 'approve');
    const code = await emacs.text(
        `(alist-get 'code (ecl-mcp-test-answer 1 'arguments))`);
    check(code === '(cddr x)', code);
    // A call that was not changed runs as it came; one that is left waits.
    await review(emacs, QUICK);
    await emacs.see(/#2 ·/);
    await key(emacs, 'e');
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp edit #2*")');
    await emacs.keys('C-c', 'C-k');
    await emacs.until('(not (get-buffer "*ecl-mcp edit #2*"))');
    await open(emacs, 2);
    await review(emacs, QUICK);
    await key(emacs, 'e');
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp edit #2*")');
    await settle(emacs);
    await emacs.keys('C-c', 'C-c');
    await decided(emacs, 2, 'approve');
    check(await emacs.eval(`(ecl-mcp-test-answer 2 'arguments)`) === 'nil',
        'arguments');
    // As JSON.
    await review(emacs, QUICK);
    await key(emacs, 'e');
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp edit #3*")');
    await emacs.keys('M->');
    await emacs.type(',');
    await settle(emacs);
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/This is not JSON/);
    await open(emacs, 3);
    await emacs.keys('BSpace', 'M-<');
    await emacs.keys('M-x');
    await emacs.type('replace-string');
    await emacs.keys('Enter', { text: '"a"' }, 'Enter', { text: '"b"' }, 'Enter');
    await emacs.keys('C-c', 'C-c');
    await decided(emacs, 3, 'approve');
    const edited = await emacs.eval(`(ecl-mcp-test-answer 3 'arguments)`);
    check(/:false/.test(edited) && /\[\]/.test(edited), edited);
});

test('approval: what did I just allow?', quick(QUEUE), async emacs => {
    await ask(emacs, 1, `(mapcar #'1+ (list 1))`);
    await ask(emacs, 2, `(mapcar #'1+ (list 2))`);
    await ask(emacs, 3, '(ext:run-program "ls")');
    await review(emacs, QUICK);
    await key(emacs, '!');
    await emacs.see(/Allow until this server ends\?/);
    await emacs.see(/allow evaluate-lisp with only \{mapcar, 1\+ in mapcar 1/);
    await key(emacs, '-');
    await emacs.see(/with exactly these arguments/);
    await key(emacs, 'q');
    await emacs.unseen(/with exactly these/);
    await open(emacs, 1);
    await key(emacs, '!', '-', '+');
    await emacs.see(/with only \{mapcar, 1\+ in mapcar 1/);
    await key(emacs, 'y');
    await decided(emacs, 1, 'approve');
    await decided(emacs, 2, 'approve');
    check(await answer(emacs, 2, 'by') === 'rule', 'by');
    await emacs.see(/also answered #2 evaluate-lisp/);
    await open(emacs, 3);
    await ask(emacs, 4, '(mapcar #\'1+ (list 3 4))');
    await decided(emacs, 4, 'approve');
    await ask(emacs, 5, '(mapcar #\'ext:run-program (list 3 4))');
    await open(emacs, 5);
    await emacs.see(/#3 ·/);
    await key(emacs, '!');
    await emacs.see(/No rule can allow this: it names ext:run-program/);
    await key(emacs, 'q');
    await command(emacs, 'ecl-mcp-permissions');
    await emacs.see(/session +allow +evaluate-lisp/);
    await emacs.keys('d', 'y');
    await emacs.see(/Revoked/);
    await ask(emacs, 6, `(mapcar #'1+ (list 5))`);
    await open(emacs, 6);
});

for (const short of ['nil', 't']) {
    test(`approval: always needs a yes that is typed (short answers: ${short})`,
        quick(`${QUEUE} (setq use-short-answers ${short})`), async emacs => {
            await ask(emacs, 1, '(car x)');
            await ask(emacs, 2, '(car y)');
            await review(emacs, QUICK);
            await key(emacs, '*');
            await emacs.see(/Allow always, in this project\?/);
            await emacs.see(/to be written to .*permissions.eld/);
            await key(emacs, 'y');
            await emacs.see(/Type yes:/);
            await key(emacs, 'y', 'Enter');
            await emacs.see(/No rule was made/);
            await open(emacs, 1);
            await key(emacs, 'Tab');
            await emacs.see(/Allow always, in all projects\?/);
            await key(emacs, 'Tab');
            await emacs.see(/Allow always, in this project\?/);
            await key(emacs, 'y');
            await emacs.see(/Type yes:/);
            await emacs.type('yes');
            await emacs.keys('Enter');
            await decided(emacs, 1, 'approve');
            await decided(emacs, 2, 'approve');
            const file = path.join(emacs.home, '.ecl-mcp/permissions.eld');
            check(/:operators \("car"\)/.test(fs.readFileSync(file, 'utf8')),
                'the file');
        });
}

test('approval: a file that cannot be written is reported', quick(QUEUE),
    async emacs => {
        fs.writeFileSync(path.join(emacs.home, '.ecl-mcp'), 'no folder');
        await ask(emacs, 1, '(car x)');
        await review(emacs, QUICK);
        await key(emacs, 'D');
        await emacs.see(/Deny always, in this project\?/);
        await key(emacs, 'y');
        await emacs.see(/Type yes:/);
        await emacs.type('yes');
        await emacs.keys('Enter');
        await decided(emacs, 1, 'deny');
        await emacs.until('(get-buffer-window "*Warnings*")');
        const said = await emacs.text(
            '(with-current-buffer "*Warnings*" (buffer-string))');
        check(/cannot be entered.*this session only/s.test(said), said);
        // The rule denies in this session.
        await ask(emacs, 2, '(car x)');
        await decided(emacs, 2, 'deny');
    });

test('approval: S stops all calls of a client', quick(QUEUE), async emacs => {
    await ask(emacs, 1, '(car x)');
    await ask(emacs, 2, '(car y)', `:client '((name . "other"))`);
    await ask(emacs, 3, '(car z)');
    await review(emacs, QUICK);
    await key(emacs, 'S');
    await decided(emacs, 1, 'stop');
    await decided(emacs, 3, 'stop');
    check(await answer(emacs, 1, 'reason') === '', 'reason');
    await emacs.see(/Stopped claude 1\.0: 2 requests denied/);
    await emacs.see(/#2 ·/);
    await open(emacs, 2);
});

test('approval: killed buffers and windows leave the request', quick(POPUP),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.until(WINDOW);
        await emacs.keys('C-x', 'k');
        await emacs.type('*ecl-mcp approval*');
        await emacs.keys('Enter');
        await emacs.until('(not (get-buffer "*ecl-mcp approval*"))');
        await open(emacs, 1);
        await review(emacs, QUICK);
        await key(emacs, 'q');
        await emacs.until(`(and (not ${WINDOW}) ${IN_SCRATCH})`);
        await open(emacs, 1);
        await review(emacs, QUICK);
        await key(emacs, 'C-g');
        await emacs.until(`(not ${WINDOW})`);
        await open(emacs, 1);
        await review(emacs, QUICK);
        await emacs.now('y', 'C-x', '0'); // before a key counts
        await emacs.never('(ecl-mcp-test-decision 1)', 1);
        await review(emacs, QUICK);
        await emacs.keys('C-x', 'k', 'Enter');
        await emacs.until('(not (get-buffer "*ecl-mcp approval*"))');
        await review(emacs, QUICK);
        await key(emacs, 'n');
        await decided(emacs, 1, 'deny');
    });

test('approval: a question whose window is killed allows nothing', quick(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs, 1, QUICK);
        await emacs.eval('(progn (kill-buffer "*ecl-mcp approval*") nil)');
        await emacs.keys('y');
        await emacs.see(/Not all of it is on the screen; v shows/);
        await emacs.never('(ecl-mcp-test-decision 1)', 1);
        await key(emacs, 'n');
        await decided(emacs, 1, 'deny');
    });

test('approval: a question below another minibuffer ends after that one',
    quick(), async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs, 1, QUICK);
        await emacs.keys('M-x');
        await emacs.until('(= 2 (minibuffer-depth))');
        await emacs.eval(`(ecl-mcp-test-send '((method . "withdraw")
            (params . ((id . 1) (reason . "cancelled")))))`);
        await emacs.type('yyy');
        await emacs.see(/M-x yyy/);
        await emacs.keys('C-g');
        await emacs.until('(= 0 (minibuffer-depth))');
        await emacs.unseen(/Allow once/);
    });

test('approval: a request that is withdrawn while it is read', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await ask(emacs, 2, '(cdr x)');
        await review(emacs, QUICK);
        const withdraw = id => emacs.eval(`(ecl-mcp-test-send
            '((method . "withdraw") (params . ((id . ${id}) (reason . "gone")))))`);
        // The key that was on its way does not answer the next request.
        await emacs.eval('(setq ecl-mcp-approval-grace 4)');
        await withdraw(1);
        await emacs.keys('y');
        await emacs.see(/#2 ·/);
        await emacs.never('(ecl-mcp-test-decision 2)', 2);
        await withdraw(2);
        await emacs.see(/#2 no longer waits: it was withdrawn. gone/);
        await key(emacs, 'y');
        await emacs.see(/no longer waits; TAB shows the next request/);
        check(await emacs.eval(IN_SCRATCH) === 'nil', 'the key went elsewhere');
        await key(emacs, 'q');
        await emacs.until(IN_SCRATCH);
    });

for (const [name, size, form] of [
    ['a frame of 8 lines', { height: 8 }, 'nil'],
    ['a narrow frame', { width: 40 }, 'nil'],
    ['a dedicated window', {}, '(set-window-dedicated-p nil t)'],
    ['no place for side windows', {},
        `(setq window-sides-slots '(nil nil nil 0))`],
    ['a side window of another', {}, `(display-buffer-in-side-window
        (get-buffer-create "*other*") '((side . bottom) (slot . 0)))`],
    ['many windows', {}, `(progn (split-window) (split-window-right)
        (other-window 1) (split-window))`],
    ['an atomic window', {}, `(window-make-atom (window-parent
        (split-window-right)))`],
]) {
    test(`approval: the request can be answered in ${name}`,
        { ...size, ...quick(form) }, async emacs => {
            const windows = `(mapcar (lambda (w) (cons (buffer-name
                (window-buffer w)) (window-edges w))) (window-list nil 'no))`;
            await emacs.eval('(message nil)');
            const before = await emacs.eval(windows);
            await ask(emacs, 1, '(car x)');
            // A question takes the minibuffer, if there is room for the request.
            await emacs.until('(ecl-mcp-approval-prompt-request)', 3).then(
                () => emacs.keys('C-g'), () => {});
            await emacs.until('(= 0 (minibuffer-depth))');
            await open(emacs, 1);
            await review(emacs, QUICK);
            for (let count = 0; count < 10; count++) {
                if (await emacs.eval('(buffer-local-value ' +
                    `'ecl-mcp-approval-window--end-shown (get-buffer "*ecl-mcp approval*"))`)
                    !== 'nil')
                    break;
                await key(emacs, 'Space');
            }
            await key(emacs, 'y');
            await decided(emacs, 1, 'approve');
            await emacs.until(`(not ${WINDOW})`);
            await emacs.eval('(message nil)');
            const after = await emacs.eval(windows);
            check(before === after, `${before}\n${after}`);
        });
}

for (const [name, form] of [
    ['use-short-answers', '(setq use-short-answers t)'],
    ['read-key', '(setq y-or-n-p-use-read-key t)'],
    ['dialog boxes', `(setq use-dialog-box t last-nonmenu-event '(mouse-1))`],
    ['yes-or-no-p being y-or-n-p', `(fset 'yes-or-no-p 'y-or-n-p)`],
]) {
    test(`approval: the question is guarded with ${name}`, quick(form),
        async emacs => {
            await ask(emacs, 1, '(car x)');
            await question(emacs, 1, QUICK);
            for (const no of ['Space', 'Enter', 'Tab', 'Y', 'a', '#'])
                await key(emacs, no);
            await open(emacs, 1);
            if (await emacs.eval('(ecl-mcp-approval-prompt-request)') === 'nil')
                await question(emacs, 1, QUICK);
            await key(emacs, 'y');
            await decided(emacs, 1, 'approve');
        });
}

test('approval: another y-or-n-p that says yes allows nothing',
    quick(`(fset 'y-or-n-p #'always)`), async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.see(/#1 waits; M-x ecl-mcp-review/);
        await emacs.never('(ecl-mcp-test-decision 1)', 1);
    });

test('approval: v leads from the question to the keys', quick(), async emacs => {
    await ask(emacs, 1, '(car x)');
    await question(emacs, 1, QUICK);
    await emacs.keys('v');
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp approval*")');
    await key(emacs, 'y');
    await decided(emacs, 1, 'approve');
    await emacs.until(IN_SCRATCH);
});

test('approval: mouse-1 on the lighter leads to the queue', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.see(/MCP:1/);
        check(await emacs.eval(`(lookup-key (get-text-property 1 'local-map
            (ecl-mcp-approval-lighter)) [mode-line mouse-1])`) ===
            'ecl-mcp-review', 'the key');
    });

test('approval: a bell rings when a request waits long',
    quick(`${QUEUE} (setq ecl-mcp-approval-notify 1 ring-bell-function
        (lambda () (setq ecl-mcp-test-rang t))) (defvar ecl-mcp-test-rang nil)`),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.until('ecl-mcp-test-rang');
    });

test('approval: one command leads through approvals and reviews', quick(
    `(require 'ecl-mcp-review) (ecl-mcp-review-activate) ${QUEUE}`), async emacs => {
    await ask(emacs, 1, '(car x)');
    await emacs.eval(`(ecl-mcp-test-ask 2 "write-file"
        '((path . "a.txt") (content . "one\n")) :review
        \`((path . ,(expand-file-name "~/a.txt")) (name . "a.txt")
          (reason . "to try it") (exists . :false)
          (buffer . :false)
          (hunks . [((old_start . 0) (old_count . 0) (new_start . 1)
                     (new_count . 1) (lines . ["+one"]))])))`);
    const shows = mode => emacs.until(`(with-current-buffer (window-buffer)
        (derived-mode-p '${mode}))`);
    await review(emacs, QUICK);
    await command(emacs, 'ecl-mcp-review');
    await shows('ecl-mcp-approval-mode');
    await key(emacs, 'Tab');
    await shows('ecl-mcp-review-mode');
    await emacs.see(/to try it/);
    await command(emacs, 'ecl-mcp-review');
    await shows('ecl-mcp-approval-mode');
    await key(emacs, 'Tab');
    await shows('ecl-mcp-review-mode');
    await command(emacs, 'ecl-mcp-review');
    await shows('ecl-mcp-approval-mode');
    await key(emacs, 'y');
    await decided(emacs, 1, 'approve');
    await shows('ecl-mcp-review-mode');
    await emacs.now({ text: 'yyynnn' });
    await emacs.never('(ecl-mcp-test-decision 2)', 1);
});

test('approval: lines that are cut off do not count as seen', quick(`${QUEUE}
    (add-hook 'special-mode-hook (lambda () (setq truncate-lines t)))`),
async emacs => {
    await ask(emacs, 1, `(list ${'"abc" '.repeat(30)}(delete-file "x"))`);
    await review(emacs, QUICK);
    await emacs.see(/\(delete-file "x"\)\)/);
    await emacs.eval(`(with-current-buffer "*ecl-mcp approval*"
        (setq truncate-lines t ecl-mcp-approval-window--end-shown nil))`);
    await key(emacs, 'y');
    await emacs.see(/SPC to see the rest/);
    await key(emacs, 'i', 'i', 'y');
    await decided(emacs, 1, 'approve');
});
