// SPDX-License-Identifier: GPL-3.0-or-later
// together.mjs: evil, company, magit, SLIME or SLY, and gptel in one Emacs with
// ours, as far as they are installed by Debian, or in the folders that the
// environment variable ELPA_FOLDERS names, with colons between them.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { check, lisp, test } from './terminal.mjs';

const here = form => `(with-current-buffer (window-buffer) ${form})`;
const FOLDERS = ['/usr/share/emacs/site-lisp/elpa/*', '/usr/share/emacs/site-lisp/slime',
    ...(process.env.ELPA_FOLDERS ?? '').split(':').filter(Boolean)];

// Turns on what each package would be used for; ours comes last, as in an init file.
const PACKAGES = {
    evil: '(progn (evil-mode 1) t)',
    company: '(progn (setq company-idle-delay nil) (global-company-mode 1) t)',
    magit: 't',
    slime: '(progn (slime-setup) t)',
    // It asks about SLIME if that is in the hook.
    sly: '(progn (sly-setup) t)',
    gptel: '(fboundp (quote gptel-make-tool))',
};

// Which of NAMES there are, all turned on.
async function turnOn(emacs, names) {
    await emacs.eval(`(progn (setq evil-want-keybinding nil make-backup-files nil)
        (dolist (pattern '(${FOLDERS.map(lisp).join(' ')}))
          (dolist (folder (file-expand-wildcards pattern))
            (add-to-list 'load-path folder)))
        nil)`);
    const has = {};
    for (const name of names)
        has[name] = await emacs.eval(`(condition-case err
            (and (require '${name} nil t) ${PACKAGES[name]}) (error nil))`, 120) === 't';
    const lacks = names.filter(name => !has[name]);
    if (lacks.length)
        console.log(`skip: together: without ${lacks.join(', ')}: not installed, ` +
            'or not for this Emacs');
    return has;
}

// Ours is turned on last, as in an init file, and evaluates in a file of Lisp.
async function begin(emacs, has) {
    const workspace = path.join(emacs.home, 'work');
    fs.mkdirSync(workspace);
    await emacs.eval(`(progn (require 'ecl-mcp)
        (setq ecl-mcp-workspace ${lisp(workspace)})
        (add-hook 'lisp-mode-hook #'ecl-mcp-mode t)
        (ecl-mcp-global-mode) t)`, 60);
    const file = path.join(workspace, 'code.lisp');
    fs.writeFileSync(file, '(defun shared-name (x) (* 2 x))\n(shared-name 21)');
    await emacs.eval(`(progn (find-file ${lisp(file)}) (goto-char (point-max)) t)`);
    // One buffer, one Lisp, whatever came first.
    await emacs.until(here('ecl-mcp-mode'));
    for (const other of ['slime', 'sly'])
        check(await emacs.eval(here(`(bound-and-true-p ${other}-mode)`)) === 'nil', other);
    if (has.evil)
        await emacs.keys('A'); // to write at the end
    await emacs.keys('C-x', 'C-e');
    await emacs.until('(null ecl-mcp-eval--jobs)', 60);
    await emacs.eval(here('(progn (goto-char (point-min)) t)'));
    await emacs.keys('C-M-x');
    await emacs.see(/^=> SHARED-NAME$/m, 60);
    await emacs.eval(here('(progn (goto-char (point-max)) t)'));
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> 42$/m);
    return workspace;
}

// The name of the other Lisp, whose mode is turned on by MODE, is in the message.
async function other(emacs, mode, name) {
    await emacs.eval(`(progn (switch-to-buffer "code.lisp") nil)`);
    await emacs.keys('M-x');
    await emacs.type(mode);
    await emacs.keys('Enter');
    await emacs.see(new RegExp(
        `code\\.lisp talks to ${name} now; M-x ecl-mcp-mode talks to ECL again`));
}

test('together: evil, company, magit, SLIME and gptel with ours', {
    width: 110, height: 40, load: ['cl-lib'], form: 'nil', seconds: 400,
}, async emacs => {
    const has = await turnOn(emacs, ['evil', 'company', 'magit', 'slime', 'gptel']);
    const workspace = await begin(emacs, has);
    const file = path.join(workspace, 'code.lisp');
    await emacs.keys('Enter');
    await emacs.type('(shared-na');
    if (has.company) {
        // company asks completion-at-point, which asks Lisp.
        await emacs.keys('M-x');
        await emacs.type('company-complete');
        await emacs.keys('Enter');
    } else
        await emacs.keys('C-M-i');
    await emacs.see(/^\(shared-name/m);
    // What evil calls M-. is ours in insert state; in normal state by its command.
    await emacs.keys('M-x');
    await emacs.type('xref-find-definitions');
    await emacs.keys('Enter');
    await emacs.until(here('(looking-at-p "(defun shared-name")'));
    const client = new Client(emacs, workspace);
    try {
        await client.open();
        await emacs.until('(cdr ecl-mcp-connections)');
        // In evil's normal state and in Magit no key is an answer: a window comes up.
        await emacs.eval(here('(progn (set-buffer-modified-p nil) t)'));
        if (has.evil)
            await emacs.keys('Escape');
        if (has.magit)
            await emacs.eval(`(let ((default-directory ${lisp(`${workspace}/`)}))
                (call-process "git" nil nil nil "init" "-q")
                (setq magit-display-buffer-function
                      #'magit-display-buffer-same-window-except-diff-v1)
                (magit-status-setup-buffer) t)`, 60);
        const call = client.call('delete-file', { path: 'code.lisp' });
        await emacs.until('ecl-mcp-requests');
        await emacs.until(`(cl-find-if (lambda (window)
            (with-current-buffer (window-buffer window)
              (derived-mode-p 'ecl-mcp-review-mode))) (window-list))`, 20);
        check(await emacs.eval('(minibuffer-depth)') === '0', 'a question');
        await emacs.keys('a', 'y', 'n');
        check(await emacs.eval('(length ecl-mcp-requests)') === '1', 'answered');
        check(fs.existsSync(file), 'deleted');
        await emacs.keys('C-g', 'C-g');
        await emacs.eval("(progn (run-at-time 0 nil #'ecl-mcp-review) nil)");
        await emacs.until(here("(derived-mode-p 'ecl-mcp-review-mode)"));
        await emacs.until(here(`(> (float-time) (+ ecl-mcp-review-fresh
            (ecl-mcp-review--came-up ecl-mcp-review--current)))`));
        await emacs.keys('C-c', 'C-k');
        await emacs.see(/^Refuse the whole change, because/m);
        await emacs.keys('Enter');
        check((await client.answer(call)).isError, 'refused');
    } finally {
        await client.close();
    }
    if (has.slime)
        await other(emacs, 'slime-mode', 'SLIME');
});

test('together: SLY with ours', {
    width: 110, height: 40, load: ['cl-lib'], form: 'nil', seconds: 200,
}, async emacs => {
    const has = await turnOn(emacs, ['sly']);
    await begin(emacs, has);
    if (has.sly)
        await other(emacs, 'sly-mode', 'SLY');
});
