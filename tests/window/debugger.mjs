// SPDX-License-Identifier: GPL-3.0-or-later
// debugger.mjs: a frozen error by mouse: frames, values, restarts, menus.
import fs from 'node:fs';
import path from 'node:path';
import { lisp, pause, test } from '../terminal/terminal.mjs';

const DOUBLE = 700; // ms after which two clicks are no double click
const DEBUGGER = '*ecl-mcp debugger*';
const INSPECTOR = '*ecl-mcp inspector*';
const shows = (emacs, buffer, text) => emacs.until(
    `(and (get-buffer-window ${lisp(buffer)}) (ecl-mcp-test-place ${lisp(text)} ${lisp(buffer)}))`);

test('window: the debugger by mouse', {
    width: 100, height: 52, load: ['subr-x', 'ecl-mcp', 'ecl-mcp-debugger'],
    form: `(progn (make-directory (setq ecl-mcp-workspace
        (expand-file-name "work" (getenv "HOME"))))
      (context-menu-mode 1)
      (setq ecl-mcp-activate-function 'ignore split-height-threshold 20
            split-width-threshold nil))`,
}, async emacs => {
    const file = path.join(emacs.home, 'work', 'code.lisp');
    fs.writeFileSync(file, `(defstruct box in)
(defun inner (box) (let ((twice (list box box))) (+ (box-in box) (length twice))))
(defun outer (n) (list :got (inner (make-box :in (list n "deep")))))
(outer 5)`);
    await emacs.eval(`(progn (find-file ${lisp(file)}) (ecl-mcp-mode) t)`);
    await emacs.keys('ctrl+c', 'ctrl+l', 'Return');
    await emacs.until('(get-buffer-window "*ecl-mcp error*")');
    // The button of the error opens the debugger.
    await emacs.click('Frozen as error', '*ecl-mcp error*');
    await shows(emacs, DEBUGGER, '[Backtrace]');
    await emacs.eval(`(progn (pop-to-buffer ${lisp(DEBUGGER)}) (delete-other-windows)
        (goto-char (point-min)) (set-window-start nil (point-min)) t)`);
    await shows(emacs, DEBUGGER, 'TWICE = ');
    await emacs.picture('debugger');
    // A frame shows its variables.
    const folded = `(with-current-buffer ${lisp(DEBUGGER)} (save-excursion
        (goto-char (point-min)) (search-forward "     N = 5") (invisible-p (1- (point)))))`;
    await emacs.until(folded);
    await emacs.click(': (OUTER', DEBUGGER);
    await emacs.until(`(not ${folded})`);
    await pause(DOUBLE);
    // A variable is inspected, and its parts are.
    await emacs.click('     BOX', DEBUGGER);
    await shows(emacs, INSPECTOR, 'IN: ');
    await emacs.picture('inspector');
    await pause(DOUBLE);
    await emacs.click('IN: ', INSPECTOR);
    await shows(emacs, INSPECTOR, '1: "deep"');
    await pause(DOUBLE);
    // The context menu of the debugger: its first command takes the restart.
    await emacs.click('0: RETRY', DEBUGGER, 3);
    await pause(300);
    await emacs.picture('debugger-context-menu', true);
    await emacs.keys('Escape');
    await pause(DOUBLE);
    await emacs.click('1: RETURN-FORM', DEBUGGER);
    await emacs.until('(active-minibuffer-window)');
    await emacs.type('(list 1 2)');
    await emacs.keys('Return');
    await shows(emacs, DEBUGGER, '[Outcome of RETURN-FORM]');
    await emacs.picture('outcome');
});
