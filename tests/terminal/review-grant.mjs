// SPDX-License-Identifier: GPL-3.0-or-later
// review-grant.mjs: grants from a review, the end of a run, the time that is
// left, and decisions that outlive their request, all with a running ecl-mcp.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { check, lisp, pause, test } from './terminal.mjs';

const here = form => `(with-current-buffer (window-buffer) ${form})`;
const options = {
    width: 140, height: 40, load: ['ecl-mcp'],
    form: '(progn (setq make-backup-files nil) (ecl-mcp-global-mode 1))',
};
const OLD = '(line 1)\n(line 2)\n';

// Starts a client in a workspace with FILES, and ends it after BODY.
async function served(emacs, files, args, body) {
    const workspace = path.join(emacs.home, 'work');
    for (const name of files) {
        fs.mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
        fs.writeFileSync(path.join(workspace, name), OLD);
    }
    const client = new Client(emacs, workspace, args);
    try {
        await client.open();
        await emacs.until('ecl-mcp-connections');
        await body(client, name => path.join(workspace, name));
    } finally {
        await client.close();
    }
}

const propose = (client, name, to, from = '1') =>
    client.call('propose-file-edit', { path: name, description: 'better',
        edits: [{ old: `(line ${from})`, new: `(row ${to})` }] });

// Goes to the review that waits, and past the moment in which nothing counts.
async function review(emacs) {
    await emacs.until('ecl-mcp-requests');
    await emacs.eval(`(progn (run-at-time 0 nil #'ecl-mcp-review) nil)`);
    await emacs.until(here("(derived-mode-p 'ecl-mcp-review-mode)"));
    await emacs.until(here(`(> (float-time) (+ ecl-mcp-review-fresh
        (ecl-mcp-review--came-up ecl-mcp-review--current)))`));
}

test('review: a grant for a folder, in files and buffers', options, async emacs => {
    const files = ['src/a.lisp', 'src/b.lisp', 'src/deep/c.lisp', 'src/.hidden', 'd.lisp'];
    await served(emacs, files, [], async (client, at) => {
        await emacs.eval(`(progn (find-file ${lisp(at('src/b.lisp'))}) t)`);
        const first = propose(client, 'src/a.lisp', 1);
        await review(emacs);
        await emacs.see(/a accept +r reject +e edit +C-c C-c submit/);
        await emacs.keys('!');
        await emacs.see(/Until this server ends: allow propose-file-edit of src\/a\.lisp/);
        await pause(500);
        await emacs.keys('+');
        await emacs.see(/of src\/\* from/);
        await pause(500);
        await emacs.keys('+');
        await emacs.see(/of src\/\*\* from/);
        await pause(500);
        await emacs.keys('y');
        check(/^APPLIED/.test((await client.answer(first)).content[0].text), 'first');
        // A buffer that visits the file, one with unsaved text, and a file.
        for (const [name, to] of [['src/b.lisp', 2], ['src/deep/c.lisp', 3]]) {
            const text = (await client.answer(propose(client, name, to))).content[0].text;
            check(/^APPLIED/.test(text), text);
            check(fs.readFileSync(at(name), 'utf8').startsWith(`(row ${to})`), name);
        }
        await emacs.eval(`(with-current-buffer "b.lisp" (goto-char (point-max))
            (insert "mine") t)`);
        const text = (await client.answer(propose(client, 'src/b.lisp', 4, '2')))
            .content[0].text;
        check(/not saved/.test(text), text);
        await emacs.until(`(with-current-buffer "b.lisp"
            (string-match-p "(row 4)\\nmine" (buffer-string)))`);
        // Outside of the folder, and hidden, it asks; a read-only buffer, too.
        await emacs.eval('(with-current-buffer "b.lisp" (set-buffer-modified-p nil))');
        for (const name of ['d.lisp', 'src/.hidden']) {
            propose(client, name, 5);
            await review(emacs);
            await emacs.keys('C-c', 'C-k', 'Enter');
            await emacs.until('(null ecl-mcp-requests)');
            check(fs.readFileSync(at(name), 'utf8') === OLD, name);
        }
    });
});

// Presses keys that choose a rule, each when its text is on the screen.
async function choose(emacs, ...steps) {
    for (const [text, ...keys] of steps) {
        await emacs.see(text);
        await pause(500); // the grace of an answer
        await emacs.keys(...keys);
    }
}
const rules = (emacs, name) => fs.readFileSync(path.join(emacs.home, name), 'utf8');

test('review: * always allows, and D always denies', options, async emacs => {
    const files = ['src/a.lisp', 'src/b.lisp', 'src/c.lisp', 'd.lisp'];
    await served(emacs, files, [], async (client, at) => {
        const first = propose(client, 'src/a.lisp', 1);
        await review(emacs);
        await emacs.see(/! session +\* always +D never +S stop +N why/);
        await emacs.keys('*');
        await choose(emacs,
            [/Always, in this project: allow propose-file-edit of src\/a\.lisp\?/, 'n']);
        await emacs.see(/No rule was made/);
        // Nothing but a whole yes makes a permanent rule.
        await emacs.keys('*');
        await choose(emacs, [/of src\/a\.lisp\?/, '+'], [/of src\/\*\?/, 'y']);
        await emacs.see(/Write to .*permissions\.eld: allow .*Type yes:/s);
        await emacs.type('y');
        await emacs.keys('Enter');
        await emacs.see(/No rule was made/);
        check(await emacs.eval('(length ecl-mcp-requests)') === '1', 'it was decided');
        // For all projects, only this client.
        await emacs.keys('*');
        await choose(emacs, [/TAB where.*in this project: /s, 'Tab'],
            [/c only this client.*in all projects: /s, '+'],
            [/in all projects: .*of src\/\*\?/s, 'c'],
            [/of src\/\* from \S+/, 'y']);
        await emacs.see(/Type yes:/);
        await emacs.type('yes');
        await emacs.keys('Enter');
        check(/^APPLIED/.test((await client.answer(first)).content[0].text), 'first');
        check(/:effect allow :tool "propose-file-edit" :path "src\/\*" :client "/.test(
            rules(emacs, '.emacs.d/ecl-mcp/permissions.eld')), 'the file');
        const second = (await client.answer(propose(client, 'src/b.lisp', 1)));
        check(/^APPLIED/.test(second.content[0].text), 'second');
        // Deny beats allow, and this change is refused.
        const third = propose(client, 'd.lisp', 1);
        const fourth = propose(client, 'd.lisp', 2, '2');
        await emacs.until('(= 2 (length ecl-mcp-requests))');
        await review(emacs);
        await emacs.keys('D');
        await choose(emacs,
            [/Always, in this project: deny propose-file-edit of d\.lisp\?/, 'y']);
        await emacs.see(/Type yes:/);
        await emacs.type('yes');
        await emacs.keys('Enter');
        check(/A new rule of the user denies such changes/.test(
            (await client.answer(third)).content[0].text), 'third');
        check(/the user's rule .*denies it/.test(
            (await client.answer(fourth)).content[0].text), 'fourth');
        check(fs.readFileSync(at('d.lisp'), 'utf8') === OLD, 'd.lisp');
    });
});

test('review: a rule about several files', options, async emacs => {
    const change = (client, line, ...names) => client.call('propose-changes', {
        description: 'better', edits: names.map(name => ({ path: name,
            old: `(line ${line})`, new: `(row ${line})` })) });
    await served(emacs, ['src/a.lisp', 'src/x/b.lisp', 'c.lisp'], [], async client => {
        const first = change(client, 1, 'src/a.lisp', 'src/x/b.lisp');
        await review(emacs);
        await emacs.keys('!');
        await choose(emacs,
            [/Until this server ends: allow propose-changes of src\/\*\* from/, 'y']);
        check(/^APPLIED/.test((await client.answer(first)).content[0].text), 'first');
        const second = (await client.answer(change(client, 2, 'src/a.lisp',
            'src/x/b.lisp'))).content[0].text;
        check(/^APPLIED/.test(second), second);
        // Elsewhere it asks, also about a part.
        client.call('propose-changes', { description: 'better', edits: [
            { path: 'src/a.lisp', old: '(row 1)', new: '(row 3)' },
            { path: 'c.lisp', old: '(line 1)', new: '(row 1)' }] });
        await emacs.until('ecl-mcp-requests');
    });
});

test('review: no rule where the server asks each time', options, async emacs => {
    const policy = path.join(emacs.home, 'policy.json');
    fs.writeFileSync(policy, JSON.stringify({ ask: ['propose-file-edit'] }));
    await served(emacs, ['a'], ['--policy', policy], async client => {
        propose(client, 'a', 1);
        await review(emacs);
        for (const key of ['!', '*']) {
            await emacs.keys(key);
            await emacs.see(/No rule can allow this: a rule of the server says to ask/);
            await emacs.eval('(message nil)');
        }
        await emacs.keys('D');
        await choose(emacs, [/Always, in this project: deny/, 'n']);
    });
});

test('review: S stops the run', options, async emacs => {
    await served(emacs, ['a', 'b'], [], async client => {
        const ids = [propose(client, 'a', 1), propose(client, 'b', 1)];
        await emacs.until('(= 2 (length ecl-mcp-requests))');
        await review(emacs);
        await emacs.keys('M-n');
        await emacs.until(here('(string-match-p "review: b" (buffer-name))'));
        await emacs.keys('M-p');
        await emacs.until(here('(string-match-p "review: a" (buffer-name))'));
        await emacs.keys('S');
        await emacs.see(/Stop the run of .*\(y or n\)/);
        await pause(500);
        await emacs.keys('y');
        for (const id of ids)
            check(/The user stopped the run\.\n/.test(
                (await client.answer(id)).content[0].text), 'stopped');
    });
});

test('review: time is shown, work prolongs it, and decisions outlive it', options,
    async emacs => {
        await served(emacs, ['a'], ['--approval-timeout', '12'], async client => {
            const first = propose(client, 'a', 1);
            await review(emacs);
            await emacs.see(/1 open · \d+ s left/);
            // Work: after 12 s it still waits.
            for (let count = 0; count < 28; count++) {
                await emacs.keys('C-f');
                await emacs.eval('(setf (ecl-mcp-request-worked (car ecl-mcp-requests)) nil)');
                await pause(500);
            }
            check(await emacs.eval('(length ecl-mcp-requests)') === '1', 'it ended');
            await emacs.keys('a');
            await emacs.see(/C-c C-c apply 1 of 1/);
            // The rest is silence: it ends, and the decision is kept.
            const text = (await client.answer(first)).content[0].text;
            check(/worked on it and did not finish/.test(text), text);
            await emacs.see(/your decisions are kept|no longer waits/);
            const again = propose(client, 'a', 1);
            await review(emacs);
            await emacs.see(/Decided before, in a request that ended: 1 hunk\./);
            await emacs.see(/\[accepted\]/);
            await emacs.keys('C-c', 'C-c');
            check(/^APPLIED/.test((await client.answer(again)).content[0].text), 'again');
        });
    });

test('accept edits: below a folder, until it ends', options, async emacs => {
    const write = (client, name) => client.call('write-file',
        { path: name, content: '(new)\n' });
    await served(emacs, ['src/a.lisp', 'src/.b', 'c.lisp'], [], async (client, at) => {
        await emacs.eval(`(progn (global-set-key (kbd "C-c m") 'ecl-mcp-prefix-map)
            (find-file ${lisp(at('src/a.lisp'))}) nil)`);
        // A request that waits already is answered, too.
        const first = propose(client, 'src/a.lisp', 1);
        await emacs.until('ecl-mcp-requests');
        await pause(2000); // it is shown, and not selected
        for (const key of ['n', 'y']) {
            await emacs.keys('C-c', 'm', 'a');
            await emacs.see(/Accept changes of files below: /);
            await emacs.type('src');
            await emacs.keys('Enter');
            await emacs.see(/Let tester 1 in work change files below src\/ without asking\?/);
            await pause(500);
            await emacs.keys(key);
            if (key === 'n')
                await emacs.see(/Edits are asked about/);
        }
        await emacs.until(`(with-current-buffer ecl-mcp--messages-buffer
            (string-match-p "below src/ are accepted; C-c m a ends" (buffer-string)))`);
        check(/^APPLIED/.test((await client.answer(first)).content[0].text), 'first');
        await emacs.see(/MCP:edits/);
        const second = await client.answer(write(client, 'src/new/x.lisp'));
        check(!second.isError, JSON.stringify(second));
        check(fs.readFileSync(at('src/new/x.lisp'), 'utf8') === '(new)\n', 'x.lisp');
        // Elsewhere, hidden, or deleted: it asks.
        for (const call of [() => propose(client, 'c.lisp', 1),
            () => propose(client, 'src/.b', 1),
            () => client.call('delete-file', { path: 'src/a.lisp' })]) {
            const id = call();
            await emacs.until('ecl-mcp-requests');
            await emacs.eval('(progn (ecl-mcp-deny (car ecl-mcp-requests)) nil)');
            await client.answer(id);
        }
        check(fs.existsSync(at('src/a.lisp')), 'it was deleted');
        // Again: it asks as before.
        await emacs.keys('C-c', 'm', 'a');
        await emacs.see(/Edits of tester 1 in work are asked about again/);
        await emacs.unseen(/MCP:edits/);
        propose(client, 'src/a.lisp', 2, '2');
        await emacs.until('ecl-mcp-requests');
        check(await emacs.eval('ecl-mcp-permissions--session-rules') === 'nil', 'rules');
    });
});

test('accept edits: a server that asks each time still asks', options, async emacs => {
    const policy = path.join(emacs.home, 'policy.json');
    fs.writeFileSync(policy, JSON.stringify({ ask: ['propose-file-edit'] }));
    await served(emacs, ['a'], ['--policy', policy], async client => {
        await emacs.keys('M-x');
        await emacs.type('ecl-mcp-accept-edits');
        await emacs.keys('Enter');
        await emacs.see(/Accept changes of files below: /);
        await emacs.keys('Enter');
        await emacs.see(/change files below its project without asking\?/);
        await pause(500);
        await emacs.keys('y');
        await emacs.see(/MCP:edits/);
        propose(client, 'a', 1);
        await emacs.until('ecl-mcp-requests');
    });
    await emacs.unseen(/MCP:edits/); // its server has ended
});
