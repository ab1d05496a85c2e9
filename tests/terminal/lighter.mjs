// SPDX-License-Identifier: GPL-3.0-or-later
// lighter.mjs: what the mode lines say, in wide and in narrow windows.
import { ask, quick } from './asking.mjs';
import { check, test } from './terminal.mjs';

const QUEUE = `(setq ecl-mcp-approval-style 'queue) (require 'ecl-mcp-lighter)
    (ecl-mcp-lighter-activate)`;
const counters = async emacs =>
    ((await emacs.screen()).match(/MCP:1/g) ?? []).length;

test('lighter: each mode line shows what waits, also a narrow one', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.see(/MCP:1/);
        check(await counters(emacs) === 1, 'not once');
        await emacs.keys('C-x', '3');
        await emacs.until('(= 2 (length (window-list)))');
        await emacs.see(/MCP:1 .*MCP:1 /);
        check(await counters(emacs) === 2, 'not once in each');
        await emacs.keys('C-x', '1');
        await emacs.eval('(progn (ecl-mcp-lighter-deactivate) t)');
        check(await emacs.eval(`(string-match-p "lighter"
            (format "%s" (default-value 'mode-line-frame-identification)))`) ===
            'nil', 'it stays');
    });

test('lighter: a buffer of Lisp and the REPL name their session',
    { load: ['subr-x', 'ecl-mcp'], form: `(progn (make-directory
        (setq ecl-mcp-workspace (expand-file-name "work" (getenv "HOME"))))
        (setq ecl-mcp-activate-function 'ignore ecl-mcp-eval-session "trial"))` },
    async emacs => {
        await emacs.eval(`(progn (find-file (expand-file-name "a.lisp"
            ecl-mcp-workspace)) (ecl-mcp-mode) t)`);
        await emacs.see(/MCP\[trial\]/);
        check(/Session trial of the Lisp of this Emacs, which the first/.test(
            await emacs.text('(ecl-mcp-lighter--tip "trial")')), 'the tip');
        await emacs.keys('C-c', 'C-z');
        await emacs.see(/ECL-REPL\[trial\]/);
        check(/of this Emacs, in ~\/work\//.test(
            await emacs.text('(ecl-mcp-lighter--tip "trial")')), 'the folder');
    });
