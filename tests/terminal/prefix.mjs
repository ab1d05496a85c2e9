// SPDX-License-Identifier: GPL-3.0-or-later
// prefix.mjs: the keymap that the user binds to a prefix, with only the
// autoloads of an installation.
import path from 'node:path';
import { ROOT, check, lisp, test } from './terminal.mjs';

const options = {
    width: 100, height: 40,
    form: `(progn
        (add-to-list 'load-path ${lisp(path.join(ROOT, 'build/release/elisp'))})
        (require 'ecl-mcp-autoloads)
        (global-set-key (kbd "C-c m") 'ecl-mcp-prefix-map)
        (make-directory (setq ecl-mcp-workspace
            (expand-file-name "work" (getenv "HOME")))))`,
};
const shows = (emacs, name) =>
    emacs.until(`(equal (buffer-name (window-buffer)) ${lisp(name)})`);

test('prefix: its keys reach what they name', options, async emacs => {
    check(await emacs.eval('(featurep \'ecl-mcp-base)') === 'nil', 'it loads early');
    // What the keys do is said in words.
    await emacs.keys('C-c', 'm', 'C-h');
    await emacs.see(/C-c m m\s+ecl-mcp-review/);
    await emacs.keys('C-x', '1');
    check(await emacs.eval('(featurep \'ecl-mcp)') === 'nil', 'it loads too much');
    for (const [key, buffer] of [['l', '*ecl-mcp log*'],
        ['p', '*ecl-mcp permissions*'], ['s', '*ecl-mcp*'],
        ['z', '*ecl-mcp repl*']]) {
        await emacs.keys('C-c', 'm', key);
        await shows(emacs, buffer);
    }
    await emacs.keys('C-c', 'm', 'm');
    await emacs.see(/ecl-mcp: No request waits for you/);
    await emacs.keys('C-c', 'm', 'c');
    await emacs.see(/^Call tool:/m);
    await emacs.keys('C-g');
    // What looks into an evaluation.
    await emacs.keys('C-c', 'm', 'x');
    await emacs.see(/^Step through:/m); // the prompt of the REPL is no expression
    await emacs.type('(+ 40 (* 1 2))');
    await emacs.keys('Enter');
    await emacs.until('(get-buffer-window "*ecl-mcp steps*")');
    await emacs.see(/\(\* 1 2\) => 2/);
    await emacs.keys('C-c', 'm', 't');
    await shows(emacs, '*ecl-mcp threads*');
    await emacs.keys('C-u', 'C-c', 'm', 'r');
    for (const [prompt, text] of [['Replay', '(+ 1 2)'], ['Places to watch', ''],
        ['Stop before', '+'], ['Which call of +', ''], ['As before evaluation', '']]) {
        await emacs.until(`(and (minibufferp (window-buffer)) (string-prefix-p
            ${lisp(prompt)} (with-current-buffer (window-buffer) (minibuffer-prompt))))`);
        await emacs.keys(...(text ? [{ text }] : []), 'Enter');
    }
    await emacs.until('(get-buffer-window "*ecl-mcp error*")');
    await emacs.keys('C-c', 'm', 'e');
    await emacs.see(/ecl-mcp: .*error/);
    await emacs.keys('C-c', 'm', 'i');
    // The REPL may still start, or say something meanwhile.
    await emacs.until(`(with-current-buffer "*Messages*" (string-match-p
        "^ecl-mcp: \\\\(Stopped\\\\|Nothing\\\\)" (buffer-string)))`);
    await emacs.keys('C-c', 'm', 'S');
    await emacs.see(/ecl-mcp: Stopped/);
});

test('prefix: messages name the key of a request', options, async emacs => {
    await emacs.eval('(require \'ecl-mcp)');
    check(await emacs.text(`(ecl-mcp--key 'ecl-mcp-review)`) === 'C-c m m', 'hint');
    // which-key shows these words; every key has some, and a command.
    check(await emacs.eval(`(let ((good t))
        (map-keymap (lambda (_ it)
            (unless (and (stringp (car-safe it)) (commandp (cdr it)))
              (setq good nil)))
          ecl-mcp-prefix-map)
        good)`) === 't', 'words');
});
