// SPDX-License-Identifier: GPL-3.0-or-later
// approvals.mjs: approvals and reviews with a real mouse, menus, tooltips, large
// fonts, two frames and a screen of high resolution. Pictures of what a person
// saw go to build/window/.
import fs from 'node:fs';
import path from 'node:path';
import { ask, asking, decided, open } from '../terminal/asking.mjs';
import { ROOT, check, lisp, pause, test } from '../terminal/terminal.mjs';

const DOUBLE = 700; // ms after which two clicks are no double click
const QUEUE = "(progn (setq ecl-mcp-approval-style 'queue) (context-menu-mode 1))";
const POPUP = QUEUE.replace('queue', 'popup');
const APPROVAL = '*ecl-mcp approval*';
const DELETES = `(with-open-file (in "notes.txt")
  (loop for line = (read-line in nil) while line
        count (search "todo" line)))
(delete-file "notes.txt")`;

const settle = async emacs => {
    await pause(500);
    await emacs.until('(ecl-mcp-test-settled-p)');
};
const go = async emacs => {
    await emacs.eval("(progn (run-at-time 0 nil #'ecl-mcp-review) nil)");
    await emacs.until(`(equal (buffer-name (window-buffer)) "${APPROVAL}")`);
    await settle(emacs);
};

const SIZES = {
    'a usual screen': {},
    'a font of 20 points': { font: 'DejaVu Sans Mono-20', width: 70, height: 22 },
    'a screen of high resolution': { dpi: 192, font: 'DejaVu Sans Mono-11' },
};

for (const [name, size] of Object.entries(SIZES))
    test(`window: keys of a legend by mouse, on ${name}`, { ...asking(QUEUE), ...size },
        async emacs => {
            await ask(emacs, 1, DELETES);
            await go(emacs);
            await emacs.picture(`approval-${size.dpi ?? 96}-${size.font ?? ''}`
                .replace(/[^\w-]+/g, '-'));
            // The mouse stays on a key: what it does is said.
            await emacs.point('y allow');
            await emacs.until('(member "mouse-1: Allow this call once, or accept the ' +
                'offered rule." ecl-mcp-test-tips)');
            await emacs.picture(`tooltip-${size.dpi ?? 96}-${size.font ?? ''}`
                .replace(/[^\w-]+/g, '-'));
            await emacs.click('y allow');
            await decided(emacs, 1, 'approve');
            await ask(emacs, 2, '(cdr x)');
            await go(emacs);
            await emacs.click('! session');
            await settle(emacs);
            await emacs.click('- narrower');
            await emacs.until(`(with-current-buffer "${APPROVAL}" (goto-char (point-min))
                (search-forward "exactly" nil t))`);
            await open(emacs, 2);
            await settle(emacs);
            await emacs.click('n no');
            await settle(emacs);
            await emacs.click('n deny');
            await decided(emacs, 2, 'deny');
        });

test('window: a window that is not selected decides nothing', asking(POPUP),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await emacs.click('takes you here');
        await settle(emacs);
        await emacs.picture('popup');
        await emacs.click('This buffer', '*scratch*');
        await settle(emacs);
        await pause(DOUBLE);
        await emacs.click('takes you here');
        await open(emacs, 1);
        await pause(DOUBLE);
        await settle(emacs);
        await emacs.click('y allow');
        await decided(emacs, 1, 'approve');
    });

test('window: menu bar and context menu', asking(QUEUE), async emacs => {
    await ask(emacs, 1, '(car x)');
    await go(emacs);
    // The menus of a toolkit: keys of X move in them.
    await emacs.keys('F10', 'Right', 'Right', 'Right', 'Right', 'Right', 'Down');
    await pause(300);
    await emacs.picture('menu-bar', true);
    await emacs.keys('Return');
    await decided(emacs, 1, 'approve');
    await ask(emacs, 2, '(car x)');
    await go(emacs);
    await emacs.click('Operators', APPROVAL, 3);
    await pause(300);
    await emacs.picture('context-menu', true);
    await emacs.keys('Down', 'Return');
    await decided(emacs, 2, 'approve');
});

test('window: two frames', asking(POPUP), async emacs => {
    const other = await emacs.text(`(progn
        (setq test-first (selected-frame)
              test-second (make-frame '((left . 800) (top . 300) (width . 60)
                                        (height . 20) (name . "other"))))
        (with-selected-frame test-second
          (switch-to-buffer "writing") (text-mode))
        (frame-parameter test-second 'outer-window-id))`);
    await emacs.focusOn(other);
    await emacs.until('(eq (selected-frame) test-second)');
    await emacs.type('yes and no ');
    await ask(emacs, 1, '(car x)');
    await emacs.type('yes any way, no ');
    // It comes up where the person is, and takes no key there.
    await emacs.until(`(when-let ((window (get-buffer-window "${APPROVAL}" 'visible)))
        (eq test-second (window-frame window)))`);
    await emacs.picture('two-frames');
    await emacs.type('yy nn ');
    const text = await emacs.text('(with-current-buffer "writing" (buffer-string))');
    check(text === 'yes and no yes any way, no yy nn ', text);
    await open(emacs, 1);
    await emacs.click('takes you here');
    await settle(emacs);
    // The focus goes and comes back: a key right after that is not for this.
    await emacs.focusOn(await emacs.text("(frame-parameter test-first 'outer-window-id)"));
    await emacs.focusOn(other);
    await emacs.keys('y');
    await emacs.never('(ecl-mcp-test-decision 1)', 1);
    await settle(emacs);
    await emacs.keys('y');
    await decided(emacs, 1, 'approve');
});

//// Reviews

const OLD = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\\n`).join('');
const NEW = OLD.replace('line 5\\', 'five\\').replace('line 20\\', 'twenty\\');
const become = (emacs, wanted) => emacs.until(`(equal '${wanted}
    (mapcar #'ecl-mcp-hunk-state
      (ecl-mcp-review--units (car ecl-mcp-review--all))))`);

test('window: a review by mouse', {
    width: 120, height: 56, load: ['cl-lib'],
    form: `(progn
      (add-to-list 'load-path ${lisp(path.join(ROOT, 'tests/elisp'))})
      (require 'review-support)
      (context-menu-mode 1)
      (setq make-backup-files nil test-review-core (ecl-mcp-test-connection))
      (setf (ecl-mcp-connection-workspace test-review-core) (file-truename "~/"))
      (ecl-mcp-review-activate))`,
}, async emacs => {
    const file = path.join(emacs.home, 'text.txt');
    fs.writeFileSync(file, OLD.replaceAll('\\n', '\n'));
    await emacs.eval(`(progn (find-file ${lisp(file)})
      (save-selected-window (ecl-mcp-review-request
        (test-review-request ${lisp(file)} "${OLD}" "${NEW}"))) t)`);
    const buffer = await emacs.text(`(buffer-name (ecl-mcp-review--buffer
        (car ecl-mcp-review--all)))`);
    // The first click selects the window.
    await emacs.click('[open]', buffer);
    await emacs.until("(with-current-buffer (window-buffer) (derived-mode-p 'ecl-mcp-review-mode))");
    await pause(DOUBLE);
    await become(emacs, '(open open)');
    await emacs.click('[open]', buffer);
    await become(emacs, '(accepted open)');
    await emacs.picture('review');
    await pause(DOUBLE);
    await emacs.click('! session');
    await emacs.place('(ecl-mcp-test-mode-line-place "+ wider")');
    await pause(500);
    await emacs.picture('rule');
    await emacs.plain('rule', 'TAB where');
    await emacs.click('+ wider');
    await pause(500);
    await emacs.click('n no');
    await emacs.place('(ecl-mcp-test-mode-line-place "r reject")');
    await pause(DOUBLE);
    await emacs.click('twenty', buffer, 3);
    await pause(300);
    await emacs.picture('review-context-menu', true);
    await emacs.keys('Escape');
    await pause(300);
    await emacs.click('C-c C-c');
    await pause(500);
    await emacs.click('y yes');
    await emacs.until('(test-review-answers)');
    check(fs.readFileSync(file, 'utf8') === OLD.replace('line 5\\', 'five\\')
        .replaceAll('\\n', '\n'), 'the file');
});
