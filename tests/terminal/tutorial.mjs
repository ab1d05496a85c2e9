// SPDX-License-Identifier: GPL-3.0-or-later
// tutorial.mjs: the tutorial of the manual, played from its text: the keys of
// each step are typed, and what the chapter says happens. Its comments that
// begin with "@c play" are the rest: see there.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from './client.mjs';
import { ROOT, check, test } from './terminal.mjs';

const MANUAL = path.join(ROOT, 'elisp/ecl-mcp.texi');
const SECONDS = 60; // that a step may take
const plain = text => text.replace(/@([{}@])/g, '$1');
const here = form => `(with-current-buffer (window-buffer) ${form})`;

// The steps of the chapter: {line, what, text, block}.
function steps() {
    const lines = fs.readFileSync(MANUAL, 'utf8').split('\n');
    const from = lines.indexOf('@node Tutorial');
    const to = lines.findIndex((line, at) => at > from && /^@node /.test(line));
    const found = [];
    for (let at = from; at < to; at++) {
        const [, what, rest] = lines[at].match(/^@c play (\w+) ?(.*)$/) ??
            [null, /^@item /.test(lines[at]) && 'keys', lines[at].slice(6)];
        if (!what)
            continue;
        const step = { line: at + 1, what, text: what === 'keys' ? plain(rest) : rest };
        if (what === 'init' || what === 'file') {
            const end = lines.findIndex((line, next) => next > at + 1 &&
                /^@end (lisp|example)$/.test(line));
            step.block = plain(lines.slice(at + 2, end).join('\n'));
        }
        found.push(step);
    }
    return found;
}

// Keys as the manual writes them, as those of the driver: keys with modifiers,
// names of keys, single characters, and text, which begins with a longer word.
function keys(text) {
    const names = { RET: 'Enter', TAB: 'Tab', SPC: 'Space' };
    const found = [];
    for (const word of text.split(' ')) {
        const last = found.at(-1);
        if (names[word] || /^[CM]-\S$/.test(word))
            found.push(names[word] ?? word);
        else if (last?.text?.length > 1)
            last.text += ` ${word}`;
        else
            found.push({ text: word });
    }
    return found;
}

// Waits until a key would count, for an approval and for a review.
const settle = emacs => emacs.until(here(`(and (ecl-mcp-test-settled-p)
    (or (not (bound-and-true-p ecl-mcp-review--current))
        (> (float-time) (+ ecl-mcp-review-fresh
          (or (ecl-mcp-review--came-up ecl-mcp-review--current) 0)))))`));

// What a step does with EMACS and the agent of STATE.
const ACTIONS = {
    init: (emacs, state, { block }) => emacs.eval(`(progn ${block} nil)`),
    file: (emacs, state, { text, block }) => {
        const file = path.join(emacs.home, text);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, block, { mode: 0o600 });
    },
    agent: async (emacs, state, { text }) => {
        const [, tool, args] = text.match(/^(\S+) (.*)$/);
        if (!state.client) {
            state.client = new Client(emacs, path.join(emacs.home, 'geometry'),
                ['--attach', '--policy', path.join(emacs.home, 'ask.json')]);
            await state.client.open();
            await emacs.until('ecl-mcp-connections');
        }
        state.call = state.client.call(tool, JSON.parse(args));
    },
    answer: async (emacs, state, { text }) => {
        const answer = (await state.client.answer(state.call)).content[0].text;
        check(new RegExp(text, 'm').test(answer), `the agent reads: ${answer}`);
    },
    sees: (emacs, state, { text }) => emacs.see(new RegExp(text, 'm'), SECONDS),
    text: (emacs, state, { text }) => {
        const [, name, pattern] = text.match(/^(\S+) (.*)$/);
        const found = fs.readFileSync(path.join(emacs.home, name), 'utf8');
        check(new RegExp(pattern).test(found), `${name}: ${found}`);
    },
    keys: async (emacs, state, { text }) => {
        await settle(emacs);
        await emacs.keys(...keys(text));
    },
};

test('tutorial: the afternoon of the manual', {
    seconds: 600, width: 100, height: 45,
    form: `(progn (setq make-backup-files nil auto-save-default nil)
        (cd "~"))`,
}, async emacs => {
    const state = {};
    try {
        for (const step of steps()) {
            try {
                await ACTIONS[step.what](emacs, state, step);
            } catch (error) {
                error.message = `line ${step.line} of the manual, ${step.what} ` +
                    `${step.text}: ${error.message}\n${await emacs.look()}\n` +
                    JSON.stringify(state.client?.messages.at(-1) ?? '');
                throw error;
            }
        }
    } finally {
        await state.client?.close();
    }
});
