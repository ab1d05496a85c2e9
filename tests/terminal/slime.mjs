// SPDX-License-Identifier: GPL-3.0-or-later
// slime.mjs: the keys that users of SLIME know, in a file of Lisp.  The manual's
// table of them names no other key: tests/elisp/test-manual.el compares.
import fs from 'node:fs';
import path from 'node:path';
import { check, lisp, test } from './terminal.mjs';

const options = {
    load: ['subr-x', 'ecl-mcp'],
    form: `(progn (make-directory (setq ecl-mcp-workspace
        (expand-file-name "work" (getenv "HOME")))) (setq ecl-mcp-activate-function (quote ignore)))`,
};

// FORM in the buffer of the selected window.
const here = form => `(with-current-buffer (window-buffer) ${form})`;

const line = emacs => emacs.text(here(
    '(buffer-substring (line-beginning-position) (line-end-position))'));

// A file of Lisp with TEXT, point at its end.
async function visit(emacs, text, name = 'code.lisp') {
    const file = path.join(emacs.home, 'work', name);
    fs.writeFileSync(file, text);
    await emacs.eval(`(progn (find-file ${lisp(file)}) (ecl-mcp-mode)
        (goto-char (point-max)) t)`);
    await emacs.until(here('(and (derived-mode-p (quote lisp-mode)) ecl-mcp-mode)'));
}

// The same, loaded.
async function load(emacs, text) {
    await visit(emacs, text);
    await emacs.keys('C-c', 'C-l', 'Enter');
    await emacs.see(/^Loaded: .*code\.lisp/m);
}

// Puts point at the end of TEXT, from the beginning.
async function find(emacs, text) {
    await emacs.eval(here(`(progn (goto-char (point-min))
        (search-forward ${lisp(text)}) (set-window-point nil (point)) t)`));
}

const calls = `(defpackage :keys (:use :cl))
(in-package :keys)
(defvar *seen* 0)
(defun helper (x) (incf *seen*) (list x))
(defun user (x) (helper x))
(defun other (x) (user (helper x)))
`;

test('slime: M-. and M-,', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun user (x) (hel');
    await emacs.keys('M-.');
    await emacs.until(here('(looking-at-p "(defun helper")'));
    await emacs.keys('M-,');
    check(/defun user/.test(await line(emacs)), 'back');
});

test('slime: M-?', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun hel');
    await emacs.keys('M-?');
    await emacs.see(/references/i);
    await emacs.keys('Enter');
    await emacs.see(/KEYS::USER \(function\)/);
    await emacs.see(/KEYS::OTHER \(function\)/);
});

test('slime: C-c C-w c, C-c <', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun use');
    await emacs.keys('C-c', 'C-w', 'c', 'Enter');
    await emacs.see(/KEYS::OTHER \(function\)/);
    await emacs.keys('C-x', '1');
    await emacs.eval('(progn (switch-to-buffer "code.lisp") t)');
    await find(emacs, '(defun hel');
    await emacs.keys('C-c', '<', 'Enter');
    await emacs.see(/KEYS::USER \(function\)/);
});

test('slime: C-c C-w w, C-c >', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun othe');
    await emacs.keys('C-c', 'C-w', 'w', 'Enter');
    await emacs.see(/KEYS::USER \(function\)/);
    await emacs.keys('C-x', '1');
    await emacs.eval('(progn (switch-to-buffer "code.lisp") t)');
    await find(emacs, '(defun othe');
    await emacs.keys('C-c', '>', 'Enter');
    await emacs.see(/KEYS::HELPER \(function\)/);
});

test('slime: C-c C-w r', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defvar *see');
    await emacs.keys('C-c', 'C-w', 'r', 'Enter');
    await emacs.see(/KEYS::HELPER \(function\) reads, sets/);
});

const noted = `(defpackage :noted (:use :cl))
(in-package :noted)
(defun square (x) (* x x))
(defun user (y)
  (let ((unused 1))
    (no-such-thing y)))
(defun wrong () (car 1 2))
`;

test('slime: C-c C-c, M-n, M-p', options, async emacs => {
    await visit(emacs, noted);
    await find(emacs, '(defun squ');
    await emacs.eval(here('(progn (goto-char (point-min)) t)'));
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/^=> #<"NOTED" package>$/m);
    await find(emacs, '(defun us');
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/^1 warning, 1 note \(M-n goes there\)\. => USER/m);
    // marks in the margin, since a terminal has no fringe
    await emacs.see(/^! +\(let \(\(unused 1\)\)$/m);
    await emacs.eval(here('(progn (goto-char (point-min)) (set-window-point nil 1) t)'));
    await emacs.keys('M-n');
    await emacs.see(/^Removing unused variable UNUSED/m);
    await emacs.keys('M-n');
    await emacs.see(/^Undefined function .*NO-SUCH-THING/m);
    await emacs.keys('M-p');
    await emacs.see(/^Removing unused variable UNUSED/m);
    // repaired: no notes, no margin
    await emacs.eval(here(`(progn (goto-char (point-min))
        (search-forward "(no-such-thing y)") (replace-match "(square unused y)")
        (search-forward ")") t)`));
    await emacs.eval(here(`(progn (goto-char (point-min))
        (search-forward "(square unused y)") (replace-match "(list unused y)") t)`));
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/^=> USER$/m);
    await emacs.see(/^ {2}\(let \(\(unused 1\)\)$/m);
});

test('slime: C-c C-k, M-g n, C-c M-c', options, async emacs => {
    await visit(emacs, noted);
    await emacs.keys('C-c', 'C-k');
    await emacs.see(/^ecl-mcp: 1 error, 2 warnings, 1 note; nothing was defined/m);
    await emacs.eval(here('(progn (goto-char (point-min)) (set-window-point nil 1) t)'));
    await emacs.keys('M-g', 'n');
    await emacs.until(here('(looking-at-p "unused")'));
    await emacs.keys('M-g', 'n', 'M-g', 'n');
    await emacs.until(here('(looking-at-p "car 1 2")'));
    await emacs.keys('Delete', 'Delete', 'Delete', 'Delete', 'Delete', 'Delete', 'Delete');
    await emacs.type('list 1 2');
    await emacs.keys('C-c', 'C-k');
    await emacs.see(/Save code\.lisp first\?/);
    await emacs.keys('y');
    await emacs.see(/^1 warning, 1 note \(M-n goes there\)\. Loaded: /m);
    await emacs.see(/^code\.lisp:6: warning: Undefined function/m);
    await emacs.keys('C-c', 'M-c');
    await emacs.until('(not (get-buffer-window "*ecl-mcp notes*"))');
    await emacs.until(here('(null (ecl-mcp-notes-overlays))'));
});

test('slime: C-c M-k', options, async emacs => {
    await visit(emacs, noted.replace('(car 1 2)', '1'));
    await emacs.keys('C-c', 'M-k');
    await emacs.see(/^ecl-mcp: 1 warning, 1 note; nothing was defined$/m);
});

test('slime: C-c C-l and an error that is a place', options, async emacs => {
    await visit(emacs, '(defun fine () 1)\n\n(error "No.")\n(fine)\n');
    await emacs.keys('C-c', 'C-l', 'Enter');
    await emacs.see(/^In form 2 of .*code\.lisp, line 3; /m);
    await emacs.eval(here('(progn (goto-char (point-min)) (set-window-point nil 1) t)'));
    await emacs.keys('M-g', 'n');
    await emacs.until(here('(looking-at-p "(error")'));
    await emacs.keys('C-k', 'C-c', 'C-l', 'Enter', 'y');
    await emacs.see(/^Loaded: /m);
    // the window of the error goes away
    await emacs.until('(not (get-buffer-window "*ecl-mcp error*"))');
});
