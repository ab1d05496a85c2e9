// SPDX-License-Identifier: GPL-3.0-or-later
// review.mjs: keys, windows and redisplay of reviews, in a terminal.
import fs from 'node:fs';
import path from 'node:path';
import { ROOT, check, lisp, test } from './terminal.mjs';

const numbers = (from, to) =>
    Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join('');
const OLD = numbers(1, 60);
const NEW = OLD.replace('line 10\n', 'ten\n').replace('line 30\n', 'thirty\n')
    .replace('line 50\n', 'fifty\n');

// Reviews come from a core of which only the lines exist.
const options = {
    height: 90, // so that hunks are seen
    load: ['cl-lib'],
    form: `(progn
      (add-to-list 'load-path ${lisp(path.join(ROOT, 'tests/elisp'))})
      (require 'review-support)
      (setq make-backup-files nil test-review-core (ecl-mcp-test-connection))
      (ecl-mcp-review-activate))`,
};

// FORM in the buffer of the selected window.
const here = form => `(with-current-buffer (window-buffer) ${form})`;

// A file with BYTES, visited and shown.
async function visit(emacs, bytes = OLD, name = 'text.txt') {
    const file = path.join(emacs.home, name);
    fs.writeFileSync(file, bytes);
    await emacs.eval(`(progn (find-file ${lisp(file)}) t)`);
    await emacs.until(here(`(equal (buffer-file-name) ${lisp(file)})`));
    return file;
}

const literal = text => lisp(text).replace(/\n/g, '\\n');

// Lets the core ask for a change of FILE; the review is shown, not selected.
async function propose(emacs, file, before = OLD, after = NEW, more = '') {
    await emacs.eval(`(progn (save-selected-window
      (ecl-mcp-review-request (test-review-request ${lisp(file)}
        ${literal(before)} ${literal(after)} ${more}))) t)`);
    await emacs.see(/a accept +r reject/);
}

async function enter(emacs) {
    await emacs.keys('C-x', 'o');
    await emacs.until(here('(derived-mode-p \'ecl-mcp-review-mode)'));
    await submittable(emacs);
}

// A review that has only just come up takes no submission.
async function submittable(emacs) {
    await emacs.until(here(`(> (float-time) (+ ecl-mcp-review-fresh
      (ecl-mcp-review--came-up ecl-mcp-review--current)))`));
}

// Lets SECONDS of Emacs's time pass.
async function passing(emacs, seconds) {
    const end = Number(await emacs.eval('(float-time)')) + seconds;
    await emacs.until(`(> (float-time) ${end})`);
}

const answers = '(length (test-review-answers))';
const answered = emacs => emacs.until(`(= 1 ${answers})`);
const member = (emacs, name) =>
    emacs.text(`(alist-get '${name} (alist-get 'applied (test-review-answer)))`);
const holds = (file, text) => {
    const found = fs.readFileSync(file, 'utf8');
    check(found === text, `the file holds ${JSON.stringify(found)}`);
};

test('review: two of three, and one undo', options, async emacs => {
    const file = await visit(emacs);
    await propose(emacs, file);
    await emacs.see(/3 hunks · 3 open/);
    await enter(emacs);
    await emacs.keys('a');
    await emacs.see(/1 accepted 2 open/);
    await emacs.keys('r');
    await emacs.keys('p', 'c');
    await emacs.see(/About hunk 2/);
    await emacs.type('keep the old name');
    await emacs.keys('Enter');
    await emacs.see(/\[rejected: keep the old name\]/);
    await emacs.keys('n', 'e');
    await emacs.see(/ accept ·/);
    await emacs.keys('C-s');
    await emacs.type('fifty');
    await emacs.keys('Enter');
    await emacs.type(' by hand');
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/\[edited\]/);
    await emacs.keys('p', 'p', 'Space');
    await emacs.see(/\[rejected\]/);
    await emacs.keys('u');
    await emacs.see(/2 accepted 1 rejected/);
    holds(file, OLD);
    await emacs.keys('C-c', 'C-c');
    await answered(emacs);
    const after = OLD.replace('line 10\n', 'ten\n')
        .replace('line 50\n', 'fifty by hand\n');
    holds(file, after);
    check(await member(emacs, 'after') === after, 'the model gets another text');
    await emacs.until('(= 1 (length (window-list nil \'no)))');
    await emacs.until(here(`(equal (buffer-file-name) ${lisp(file)})`));
    await emacs.keys('C-/');
    await emacs.until(here(`(equal (buffer-string) ${literal(OLD)})`));
});

test('review: my unsaved paragraph', options, async emacs => {
    const file = await visit(emacs);
    await emacs.keys('M->');
    await emacs.type('my paragraph');
    for (const [before, after] of [['line 5\n', 'five\n'], ['line 40\n', 'forty\n']]) {
        const base = await emacs.text(`(with-current-buffer "text.txt" (buffer-string))`);
        const wanted = base.replace(before, after);
        await emacs.eval('(setq ecl-mcp-test-sent nil)');
        await propose(emacs, file, base, wanted);
        await enter(emacs);
        await emacs.keys('a', 'C-c', 'C-c');
        await answered(emacs);
        check(await member(emacs, 'after') === wanted, 'the model gets another text');
        check(/unsaved/.test(await member(emacs, 'note')), 'the note says why not');
        await emacs.until(here(`(equal (buffer-file-name) ${lisp(file)})`));
        await emacs.until(here('(buffer-modified-p)'));
        await emacs.type('.');
        await emacs.until(here(`(equal (buffer-string) ${literal(`${wanted}.`)})`));
        await emacs.unseen(/really edit|changed on disk/);
    }
    holds(file, OLD);
});

test('review: typing is not disturbed when one comes up', options, async emacs => {
    const file = await visit(emacs);
    await emacs.keys('M-<');
    await propose(emacs, file);
    await emacs.type('a C-c');
    await emacs.keys('C-c', 'C-c', 'a', 'y');
    await emacs.until(here(`(string-prefix-p "a C-cay" (buffer-string))`));
    check(await emacs.eval(answers) === '0', 'answered');
});

test('review: one that has just come up is not submitted', options, async emacs => {
    const file = await visit(emacs);
    await emacs.eval(`(progn (setq ecl-mcp-review-fresh 60
      ecl-mcp-review--test (test-review-request ${lisp(file)}
        ${literal(OLD)} ${literal(NEW)})) t)`);
    await emacs.eval('(ecl-mcp-review-request ecl-mcp-review--test t)');
    await emacs.keys('A', 'C-c', 'C-c');
    await emacs.see(/look at it first/);
    check(await emacs.eval(answers) === '0', 'answered');
    holds(file, OLD);
});

// Keys that were meant for the buffer shown before.
test('review: one that replaces another buffer is not submitted', options,
    async emacs => {
        const file = await visit(emacs);
        await propose(emacs, file);
        await enter(emacs);
        await emacs.keys('A');
        await emacs.see(/3 accepted/);
        await emacs.eval(`(let ((review (window-buffer)))
          (switch-to-buffer "*scratch*") (redisplay t)
          (setq ecl-mcp-review--test review ecl-mcp-review-fresh 3) t)`);
        await passing(emacs, 3.1);
        await emacs.eval('(progn (switch-to-buffer ecl-mcp-review--test) t)');
        await emacs.keys('C-c', 'C-c');
        await emacs.see(/look at it first/);
        check(await emacs.eval(answers) === '0', 'answered');
        holds(file, OLD);
        await submittable(emacs);
        await emacs.keys('C-c', 'C-c');
        await answered(emacs);
        holds(file, NEW);
    });

test('review: open hunks, and keys on their way', options, async emacs => {
    const file = await visit(emacs);
    await propose(emacs, file);
    await enter(emacs);
    await emacs.keys('a');
    await emacs.see(/1 accepted 2 open/);
    await emacs.keys('p');
    await emacs.until('(with-current-buffer (window-buffer) (looking-at-p "@@.* hunk 1 "))');
    // in one go: the y comes before anybody can have read the question
    await emacs.now('C-c', 'C-c', 'y');
    await emacs.see(/Reject hunk 2, 3, which is open\? \(y or n\)/);
    await passing(emacs, 0.5);
    await emacs.keys('x', 'Enter', 'Space', 'n');
    await emacs.see(/Nothing was submitted/);
    check(await emacs.eval(answers) === '0', 'answered');
    // To what the question was about.
    await emacs.until('(with-current-buffer (window-buffer) (looking-at-p "@@.* hunk 2 "))');
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/Reject hunk .* open/);
    await passing(emacs, 0.5);
    await emacs.keys('C-g');
    await emacs.see(/Nothing was submitted/);
    check(await emacs.eval(answers) === '0', 'answered');
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/Reject hunk .* open/);
    await passing(emacs, 0.5);
    await emacs.keys('y');
    await answered(emacs);
    holds(file, OLD.replace('line 10\n', 'ten\n'));
});

test('review: odd windows stay as they were', options, async emacs => {
    const file = await visit(emacs);
    await emacs.eval(`(progn (split-window-right) (split-window-below 5)
      (display-buffer-in-side-window (get-buffer "*Messages*") '((side . bottom)))
      ;; Emacs itself gives a window the height that it had for another buffer.
      (dolist (window (window-list))
        (set-window-parameter window 'quit-restore nil))
      (redisplay) t)`);
    const layout = `(mapcar (lambda (window)
        (list (buffer-name (window-buffer window)) (window-edges window)))
      (window-list nil 'no (frame-first-window)))`;
    const before = await emacs.eval(layout);
    const selected = await emacs.eval('(window-edges)');
    await propose(emacs, file);
    check(await emacs.eval('(window-edges)') === selected, 'another is selected');
    await emacs.eval(`(progn (ecl-mcp-review-request (car ecl-mcp-requests) t) t)`);
    await submittable(emacs);
    await emacs.keys('A', 'C-c', 'C-c');
    await answered(emacs);
    check(await emacs.eval(layout) === before, `${before}\n${await emacs.eval(layout)}`);
});

test('review: deleting its frame postpones it', options, async emacs => {
    const file = await visit(emacs);
    await emacs.keys('C-x', '5', '2');
    await emacs.until('(= 2 (length (frame-list)))');
    await propose(emacs, file);
    await emacs.keys('C-x', '5', '0');
    await emacs.until('(= 1 (length (frame-list)))');
    check(await emacs.eval(answers) === '0', 'answered');
    await emacs.eval(`(progn (ecl-mcp-review-request (car ecl-mcp-requests) t) t)`);
    await emacs.see(/3 open/);
    await emacs.keys('q');
    await emacs.until(here('(not (derived-mode-p \'ecl-mcp-review-mode))'));
    check(await emacs.eval(answers) === '0', 'answered');
});

test('review: a rewrite of 3,000 lines', options, async emacs => {
    const old = numbers(1, 3000);
    const file = await visit(emacs, old);
    const wanted = old.replace(/line/g, 'row');
    await emacs.eval(`(progn (test-review-request ${lisp(file)}
        ${literal(old)} ${literal(wanted)}) t)`);
    const seconds = Number(await emacs.eval(`(let ((start (get-internal-run-time)))
        (ecl-mcp-review-request (car ecl-mcp-requests))
        (redisplay)
        (float-time (time-subtract (get-internal-run-time) start)))`));
    check(seconds < 3, `it took ${seconds} s`); // 0.5 s without other work
    await emacs.see(/-line 1$/m);
    await enter(emacs);
    await emacs.keys('A', 'M->');
    await emacs.see(/\+row 3000/);
    await emacs.keys('C-c', 'C-c');
    await answered(emacs);
    holds(file, wanted);
    await emacs.keys('C-/');
    await emacs.until(here(`(string-prefix-p "line 1\\n" (buffer-string))`));
});

// The turns are short and far apart, so that keys come between them.
test('review: keys while a large one is drawn', options, async emacs => {
    const old = numbers(1, 2000);
    const wanted = old.replace(/^line (\d+5)$/gm, 'five $1');
    const file = await visit(emacs, old);
    await emacs.eval(`(progn (setq ecl-mcp-review-turn 0 ecl-mcp-review-turn-size 2000
      ecl-mcp-review-turn-pause 0.5 ecl-mcp-hunk-edits-limit 1000) t)`);
    await propose(emacs, file, old, wanted);
    await emacs.see(/199 hunks · 199 open · \d+ drawn/);
    await emacs.keys('C-x', 'o');
    await emacs.keys('a', 'r');
    await emacs.see(/1 accepted 1 rejected 197 open/);
    await emacs.see(/hunk 2 of 199 \[rejected\]/);
    await emacs.keys('C-s');
    await emacs.type('five 1995');
    await emacs.see(/\+five 1995$/m);
    await emacs.keys('Enter', 'u');
    await emacs.see(/hunk 2 of 199 \[open\]/);
    await emacs.keys('M->', 'A');
    await emacs.see(/199 accepted/);
    await emacs.see(/hunk 199 of 199 \[accepted\]/);
    await submittable(emacs);
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/Accept \d+ of them, not seen|Accept hunk .*not seen|not seen to its end/);
    await passing(emacs, 0.5);
    await emacs.keys('y');
    await answered(emacs);
    holds(file, wanted);
});

test('review: words and syntax are highlighted when shown', options, async emacs => {
    const old = '(defun f (a)\n  (list a))\n';
    const file = await visit(emacs, old, 'text.el');
    await propose(emacs, file, old, old.replace('list', 'vector'));
    await emacs.until(`(with-current-buffer (ecl-mcp-review--buffer
        (car ecl-mcp-review--all))
      (cl-some (lambda (overlay) (eq (overlay-get overlay 'face)
          'diff-refine-added))
        (overlays-in (point-min) (point-max))))`);
});

test('review: ediff and back', options, async emacs => {
    const file = await visit(emacs);
    await propose(emacs, file);
    await enter(emacs);
    const windows = await emacs.eval('(length (window-list nil \'no))');
    await emacs.keys('E');
    await emacs.until('(bound-and-true-p ediff-window-A)');
    await emacs.until('(get-buffer "*Ediff Control Panel*")');
    await emacs.eval(`(with-current-buffer "*ecl-mcp hunk 1, new*"
      (goto-char (point-min)) (search-forward "ten")
      (insert " and more") t)`);
    await emacs.keys('q');
    await emacs.see(/\(y or n\)|y\/n/);
    await emacs.keys('y');
    await emacs.see(/\[edited\]/);
    check(await emacs.eval('(length (window-list nil \'no))') === windows, 'windows');
    await submittable(emacs);
    await emacs.keys('A', 'C-c', 'C-c');
    await answered(emacs);
    holds(file, NEW.replace('ten\n', 'ten and more\n'));
});

test('review: the place in the file', options, async emacs => {
    const file = await visit(emacs);
    await propose(emacs, file);
    await enter(emacs);
    await emacs.keys('n', 'n', 'o');
    await emacs.until(`(with-selected-window (get-buffer-window "text.txt")
      (looking-at "line 47$"))`);
    check(await emacs.eval(here('(and (derived-mode-p \'ecl-mcp-review-mode) t)')) === 't',
        'it is still selected');
    await emacs.keys('Enter');
    await emacs.until(here('(looking-at "line 47$")'));
});

test('review: text that was not on the screen is asked about', options, async emacs => {
    const file = await visit(emacs, 'a\n');
    const hidden = `a\n${'\n'.repeat(60)}(delete-file "x")\n`;
    await propose(emacs, file, 'a\n', hidden);
    await enter(emacs);
    await emacs.keys('a', 'C-c', 'C-c');
    await emacs.see(/Accept hunk 1, not seen to its end\?/);
    await passing(emacs, 0.5);
    await emacs.keys('n');
    await emacs.see(/Nothing was submitted/);
    await emacs.keys('M->');
    await emacs.see(/delete-file/);
    await emacs.keys('C-c', 'C-c');
    await answered(emacs);
    holds(file, hidden);
});

test('review: a folded hunk has not been seen', options, async emacs => {
    const file = await visit(emacs, 'a\n');
    await emacs.eval(`(progn (test-review-request ${lisp(file)} "a\\n" "b\\n")
      (with-current-buffer (ecl-mcp-review-request (car ecl-mcp-requests) t)
        (ecl-mcp-review-fold)) t)`);
    await emacs.see(/hunk 1 of 1 \[open\]\.\.\./);
    await submittable(emacs);
    await emacs.keys('a');
    await emacs.see(/hunk 1 of 1 \[accepted\]\.\.\./);
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/Accept hunk .*not seen/);
    await passing(emacs, 0.5);
    await emacs.keys('n');
    await emacs.see(/Nothing was submitted/);
    await emacs.keys('Tab', 'C-c', 'C-c');
    await answered(emacs);
    holds(file, 'b\n');
});

test('review: a file that has changed on the disk', options, async emacs => {
    const file = await visit(emacs);
    await propose(emacs, file);
    await enter(emacs);
    fs.writeFileSync(file, 'theirs\n');
    fs.utimesSync(file, 4e9, 4e9);
    await emacs.keys('A', 'C-c', 'C-c');
    await answered(emacs);
    check(/has changed/.test(await member(emacs, 'note')), 'the note says why not');
    await emacs.until(here(`(equal (buffer-file-name) ${lisp(file)})`));
    await emacs.keys('M->');
    await emacs.type('xy');
    await emacs.until(here(`(equal (buffer-string) ${literal(`${NEW}xy`)})`));
    await emacs.unseen(/changed on disk|really edit/);
    holds(file, 'theirs\n');
});

test('review: modes that meddle, and typing afterwards', options, async emacs => {
    const file = await visit(emacs, '(defun f ()\n(g)\n  (h))\n', 'm.el');
    await emacs.eval(here(`(progn (electric-indent-local-mode 1)
      (electric-pair-local-mode 1) (auto-fill-mode 1)
      (setq fill-column 10) t)`));
    const wanted = '(defun f ()\n(g (i\n(this is a rather long line, it has (\n  (h))\n';
    await propose(emacs, file, '(defun f ()\n(g)\n  (h))\n', wanted);
    await enter(emacs);
    await emacs.keys('A', 'C-c', 'C-c');
    await answered(emacs);
    holds(file, wanted);
    await emacs.until(here(`(and electric-pair-mode electric-indent-mode
      (memq 'electric-pair-local-mode local-minor-modes) auto-fill-function t)`));
    await emacs.type('(');
    await emacs.until(here('(equal (buffer-substring 1 3) "()")'));
});

test('review: a prompt that is open is left alone', options, async emacs => {
    const file = await visit(emacs);
    await emacs.keys('M-x');
    await emacs.see(/^M-x/m);
    await propose(emacs, file);
    await emacs.type('forward-li');
    await emacs.see(/^M-x forward-li/m);
    await emacs.keys('C-g');
    await emacs.until('(= 0 (minibuffer-depth))');
    check(await emacs.eval(answers) === '0', 'answered');
});

test('review: no, because', options, async emacs => {
    const file = await visit(emacs);
    await propose(emacs, file);
    await enter(emacs);
    await emacs.keys('A', 'C-c', 'C-k');
    await emacs.see(/Refuse the whole change, because/);
    await emacs.type('it is mine');
    await emacs.keys('Enter');
    await answered(emacs);
    check(await emacs.text("(json-serialize (test-review-answer))") ===
        '{"decision":"deny","by":"human","reason":"it is mine"}', 'the core gets another answer');
    await emacs.until(here(`(equal (buffer-file-name) ${lisp(file)})`));
    holds(file, OLD);
});

test('review: a line of a million characters', options, async emacs => {
    const file = await visit(emacs, 'a\n');
    await emacs.eval(`(progn (test-review-request ${lisp(file)} "a\\n"
      (concat (make-string 1000000 ?x) "end\\n")) t)`);
    const seconds = Number(await emacs.eval(`(let ((start (get-internal-run-time)))
        (ecl-mcp-review-request (car ecl-mcp-requests) t)
        (redisplay)
        (goto-char (point-max))
        (redisplay)
        (float-time (time-subtract (get-internal-run-time) start)))`, 30));
    check(seconds < 3, `it took ${seconds} s`); // 0.5 s without other work
    await emacs.keys('M->');
    await emacs.see(/^\+end$/m);
});
