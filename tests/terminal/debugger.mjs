// SPDX-License-Identifier: GPL-3.0-or-later
// debugger.mjs: an error by keys, from the echo area to an outcome that is adopted:
// one's own, and that of an agent, which goes on meanwhile.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { check, lisp, test } from './terminal.mjs';

const options = {
    load: ['subr-x', 'ecl-mcp-mode', 'ecl-mcp-debugger'],
    form: `(make-directory (setq ecl-mcp-workspace
        (expand-file-name "work" (getenv "HOME"))))`,
};

const debugging = `(with-current-buffer (window-buffer)
    (derived-mode-p (quote ecl-mcp-debugger-mode)))`;

const shows = text => `(with-current-buffer "*ecl-mcp debugger*"
    (string-match-p ${lisp(`^${text}$`)} (buffer-string)))`;

test('debugger: C-c E, frames, a restart, and its outcome', options, async emacs => {
    const file = path.join(emacs.home, 'work', 'code.lisp');
    fs.writeFileSync(file, '(defun outer (n) (list :got (inner n)))\n(outer 5)');
    await emacs.eval(`(progn (find-file ${lisp(file)}) (ecl-mcp-mode) t)`);
    await emacs.keys('C-M-x');
    await emacs.see(/^=> OUTER$/m);
    await emacs.keys('M->', 'C-x', 'C-e');
    await emacs.see(/\(C-c E: debugger\)$/m);
    await emacs.keys('C-c', 'E');
    await emacs.until(debugging);
    // Point is in the innermost frame that has variables, also where the window does
    // not show all: that of INNER, which is undefined, has none.
    await emacs.until('(with-current-buffer (window-buffer) (looking-at-p "[0-9]: (OUTER 5)"))');
    await emacs.see(/^\d: \(OUTER 5\)/m);
    await emacs.keys('e');
    await emacs.type('(* n 100)');
    await emacs.keys('Enter');
    await emacs.see(/^=> 500$/m);
    // Its values in the inspector, with a history, and back.
    await emacs.keys('i', { text: '(list n (list :deep))' }, 'Enter');
    await emacs.see(/^\(list n \(list :deep\)\) {2}in error 1, frame \d$/m);
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp inspector*")');
    await emacs.keys('n', 'n', 'Enter');
    await emacs.see(/^0: :DEEP$/m);
    await emacs.keys('l');
    await emacs.see(/^0: 5$/m);
    await emacs.keys('q');
    await emacs.until(debugging);
    // The frame once more, with other arguments, and left.
    const outer = ['M-<', 'C-s', { text: '(OUTER' }, 'Enter'];
    await emacs.keys(...outer, 'C-u', 'r',
        { text: '(progn (defun inner (x) (list :new x)) (1+ n))' }, 'Enter');
    await emacs.see(/RESTART-FRAME succeeded in a copy; a makes this/m);
    await emacs.until(shows('=> (:GOT (:NEW 6))'));
    await emacs.keys(...outer, 'R', { text: '(list n n)' }, 'Enter');
    await emacs.until(shows('=> (5 5)'));
    // The form again, after a definition.
    await emacs.keys('M-<', 'C-u', 'r');
    await emacs.type('(defun inner (x) (list :mended x))');
    await emacs.keys('Enter');
    await emacs.see(/RETRY-FORM succeeded in a copy; a makes this/m);
    await emacs.keys('a', 'y');
    await emacs.see(/The session continues from here$/m);
    await emacs.keys('q');
    await emacs.eval('(progn (pop-to-buffer "code.lisp") (goto-char (point-max)) t)');
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> \(:GOT \(:MENDED 5\)\)$/m);
});

test('debugger: it opens by itself, if that is wanted', {
    ...options, load: ['subr-x', 'ecl-mcp'],
}, async emacs => {
    const file = path.join(emacs.home, 'work', 'code.lisp');
    fs.writeFileSync(file, '(car (list* 1 (car 7)))');
    await emacs.eval(`(progn (setq ecl-mcp-debug-on-error t) (find-file ${lisp(file)})
        (ecl-mcp-mode) (goto-char (point-max)) t)`);
    await emacs.keys('C-x', 'C-e');
    await emacs.until(debugging);
    check(await emacs.eval('(get-buffer-window "*ecl-mcp error*")') === 'nil', 'two windows');
    await emacs.keys('C');
    await emacs.see(/^\[condition .*TYPE-ERROR\]\n/m);
    await emacs.see(/^(SI::)?DATUM: 7$/m);
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp inspector*")');
    await emacs.keys('q', 'd', { text: '(loop for i to 40 collect (list i i))' }, 'Enter');
    await emacs.see(/^\(\(0 0\)/m);
    await emacs.keys(':', { text: '(+ 40 2)' }, 'Enter');
    await emacs.see(/^=> 42$/m);
    // From the REPL, too.
    await emacs.eval('(progn (switch-to-buffer "code.lisp") (delete-other-windows) t)');
    await emacs.keys('C-c', 'C-z');
    await emacs.see(/^CL-USER> ?$/m);
    await emacs.keys({ text: '(car 8)' }, 'Enter');
    await emacs.until(`(and ${debugging} (with-current-buffer "*ecl-mcp debugger*"
        (= 2 ecl-mcp-debugger--error)))`);
});

test('debugger: an error of the agent, which goes on', {
    ...options, load: ['subr-x', 'ecl-mcp', 'ecl-mcp-debugger'],
}, async emacs => {
    const work = path.join(emacs.home, 'work');
    const file = path.join(work, 'code.lisp');
    fs.writeFileSync(file, '');
    await emacs.eval(`(progn (ecl-mcp-global-mode) (find-file ${lisp(file)})
        (ecl-mcp-mode) (ecl-mcp-eval-expression ":ready") t)`);
    await emacs.see(/^=> :READY$/m);
    const client = new Client(emacs, work, ['--attach']);
    const eval_ = async code =>
        (await client.answer(client.call('evaluate-lisp', { code }))).content[0].text;
    try {
        await client.open();
        await eval_('(defun inner (x) (car x))');
        await eval_('(defun outer (n) (list :got (inner n)))');
        const failed = await eval_('(outer 5)');
        check(/Frozen as error/.test(failed), failed);
        // Nothing came up here, and what is typed is text.
        await emacs.keys({ text: '; agent' });
        check(await emacs.eval('(length (window-list))') === '1', 'windows');
        // C-c E, and on with writing: the window comes up and is not selected.
        await emacs.now('C-c', 'E', { text: ' at work' });
        await emacs.see(/^\d: \(OUTER 5\)/m);
        await emacs.until(`(with-current-buffer "code.lisp"
            (equal (buffer-string) "; agent at work"))`);
        await emacs.until('(equal (buffer-name (window-buffer)) "code.lisp")');
        // In a frame of it, while the agent goes on in the session.
        await emacs.keys('C-x', 'o');
        await emacs.until(`(with-current-buffer (window-buffer)
            (derived-mode-p (quote ecl-mcp-debugger-mode)))`);
        await emacs.keys('C-s', { text: '(OUTER' }, 'Enter');
        const busy = client.call('evaluate-lisp', { code: '(progn (sleep 0.5) (list 1 2))' });
        await emacs.keys('e', { text: '(* n 100)' }, 'Enter');
        check(/=> \(1 2\)/.test((await client.answer(busy)).content[0].text), 'busy');
        await emacs.see(/^=> 500$/m);
        // A restart changes nothing for the agent, adopting it does, and it is told.
        await emacs.keys('M-<', 'C-u', 'r', { text: '(defun inner (x) (list :mended x))' }, 'Enter');
        await emacs.see(/RETRY-FORM succeeded in a copy; a makes this/m);
        check(/ERROR/.test(await eval_('(inner 5)')), 'unchanged');
        await emacs.keys('a', 'y');
        await emacs.see(/The session continues from here$/m);
        const told = await eval_('(inner 5)');
        check(/called invoke-restart with adopt/.test(told) && /=> \(:MENDED 5\)/.test(told), told);
    } finally {
        await client.close();
    }
});
