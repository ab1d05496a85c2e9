// SPDX-License-Identifier: GPL-3.0-or-later
// approval.mjs: approvals that come up while somebody does something else: no
// key answers a question that it was not meant for.
import { GRACE, SCRATCH, ask, asking, decided, empty, open, question,
    review, settle } from './asking.mjs';
import { check, pause, test } from './terminal.mjs';

// Keys that follow at once, such as the repeats of a held key, come late from a busy
// machine. The times in Emacs are longer by as much here.
const SLOW = '(setq ecl-mcp-approval-grace 5)';

test('approval: y allows, n denies, and other keys still work', asking(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs);
        await emacs.see(/known-pure +car/);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
        check(await emacs.text('(ecl-mcp-test-answer 1 (quote by))') === 'human',
            'by');
        await ask(emacs, 2, '(cdr x)');
        await question(emacs, 2);
        await emacs.keys('n');
        await decided(emacs, 2, 'deny');
        check(/Do not retry/.test(
            await emacs.text('(ecl-mcp-test-answer 2 (quote reason))')), 'reason');
        await emacs.until('(= 1 (length (window-list nil (quote no))))');
        await emacs.keys('x');
        await emacs.until('(eq ?x (char-before))');
    });

test('approval: a sentence with y in it answers nothing', asking(),
    async emacs => {
        await empty(emacs);
        await emacs.type('Why yes, ', 60);
        await ask(emacs, 1, '(delete-file "x")');
        const words = 'yesterday y y y many mysteries yielded, say yes; y n y ';
        await emacs.type(words, 60);
        await open(emacs, 1);
        const text = await emacs.text(SCRATCH);
        check(text === `Why yes, ${words}`, text);
        await emacs.never('(or (ecl-mcp-approval-prompt-request) (ecl-mcp-test-decision 1))', 2);
    });

test('approval: what is typed into a question goes nowhere', asking(SLOW),
    async emacs => {
        await empty(emacs);
        await ask(emacs, 1, '(delete-file "x")');
        await question(emacs);
        await emacs.type('yes, you may ', 50);
        await emacs.never(`(or (ecl-mcp-test-decision 1)
            (not (equal ${SCRATCH} "")))`, 5.5);
        await settle(emacs, GRACE);
        await emacs.keys('n');
        await decided(emacs, 1, 'deny');
    });

test('approval: a key held down answers one question at most', asking(SLOW),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await ask(emacs, 2, '(cdr x)');
        await question(emacs);
        for (let count = 0; count < 30; count++) {
            await emacs.now('y');
            await pause(30);
        }
        await settle(emacs, GRACE);
        await open(emacs, 1);
        await open(emacs, 2);
    });

test('approval: the repeat of a key does not answer the next request',
    asking(`(setq ecl-mcp-approval-style 'queue)`), async emacs => {
        await ask(emacs, 1, '(car x)');
        await ask(emacs, 2, '(cdr x)');
        await review(emacs);
        await emacs.see(/#1 .* 1 of 2/);
        await emacs.keys('y'); // pressed, and held from here
        await decided(emacs, 1, 'approve');
        await emacs.eval(SLOW);
        for (let count = 0; count < 20; count++) {
            await emacs.now('y');
            await pause(33);
        }
        await settle(emacs, GRACE);
        await open(emacs, 2);
        await emacs.keys('n');
        await decided(emacs, 2, 'deny');
    });

test('approval: two requests within 10 ms are asked one by one', asking(),
    async emacs => {
        await emacs.eval(`(progn (ecl-mcp-test-code 1 "(car x)")
            (ecl-mcp-test-code 2 "(cdr x)"))`);
        await emacs.see(/MCP:2/);
        await question(emacs);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
        await open(emacs, 2);
        await question(emacs, 2);
        await emacs.keys('y');
        await decided(emacs, 2, 'approve');
        await emacs.unseen(/MCP:/);
    });

test('approval: nothing is asked while M-x is open', asking(), async emacs => {
    await emacs.keys('M-x');
    await emacs.see(/^M-x/m);
    await ask(emacs, 1, '(car x)');
    await emacs.never('(or (ecl-mcp-approval-prompt-request) (get-buffer-window "*ecl-mcp approval*"))', 2.5);
    await emacs.keys('y');
    await emacs.see(/^M-x y$/m);
    await emacs.keys('C-g');
    await question(emacs);
    await emacs.keys('C-g');
    await emacs.until('(not (ecl-mcp-approval-prompt-request))');
    await open(emacs, 1);
});

for (const [name, begin, end] of [
    ['isearch', ['C-s'], 'C-g'],
    ['a quoted key', ['C-q'], ['a', 'C-a']],
    ['half a key', ['C-x'], 'C-g'],
    ['a prefix argument', ['C-u'], 'C-g'],
    ['help', ['C-h'], 'C-g'],
    ['a replacement', ['M-<', 'M-%', 'T', 'Enter', 'y', 'Enter'], 'q'],
    ['a macro being defined', ['C-x', '('], 'C-g'],
    ['a recursive edit', ['M-:', { text: '(recursive-edit)' }, 'Enter'], 'C-]'],
]) {
    test(`approval: nothing is asked in ${name}`, asking(), async emacs => {
        await emacs.keys(...begin);
        await ask(emacs, 1, '(car x)');
        await emacs.never('(or (ecl-mcp-approval-prompt-request) (get-buffer-window "*ecl-mcp approval*"))', 2.2);
        await emacs.keys(...[end].flat());
        await question(emacs);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    });
}

test('approval: nothing is asked without the focus', asking(), async emacs => {
    await emacs.focus(false);
    await emacs.until('(not (frame-focus-state))');
    await ask(emacs, 1, '(car x)');
    await emacs.never('(ecl-mcp-approval-prompt-request)', 2.5);
    await emacs.focus(true);
    await question(emacs);
    await emacs.focus(false);
    await emacs.until('(not (frame-focus-state))');
    await emacs.keys('y');
    await emacs.never('(ecl-mcp-test-decision 1)', 1);
});

test('approval: keys from a program answer nothing', asking(), async emacs => {
    await ask(emacs, 1, '(car x)');
    await question(emacs);
    await emacs.eval('(progn (push ?y unread-command-events) nil)');
    await emacs.never('(ecl-mcp-test-decision 1)', 1);
    await emacs.eval('(progn (run-at-time 0 nil (lambda () (execute-kbd-macro "y"))) nil)');
    await emacs.never('(ecl-mcp-test-decision 1)', 1);
    await emacs.keys('C-g');
    await review(emacs);
    await emacs.eval('(progn (push ?y unread-command-events) nil)');
    await emacs.never('(ecl-mcp-test-decision 1)', 1);
    await emacs.eval('(progn (run-at-time 0 nil (lambda () (execute-kbd-macro "y"))) nil)');
    await emacs.never('(ecl-mcp-test-decision 1)', 1);
    await emacs.keys('y');
    await decided(emacs, 1, 'approve');
});

test('approval: C-g postpones, and the question does not come up again', asking(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs);
        await emacs.keys('C-g');
        await emacs.until('(not (ecl-mcp-approval-prompt-request))');
        await emacs.never('(ecl-mcp-approval-prompt-request)', 2.5);
        await open(emacs, 1);
        await emacs.see(/MCP:1/);
    });

test('approval: a withdrawn request leaves the screen', asking(
    '(setq ecl-mcp-typing--late 4)'), async emacs => {
    await ask(emacs, 1, '(car x)');
    await question(emacs);
    await emacs.eval(`(ecl-mcp-test-send '((method . "withdraw")
        (params . ((id . 1) (reason . "cancelled")))))`);
    await emacs.until('(and (not (ecl-mcp-approval-prompt-request)) (= 0 (minibuffer-depth)))');
    await emacs.unseen(/Allow once/);
    await emacs.unseen(/MCP:/);
    await emacs.see(/ecl-mcp: #1 no longer waits: cancelled/);
    // A key that was meant for it is not text.
    await emacs.keys('y', 'n');
    await emacs.see(/Ignored n: #1 no longer waits/);
    await emacs.keys('x', 'y');
    await emacs.until('(looking-back "xy" 1)');
    check(!/ny|yx/.test(await emacs.text(SCRATCH)), 'the buffer');
});

test('approval: a request that is lost in a window says why', asking(
    "(setq ecl-mcp-approval-style 'popup)"), async emacs => {
    await ask(emacs, 1, '(car x)');
    await emacs.see(/#1 · /);
    await emacs.eval(`(ecl-mcp-test-send '((method . "withdraw")
        (params . ((id . 1) (reason . "the client\ndied")))))`);
    await emacs.unseen(/#1 · /);
    await emacs.see(/ecl-mcp: #1 no longer waits: the client.*died/);
});

test('approval: the end must have been on the screen', asking(), async emacs => {
    await ask(emacs, 1, `(car x)${'\n'.repeat(300)}(delete-file "x")`);
    await emacs.see(/file +delete-file/);
    await emacs.never('(ecl-mcp-approval-prompt-request)', 2);
    await review(emacs);
    await emacs.keys('y');
    await emacs.see(/SPC to see the rest \(\d\d\d lines\)/);
    for (let count = 0; count < 60; count++) {
        await emacs.keys('Space');
        if (/delete-file "x"/.test(await emacs.screen()))
            break;
    }
    await emacs.see(/\(delete-file "x"\)/);
    await settle(emacs, GRACE);
    await open(emacs, 1);
    await emacs.keys('y');
    await decided(emacs, 1, 'approve');
});

test('approval: N asks for the reason', asking(), async emacs => {
    await ask(emacs, 1, '(car x)');
    await question(emacs);
    await emacs.keys('N');
    await emacs.see(/Deny, because:/);
    await emacs.type('use cdr instead');
    await emacs.keys('Enter');
    await decided(emacs, 1, 'deny');
    const reason = await emacs.text('(ecl-mcp-test-answer 1 (quote reason))');
    check(reason === 'use cdr instead', reason);
});
