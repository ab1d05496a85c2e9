// SPDX-License-Identifier: GPL-3.0-or-later
// fifty.mjs: an agent that asks fifty times, with a running ecl-mcp, while its
// human writes mail: each answer is the one that was meant, all that was written
// is in the mail and nowhere else, and no answer takes long. Each key is pressed
// as soon as it counts. What a person waits for is the time in which keys do not
// count yet, or may not be the last ones, and what Emacs has to do; how long the
// machine lets Emacs wait for a processor is not ours.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { check, pause, test } from './terminal.mjs';

const ANSWERS = 50;
const LIMIT = 1500; // ms from the first key to the decision, without waits for others
const here = form => `(with-current-buffer (window-buffer) ${form})`;
const MAIL = here('(equal (buffer-name) "mail")');

// Words with every key of an answer, as people write them.
const WORDS = 'Yes, my dear Ann, nobody saw you; say nothing now, Sunday is as ' +
    'quiet as any day! Quite so? *Never* ask Eve, and do stay. ';

// The calls of the agent. What PRESS does about each is what ANSWER must say; a
// review may not be submitted before it has been on the screen for a second. What
// FIRST does before that decides nothing yet, so it need not wait.
const text = result => result.content[0].text;
const KINDS = [
    { tool: 'evaluate-lisp', args: n => ({ code: `(list ${n})` }),
        press: emacs => emacs.keys('y'),
        right: (result, n) => text(result).includes(`(${n})`) },
    { tool: 'evaluate-lisp', args: n => ({ code: `(error "never ${n}")` }),
        press: emacs => emacs.keys('n'),
        right: result => result.isError && /Do not retry/.test(text(result)) },
    { tool: 'write-file', args: n => ({ path: `new-${n}.txt`, content: `${n}\n` }),
        review: true,
        first: emacs => emacs.keys('a'),
        press: emacs => emacs.keys('C-c', 'C-c'),
        right: (result, n, at) => !result.isError &&
            fs.readFileSync(at(`new-${n}.txt`), 'utf8') === `${n}\n` },
    { tool: 'evaluate-lisp',
        first: emacs => emacs.keys('Space'),
        args: n => ({ code: `(list ${'1 '.repeat(9)}\n${'2\n'.repeat(20)} ${n})` }),
        press: emacs => emacs.keys('y'),
        right: (result, n) => text(result).includes(` ${n})`) },
    { tool: 'evaluate-lisp', args: n => ({ code: `(car ${n})` }),
        press: async (emacs, n) => {
            await emacs.keys('N');
            await emacs.see(/Deny, because:/);
            await emacs.type(`no ${n}`);
            await emacs.keys('Enter');
        },
        right: (result, n) => text(result).includes(`: no ${n}`) },
    { tool: 'propose-file-edit', review: true,
        args: n => ({ path: 'old.txt', description: 'better',
            edits: [{ old: `line ${n}\n`, new: `row ${n}\n` }] }),
        first: emacs => emacs.keys('a'),
        press: emacs => emacs.keys('C-c', 'C-c'),
        right: (result, n) => /^APPLIED/.test(text(result)) },
    { tool: 'propose-file-edit', review: true,
        args: n => ({ path: 'old.txt', description: 'worse',
            edits: [{ old: `line ${n}\n`, new: `lin ${n}\n` }] }),
        first: emacs => emacs.keys('r'),
        press: emacs => emacs.keys('C-c', 'C-c'),
        right: (result, n) => /^REFUSED/.test(text(result)) },
];

// The time in ms for which EMACS has had a processor.
const worked = async emacs =>
    1000 * Number(await emacs.eval('(float-time (get-internal-run-time))'));

// Answers the first request, which is of KIND with number N, from the mail or
// from the request before it; returns how long that took, and how much of it is
// ours: work, and what a key has to wait until it counts.
async function answer(emacs, kind, n) {
    const start = performance.now(), before = await worked(emacs);
    if (await emacs.eval(MAIL) === 't')
        await emacs.keys('C-c', 'm', 'm');
    await emacs.until(here(kind.review ? "(derived-mode-p 'ecl-mcp-review-mode)"
        : "(derived-mode-p 'ecl-mcp-approval-mode)"));
    if (kind.review)
        await emacs.until(here('ecl-mcp-review--current'));
    await kind.first?.(emacs);
    await emacs.until(here(kind.review ? `(and ecl-mcp-review--current
        (> (float-time) (+ ecl-mcp-review-fresh
          (ecl-mcp-review--came-up ecl-mcp-review--current))))`
        : '(ecl-mcp-test-settled-p)'));
    const waiting = await emacs.eval('(length ecl-mcp-requests)');
    await kind.press(emacs, n);
    await emacs.until(`(< (length ecl-mcp-requests) ${waiting})`);
    const waits = 1000 * Number(await emacs.eval(kind.review
        ? 'ecl-mcp-review-fresh' : '(* 2 ecl-mcp-approval-grace)')); // before and after
    return { ms: performance.now() - start, own: waits + await worked(emacs) - before };
}

test(`fifty: ${ANSWERS} answers in a row by a person who writes mail`, {
    seconds: 900, width: 100, height: 40, load: ['ecl-mcp', 'message'],
    form: `(progn
        (setq make-backup-files nil ecl-mcp-approval-style 'popup)
        (global-set-key (kbd "C-c m") 'ecl-mcp-prefix-map)
        (switch-to-buffer "mail") (message-mode) (auto-fill-mode -1)
        (ecl-mcp-global-mode 1))`,
}, async emacs => {
    const workspace = path.join(emacs.home, 'work');
    const config = path.join(emacs.home, '.config/ecl-mcp');
    fs.mkdirSync(workspace);
    fs.mkdirSync(config, { recursive: true });
    fs.writeFileSync(path.join(config, 'policy.json'),
        '{"ask": ["evaluate-lisp"]}', { mode: 0o600 });
    fs.writeFileSync(path.join(workspace, 'old.txt'),
        Array.from({ length: 2 * ANSWERS }, (_, at) => `line ${at}\n`).join(''));
    const client = new Client(emacs, workspace);
    const times = [];
    const figures = of => {
        const sorted = times.map(of).sort((a, b) => a - b);
        return `median ${sorted[times.length >> 1].toFixed()} ms, ` +
            `longest ${sorted.at(-1).toFixed()} ms`;
    };
    let written = '', at = 0;
    const write = async count => {
        const words = Array.from({ length: count },
            () => WORDS[at++ % WORDS.length]).join('');
        written += words;
        await emacs.type(words, 25);
    };
    try {
        await client.open();
        await emacs.until('ecl-mcp-connections');
        while (times.length < ANSWERS) {
            // Now and then, two calls wait at once.
            const two = times.length % 10 === 5;
            const kinds = two ? [KINDS[0], KINDS[1]]
                : [KINDS[times.length % KINDS.length]];
            await write(7);
            const calls = kinds.map((kind, index) =>
                client.call(kind.tool, kind.args(times.length + index)));
            await write(9); // it arrives meanwhile
            await emacs.until(`(= ${kinds.length} (length ecl-mcp-requests))`);
            for (const [index, kind] of kinds.entries()) {
                const n = times.length;
                const time = await answer(emacs, kind, n);
                check(time.own < LIMIT, `answer ${n + 1}, ${kind.tool}: ` +
                    `${time.own.toFixed()} ms (${time.ms.toFixed()} by the clock)`);
                times.push(time);
                const result = await client.answer(calls[index]);
                check(kind.right(result, n, name => path.join(workspace, name)),
                    `answer ${n + 1}, ${kind.tool}: ${text(result)}`);
            }
            await emacs.until(MAIL);
            await emacs.until('(not overriding-terminal-local-map)');
        }
        await pause(300);
        const mail = await emacs.text('(with-current-buffer "mail" (buffer-string))');
        check(mail === written, `${mail}\nis not\n${written}`);
        console.log(`     ${times.length} answers: ${figures(time => time.own)}; ` +
            `by the clock ${figures(time => time.ms)}`);
    } finally {
        await client.close();
    }
});
