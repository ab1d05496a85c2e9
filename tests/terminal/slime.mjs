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
