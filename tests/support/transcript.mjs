// SPDX-License-Identifier: GPL-3.0-or-later
// transcript.mjs: reads transcripts, see tests/server/README.md. It knows how
// they are written, not what their words do.
import { withLimits } from './limits.mjs';

// The version of MCP without initialize.
export const MODERN = '2026-07-28';

const INDENT = /^ {2,}/;

// One step of a transcript:
//   at        line number
//   verb      first word: > < eval call start …
//   rest      the rest of the line, and continuation lines
//   text      expected lines of text; undefined if there are none
//   isError   whether these are the text of a failure; undefined: either
function step(line, at) {
    const [, verb, rest] = /^(\S+) ?([^]*)$/.exec(line);
    return { at, verb, rest };
}

const IS_ERROR = { '|': false, '!': true, '*': undefined };

function addExpected(steps, line, at) {
    const last = steps.at(-1);
    const isError = IS_ERROR[line[0]];
    if (!last || (last.text && last.isError !== isError))
        throw new SyntaxError(`line ${at}: no call for this text`);
    last.isError = isError;
    (last.text ??= []).push(line.slice(2));
}

// The steps of the transcript SOURCE, whose first line is line FIRST of its
// file. Lines that begin with ## are steps, for the reader of the output.
export function parseTranscript(source, first = 1) {
    const steps = [];
    for (const [i, line] of withLimits(source).split('\n').entries()) {
        const at = first + i;
        if (/^\s*$/.test(line) || /^#(?!#)/.test(line))
            continue;
        if (/^[|!*]( |$)/.test(line))
            addExpected(steps, line, at);
        else if (INDENT.test(line) && steps.length && !steps.at(-1).text)
            steps.at(-1).rest += '\n' + line.replace(/^ {2,5}/, '');
        else
            steps.push(step(line, at));
    }
    return steps;
}

// The ```mcp blocks of a Markdown text, as one transcript; undefined when
// there are none.
export function parseMarkdown(source) {
    const blocks = [...source.matchAll(/^```mcp\n([^]*?)^```$/gm)];
    const steps = blocks.flatMap(block => parseTranscript(block[1],
        source.slice(0, block.index).split('\n').length + 1));
    return blocks.length ? steps : undefined;
}

// ⟦TEXT×N⟧ is TEXT repeated, ⟨NAME⟩ a number that was remembered.
export function expand(text, names) {
    return text
        .replace(/⟦([^×⟧]*)×(\d+)⟧/gu, (_, part, n) => part.repeat(+n))
        .replace(/⟨([a-z]{2,})⟩/gu, (all, name) => names[name] ?? all);
}

// \xHH \n \r \t \0 \\ in TEXT as bytes, the rest as UTF-8.
export function unescapeBytes(text) {
    const SIMPLE = { n: 10, r: 13, t: 9, 0: 0, '\\': 92 };
    return Buffer.concat(text.split(/(\\x[0-9a-fA-F]{2}|\\[nrt0\\])/).map(
        (part, i) => {
            if (i % 2 === 0)
                return Buffer.from(part);
            return Buffer.from([part[1] === 'x'
                ? parseInt(part.slice(2), 16) : SIMPLE[part[1]]]);
        }));
}

// Words as a shell has them: blanks separate, '…' and "…" keep them.
export const words = text =>
    [...text.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
        .map(([, a, b, c]) => a ?? b ?? c);
