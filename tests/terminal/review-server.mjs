// SPDX-License-Identifier: GPL-3.0-or-later
// review-server.mjs: everything together: a client of a running ecl-mcp proposes
// a change, and a person with an Emacs in a terminal decides.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { check, lisp, test } from './terminal.mjs';

const here = form => `(with-current-buffer (window-buffer) ${form})`;
const options = {
    height: 60, load: ['ecl-mcp'],
    form: '(progn (setq make-backup-files nil) (ecl-mcp-global-mode 1))',
};

test('review, all together: two of three, and back', options, async emacs => {
    const workspace = path.join(emacs.home, 'work');
    const file = path.join(workspace, 'util.lisp');
    const old = Array.from({ length: 40 }, (_, i) => `(line ${i})\n`).join('');
    fs.mkdirSync(workspace);
    fs.writeFileSync(file, old);
    await emacs.eval(`(progn (find-file ${lisp(file)}) t)`);
    const client = new Client(emacs, workspace);
    try {
        await client.open();
        await emacs.until('ecl-mcp-connections');
        const id = client.call('propose-file-edit', {
            path: 'util.lisp', description: 'better names',
            edits: [5, 20, 35].map(n => ({ old: `(line ${n})`, new: `(row ${n})` })),
        });
        // it comes up by itself and leaves the keyboard alone
        await emacs.see(/3 hunks · 3 open/);
        await emacs.see(/MCP:1/);
        check(await emacs.eval(here('(buffer-file-name)')) === lisp(file), 'selected');
        await emacs.keys('M-x');
        await emacs.type('ecl-mcp-review');
        await emacs.keys('Enter');
        await emacs.until(here("(derived-mode-p 'ecl-mcp-review-mode)"));
        await emacs.until(here(`(> (float-time) (+ ecl-mcp-review-fresh
            (ecl-mcp-review--came-up ecl-mcp-review--current)))`));
        await emacs.keys('a', 'r', 'p', 'c');
        await emacs.see(/About hunk 2/);
        await emacs.type('keep it');
        await emacs.keys('Enter', 'n', 'a', 'C-c', 'C-c');
        const result = await client.answer(id);
        const text = result.content[0].text;
        const after = old.replace('(line 5)', '(row 5)').replace('(line 35)', '(row 35)');
        check(fs.readFileSync(file, 'utf8') === after, 'the file has another text');
        check(text.startsWith('PARTIAL: 2 of 3 hunks applied to util.lisp (buffer; saved)') &&
            /^hunk 2: rejected: keep it$/m.test(text), text);
        await emacs.until(here(`(and (equal (buffer-file-name) ${lisp(file)})
            (not (buffer-modified-p)))`));
        await emacs.keys('M-x');
        await emacs.type('ecl-mcp-undo-edits');
        await emacs.keys('Enter');
        await emacs.see(/Undo \(default /);
        await emacs.keys('Enter');
        await emacs.see(/2 hunks · 2 open/);
        await emacs.until(here(`(and ecl-mcp-review--current
            (> (float-time) (+ ecl-mcp-review-fresh
              (ecl-mcp-review--came-up ecl-mcp-review--current))))`));
        await emacs.keys('A', 'C-c', 'C-c');
        await emacs.see(/2 of 2 hunks applied and saved/);
        check(fs.readFileSync(file, 'utf8') === old, 'not back');
        await emacs.keys('C-/');
        await emacs.until(here(`(string-match-p "(row 5)" (buffer-string))`));
    } finally {
        await client.close();
    }
});
