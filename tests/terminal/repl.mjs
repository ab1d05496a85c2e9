// SPDX-License-Identifier: GPL-3.0-or-later
// repl.mjs: evaluating from buffers and in the REPL, by keys, with the real Lisp.
import fs from 'node:fs';
import path from 'node:path';
import { check, lisp, test } from './terminal.mjs';

const options = {
    load: ['subr-x', 'ecl-mcp-mode', 'ecl-mcp-repl'],
    form: `(make-directory (setq ecl-mcp-workspace
        (expand-file-name "work" (getenv "HOME"))))`,
};

// FORM in the buffer of the selected window.
const here = form => `(with-current-buffer (window-buffer) ${form})`;

// A buffer of Lisp with TEXT, point at its end.
async function visit(emacs, text) {
    const file = path.join(emacs.home, 'work', 'code.lisp');
    fs.writeFileSync(file, text);
    await emacs.eval(`(progn (find-file ${lisp(file)}) (ecl-mcp-mode)
        (goto-char (point-max)) t)`);
    await emacs.until(here('(and (derived-mode-p (quote lisp-mode)) ecl-mcp-mode)'));
}

async function repl(emacs) {
    await emacs.eval('(progn (call-interactively (quote ecl-mcp-repl)) t)');
    await emacs.see(/^CL-USER> ?$/m);
}

test('eval: a result in the echo area', options, async emacs => {
    await visit(emacs, '(defun twice (x) (* 2 x))\n');
    await emacs.keys('C-M-x');
    await emacs.see(/^=> TWICE$/m);
    await emacs.type('(twice 21)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> 42$/m);
    check(await emacs.eval('(length (window-list))') === '1', 'windows');
});

test('eval: code that reads asks in the minibuffer, and C-g ends it', options,
    async emacs => {
        await visit(emacs, '(list (read-line) (read))');
        await emacs.keys('C-x', 'C-e');
        await emacs.see(/^Line for evaluating \(list \(read-line\) \(read\)\):/m);
        await emacs.type('two words');
        await emacs.keys('Enter');
        await emacs.see(/^Line for evaluating .*: *$/m);
        await emacs.type(':key');
        await emacs.keys('Enter');
        await emacs.see(/^=> \("two words" :KEY\)$/m);
        await emacs.keys('C-x', 'C-e');
        await emacs.see(/^Line for evaluating/m);
        await emacs.keys('C-g');
        await emacs.see(/^ecl-mcp: Interrupted evaluating/m);
        await emacs.eval('(progn (goto-char (point-max)) t)');
        await emacs.type('(+ 20 1)');
        await emacs.keys('C-x', 'C-e');
        await emacs.see(/^=> 21$/m);
    });

test('eval: code that reads does not take the keys of who types', options,
    async emacs => {
        await visit(emacs, '(progn (sleep 1) (read-line))');
        await emacs.keys('C-x', 'C-e');
        await emacs.type(' ; text');
        await emacs.see(/reads a line: M-x ecl-mcp-supply-line/);
        await emacs.type(' yes');
        await emacs.see(/^\(progn \(sleep 1\) \(read-line\)\) ; text yes$/m);
        await emacs.keys('M-x');
        await emacs.type('ecl-mcp-supply-line');
        await emacs.keys('Enter');
        await emacs.see(/^Line for evaluating/m);
        await emacs.type('answer');
        await emacs.keys('Enter');
        await emacs.see(/=> "answer"/);
    });

test('repl: code that reads gets the line that is typed', options, async emacs => {
    await visit(emacs, '');
    await repl(emacs);
    await emacs.eval('(progn (switch-to-buffer "*ecl-mcp repl*") t)');
    await emacs.type('(progn (princ "Name? ") (list (read-line) (y-or-n-p "Sure?")))');
    await emacs.keys('Enter');
    await emacs.see(/^Name\?/m);
    await emacs.see(/ECL-REPL\[main\]:reading/);
    await emacs.type('Ada');
    await emacs.keys('Enter');
    await emacs.see(/^Sure\?/m);
    await emacs.see(/:reading/);
    await emacs.type('y');
    await emacs.keys('Enter');
    await emacs.see(/^=> \("Ada" T\)$/m);
    await emacs.see(/^Name\? Ada$/m);
    await emacs.type('(read-char)');
    await emacs.keys('Enter');
    await emacs.see(/:reading/);
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/^; Interrupted\.$/m);
    await emacs.see(/^CL-USER> ?$/m);
});

test('eval: an error in a window that q takes away', options, async emacs => {
    await visit(emacs, '(error "No ~a." 1)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^\[Backtrace\]$/m);
    await emacs.see(/^\[ERROR\] SIMPLE-ERROR No 1\./m);
    check(await emacs.text(here('(buffer-name)')) === 'code.lisp', 'selected');
    await emacs.keys('C-x', 'o', 'q');
    await emacs.until('(= 1 (length (window-list)))');
    check(await emacs.text(here('(buffer-name)')) === 'code.lisp', 'shown');
});

test('eval: typing works while Lisp is busy', options, async emacs => {
    await visit(emacs, '(loop)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/ecl-mcp: evaluating \(loop\)\.\.\./);
    await emacs.type(' ; still here');
    await emacs.see(/^\(loop\) ; still here/m);
    await emacs.keys('M-x');
    await emacs.see(/^M-x/m);
    // no progress over a prompt
    await emacs.never(`(let ((message (current-message)))
        (and message (string-match-p "evaluating" message)))`, 2.5);
    await emacs.keys('C-g');
    await emacs.until('(= 0 (minibuffer-depth))');
    // an interrupt by the human shows no window
    await emacs.keys('C-c', 'C-b');
    await emacs.see(/^ecl-mcp: Stopped 1$/m);
    await emacs.until('(null ecl-mcp-eval--jobs)');
    check(await emacs.eval('(length (window-list))') === '1', 'windows');
});

test('eval: C-g stops it, if it is about nothing else', options, async emacs => {
    const started = async () => {
        await emacs.keys('C-x', 'C-e');
        await emacs.until('ecl-mcp-eval--jobs');
    };
    await visit(emacs, '(loop)');
    await started();
    await emacs.see(/evaluating \(loop\)\.\.\. .*\d s \(C-g stops it\)/);
    await emacs.keys('C-g');
    await emacs.see(/^ecl-mcp: Interrupted evaluating \(loop\)$/m);
    check(await emacs.eval('ecl-mcp-eval--jobs') === 'nil', 'stopped');
    // After other keys it may be about something else.
    await started();
    await emacs.keys('Left');
    await emacs.until(here('(= 6 (point))'));
    await emacs.keys('C-g');
    await emacs.see(/^ecl-mcp: evaluating \(loop\) goes on; C-g again stops it$/m);
    await emacs.keys('Right');
    await emacs.until(here('(eobp)'));
    check(!/goes on/.test(await emacs.look()), 'still said');
    await emacs.keys('C-g');
    await emacs.see(/goes on; C-g again stops it$/m);
    await emacs.keys('C-g');
    await emacs.see(/^ecl-mcp: Interrupted evaluating \(loop\)$/m);
    // A prompt is quit, and nothing else.
    await started();
    await emacs.keys('M-x');
    await emacs.see(/^M-x/m);
    await emacs.keys('C-g');
    await emacs.until('(= 0 (minibuffer-depth))');
    check(await emacs.eval('(length ecl-mcp-eval--jobs)') === '1', 'goes on');
    await emacs.keys('C-c', 'C-b');
    await emacs.see(/^ecl-mcp: Stopped 1$/m);
    // The same while Lisp compiles, which is followed by another call.
    await emacs.eval(here('(progn (erase-buffer) (insert "(macrolet ((m () (loop))) (m))") t)'));
    await emacs.keys('C-c', 'C-c');
    await emacs.until('ecl-mcp-eval--jobs');
    await emacs.keys('C-g');
    await emacs.see(/^ecl-mcp: Interrupted compiling /m);
    await emacs.until('(not (memq (function ecl-mcp-eval--after-command) post-command-hook))');
    // In the REPL, too.
    await repl(emacs);
    await emacs.eval('(progn (switch-to-buffer "*ecl-mcp repl*") t)');
    await emacs.type('(loop)');
    await emacs.keys('Enter');
    await emacs.until(here('ecl-mcp-repl--job'));
    await emacs.keys('C-g');
    await emacs.see(/^; Interrupted\.$/m);
});

test('eval: a lambda list in the echo area', options, async emacs => {
    await visit(emacs, '(defun area (width &optional (height 1)) (* width height))');
    await emacs.keys('C-M-x');
    await emacs.see(/^=> AREA$/m);
    await emacs.keys('Enter');
    await emacs.type('(area ');
    await emacs.see(/^area: \(WIDTH &OPTIONAL \(HEIGHT 1\)\)/m);
});

test('eval: completion', options, async emacs => {
    await visit(emacs, '(list 1)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> \(1\)$/m);
    await emacs.keys('Enter');
    // one key is enough, though Lisp must be asked for the names
    await emacs.type('(multiple-value-pr');
    await emacs.keys('C-M-i');
    await emacs.see(/^\(multiple-value-prog1/m);
    // nothing to complete: the key does no harm
    await emacs.type(' no-such-name-');
    await emacs.keys('C-M-i', 'C-M-i');
    await emacs.type('x');
    await emacs.see(/^\(multiple-value-prog1 no-such-name-x/m);
});

test('restore: the checkpoints arrive during the prompt', options, async emacs => {
    await visit(emacs, '(defvar *x* 1)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> \*X\*$/m);
    await emacs.keys('M-x');
    await emacs.type('ecl-mcp-checkpoint');
    await emacs.keys('Enter');
    await emacs.see(/Name of the checkpoint/);
    await emacs.type('begun');
    await emacs.keys('Enter');
    await emacs.see(/^Checkpoint "begun" taken/m);
    await emacs.keys('M-x');
    await emacs.type('ecl-mcp-restore');
    await emacs.keys('Enter');
    await emacs.see(/Restore checkpoint/);
    await emacs.until('ecl-mcp-describe--checkpoints');
    await emacs.type('be');
    await emacs.keys('Tab', 'Enter');
    await emacs.see(/^Session main restored to the state after evaluation 1/m);
});

test('describe: a name with completion', options, async emacs => {
    await visit(emacs, '(car x)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/UNBOUND-VARIABLE/);
    await emacs.keys('C-c', 'C-d', 'd');
    await emacs.see(/^Describe/m);
    await emacs.type('multiple-value-pr');
    await emacs.keys('Tab');
    await emacs.see(/^Describe.*multiple-value-prog1$/m);
    await emacs.keys('Enter');
    await emacs.see(/MULTIPLE-VALUE-PROG1 \[special operator\]/);
});

test('repl: many lines, history, an interrupt', options, async emacs => {
    await repl(emacs);
    await emacs.type('(list 1');
    await emacs.keys('Enter');
    await emacs.type('2)');
    await emacs.keys('Enter');
    await emacs.see(/^CL-USER> \(list 1\n *2\)\n=> \(1 2\)\nCL-USER> ?$/m);
    await emacs.keys('M-p');
    await emacs.see(/=> \(1 2\)\nCL-USER> \(list 1\n *2\)/);
    await emacs.keys('C-c', 'C-u');
    await emacs.type('(progn (write-line "early") (loop))');
    await emacs.keys('Enter');
    await emacs.see(/^early$/m);
    await emacs.type('(+ 1');
    await emacs.keys('C-c', 'C-c');
    await emacs.see(/^; Interrupted\.\nCL-USER> \(\+ 1$/m);
    await emacs.type(' 1)');
    await emacs.keys('Enter');
    await emacs.see(/^=> 2\nCL-USER> ?$/m);
});

test('repl: an evaluation is shown while it runs', options, async emacs => {
    await repl(emacs);
    await emacs.type('(loop until (probe-file "go") do (sleep 0.01))');
    await emacs.keys('Enter');
    await emacs.see(/\(ECL-REPL\[main\]:busy\b/);
    await emacs.see(/^ecl-mcp: evaluating \(loop until .*\d s \(C-g stops it\)$/m);
    fs.writeFileSync(path.join(emacs.home, 'work', 'go'), '');
    await emacs.see(/^=> NIL\nCL-USER> ?$/m);
    await emacs.see(/\(ECL-REPL\[main\][ )]/);
    await emacs.until('(null (current-message))');
});

test('repl: the prompt and old text cannot be changed', options, async emacs => {
    await repl(emacs);
    await emacs.type('x');
    await emacs.see(/^CL-USER> x$/m);
    await emacs.keys('BSpace');
    await emacs.see(/^CL-USER> ?$/m);
    // Emacs throws away what is typed before it tells of an error.
    await emacs.keys('BSpace');
    await emacs.see(/^Text is read-only$/m);
    await emacs.see(/^CL-USER> ?$/m);
    await emacs.type('(in-package :keyword)');
    await emacs.keys('Enter');
    await emacs.see(/^KEYWORD> ?$/m);
    // again: the same buffer
    await emacs.eval('(progn (call-interactively (quote ecl-mcp-repl)) t)');
    check(await emacs.eval(`(length (seq-filter (lambda (b)
        (string-match-p "ecl-mcp repl" (buffer-name b))) (buffer-list)))`) === '1',
    'buffers');
});

test('repl: a flood of output', options, async emacs => {
    await repl(emacs);
    await emacs.type('(dotimes (i 200000) (print i))');
    await emacs.keys('Enter');
    await emacs.type(';; typed');
    await emacs.see(/=> NIL\nCL-USER> ;; typed/);
    check(Number(await emacs.eval(here('(buffer-size)'))) < 40000, 'size');
});

test('systems: completed while an agent evaluates', options, async emacs => {
    for (const name of ['near-one', 'near-two'])
        fs.writeFileSync(path.join(emacs.home, 'work', `${name}.asd`), `(defsystem "${name}")`);
    await visit(emacs, '(list 1)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> \(1\)$/m);
    await emacs.eval(`(progn (setq busy t)
        (ecl-mcp-call "evaluate-lisp" '((code . "(loop)") (timeout . 600))
                      (lambda (_) (setq busy nil)) :session "main" :client "agent 7") t)`);
    await emacs.keys('M-x', { text: 'ecl-mcp-load-system' }, 'Enter');
    await emacs.see(/^Load system \(default near-one\):/m);
    // What the completion says itself does not hide why there is no name.
    await emacs.type('far');
    await emacs.keys('Tab');
    await emacs.see(/^Load system .*Lisp is busy; only/m);
    await emacs.keys('C-a', 'C-k', { text: 'ne' }, 'Tab');
    await emacs.see(/^Load system \(default near-one\): near-/m);
    await emacs.keys('C-g');
    check(await emacs.eval('busy') === 't', 'the agent goes on');
});
