// SPDX-License-Identifier: GPL-3.0-or-later
// review-files.mjs: a change of several files in one review, decided with keys;
// then all of it is taken back.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { check, lisp, test } from './terminal.mjs';

const here = form => `(with-current-buffer (window-buffer) ${form})`;
const options = {
    height: 70, load: ['ecl-mcp'],
    form: '(progn (setq make-backup-files nil) (ecl-mcp-global-mode 1))',
};

// Waits until the review in the selected window may be submitted.
async function settle(emacs) {
    await emacs.until(here(`(and (derived-mode-p 'ecl-mcp-review-mode)
        (> (float-time) (+ ecl-mcp-review-fresh
          (ecl-mcp-review--came-up ecl-mcp-review--current))))`));
}

test('review of five files: some of them, and back', options, async emacs => {
    const workspace = path.join(emacs.home, 'work');
    const at = name => path.join(workspace, name);
    const text = name => fs.readFileSync(at(name), 'utf8');
    fs.mkdirSync(workspace);
    for (const name of ['mine', 'other', 'locked', 'gone'])
        fs.writeFileSync(at(name), `(${name})\n`);
    fs.chmodSync(at('locked'), 0o444);
    await emacs.eval(`(progn (find-file ${lisp(at('mine'))})
        (goto-char (point-max)) (insert "unsaved\n") t)`);
    const client = new Client(emacs, workspace);
    try {
        await client.open();
        await emacs.until('ecl-mcp-connections');
        const id = client.call('propose-changes', {
            description: 'better names',
            edits: [...['mine', 'other', 'locked'].map(name =>
                ({ path: name, old: `(${name})`, new: `(${name} 1)` })),
            { path: 'fresh', new: '(fresh)\n' },
            { path: 'also', new: '(also)\n' },
            { path: 'gone', delete: true }],
        });
        await emacs.see(/6 files · 6 hunks · 6 open/);
        await emacs.keys('M-x');
        await emacs.type('ecl-mcp-review');
        await emacs.keys('Enter');
        await settle(emacs);
        await emacs.see(/^Delete gone/m);
        // the third file, back to the second, to the fifth hunk: not that one
        await emacs.keys('M-}', 'M-}', 'M-{');
        await emacs.until(here(`(save-excursion (beginning-of-line)
            (looking-at-p ".*hunk 2 of 6"))`));
        await settle(emacs);
        await emacs.keys('a', 'n', 'n', 'r');
        await emacs.see(/hunk 2 of 6 \[accepted\]/);
        await emacs.see(/hunk 5 of 6 \[rejected\]/);
        await emacs.keys('A', 'C-c', 'C-c');
        const result = await client.answer(id);
        const said = result.content[0].text;
        check(said.startsWith('PARTIAL: 4 of 6 hunks applied\n') &&
            /^mine: APPLIED \(buffer; not saved: /m.test(said) &&
            /^locked: ERROR: the file is read-only/m.test(said) &&
            /^also: REFUSED$/m.test(said) &&
            /^gone: APPLIED \(deleted\)$/m.test(said), said);
        check(text('mine') === '(mine)\n', 'saved');
        check(text('other') === '(other 1)\n' && text('locked') === '(locked)\n' &&
            text('fresh') === '(fresh)\n' && !fs.existsSync(at('also')) &&
            !fs.existsSync(at('gone')), 'the files are not as decided');
        await emacs.until(`(equal (with-current-buffer "mine" (buffer-string))
            "(mine 1)\nunsaved\n")`);
        await emacs.keys('M-x');
        await emacs.type('ecl-mcp-undo-edits');
        await emacs.keys('Enter');
        await emacs.see(/Undo \(default /);
        await emacs.keys('Enter');
        await emacs.see(/4 files · 4 hunks · 4 open/);
        await settle(emacs);
        await emacs.keys('A', 'C-c', 'C-c');
        await emacs.see(/which the agent made/);
        await emacs.keys('y');
        await emacs.until(`(not (file-exists-p ${lisp(at('fresh'))}))`);
        check(text('other') === '(other)\n' && text('gone') === '(gone)\n',
            'not back');
        await emacs.until(`(equal (with-current-buffer "mine" (buffer-string))
            "(mine)\nunsaved\n")`);
    } finally {
        await client.close();
    }
});
