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

test('slime: M-., M-,', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun user (x) (hel');
    await emacs.keys('M-.');
    await emacs.until(here('(looking-at-p "(defun helper")'));
    await emacs.keys('M-,');
    check(/defun user/.test(await line(emacs)), 'back');
});

test('slime: M-?, M-_', options, async emacs => {
    await load(emacs, calls);
    for (const key of ['M-?', 'M-_']) {
        await emacs.eval('(progn (switch-to-buffer "code.lisp") (delete-other-windows) t)');
        await find(emacs, '(defun hel');
        await emacs.keys(key);
        await emacs.see(/references/i);
        await emacs.keys('Enter');
        await emacs.see(/KEYS::USER \(function\)/);
        await emacs.see(/KEYS::OTHER \(function\)/);
    }
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

test('slime: C-c C-w r, C-c C-w s, C-c C-w b', options, async emacs => {
    await load(emacs, calls);
    for (const key of ['r', 's', 'b']) {
        await find(emacs, '(defvar *see');
        await emacs.keys('C-c', 'C-w', key, 'Enter');
        await emacs.see(/KEYS::HELPER \(function\) reads, sets/);
        await emacs.keys('C-x', '1');
        await emacs.eval('(progn (switch-to-buffer "code.lisp") t)');
        await emacs.unseen(/reads, sets/);
    }
});

test('slime: C-c C-w m', options, async emacs => {
    await load(emacs, calls.replace('(list x))', '(when x (list x)))'));
    await find(emacs, '(whe');
    await emacs.keys('C-c', 'C-w', 'm', 'Enter');
    await emacs.see(/KEYS::HELPER \(function\)/);
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

test('slime: C-c C-c before the package exists', options, async emacs => {
    await visit(emacs, '(in-package :nowhere)\n(defun user (y) (no-such-thing y))\n');
    await emacs.keys('C-c', 'C-c');
    await emacs.see(
        /^; NOWHERE does not exist yet \(C-c C-k loads the file\): this is CL-USER$/m);
    await emacs.see(/^1 warning \(M-n goes there\)\. => USER$/m);
});

test('slime: keys right after C-c C-c see what it defines', options, async emacs => {
    await visit(emacs, '(defun tell () 0)\n\n(tell)');
    for (let round = 1; round < 8; round++) {
        await emacs.eval(here(`(progn (goto-char (point-min))
            (search-forward "tell () ") (delete-char 1) (insert "${round}")
            (set-window-point nil (point)) t)`));
        // all at once, as by a macro
        await emacs.keys('C-c', 'C-c', 'M->', 'C-x', 'C-e', 'C-c', ':',
            { text: `(list ${round} (tell))` }, 'Enter');
        await emacs.see(new RegExp(`^=> \\(${round} ${round}\\)$`, 'm'));
        await emacs.until(`(with-current-buffer "*Messages*" (save-excursion
            (goto-char (point-max)) (re-search-backward "^=> ${round}$" nil t)))`);
    }
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

test('slime: C-c C-l', options, async emacs => {
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

test('slime: C-M-x, C-x C-e, C-c C-r, C-c :, C-c C-e', options, async emacs => {
    await visit(emacs, '(defun twice (x) (* 2 x))\n');
    await emacs.keys('C-M-x');
    await emacs.see(/^=> TWICE$/m);
    await emacs.type('(twice 21)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> 42$/m);
    await emacs.eval('(progn (push-mark (line-beginning-position) t t) t)');
    await emacs.type('(twice 4)');
    await emacs.keys('C-c', 'C-r');
    await emacs.see(/^=> 8$/m);
    await emacs.keys('C-c', ':');
    await emacs.type('(twice 5)');
    await emacs.keys('Enter');
    await emacs.see(/^=> 10$/m);
    await emacs.keys('C-c', 'C-e');
    await emacs.type('(twice 6)');
    await emacs.keys('Enter');
    await emacs.see(/^=> 12$/m);
});

test('slime: C-c C-p', options, async emacs => {
    await visit(emacs, `(list 'defun 'f '(a) '(let ((b (list a))) (list b)))`);
    await emacs.keys('C-c', 'C-p');
    await emacs.see(/^\(DEFUN F \(A\)\n {2}\(LET \(\(B \(LIST A\)\)\)\n {4}\(LIST B\)\)\)$/m);
    await emacs.type(' (car 1)');
    await emacs.keys('C-c', 'C-p');
    await emacs.see(/^\[ERROR\] \S*TYPE-ERROR/m);
});

test('slime: C-c C-y', options, async emacs => {
    await load(emacs, `${calls}(defun (setf size) (new of) (list new of))`);
    await find(emacs, '(defun user (x)');
    await emacs.keys('C-c', 'C-y');
    await emacs.see(/^CL-USER> \(keys::user \)$/m);
    await emacs.type("'a");
    await emacs.keys('C-e', 'Enter');
    await emacs.see(/^=> \(A\)$/m);
    // In its package, without a prefix.
    await emacs.eval('(progn (switch-to-buffer "code.lisp") (delete-other-windows) t)');
    await emacs.keys('M->', 'C-c', '~');
    await emacs.see(/^KEYS> *$/m);
    await emacs.eval('(progn (switch-to-buffer "code.lisp") (delete-other-windows) t)');
    await emacs.keys('C-c', 'C-y');
    await emacs.see(/^KEYS> \(setf \(size \) \)$/m);
    await emacs.eval('(progn (switch-to-buffer "code.lisp") (delete-other-windows) t)');
    await find(emacs, 'defvar');
    await emacs.keys('C-c', 'C-y');
    await emacs.see(/^This defines no function$/m);
});

test('slime: C-c C-w a', options, async emacs => {
    await load(emacs, `(defclass shape () ())
(defmethod area ((of shape)) 1)
(defmethod grow ((of shape) by) by)`);
    await find(emacs, 'defclass sha');
    await emacs.keys('C-c', 'C-w', 'a', 'Enter');
    await emacs.see(/^2 methods specialized on SHAPE$/m);
    await emacs.see(/^- AREA \(\(OF SHAPE\)\)$/m);
});

test('slime: C-c C-d d, C-c C-d a, C-c C-d p', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun hel');
    await emacs.keys('C-c', 'C-d', 'd', 'Enter');
    await emacs.see(/^KEYS::HELPER \[function\]/m);
    await emacs.keys('C-c', 'C-d', 'a', 'Enter');
    await emacs.see(/^\d+ found$/m);
    await emacs.keys('C-c', 'C-d', 'p', 'Enter');
    await emacs.until('(get-buffer-window "*ecl-mcp package*")');
});

test('slime: C-c C-d h', options, async emacs => {
    await visit(emacs, '(mapcar');
    await emacs.eval(`(progn (defun common-lisp-hyperspec (name)
        (message "The page of %s" name)) t)`);
    await emacs.keys('C-c', 'C-d', 'h', 'Enter');
    await emacs.see(/^The page of mapcar$/m);
});

test('slime: C-c C-d ~, C-c C-d #, C-c C-d g', options, async emacs => {
    await visit(emacs, '(mapcar');
    await emacs.eval(`(progn (defun common-lisp-hyperspec (name) name)
        (defun common-lisp-hyperspec-format (char) (interactive "cDirective: ")
          (message "The directive %c" char))
        (defun common-lisp-hyperspec-lookup-reader-macro (char) (interactive "sMacro: ")
          (message "The macro %s" char))
        (defun common-lisp-hyperspec-glossary-term (term) (interactive "sTerm: ")
          (message "The term %s" term)) t)`);
    await emacs.keys('C-c', 'C-d', '~', 'a');
    await emacs.see(/^The directive a$/m);
    await emacs.keys('C-c', 'C-d', { text: '#' }, { text: "#'" }, 'Enter');
    await emacs.see(/^The macro #'$/m);
    await emacs.keys('C-c', 'C-d', 'g', { text: 'form' }, 'Enter');
    await emacs.see(/^The term form$/m);
});

test('slime: C-c RET, C-c M-m', options, async emacs => {
    await visit(emacs, '(when a (when b c))');
    await emacs.keys('C-c', 'Enter');
    await emacs.see(/^\(if a \(progn \(when b c\)\)\)$/m);
    await emacs.keys('C-x', 'o');
    await find(emacs, '(progn ');
    await emacs.keys('C-c', 'Enter');
    await emacs.see(/^\(if a \(progn \(if b \(progn c\)\)\)\)$/m);
    await emacs.keys('u');
    await emacs.see(/^\(if a \(progn \(when b c\)\)\)$/m);
    await emacs.keys('q');
    await emacs.keys('C-c', 'M-m');
    await emacs.see(/^\(if a \(progn \(if b \(progn c\)\)\)\)$/m);
});

test('slime: C-c M-d, C-c C-t, C-c C-u', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun hel');
    await emacs.keys('C-c', 'M-d', 'Enter');
    await emacs.until('(get-buffer-window "*ecl-mcp disassembly*")');
    await emacs.keys('C-c', 'C-t', 'Enter');
    await emacs.see(/^ecl-mcp: Calls of helper are traced$/m);
    await emacs.keys('C-c', 'C-u', 'Enter');
    await emacs.see(/^ecl-mcp: helper is no longer defined$/m);
});

test('slime: C-c M-t, C-c T', options, async emacs => {
    await load(emacs, calls);
    await find(emacs, '(defun hel');
    await emacs.keys('C-c', 'M-t', 'Enter');
    await emacs.see(/^ecl-mcp: Calls of KEYS::helper in your evaluations are followed$/m);
    await find(emacs, '(defun us');
    await emacs.keys('C-c', 'M-t', 'Enter');
    await emacs.eval('(progn (goto-char (point-max)) t)');
    await emacs.type('(other 1)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^- \(USER \(1\)\)\n {2}- \(HELPER \(1\)\)$/m);
    await emacs.keys('C-c', 'T');
    await emacs.until(here('(derived-mode-p (quote ecl-mcp-trace-mode))'));
    await emacs.keys('M-<', 'n', 'n', 'Tab');
    await emacs.see(/^- \(USER \(1\)\)\.\.\.$/m);
    await emacs.keys('Tab');
    await emacs.see(/^ {2}- \(HELPER \(1\)\)$/m);
});

test('slime: C-c I', options, async emacs => {
    await visit(emacs, '');
    await emacs.keys('C-c', 'I');
    await emacs.type('(list 1 (list 2 :deep))');
    await emacs.keys('Enter');
    await emacs.see(/^1: \(2 :DEEP\)$/m);
    await emacs.until(here('(derived-mode-p (quote ecl-mcp-inspect-mode))'));
    await emacs.keys('n', 'n', 'Enter');
    await emacs.see(/^1: :DEEP$/m);
    await emacs.keys('l');
    await emacs.see(/^1: \(2 :DEEP\)$/m);
    // its actions
    await emacs.keys('e', { text: '(length *)' }, 'Enter');
    await emacs.see(/^=> 2$/m);
    await emacs.keys('n', 's', { text: '(first (second *))' }, 'Enter');
    await emacs.see(/^0: 2$/m);
    await emacs.keys('M-Enter');
    await emacs.see(/^CL-USER> \(ecl-mcp::reach-part \(gethash/m);
    await emacs.keys('Enter');
    await emacs.see(/^=> \(2 \(2 :DEEP\)\)$/m);
    // who types on stays where they are
    await emacs.eval('(progn (switch-to-buffer "code.lisp") (delete-other-windows) t)');
    await emacs.keys('C-c', 'I');
    await emacs.now({ text: '(list :x)' }, 'Enter', { text: 'on' });
    await emacs.see(/^0: :X$/m);
    await emacs.until('(equal (buffer-name (window-buffer)) "code.lisp")');
});

test('slime: C-c C-x t', options, async emacs => {
    await visit(emacs, `(progn (defun snooze () (sleep 1000))
        (mp:process-run-function "sleeper" #'snooze)
        (mp:process-run-function "other" #'snooze) (sleep 0.1) 1)`);
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> 1$/m);
    await emacs.keys('C-c', 'C-x', 't');
    await emacs.until(here('(derived-mode-p (quote ecl-mcp-threads-mode))'));
    await emacs.see(/^1: "sleeper"\n2: "other"$/m);
    await emacs.keys('d');
    await emacs.see(/^1: "sleeper"\n {5}\[Backtrace\]\n {5}0: \(SNOOZE\)\n2: "other"$/m);
    await emacs.keys('Tab');
    await emacs.see(/^1: "sleeper"\n2: "other"$/m);
    await emacs.keys('n', 'k');
    await emacs.see(/End thread 2: "other"\?/);
    await emacs.keys('y');
    await emacs.see(/^One thread besides the one that evaluates:\n1: "sleeper"\n\n/m);
    await emacs.keys('k', 'n', 'g');
    await emacs.see(/^1: "sleeper"$/m);
    await emacs.keys('k', 'y');
    await emacs.see(/^No threads besides the one that evaluates$/m);
});

test('step: C-c C-x s', options, async emacs => {
    await load(emacs, calls);
    await emacs.eval(here('(progn (goto-char (point-max)) (set-window-point nil (point)) t)'));
    await emacs.type('(list (user 1) (user 2))');
    await emacs.keys('C-c', 'C-x', 's', 'Enter');
    await emacs.see(/^=> \(\(1\) \(2\)\)$/m);
    await emacs.see(/^ {4}\(HELPER 1\) => \(1\)$/m);
    await emacs.keys('C-x', 'o');
    await emacs.until(here('(derived-mode-p (quote ecl-mcp-step-mode))'));
    // TAB folds, n goes on to the next that is visible, u goes up
    await emacs.keys('n', 'Tab');
    await emacs.see(/^ {2}\(USER 1\) => \(1\)\.\.\.$/m);
    await emacs.keys('n');
    await emacs.until(here('(looking-at-p " *(USER 2")'));
    await emacs.keys('p', 'Tab', 'n', 'n', 'u', 'u');
    await emacs.until(here('(looking-at-p "(LIST")'));
    await emacs.keys('BTab');
    await emacs.see(/^\(LIST .*\.\.\.$/m);
    await emacs.keys('g');
    await emacs.see(/^ {2}\(USER 2\) => \(2\)$/m);
    await emacs.keys('n', 'v');
    await emacs.until(here('(looking-at-p "(defun user")'));
});

test('replay: C-c C-x r', options, async emacs => {
    await visit(emacs, `(progn (defvar *total* 0)
  (defun add (n) (incf *total* n)) (defun wrong (n) (if (= n 2) (setf *total* 0)))
  (defun sum (l) (dolist (n l *total*) (add n) (wrong n))))`);
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> SUM$/m);
    await emacs.keys('M-x', { text: 'ecl-mcp-checkpoint' }, 'Enter', { text: 'one' }, 'Enter');
    await emacs.until(`(null ecl-mcp-eval--jobs)`);
    await emacs.keys('Enter', { text: "(sum '(1 2 3))" }, 'C-x', 'C-e');
    await emacs.see(/^=> 3$/m);
    await emacs.keys('C-c', 'M-t', 'C-a', 'C-k', { text: 'add' }, 'Enter');
    await emacs.keys('C-c', 'C-x', 'r', 'Enter', { text: '*total*' }, 'Enter');
    await emacs.see(/^- \(ADD 1\)\n {2}\*total\*: 0 -> 1, by \(ADD 1\)\n {2}=> 1$/m);
    await emacs.see(/^\*total\*: 3 -> 0, by \(WRONG 2\)$/m);
    // Stopped at a call; the debugger has it.
    await emacs.keys('C-u', 'C-c', 'C-x', 'r', 'Enter', 'Enter', { text: 'wrong' }, 'Enter',
        { text: '2' }, 'Enter', 'Enter');
    await emacs.see(/Stopped before call 2: \(WRONG 2\)/);
    await emacs.keys('C-c', 'E');
    await emacs.until(here('(derived-mode-p (quote ecl-mcp-debugger-mode))'));
    await emacs.see(/^0: \(WRONG 2\)/m);
});

test('slime: C-c C-z, C-c ~, C-c M-p, ,, C-c M-o', options, async emacs => {
    await load(emacs, calls);
    await emacs.keys('C-c', '~');
    await emacs.see(/^KEYS> ?$/m);
    await emacs.type('(helper 3)');
    await emacs.keys('Enter');
    await emacs.see(/^=> \(3\)$/m);
    await emacs.keys('C-c', 'M-o');
    await emacs.until(here('(not (string-match-p "=> (3)" (buffer-string)))'));
    await emacs.keys('C-c', 'M-p');
    await emacs.type('cl-user');
    await emacs.keys('Enter');
    await emacs.see(/^CL-USER> ?$/m);
    await emacs.type(',in-p');
    await emacs.see(/^Command: in-p/m);
    await emacs.keys('Tab', 'Enter');
    await emacs.type('keys');
    await emacs.keys('Enter');
    await emacs.see(/^KEYS> ?$/m);
    // a comma in an expression is one
    await emacs.type('`(1 ,(+ 1 1))');
    await emacs.keys('Enter');
    await emacs.see(/^=> \(1 2\)$/m);
    await emacs.eval('(progn (switch-to-buffer "code.lisp") t)');
    await emacs.keys('C-c', 'C-z');
    await emacs.until(here('(derived-mode-p (quote ecl-mcp-repl-mode))'));
});

test('slime: C-c C-v RET, C-c C-v i, C-c C-v d, C-c C-v n, C-c C-v p', options,
    async emacs => {
        await visit(emacs, '');
        await emacs.keys('C-c', 'C-z');
        await emacs.see(/^CL-USER> ?$/m);
        await emacs.type('(values (list 1 2) (list :b))');
        await emacs.keys('Enter');
        await emacs.see(/^=> \(:B\)$/m);
        await emacs.keys('C-c', 'C-v', 'p', 'C-c', 'C-v', 'p', 'C-c', 'C-v', 'n');
        await emacs.keys('C-c', 'C-v', 'Enter');
        await emacs.see(/^CL-USER> \(ecl-mcp:kept-value \d+ 1\)$/m);
        await emacs.keys('Enter');
        await emacs.see(/^=> \(:B\)\nCL-USER> *\n/m);
        await emacs.keys('M-<');
        await emacs.keys('C-c', 'C-v', 'n', 'C-c', 'C-v', 'i');
        await emacs.see(/^1: 2$/m);
        await emacs.keys('q', 'C-c', 'C-v', 'd');
        await emacs.until('(get-buffer-window "*ecl-mcp description*")');
        await emacs.keys('Enter');
        await emacs.see(/^CL-USER> \(ecl-mcp:kept-value \d+\)$/m);
    });

test('slime: C-c C-b', options, async emacs => {
    await visit(emacs, '(loop)');
    await emacs.keys('C-x', 'C-e');
    await emacs.until('ecl-mcp-eval--jobs');
    await emacs.keys('C-c', 'C-b');
    await emacs.see(/^ecl-mcp: Stopped 1$/m);
});

test('slime: C-c TAB, C-M-i', options, async emacs => {
    await visit(emacs, '(list 1)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> \(1\)$/m);
    await emacs.type('(multiple-value-pr');
    await emacs.keys('C-M-i');
    await emacs.see(/\(multiple-value-prog1/);
    await emacs.type(' (multiple-value-se');
    await emacs.keys('C-c', 'Tab');
    await emacs.see(/\(multiple-value-setq/);
});

test('imenu: the definitions of a file', options, async emacs => {
    await visit(emacs, calls);
    await emacs.keys('M-x');
    await emacs.type('imenu');
    await emacs.keys('Enter');
    await emacs.type('other');
    await emacs.keys('Enter');
    await emacs.until(here('(looking-at-p "(defun other")'));
});

test('run-tests: results and the place of a failure', options, async emacs => {
    await visit(emacs, '(defpackage :tried (:use :cl :fiveam))\n(in-package :tried)\n' +
        '(def-suite :tried)\n(in-suite :tried)\n(test bad (is (= 1 2)))\n', 'tried.lisp');
    fs.writeFileSync(path.join(emacs.home, 'work', 'tried.asd'),
        `(defsystem "tried" :depends-on ("fiveam") :components ((:file "tried"))
         :perform (test-op (o c) (symbol-call :fiveam :run! :tried)))`);
    await emacs.keys('M-x');
    await emacs.type('ecl-mcp-run-tests');
    await emacs.keys('Enter');
    await emacs.see(/Tests of system or :package \(default tried\)/);
    await emacs.until('(active-minibuffer-window)');
    await emacs.keys('Enter');
    await emacs.see(/testing tried/);
    await emacs.see(/^FAIL TRIED::BAD tried\.lisp:5/m, 150);
    await emacs.keys('M-g', 'n');
    await emacs.until(here('(looking-at-p "(test bad")'));
});
