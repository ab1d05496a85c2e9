// SPDX-License-Identifier: GPL-3.0-or-later
// mouse.mjs: legends, menus and hunks by mouse, in a terminal with
// xterm-mouse-mode: a click decides what was on the screen, and nothing else.
import fs from 'node:fs';
import path from 'node:path';
import { ask, decided, decision, open, quick, settle } from './asking.mjs';
import { ROOT, check, lisp, pause, test } from './terminal.mjs';

const POPUP = `(progn (setq ecl-mcp-approval-style 'popup) (xterm-mouse-mode 1)
    (context-menu-mode 1))`;
const QUEUE = POPUP.replace('popup', 'queue');

const DOUBLE = 700; // ms after which two clicks are no double click

// Where PATTERN is on the screen: [column, row], from 1.
async function place(emacs, pattern) {
    await emacs.shown(); // not what a screen had before
    const lines = (await emacs.see(pattern)).input.split('\n');
    const row = lines.findIndex(line => pattern.test(line));
    return [lines[row].search(pattern) + 1, row + 1];
}

const press = (emacs, [x, y], button = 0) =>
    emacs.strokes(`\x1b[<${button};${x};${y}M`);
const release = (emacs, [x, y], button = 0) =>
    emacs.strokes(`\x1b[<${button};${x};${y}m`);

// In one go: a button that is held for half a second follows no link.
async function click(emacs, pattern, button = 0) {
    const [x, y] = await place(emacs, pattern);
    const at = `\x1b[<${button};${x};${y}`;
    await emacs.strokes(`${at}M${at}m`);
}

// Chooses an item of a menu that is open: the mouse moves there first.
async function choose(emacs, pattern) {
    const [x, y] = await place(emacs, pattern);
    await emacs.strokes(`\x1b[<35;${x};${y}M`);
    await click(emacs, pattern);
}

const go = async emacs => {
    await emacs.eval('(progn (run-at-time 0 nil #\'ecl-mcp-review) nil)');
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp approval*")');
    await settle(emacs);
};

test('mouse: the keys of a legend are buttons', quick(QUEUE), async emacs => {
    let id = 0;
    for (const [key, wanted] of [['y allow', 'approve'], ['n deny', 'deny'],
        ['S stop', 'stop']]) {
        await ask(emacs, ++id, '(car x)');
        await go(emacs);
        await click(emacs, new RegExp(key));
        await decided(emacs, id, wanted);
    }
    // A rule is shown before it can be accepted.
    await ask(emacs, ++id, '(car x)');
    await go(emacs);
    await click(emacs, /! session/);
    await emacs.see(/Allow until this server ends\?/);
    await settle(emacs);
    await click(emacs, /- narrower/);
    await emacs.see(/with exactly these arguments/);
    await open(emacs, id);
    await settle(emacs);
    await click(emacs, /y yes/);
    await decided(emacs, id, 'approve');
    await ask(emacs, ++id, '(cdr x)');
    await go(emacs);
    await click(emacs, /N why/);
    await emacs.see(/Deny, because:/);
    await emacs.type('not now');
    await emacs.keys('Enter');
    await decided(emacs, id, 'deny');
    check(await emacs.text(`(ecl-mcp-test-answer ${id} 'reason)`) === 'not now', 'why');
    await ask(emacs, ++id, '(cdr x)');
    await go(emacs);
    await click(emacs, /\? keys/);
    await emacs.see(/Keys for the call that is shown/);
    await open(emacs, id);
});

test('mouse: a question is answered by a click', quick('(xterm-mouse-mode 1)'),
    async emacs => {
        let id = 0;
        for (const [key, wanted] of [['y allow', 'approve'], ['n deny', 'deny']]) {
            await emacs.eval('(setq last-command (quote forward-char))');
            await ask(emacs, ++id, '(car x)');
            await emacs.until('(ecl-mcp-approval-prompt-request)');
            await settle(emacs);
            await click(emacs, new RegExp(key));
            await decided(emacs, id, wanted);
            await emacs.until('(= 0 (minibuffer-depth))');
        }
        await emacs.keys('x');
        await emacs.until('(with-current-buffer "*scratch*" (eq ?x (char-before)))');
    });

test('mouse: a window that is not selected decides nothing', quick(POPUP),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await click(emacs, /M-x ecl-mcp-review takes you here/);
        await emacs.see(/y allow/);
        await settle(emacs);
        const at = await place(emacs, /y allow/);
        await emacs.keys('C-x', 'o');
        await emacs.see(/takes you here/);
        await settle(emacs);
        // What was the place of y is now the way to it.
        await press(emacs, at);
        await release(emacs, at);
        await emacs.see(/y allow/);
        await open(emacs, 1);
        await pause(DOUBLE);
        await settle(emacs);
        await click(emacs, /y allow/);
        await decided(emacs, 1, 'approve');
    });

test('mouse: a click for the request before decides nothing', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await ask(emacs, 2, '(cdr x)');
        await go(emacs);
        const at = await place(emacs, /y allow/);
        // The button goes down on the first, and up on the second.
        await press(emacs, at);
        await emacs.until('(> ecl-mcp-menu--pressed 0)');
        await emacs.eval('(progn (ecl-mcp-deny (car ecl-mcp-requests)) nil)');
        await emacs.see(/#2 · claude/);
        await pause(1000);
        await release(emacs, at);
        await emacs.see(/Ignored .*it came too soon to be an answer/);
        await open(emacs, 2);
        await pause(DOUBLE);
        await settle(emacs);
        await click(emacs, /y allow/);
        await decided(emacs, 2, 'approve');
    });

test('mouse: a double click allows one call, not two', quick(QUEUE), async emacs => {
    await ask(emacs, 1, '(car x)');
    await ask(emacs, 2, '(cdr x)');
    await go(emacs);
    const [x, y] = await place(emacs, /y allow/);
    await emacs.bytes(`\x1b[<0;${x};${y}M\x1b[<0;${x};${y}m`.repeat(3));
    await decided(emacs, 1, 'approve');
    await emacs.never('(ecl-mcp-test-decision 2)', 1);
});

test('mouse: nothing is allowed before its end was on the screen', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, `(list ${'1\n'.repeat(60)} (delete-file "x"))`);
        await go(emacs);
        await click(emacs, /y allow/);
        await emacs.see(/SPC to see the rest/);
        await open(emacs, 1);
        await click(emacs, /n deny/);
        await decided(emacs, 1, 'deny');
    });

test('mouse: the menu in the menu bar decides with the guards of keys', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await ask(emacs, 2, '(cdr x)');
        await go(emacs);
        await click(emacs, /Approval/);
        await emacs.see(/Allow Once/);
        await emacs.see(/Deny, Because\.\.\. *N/);
        // While the menu is open, its request goes: another one is not allowed.
        await emacs.eval('(progn (ecl-mcp-deny (car ecl-mcp-requests)) nil)');
        await pause(500);
        await click(emacs, /Allow Once/);
        await emacs.see(/Ignored .*it came too soon to be an answer/);
        await open(emacs, 2);
        await settle(emacs);
        await click(emacs, /Approval/);
        await choose(emacs, /Allow Once/);
        await decided(emacs, 2, 'approve');
        check(await decision(emacs, 1) === 'deny', 'the first');
    });

test('mouse: the context menu decides in the selected window only', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await go(emacs);
        await emacs.keys('C-x', 'o');
        await settle(emacs);
        for (const wanted of ['', 'approve']) {
            await press(emacs, await place(emacs, /Operators/), 2);
            const item = await place(emacs, /Allow Once/);
            await emacs.strokes(`\x1b[<34;${item[0]};${item[1]}M`); // it moves
            await release(emacs, item, 2);
            if (wanted)
                await decided(emacs, 1, wanted);
            else
                await emacs.see(/Selected; choose again/);
            await settle(emacs, 500);
        }
    });

//// Reviews

// A review of three hunks, from a core of which only the lines exist.
const reviews = {
    height: 40, width: 100, load: ['cl-lib'],
    form: `(progn
      (add-to-list 'load-path ${lisp(path.join(ROOT, 'tests/elisp'))})
      (require 'review-support)
      (xterm-mouse-mode 1)
      (context-menu-mode 1)
      (setq make-backup-files nil test-review-core (ecl-mcp-test-connection))
      (ecl-mcp-review-activate))`,
};
const OLD = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\\n`).join('');
const NEW = OLD.replace('line 5\\', 'five\\').replace('line 20\\', 'twenty\\')
    .replace('line 35\\', 'last\\');
const states = emacs => emacs.eval(`(mapcar #'ecl-mcp-hunk-state
    (ecl-mcp-review--units (car ecl-mcp-review--all)))`);
const become = (emacs, wanted) => emacs.until(`(equal '${wanted}
    (mapcar #'ecl-mcp-hunk-state
      (ecl-mcp-review--units (car ecl-mcp-review--all))))`);

async function review(emacs) {
    const file = path.join(emacs.home, 'text.txt');
    fs.writeFileSync(file, OLD.replaceAll('\\n', '\n'));
    await emacs.eval(`(progn (find-file ${lisp(file)})
      (save-selected-window (ecl-mcp-review-request
        (test-review-request ${lisp(file)} "${OLD}" "${NEW}"))) t)`);
    await emacs.see(/a accept +r reject/);
    return file;
}

test('mouse: hunks and keys of a review', reviews, async emacs => {
    const file = await review(emacs);
    // The first click selects the window, and decides nothing.
    for (const what of [/\[open\]/, /a accept/]) {
        await click(emacs, what);
        await emacs.until(`(with-current-buffer (window-buffer)
            (derived-mode-p 'ecl-mcp-review-mode))`);
        check(await states(emacs) === '(open open open)', await states(emacs));
        await emacs.keys('C-x', 'o');
        await pause(DOUBLE);
    }
    await click(emacs, /a accept/);
    await emacs.see(/Selected; click again/);
    await pause(DOUBLE);
    await click(emacs, /\[open\]/);
    await become(emacs, '(accepted open open)');
    await pause(DOUBLE);
    await click(emacs, /\[accepted\]/);
    await become(emacs, '(rejected open open)');
    await pause(DOUBLE);
    await click(emacs, /\[rejected\]/);
    await become(emacs, '(open open open)');
    // The rest of that line hides the lines of the hunk.
    await click(emacs, /@@ -17/);
    await emacs.unseen(/twenty/);
    await pause(DOUBLE);
    await click(emacs, /@@ -17/);
    await emacs.see(/twenty/);
    // The context menu is about the hunk where it opens.
    await press(emacs, await place(emacs, /twenty/), 2);
    const item = await place(emacs, /Reject +r/);
    await emacs.strokes(`\x1b[<34;${item[0]};${item[1]}M`);
    await release(emacs, item, 2);
    await become(emacs, '(open rejected open)');
    // The menu bar, the legend, and the end.
    await click(emacs, /Review/);
    await choose(emacs, /Accept All Open/);
    await become(emacs, '(accepted rejected accepted)');
    await click(emacs, /C-c C-c apply 2 of 3/);
    await emacs.until('(test-review-answers)');
    check(fs.readFileSync(file, 'utf8') === NEW.replace('twenty', 'line 20')
        .replaceAll('\\n', '\n'), 'the file');
});

test('mouse: a click for what was there before decides nothing', reviews,
    async emacs => {
        await review(emacs);
        await emacs.keys('C-x', 'o');
        await pause(500);
        // The review has only just come up, whenever that is.
        const cameUp = form => emacs.eval(`(progn (setf (ecl-mcp-review--came-up
            (car ecl-mcp-review--all)) ${form}) nil)`);
        await cameUp('(+ (float-time) 3600)');
        await click(emacs, /\[open\]/);
        await emacs.see(/Ignored the click: the review has only just come up/);
        await cameUp('(- (float-time) 3600)');
        await become(emacs, '(open open open)');
        await pause(DOUBLE);
        // The hunk is decided while the button is down.
        const at = await place(emacs, /\[open\]/);
        await press(emacs, at);
        await emacs.until('(nth 2 ecl-mcp-review-menu--pressed)');
        await emacs.eval(`(with-current-buffer (window-buffer)
            (ecl-mcp-review--decide (list (car (ecl-mcp-review--units
              ecl-mcp-review--current))) 'rejected) nil)`);
        await release(emacs, at);
        await emacs.see(/Ignored the click: what was there has changed/);
        await become(emacs, '(rejected open open)');
        await pause(DOUBLE);
        await click(emacs, /\[rejected\]/);
        await become(emacs, '(open open open)');
    });

// Waits until TEXT is asked and a click would count.
async function asked(emacs, text) {
    await emacs.see(text);
    await pause(500); // the grace of an answer
}

test('mouse: rules and the end of a run, from a review', {
    ...reviews, width: 140, form: reviews.form.replace(/\)$/, `
        (setf (ecl-mcp-connection-workspace test-review-core)
              (file-truename "~/")))`),
}, async emacs => {
    await review(emacs);
    await emacs.keys('C-x', 'o');
    for (const key of [/! session/, /\* always/, /D never/]) {
        await click(emacs, key);
        await asked(emacs, /y yes +n no +\+ wider/);
        await click(emacs, /n no/);
        await emacs.see(/No rule was made/);
        await emacs.see(/a accept +r reject/);
        await pause(DOUBLE);
    }
    // Wider, narrower, permanent and back, by clicks alone; then it is made.
    await click(emacs, /! session/);
    await asked(emacs, /server ends: allow propose-file-edit of a\.txt/);
    for (const [key, text] of [[/\+ wider/, /of \* from/], [/- narrower/, /of a\.txt/],
        [/TAB where/, /Always, in this project: /], [/TAB where/, /in all projects: /],
        [/TAB where/, /Until this server ends: /]]) {
        await click(emacs, key);
        await asked(emacs, text);
    }
    check(await states(emacs) === '(open open open)', await states(emacs));
    // A click beside the keys is no answer.
    await click(emacs, /\[open\]/);
    await pause(DOUBLE);
    await emacs.see(/Until this server ends: /);
    await click(emacs, /n no/);
    await emacs.see(/No rule was made/);
    await pause(DOUBLE);
    await click(emacs, /S stop/);
    await asked(emacs, /Stop the run of .*\(y or n\)/);
    await click(emacs, /n no/);
    await emacs.see(/a accept +r reject/);
    check(await emacs.eval('(test-review-answers)') === 'nil', 'an answer');
    await pause(DOUBLE);
    await click(emacs, /S stop/);
    await asked(emacs, /Stop the run of .*\(y or n\)/);
    await click(emacs, /y yes/);
    await emacs.until('(test-review-answers)');
});

test('mouse: the help of ? is a transient, or a buffer', reviews, async emacs => {
    await review(emacs);
    await emacs.keys('C-x', 'o', '?');
    await emacs.see(/C-c C-c +Submit/);
    await emacs.see(/a +Accept\b/);
    await emacs.keys('a');
    await become(emacs, '(accepted open open)');
    await emacs.unseen(/C-c C-c +Submit/);
    await emacs.eval(`(advice-add 'require :around (lambda (old feature &rest more)
        (unless (eq feature 'transient) (apply old feature more))))`);
    await emacs.keys('?');
    await emacs.see(/C-c C-c +Submit/);
    await emacs.until('(get-buffer-window "*Help*")');
});

//// Lists

test('mouse: rows of the log and of the rules are buttons, with menus', {
    width: 120, height: 40, load: ['ecl-mcp'],
    form: `(let ((folder (expand-file-name "log/" "~")))
      (xterm-mouse-mode 1)
      (context-menu-mode 1)
      (make-directory folder)
      (setq ecl-mcp-log-directory folder)
      (with-temp-file (expand-file-name "2026-01-01.jsonl" folder)
        (insert "{\\"time\\":\\"2026-01-01T10:00:00Z\\",\\"tool\\":\\"first-tool\\"}\n"
                "{\\"time\\":\\"2026-01-01T10:00:01Z\\",\\"tool\\":\\"second-tool\\"}\n"))
      (push (make-ecl-mcp-rule :effect 'deny :tool "some-tool" :scope 'session)
            ecl-mcp-permissions--session-rules))`,
}, async emacs => {
    await emacs.keys('M-x');
    await emacs.type('ecl-mcp-log');
    await emacs.keys('Enter');
    await click(emacs, /first-tool/);
    await emacs.until('(get-buffer-window "*ecl-mcp call*")');
    await emacs.see(/^tool +first-tool/m);
    await emacs.eval('(progn (delete-other-windows) nil)');
    await press(emacs, await place(emacs, /second-tool/), 2);
    const item = await place(emacs, /Show All of It/);
    await emacs.strokes(`\x1b[<34;${item[0]};${item[1]}M`);
    await release(emacs, item, 2);
    await emacs.see(/^tool +second-tool/m);
    await emacs.keys('C-x', '1', 'M-x');
    await emacs.type('ecl-mcp-permissions');
    await emacs.keys('Enter');
    await click(emacs, /some-tool/);
    await emacs.see(/deny some-tool/);
    await emacs.keys('C-x', '1');
    await pause(DOUBLE);
    await click(emacs, /Rules /);
    await choose(emacs, /Revoke/);
    await emacs.see(/Revoke "deny some-tool"\?/);
    await choose(emacs, /Yes/); // a dialog, since the mouse was used
    await emacs.until('(null ecl-mcp-permissions--session-rules)');
});
