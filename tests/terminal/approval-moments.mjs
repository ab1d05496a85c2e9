// SPDX-License-Identifier: GPL-3.0-or-later
// approval-moments.mjs: every key of an answer, typed right before a request
// comes up, while it is shown, held down meanwhile, and right after it has gone, in
// buffers of all kinds. What is decided was on the screen, selected and settled, and no such
// key becomes text.
import path from 'node:path';
import { ROOT, check, lisp, pause, test } from './terminal.mjs';
import { ask, decision, quick, settle } from './asking.mjs';

const KEYS = ['y', 'n', 'N', 'e', '!', '*', 'A', 'D', 'S', 's', 'q', '?',
    'Space'];
const DECIDES = { y: 'approve', n: 'deny', S: 'stop', s: 'stop' };
const PACKAGES = '/usr/share/emacs/site-lisp/elpa/*'; // compiled, of Debian

// FORM where FEATURE, of a package, can be loaded.
const packaged = (feature, form) => `(progn
    (dolist (folder (file-expand-wildcards ${lisp(PACKAGES)}))
      (add-to-list 'load-path folder))
    (if (require '${feature} nil t) ${form} (setq test-missing "${feature}")))`;

// Buffers: FORM shows one. With `text', keys of answers are text there; with
// `begin', keys that start something else; `end' ends what a key has started.
const KINDS = {
    fundamental: { text: true, form: '(fundamental-mode)' },
    lisp: { text: true, form: '(lisp-mode)' },
    'evil, insert state': { text: true, form: packaged('evil', `(progn
        (setq evil-want-keybinding nil) (lisp-mode) (evil-mode 1)
        (evil-insert-state))`), reset: '(evil-insert-state)' },
    'evil, normal state': { form: packaged('evil', `(progn (lisp-mode)
        (insert "a b c") (evil-mode 1) (evil-normal-state))`),
    reset: '(evil-normal-state)' },
    dired: { mode: 'dired-mode', form: '(dired "~")' },
    magit: { mode: 'magit-status-mode', form: packaged('magit', `(progn (make-directory "~/repository" t)
        (let ((default-directory (expand-file-name "~/repository/")))
          (call-process "git" nil nil nil "init" "-q")
          (with-temp-file "a" (insert "a"))
          (setq magit-display-buffer-function
                #'magit-display-buffer-same-window-except-diff-v1)
          (magit-status-setup-buffer)))`) },
    Info: { mode: 'Info-mode', form: `(progn (switch-to-buffer "*info*") (insert "a\\nb\\n")
        (Info-mode))` },
    view: { form: '(progn (insert "a\\nb\\n") (view-mode))', reset: '(view-mode 1)' },
    special: { form: '(progn (insert "a\\nb\\n") (special-mode))' },
    'a terminal emulator': { form: '(progn (term "/bin/cat") nil)' },
    'the minibuffer': { begin: ['M-x'], form: '(fundamental-mode)' },
    isearch: { begin: ['C-s'], form: '(progn (insert "yes no\\n") (lisp-mode))' },
};

// The text of the buffer under test, without what a program prints there.
const TEXT = `(with-current-buffer test-buffer
    (substring-no-properties (buffer-string)))`;

// Ends whatever a key has begun, and goes back to the buffer.
async function back(emacs, kind) {
    // No question may come up meanwhile.
    await emacs.eval(`(dolist (request (copy-sequence ecl-mcp-requests))
        (ecl-mcp-answer request '((decision . "none"))))`);
    do {
        await emacs.keys('C-g');
    } while (await emacs.eval(`(and (= 0 (minibuffer-depth))
        (not overriding-terminal-local-map) (not isearch-mode))`) === 'nil');
    await emacs.eval(`(progn
        (delete-other-windows) (switch-to-buffer test-buffer)
        (ignore-errors ${kind.reset ?? 'nil'})
        (setq last-command nil last-command-event nil) nil)`);
    if (kind.begin)
        await emacs.keys(...kind.begin);
}

const shown = id => `(or (ecl-mcp-approval-prompt-request)
    (and (get-buffer-window "*ecl-mcp approval*")
         (equal ${id} (ecl-mcp-request-id (buffer-local-value
             'ecl-mcp-approval-window--request
             (get-buffer "*ecl-mcp approval*"))))))`;

// Asks about ID and waits until that is settled; returns the text of the buffer.
async function askAndSettle(emacs, kind, id) {
    await ask(emacs, id, '(car x)');
    if (kind.text)
        await emacs.until('(ecl-mcp-approval-prompt-request)');
    else if (!kind.begin)
        await emacs.until(shown(id));
    else
        await pause(400);
    await settle(emacs);
    return emacs.text(TEXT);
}

// What each moment does with KEY about the request ID; the decision that may be.
const MOMENTS = {
    before: async (emacs, kind, key, id) => {
        await Promise.all([emacs.now(key), ask(emacs, id, '(car x)')]);
        return [];
    },
    during: async (emacs, kind, key, id) => {
        const text = await askAndSettle(emacs, kind, id);
        await emacs.keys(key);
        await pause(300);
        if (kind.text)
            check(text === await emacs.text(TEXT), `${key} became text`);
        return kind.text && DECIDES[key] ? [DECIDES[key]] : [];
    },
    'held during': async (emacs, kind, key, id) => {
        const text = await askAndSettle(emacs, kind, id);
        await emacs.now(...Array(8).fill(key)); // nobody answers like that
        await pause(400);
        if (kind.text)
            check(text === await emacs.text(TEXT), `${key} became text`);
        return [];
    },
    after: async (emacs, kind, key, id) => {
        await ask(emacs, id, '(car x)');
        if (kind.text)
            await emacs.until('(ecl-mcp-approval-prompt-request)');
        else if (!kind.begin)
            await emacs.until(shown(id));
        await ask(emacs, id + 1, '(cdr x)');
        const text = await emacs.text(TEXT);
        await emacs.eval(`(ecl-mcp-test-send '((method . "withdraw")
            (params . ((id . ${id}) (reason . "gone")))))`);
        await emacs.keys(key);
        await pause(250);
        if (kind.text)
            check(text === await emacs.text(TEXT), `${key} became text`);
        check(await decision(emacs, id + 1) === '', `${key} decided about the next`);
        return [];
    },
};

for (const [name, kind] of Object.entries(KINDS))
    for (const [moment, act] of Object.entries(MOMENTS))
        test(`approval: every key ${moment} a request, in ${name}`, quick(`
            (load ${lisp(path.join(ROOT, 'tests/terminal/moments.el'))} nil t)
            (defvar test-missing nil)
            (setq ecl-mcp-approval-idle-writing 0.3 ecl-mcp-typing--late 4)`), async emacs => {
            // A large package takes its time to load.
            await emacs.eval(`(progn (switch-to-buffer "test") ${kind.form}
                (defvar test-buffer (window-buffer)) nil)`, 60);
            const missing = await emacs.text('(or test-missing "")');
            if (missing) {
                console.log(`skip: ${name}: elpa-${missing} is not installed`);
                return;
            }
            const mode = await emacs.eval(
                `(buffer-local-value 'major-mode test-buffer)`);
            check(!kind.mode || mode === kind.mode, mode);
            let id = 1;
            for (const key of KEYS) {
                await back(emacs, kind);
                const right = await act(emacs, kind, key, id);
                if (right.length)
                    await emacs.until(`(ecl-mcp-test-decision ${id})`);
                const is = await decision(emacs, id);
                check((is || 'none') === (right[0] ?? 'none'),
                    `${key}: ${is}, not ${right}\n${await emacs.look()}`);
                id += 2;
            }
            const faults = await emacs.eval('ecl-mcp-test-faults');
            check(faults === 'nil', faults);
        });
