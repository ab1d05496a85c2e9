// SPDX-License-Identifier: GPL-3.0-or-later
// approval-legend.mjs: every key of a legend works where the legend is shown,
// also when it is pressed twice, after M-x, and in the normal state of evil.
import { GRACE, QUICK, SCRATCH, ask, asking, decided, decision, open,
    question, quick, review, settle } from './asking.mjs';
import { check, pause, test } from './terminal.mjs';

const QUEUE = `(setq ecl-mcp-approval-style 'queue)`;
const POPUP = `(setq ecl-mcp-approval-style 'popup)`;
const WINDOW = '(get-buffer-window "*ecl-mcp approval*")';
const HERE = '(equal (buffer-name (window-buffer)) "*ecl-mcp approval*")';
const untouched = async emacs => check(await emacs.eval(
    '(with-current-buffer "*scratch*" (buffer-modified-p))') === 'nil',
await emacs.text(SCRATCH));

const always = async emacs => {
    await emacs.see(/Allow always, in this project\?/);
    await emacs.until(HERE);
};

// Keys that work and are not in the legend: it has no room, or a better one.
const SILENT = ['v', 'Space', '?', 's', 'A'];

// The keys of a question, and what each of them leads to.
const ANSWERS = {
    y: emacs => decided(emacs, 1, 'approve'),
    n: emacs => decided(emacs, 1, 'deny'),
    S: emacs => decided(emacs, 1, 'stop'),
    s: emacs => decided(emacs, 1, 'stop'),
    N: async emacs => {
        await emacs.see(/Deny, because:/);
        await emacs.keys('C-g');
    },
    e: emacs => emacs.until(
        '(equal (buffer-name (window-buffer)) "*ecl-mcp edit #1*")'),
    '!': async emacs => {
        await emacs.see(/Allow until this server ends\?/);
        await settle(emacs);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    },
    '*': always,
    A: always,
    D: emacs => emacs.see(/Deny always, in this project\?/),
    v: emacs => emacs.until(HERE),
    q: emacs => emacs.see(/#1 waits; M-x ecl-mcp-review/),
    '?': emacs => emacs.see(/y +allow it, once/),
    Space: emacs => emacs.never(
        '(not (ecl-mcp-approval-prompt-request))', 0.5),
};

for (const [key, leads] of Object.entries(ANSWERS))
    test(`approval: ${key} in a question`, quick(), async emacs => {
        await emacs.eval('(setq last-command (quote forward-char))');
        await ask(emacs, 1, '(car x)');
        await question(emacs, 1, QUICK);
        const legend = (await emacs.screen()).split('\n').find(
            line => /^ y allow/.test(line)) ?? '';
        check(SILENT.includes(key) || legend.includes(`${key} `), legend);
        await emacs.keys(key);
        await leads(emacs);
        await untouched(emacs);
    });

test('approval: what a key says while a question is open is shown whole', quick(),
    async emacs => {
        await emacs.eval('(setq last-command (quote forward-char))');
        await ask(emacs, 1, '(car x)', ':remember :false');
        await question(emacs, 1, QUICK);
        // From the question to the window of the request, whose keys then count.
        await emacs.eval(`(progn (run-at-time 0 nil (lambda ()
            (select-window (get-buffer-window ecl-mcp-approval-buffer)))) nil)`);
        await emacs.until(HERE);
        await settle(emacs);
        await emacs.keys('!');
        await emacs.see(
            /^ ?No rule can allow this: a rule of the server says to ask each time/m);
        await emacs.see(/Allow once\?/);
        // Who puts it off there is not asked any more.
        await emacs.keys('C-g');
        await emacs.until('(= 0 (minibuffer-depth))');
        await emacs.until('(not (get-buffer-window ecl-mcp-approval-buffer))');
        await open(emacs, 1);
    });

for (const key of ['y', 'n'])
    test(`approval: ${key} pressed twice counts once, and never as text`, asking(
        '(setq ecl-mcp-typing--late 3)'),
        async emacs => {
            for (const [id, ms] of [[1, 100], [2, 250], [3, 380], [4, 600]]) {
                await ask(emacs, id, '(car x)');
                await question(emacs, id);
                await emacs.keys(key);
                await pause(ms);
                await emacs.keys(key);
                await decided(emacs, id, key === 'y' ? 'approve' : 'deny');
                await pause(300);
                await untouched(emacs);
                await emacs.until('(not overriding-terminal-local-map)');
            }
            await emacs.keys('C-a', key);
            await emacs.until(`(eq ?${key} (char-before))`);
        });

test('approval: q held down is never text', quick(POPUP), async emacs => {
    await ask(emacs, 1, '(car x)');
    await emacs.until(WINDOW);
    await review(emacs, QUICK);
    await emacs.now('q', 'q', 'q', 'q', 'q', 'q');
    await emacs.until(`(not ${HERE})`);
    await pause(300);
    await untouched(emacs);
    await open(emacs, 1);
});

test('approval: other keys in a question are ignored, and say so', asking(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs);
        for (const key of ['x', 'Enter', 'Tab', 'BSpace', '7', 'ü']) {
            await emacs.keys(key);
            await emacs.see(/Ignored .*: it is not an answer/);
            await emacs.see(/Allow once\? \(y or n\) *$/m); // not pushed away
            await emacs.eval('(ecl-mcp-approval-window-notice nil)');
        }
        await untouched(emacs);
        await emacs.now('y', 'Enter');
        await emacs.never('(ecl-mcp-test-decision 1)', 1);
        await untouched(emacs);
        await open(emacs, 1);
    });

test('approval: a rule that is offered can be accepted at once', quick(POPUP),
    async emacs => {
        let id = 0;
        for (const code of ['(car x)', '(car\n x)', '(cdr x)\n(car y)']) {
            await ask(emacs, ++id, code);
            await emacs.until(WINDOW);
            await review(emacs, QUICK);
            await emacs.keys('!');
            await emacs.see(/Allow until this server ends\?/);
            await settle(emacs);
            await emacs.keys('-');
            await emacs.see(/with exactly these arguments/);
            await settle(emacs);
            await emacs.keys('y');
            await decided(emacs, id, 'approve');
        }
    });

test('approval: a key after M-x ecl-mcp-review', asking(QUEUE), async emacs => {
    let id = 0;
    for (const ms of [900, 1300, 2300, 3000]) {
        await ask(emacs, ++id, '(car x)');
        await review(emacs, ms);
        await emacs.keys('y');
        await decided(emacs, id, 'approve');
    }
});

test('approval: a window that does not take keys says how to answer', quick(POPUP),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.see(/M-x ecl-mcp-review takes you here/);
        await emacs.unseen(/y allow/);
        await review(emacs, QUICK);
        await emacs.see(/y allow +n deny/);
        await emacs.keys('C-x', 'o');
        await emacs.see(/M-x ecl-mcp-review takes you here/);
        await emacs.eval(`(global-set-key (kbd "C-c m") #'ecl-mcp-review)`);
        await emacs.see(/C-c m takes you here/);
        await emacs.keys('C-c', 'm');
        await emacs.see(/y allow +n deny/);
    });

test('approval: evil has no say in our buffers', asking(QUEUE), async emacs => {
    if (await emacs.eval(`(progn
        (dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*"))
          (add-to-list 'load-path folder))
        (setq evil-want-keybinding nil)
        (and (require 'evil nil t) (progn (evil-mode 1) t)))`, 60) === 'nil') {
        console.log('skip: elpa-evil is not installed');
        return;
    }
    await ask(emacs, 1, '(car x)');
    await emacs.eval('(call-interactively #\'ecl-mcp-review)');
    await settle(emacs, GRACE + 200);
    await emacs.keys('y');
    await decided(emacs, 1, 'approve');
    for (const [mode, feature] of [['approval', 'approval'], ['review', 'review'],
        ['status', 'status'], ['permissions', 'permissions-list'], ['log', 'log'],
        ['output', 'output'], ['result', 'call-tool']])
        check(await emacs.eval(`(with-current-buffer (get-buffer-create "x")
            (require 'ecl-mcp-${feature})
            (ecl-mcp-${mode}-mode) evil-state)`) === 'emacs', mode);
    // Unless the user wants another state.
    check(await emacs.eval(`(with-current-buffer (get-buffer-create "x")
        (evil-set-initial-state 'ecl-mcp-review-mode 'motion)
        (ecl-mcp-review-mode) evil-state)`) === 'motion', 'motion');
    check(await decision(emacs, 1) === 'approve', 'decision');
});
