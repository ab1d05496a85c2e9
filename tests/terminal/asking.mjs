// SPDX-License-Identifier: GPL-3.0-or-later
// asking.mjs: what tests of approvals in a terminal share: a core that asks,
// and what became of its requests.
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, check, lisp, pause } from './terminal.mjs';

// Options of a Terminal with that core, in which FORM is evaluated afterwards.
export const asking = (form = 'nil') => ({ form: `(progn (load ${lisp(path.join(
    ROOT, 'tests/terminal/asking.el'))} nil t) ${form})` });

// The same for tests that are not about times: a machine that is busy for a moment
// makes no key come late.
export const QUICK = 200; // ms, a little more than the grace of these tests
export const quick = (form = 'nil') => asking(
    `(setq ecl-mcp-approval-idle 0.3 ecl-mcp-approval-grace 0.15
        ecl-mcp-typing--pulse-pause 5) ${form}`);

// Pauses for MS, and until a key counts if MS is meant to be that long.
export async function settle(emacs, ms = QUICK) {
    await pause(ms);
    if (ms >= QUICK)
        await emacs.until('(ecl-mcp-test-settled-p)');
}

export const GRACE = 500; // ms, a little more than the time in which no key counts
export const SCRATCH = '(with-current-buffer "*scratch*" (buffer-string))';

export const ask = (emacs, id, code, more = '') =>
    emacs.eval(`(ecl-mcp-test-code ${id} ${lisp(code)} ${more})`);
// Emacs may be busy for long: with the list of all commands, say, for a ? in M-x.
export const decision = (emacs, id) => emacs.text(`(ecl-mcp-test-decision ${id})`, 60);

export async function decided(emacs, id, wanted) {
    await emacs.until(`(ecl-mcp-test-decision ${id})`);
    const is = await decision(emacs, id);
    check(is === wanted, `${id} is ${is}, not ${wanted}`);
}

export async function open(emacs, id) {
    const is = await decision(emacs, id);
    check(is === '', `${id} is ${is}, not open`);
}

// Runs BODY while Emacs is busy after FORM, and hears no timer and no key. However
// long BODY takes, Emacs is busy when it ends.
let busyness = 0;
export async function whileBusy(emacs, form, body) {
    const end = path.join(emacs.home, `end-${++busyness}`);
    const busy = emacs.eval(`(progn ${form} (redisplay) (ecl-mcp-test-title ${lisp(end)})
        (call-process "sh" nil nil nil "-c"
          ${lisp(`until [ -e '${end}' ]; do sleep 0.02; done`)}) nil)`, 120);
    try {
        await emacs.titled(end);
        await body();
    } finally {
        fs.writeFileSync(end, '');
    }
    await busy;
}

export async function empty(emacs) {
    await emacs.keys('M-<', 'C-Space', 'M->', 'C-w');
}

// Waits for the question about ID and past the moment in which no key counts.
export async function question(emacs, id = 1, grace = GRACE) {
    await emacs.until(`(and (ecl-mcp-approval-prompt-request)
        (= ${id} (ecl-mcp-request-number (ecl-mcp-approval-prompt-request))))`);
    await emacs.see(/claude 1\.0 in \S+ wants evaluate-lisp.*Allow once\?/);
    await settle(emacs, grace);
}

// Goes to the buffer of approvals, and past that moment.
export async function review(emacs, grace = GRACE) {
    await emacs.keys('M-x');
    await emacs.type('ecl-mcp-review');
    await emacs.keys('Enter');
    await emacs.until(
        '(equal (buffer-name (window-buffer)) "*ecl-mcp approval*")');
    await settle(emacs, grace);
}
