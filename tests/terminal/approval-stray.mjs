// SPDX-License-Identifier: GPL-3.0-or-later
// approval-stray.mjs: keys, clicks and pasted text that were meant for something
// else, on every way to an answer that we could think of.
import { GRACE, QUICK, SCRATCH, ask, asking, decided, open, question, quick,
    review, settle, whileBusy } from './asking.mjs';
import { check, kill, pause, test } from './terminal.mjs';

const QUEUE = `(setq ecl-mcp-approval-style 'queue)`;
const HERE = '(equal (buffer-name (window-buffer)) "*ecl-mcp approval*")';

// Checks that nothing is decided about ID for a second.
async function undecided(emacs, id = 1) {
    await emacs.never(`(ecl-mcp-test-decision ${id})`, 1);
}

// A command on F5 that itself asks COUNT times, as one that saves buffers does.
const READER = count => `(global-set-key [f5] (lambda () (interactive)
    (dotimes (_ ${count}) (read-char "Save it? (y or n)"))))`;

test('approval: a key after those that a command has read', asking(
    `${QUEUE} ${READER(2)}`), async emacs => {
    await ask(emacs, 1, '(car x)');
    await review(emacs);
    await emacs.keys('F5');
    await emacs.see(/Save it/);
    await settle(emacs, GRACE);
    await emacs.keys('y');
    await settle(emacs, GRACE);
    await emacs.now('y', 'y'); // one too many
    await undecided(emacs);
    await emacs.keys('F5');
    await settle(emacs, GRACE);
    await emacs.keys('y');
    await settle(emacs, GRACE);
    await emacs.keys('y');
    await settle(emacs, GRACE + 300); // keys are noticed only a few times a second
    await emacs.keys('y');
    await decided(emacs, 1, 'approve');
});

test('approval: somebody who writes is never asked, and loses no key', asking(),
    async emacs => {
        await emacs.keys('M->');
        await emacs.type('well, ', 100);
        await ask(emacs, 1, '(car x)');
        await emacs.until('(get-buffer-window "*ecl-mcp approval*")');
        await emacs.see(/M-x ecl-mcp-review takes you here/);
        await settle(emacs, GRACE);
        await emacs.type('yesyn', 800);
        await emacs.until(`(string-suffix-p "well, yesyn" ${SCRATCH})`);
        await emacs.never('(ecl-mcp-approval-prompt-request)', 2);
        await open(emacs, 1);
        // Once they do something else, they are asked.
        await emacs.keys('C-a');
        await question(emacs);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    });

test('approval: nobody is asked where the last key was typed for a command', asking(),
    async emacs => {
        await emacs.keys('C-n', 'C-p', 'a', 'DEL'); // keys are typed, but no text
        await emacs.eval(`(progn (local-set-key "j" #'ignore) nil)`);
        await emacs.keys('j');
        await emacs.until('(eq last-command (quote ignore))');
        await ask(emacs, 1, '(car x)');
        await emacs.until('(get-buffer-window "*ecl-mcp approval*")');
        await emacs.never('(ecl-mcp-approval-prompt-request)', 2);
        await emacs.keys('C-n');
        await question(emacs);
    });

for (const [name, where] of [['a question', question], ['the buffer', review]]) {
    test(`approval: the first key in a frame that gets the focus, to ${name}`,
        asking(where === review ? QUEUE : ''), async emacs => {
            await ask(emacs, 1, '(car x)');
            await where(emacs);
            await emacs.focus(false);
            await emacs.until('(not (frame-focus-state))');
            await settle(emacs, GRACE);
            await emacs.bytes('\x1b[Iy'); // held down in another program
            await undecided(emacs);
            await settle(emacs, GRACE);
            await emacs.keys('y');
            await decided(emacs, 1, 'approve');
        });

    test(`approval: pasting, as text or keys, to ${name}`,
        quick(where === review ? QUEUE : ''), async emacs => {
            await ask(emacs, 1, '(car x)');
            await where(emacs, where === review ? QUICK : 1);
            for (const text of ['\x1b[200~y\x1b[201~', 'y\r', 'yes\ry\r',
                '  y', '\x1b[200~(a)\ry\r\x1b[201~']) {
                await emacs.bytes(text);
                await undecided(emacs);
            }
            check(await emacs.eval('(minibuffer-depth)') <= '1', 'depth');
        });

    test(`approval: keys of other keymaps, to ${name}`, quick(`
        ${where === review ? QUEUE : ''}
        (defvar test-map (make-sparse-keymap))
        (define-key test-map "y" (lambda () (interactive)))
        (define-key test-map [f6] "y")
        (define-key test-map [f7] (lambda () (interactive)
            (execute-kbd-macro "y")))
        (define-key test-map [f8] (lambda () (interactive)
            (setq unread-command-events (list ?y))))`),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await where(emacs, where === review ? QUICK : 1);
        await emacs.eval(`(progn (push (list (cons t test-map))
            emulation-mode-map-alists) nil)`);
        for (const key of ['y', 'F6', 'F7', 'F8']) {
            await settle(emacs);
            await emacs.keys(key);
            await undecided(emacs);
        }
        await emacs.eval('(setq emulation-mode-map-alists nil)');
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    });

    test(`approval: macros, repeated commands and searches, to ${name}`, quick(`
        ${where === review ? QUEUE : ''}
        (setq last-kbd-macro "y" ecl-mcp-approval-idle-writing 0.3)`),
    async emacs => {
        let id = 0;
        for (const keys of [['C-x', 'e'], ['C-u', '3', 'C-x', 'e'],
            ['C-x', 'z'], ['C-s', 'y', 'Enter'], ['C-r', 'y', 'C-g', 'C-g'],
            ['M-y'], ['M-p'], ['M-n'], ['C-M-c'], ['C-j'], ['M-r'], ['C-]'],
            ['C-h', 'k', 'y']]) {
            if (id === 0 || where === question &&
                await emacs.eval('(ecl-mcp-approval-prompt-request)') === 'nil') {
                await ask(emacs, ++id, '(car x)');
                if (where === review)
                    await where(emacs, QUICK);
                else
                    await emacs.until(`(eq (ecl-mcp-approval-prompt-request)
                        (car (last ecl-mcp-requests)))`);
                await settle(emacs);
            }
            await emacs.keys(...keys);
            await undecided(emacs, id);
        }
        for (; id > 0; id--)
            await open(emacs, id);
    });
}

test('approval: a key in a transient map, and no question meanwhile', quick(),
    async emacs => {
        await emacs.eval(`(progn (set-transient-map
            (let ((map (make-sparse-keymap)))
              (define-key map "y" #'ignore) map) t) nil)`);
        await emacs.until('overriding-terminal-local-map');
        await ask(emacs, 1, '(car x)');
        await emacs.never('(ecl-mcp-approval-prompt-request)', 1);
        await emacs.keys('y');
        await emacs.never('(ecl-mcp-approval-prompt-request)', 1);
        await open(emacs, 1);
    });

test('approval: keys that are typed ahead of a question', asking(),
    async emacs => {
        await emacs.keys('M->');
        await whileBusy(emacs, '(ecl-mcp-test-code 1 "(car x)")',
            () => emacs.now('y'));
        await emacs.until(`(string-suffix-p "y" ${SCRATCH})`);
        await open(emacs, 1);
        await emacs.keys('C-a');
        await question(emacs);
        await open(emacs, 1);
    });

test('approval: clicks beside the keys answer nothing', quick(`${QUEUE} (xterm-mouse-mode)`),
    async emacs => {
        const click = (column, line) => emacs.bytes(
            `\x1b[<0;${column};${line}M\x1b[<0;${column};${line}m`);
        await ask(emacs, 1, '(car x)');
        await ask(emacs, 2, '(cdr x)');
        // On the lighter.
        const screen = (await emacs.see(/MCP:2/)).input.split('\n');
        const line = screen.findIndex(text => /MCP:2/.test(text));
        await click(screen[line].indexOf('MCP:2') + 2, line + 1);
        await emacs.until(HERE);
        // On cells all over the window and below it.
        const edges = JSON.parse((await emacs.eval(
            '(append (window-edges) nil)')).replace(/[()]/g, match =>
            match === '(' ? '[' : ']').replace(/ /g, ','));
        for (let row = edges[1]; row <= edges[3]; row++)
            for (let column = 2; row !== edges[3] - 1 && column < 78; column += 5)
                await click(column, row + 1);
        // Between two keys, which are buttons.
        const legend = (await emacs.screen()).split('\n')[edges[3] - 1];
        for (let at = legend.indexOf('  '); at > 0; at = legend.indexOf('  ', at + 2))
            await click(at + 1, edges[3]);
        const rest = legend.trimEnd().length + 2;
        await click(rest, edges[3]);
        await undecided(emacs, 1);
        await open(emacs, 2);
    });

test('approval: a buffer that was renamed, or a copy, decides nothing', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await review(emacs, QUICK);
        await emacs.eval(`(with-current-buffer "*ecl-mcp approval*"
            (rename-buffer "other") nil)`);
        await emacs.keys('!');
        await settle(emacs);
        await emacs.keys('y');
        await undecided(emacs);
        await emacs.see(/for the buffer of approvals/);
        await review(emacs, QUICK);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
        check(await emacs.eval('ecl-mcp-permissions--session-rules') === 'nil', 'a rule');
    });

test('approval: commands by name in other buffers answer nothing', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        for (const name of ['yes', 'session', 'always', 'no', 'stop']) {
            await emacs.keys('M-x');
            await emacs.type(`ecl-mcp-approval-${name}`);
            await emacs.keys('Enter');
            await emacs.see(/for the buffer of approvals/);
            await emacs.eval('(message nil)');
        }
        await emacs.eval(`(progn (save-window-excursion
            (ecl-mcp-review)
            (condition-case nil
                (with-temp-buffer (ecl-mcp-approval-yes)) (error nil))) nil)`);
        await undecided(emacs);
    });

test('approval: a terminal that is closed during a question', {
    ...quick(), daemon: true }, async emacs => {
    const first = await emacs.client();
    await ask(emacs, 1, '(car x)');
    await question(emacs, 1, QUICK);
    await emacs.tmux('kill-window', '-t', `:${first}`);
    await emacs.until('(null (cdr (frame-list)))');
    await open(emacs, 1);
    emacs.clients = 0;
    await emacs.client();
    await emacs.keys('C-x', 'b');
    await emacs.type('other');
    await emacs.keys('Enter');
    await emacs.until('(equal "other" (buffer-name (window-buffer)))');
    await emacs.type('y n y', 100);
    await open(emacs, 1);
    await review(emacs, QUICK);
    await emacs.keys('y');
    await decided(emacs, 1, 'approve');
});

test('approval: a request that is withdrawn while Emacs is stopped', asking(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs);
        kill(emacs.pid, 'STOP');
        await emacs.now('y');
        const withdrawn = emacs.eval(`(ecl-mcp-test-send '((method . "withdraw")
            (params . ((id . 1) (reason . "timed out")))))`);
        await pause(2000);
        kill(emacs.pid, 'CONT');
        await withdrawn;
        await emacs.until('(and (not (ecl-mcp-approval-prompt-request)) (= 0 (minibuffer-depth)))');
        await open(emacs, 1);
        await ask(emacs, 2, '(cdr x)');
        await emacs.never('(ecl-mcp-test-decision 2)', 1);
    });

test('approval: a request is announced once, and not in the way', quick(
    QUEUE), async emacs => {
    await ask(emacs, 1, '(car x)');
    await emacs.see(/^ecl-mcp: claude 1\.0 in \S+ wants evaluate-lisp \(dangerous\) \(M-x ecl-mcp-review\)/m);
    await emacs.keys('C-f');
    await emacs.unseen(/^ecl-mcp: /m);
    await emacs.keys('M-x');
    await emacs.see(/^M-x/m);
    await ask(emacs, 2, '(cdr x)');
    await emacs.see(/MCP:2/);
    await emacs.type('y');
    await emacs.see(/^M-x y$/m);
});

test('approval: C-g takes an answer back, also while Emacs is busy', asking(
    `${QUEUE} (setq ecl-mcp-approval-grace 2)`),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await review(emacs);
        await emacs.keys('y', 'C-g');
        await emacs.never('(ecl-mcp-test-decision 1)', 3);
        await review(emacs);
        await emacs.keys('y');
        const busy = emacs.eval(`(let ((inhibit-quit t))
            (ecl-mcp-test-title "busy") (while (not quit-flag)) nil)`, 60);
        await emacs.titled('busy');
        await pause(2500); // by now it would have been an answer
        await emacs.now('C-g');
        await busy;
        await emacs.never('(ecl-mcp-test-decision 1)', 3);
        await review(emacs);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    });

test('approval: an end behind another frame of the terminal was not seen', asking(
    `${QUEUE} (setq ecl-mcp-approval-idle 0.3)`), async emacs => {
    await ask(emacs, 1, `(car x)${'\n'.repeat(100)}(delete-file "x")`);
    await review(emacs);
    // The frame with the request has its end on it, and is behind another.
    await emacs.eval(`(let ((window (selected-window)))
        (select-frame (make-frame)) (redisplay t)
        (set-window-start window (with-current-buffer "*ecl-mcp approval*"
            (- (point-max) 20)))
        nil)`);
    await pause(1000);
    check(await emacs.eval(`(buffer-local-value 'ecl-mcp-approval-window--end-shown
        (get-buffer "*ecl-mcp approval*"))`) === 'nil', 'seen');
});

test('approval: a question whose request is behind another frame', quick(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs, 1, QUICK);
        await emacs.keys('C-x', '5', '2');
        await emacs.until('(cdr (frame-list))');
        await emacs.keys('C-x', 'o');
        await pause(1000);
        await emacs.keys('y');
        await undecided(emacs);
    });

test('approval: a key that is slow and was meant for the request before',
    asking(`${QUEUE} (setq ecl-mcp-approval-idle 300)`), async emacs => {
        await ask(emacs, 1, '(car x)');
        await ask(emacs, 2, '(cdr x)');
        await review(emacs);
        await emacs.eval(`(ecl-mcp-test-send '((method . "withdraw")
            (params . ((id . 1) (reason . "gone")))))`);
        await pause(700); // a slow connection
        await emacs.keys('y');
        await undecided(emacs, 2);
        // As if those 300 s had passed.
        await emacs.eval(`(with-current-buffer "*ecl-mcp approval*"
            (cl-decf ecl-mcp-approval-window--came-up 300) nil)`);
        await settle(emacs, GRACE);
        await emacs.keys('y');
        await decided(emacs, 2, 'approve');
    });
