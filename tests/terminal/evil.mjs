// SPDX-License-Identifier: GPL-3.0-or-later
// evil.mjs: the keys of our buffers for Lisp under evil, with Debian's elpa-evil.
import { check, test } from './terminal.mjs';

const options = {
    load: ['subr-x', 'ecl-mcp', 'ecl-mcp-step', 'ecl-mcp-threads'],
    form: `(progn (make-directory (setq ecl-mcp-workspace
        (expand-file-name "work" (getenv "HOME"))))
        (setq ecl-mcp-activate-function 'ignore))`,
};

test('evil: the modes for Lisp have their own keys', options, async emacs => {
    if (await emacs.eval(`(progn
        (dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*"))
          (add-to-list 'load-path folder))
        (setq evil-want-keybinding nil)
        (and (require 'evil nil t) (progn (evil-mode 1) t)))`, 60) === 'nil') {
        console.log('skip: elpa-evil is not installed');
        return;
    }
    for (const mode of ['inspect', 'test', 'system', 'trace', 'debugger', 'step',
        'threads', 'result', 'output'])
        check(await emacs.eval(`(with-current-buffer
            (get-buffer-create "x ${mode}") (ecl-mcp-${mode}-mode) evil-state)`) ===
            'emacs', mode);
    // By keys: a part in the inspector, and back.
    await emacs.eval('(progn (ecl-mcp-inspect "(list 1 (list 2 :deep))") t)');
    await emacs.see(/^1: \(2 :DEEP\)$/m);
    await emacs.until('(equal (buffer-name (window-buffer)) "*ecl-mcp inspector*")');
    await emacs.keys('n', 'n', 'Enter');
    await emacs.see(/^1: :DEEP$/m);
    await emacs.keys('l');
    await emacs.see(/^1: \(2 :DEEP\)$/m);
    // Text is typed in the REPL, as in other buffers of comint.
    await emacs.keys('C-x', '1');
    await emacs.eval('(progn (call-interactively #\'ecl-mcp-repl) t)');
    await emacs.see(/^CL-USER> ?$/m);
    check(await emacs.eval('(with-current-buffer "*ecl-mcp repl*" evil-state)') ===
        'insert', 'the REPL');
    await emacs.type('(+ 20 22)');
    await emacs.keys('Enter');
    await emacs.see(/^=> 42$/m);
});
