// SPDX-License-Identifier: GPL-3.0-or-later
// attempts.mjs: reads the *.walls files. README.md explains the notation.
import fs from 'node:fs';
import path from 'node:path';

// The modes of the sandbox, in the order of the letters of an attempt.
export const MODES = ['workspace', 'read-only', 'network', 'off'];

// The kinds of attempts that are Lisp (lisp.mjs).
export const LISP = ['lisp', 'compiled', 'thread', 'frame', 'replay', 'restart',
    'adopted'];

const LINE = new RegExp('^([rdRUu?-]{4}) ' +
    `(sh|sys|do|${LISP.join('|')}) (.+?)(?: => ([A-Z0-9,]+))?$`);

// [{file, line, family, needs, expected, kind, text, through}] of the files of
// FOLDER. THROUGH: error numbers that say that the wall let the attempt through.
export function readAttempts(folder) {
    const all = [];
    for (const file of fs.readdirSync(folder).sort()) {
        if (!file.endsWith('.walls'))
            continue;
        let family = file;
        let needs = [];
        const lines = fs.readFileSync(path.join(folder, file), 'utf8')
            .split('\n');
        for (const [i, text] of lines.entries()) {
            if (text === '' || /^#( |$)/.test(text))
                continue;
            if (text.startsWith('## ')) {
                [, family, needs] = /^## (.*?)(?: \[(.*)\])?$/.exec(text);
                needs = needs?.split(' or ') ?? [];
                continue;
            }
            const match = LINE.exec(text);
            if (!match)
                throw new Error(`${file}:${i + 1}: not an attempt: ${text}`);
            all.push({
                file, line: i + 1, family, needs,
                expected: match[1], kind: match[2], text: match[3],
                through: match[4]?.split(',') ?? [],
            });
        }
    }
    return all;
}

// Whether a system with FEATURES ({landlock, seccomp,
// mounts}) has the wall that an
// attempt runs against.
export function hasWall(attempt, features) {
    return attempt.needs.length === 0 || attempt.needs.some(need => {
        const landlock = /^landlock (\d)$/.exec(need);
        if (landlock)
            return features.landlock >= +landlock[1];
        if (need === 'seccomp' || need === 'mounts')
            return features[need];
        throw new Error(`${attempt.file}: no such wall: ${need}`);
    });
}
