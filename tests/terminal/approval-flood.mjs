// SPDX-License-Identifier: GPL-3.0-or-later
// approval-flood.mjs: requests that end while Emacs is busy, floods of them, and
// timers that are lost. Afterwards the next request is asked and answered.
import { GRACE, QUICK, ask, asking, decided, question, quick, review,
    settle } from './asking.mjs';
import { check, pause, test } from './terminal.mjs';

const HERE = '(equal (buffer-name (window-buffer)) "*ecl-mcp approval*")';
const LIMIT = 64; // as ecl-mcp-requests-limit
const END = {
    denied: '(ecl-mcp-deny (car ecl-mcp-requests))',
    withdrawn: `(ecl-mcp-test-send '((method . "withdraw")
        (params . ((id . 1) (reason . "gone")))))`,
    lost: '(ecl-mcp-request-lose ecl-mcp-test-core "closed")',
};
const busy = (seconds, form) => `(let ((end (+ ${seconds} (float-time))))
    (while (< (float-time) end)) ${form} nil)`;

// Approvals still work: a request is asked about, and its answer counts.
async function alive(emacs, id) {
    await emacs.until('(and (not (ecl-mcp-approval-prompt-request)) (= 0 (minibuffer-depth)))');
    await emacs.until('(not overriding-terminal-local-map)');
    await emacs.until('(null ecl-mcp-requests)');
    await emacs.until('(not ecl-mcp-approval--timer)'); // nothing is left
    await emacs.keys('C-a');
    await ask(emacs, id, '(cdr x)');
    await emacs.until(`(and (ecl-mcp-approval-prompt-request)
        (equal ${id} (ecl-mcp-request-id (ecl-mcp-approval-prompt-request))))`);
    await settle(emacs, GRACE);
    await emacs.keys('y');
    await decided(emacs, id, 'approve');
}

for (const [name, form] of Object.entries(END))
    for (const [when, make] of [
        ['after Emacs was busy', () => busy(0.6, form)],
        ['before Emacs is busy', () => `(progn ${form} ${busy(0.6, 'nil')})`],
        ['in a timer while Emacs is busy', () =>
            `(progn (run-at-time 0.3 nil (lambda () ${form})) ${busy(0.6, 'nil')})`],
    ])
        test(`approval: a request is ${name} ${when}`, asking(), async emacs => {
            await ask(emacs, 1, '(car x)');
            await question(emacs);
            await emacs.eval(make());
            await alive(emacs, 2);
        });

for (const ms of [0, 200, 350])
    test(`approval: Emacs is busy ${ms} ms after an answer`, asking(), async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs);
        await emacs.keys('y');
        await emacs.until('(or ecl-mcp-typing--answer-timer (ecl-mcp-test-decision 1))');
        await pause(ms);
        await emacs.eval(busy(0.6, 'nil'));
        await decided(emacs, 1, 'approve');
        await alive(emacs, 2);
    });

const flood = emacs => emacs.eval(`(dotimes (n ${LIMIT})
    (ecl-mcp-test-code (1+ n) (format "(car x%d)" n)))`);
const all = async (emacs, wanted) => {
    await emacs.until('(null ecl-mcp-requests)');
    const decisions = await emacs.eval(`(delete-dups (cl-loop for id from 1 to ${LIMIT}
        collect (ecl-mcp-test-decision id)))`);
    check(decisions === `("${wanted}")`, decisions);
};

for (const [name, act] of [
    ['s in the question', async emacs => {
        await question(emacs);
        await emacs.keys('s');
        await all(emacs, 'stop');
    }],
    ['M-x ecl-mcp-review, s', async emacs => {
        await question(emacs);
        await emacs.keys('C-g');
        await review(emacs);
        await emacs.keys('s');
        await all(emacs, 'stop');
    }],
    ['s in the window while the question is open', async emacs => {
        await question(emacs);
        await emacs.keys('F9');
        await emacs.until(HERE);
        await settle(emacs, GRACE);
        await emacs.keys('s');
        await all(emacs, 'stop');
    }],
    ['s, and Emacs is busy', async emacs => {
        await question(emacs);
        await emacs.keys('F9');
        await emacs.until(HERE);
        await settle(emacs, GRACE);
        await emacs.keys('s');
        await pause(100);
        await emacs.eval(busy(1.2, 'nil'));
        await all(emacs, 'stop');
    }],
    ['C-g puts all of them off', async emacs => {
        await question(emacs);
        await emacs.keys('C-g');
        await emacs.see(new RegExp(`${LIMIT} requests wait; `));
        await emacs.never('(ecl-mcp-approval-prompt-request)', 2.5);
        await review(emacs);
        await emacs.keys('S');
        await all(emacs, 'stop');
    }],
    ['C-g, then an end while Emacs is busy', async emacs => {
        await question(emacs);
        await emacs.keys('C-g');
        await emacs.eval(busy(1, END.lost));
        await emacs.until('(null ecl-mcp-requests)');
    }],
    ['an end while Emacs is busy, then C-g and s', async emacs => {
        await question(emacs);
        const ends = emacs.eval(busy(1, END.lost));
        await emacs.now('s', 'C-g');
        await ends;
        await emacs.until('(null ecl-mcp-requests)');
    }],
    ['all are withdrawn, one by one, from the window', async emacs => {
        await review(emacs);
        for (let id = 1; id <= LIMIT; id++)
            await emacs.eval(`(ecl-mcp-test-send '((method . "withdraw")
                (params . ((id . ${id}) (reason . "gone")))))`);
        await emacs.keys('q');
    }],
])
    test(`approval: a flood of ${LIMIT} requests: ${name}`, asking(
        `(global-set-key [f9] #'ecl-mcp-review)`), async emacs => {
        await flood(emacs);
        await act(emacs);
        await alive(emacs, 100);
    });

test('approval: the timer of another package survives the end of a question', asking(`
    (defvar test-count 0)
    (run-at-time 0.3 0.3 (lambda ()
      (setq test-count (1+ test-count)) (sleep-for 0.2)))`), async emacs => {
    for (const [id, end] of [[1, END.withdrawn], [2, null], [3, null]]) {
        await ask(emacs, id, '(car x)');
        await question(emacs, id);
        if (end)
            await emacs.eval(end);
        else
            await emacs.keys('y');
        await emacs.until('(not (ecl-mcp-approval-prompt-request))');
        await emacs.keys('C-a');
        const count = await emacs.eval('test-count');
        await emacs.until(`(> test-count (+ 2 ${count}))`);
    }
});

test('approval: a timer that was lost is noticed', quick(), async emacs => {
    await ask(emacs, 1, '(car x)');
    await question(emacs, 1, QUICK);
    await emacs.eval('(progn (cancel-timer ecl-mcp-approval--timer) nil)');
    await emacs.keys('C-g'); // a key, or the next request
    await emacs.until('(memq ecl-mcp-approval--timer timer-list)');
    await emacs.eval('(progn (cancel-timer ecl-mcp-approval--timer) nil)');
    await ask(emacs, 2, '(cdr x)');
    await emacs.until('(ecl-mcp-approval-prompt-request)');
    await settle(emacs);
    await emacs.keys('y');
    await decided(emacs, 2, 'approve');
});
