#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [--only PATTERN] [--jobs N] [FILE…]
// Runs what FILEs, or all of tests/terminal/*.mjs, register with `test`, each
// in an Emacs of its own in a terminal of its own. The last line is
// "terminal: N passed, N failed"; the exit status is not 0 when one failed.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Terminal, endAll, prepare, tests } from './terminal.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const TEST_SECONDS = 400; // a test that takes longer hangs; its `seconds` may be more

const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, jobs: { type: 'string' } },
});

const files = positionals.length ? positionals
    : fs.readdirSync(HERE).sort().filter(name =>
        /^[a-z].*\.mjs$/.test(name) && !/^(run|terminal)\.mjs$/.test(name))
        .map(name => path.join(HERE, name));
for (const file of files)
    await import(pathToFileURL(path.resolve(file)).href);

async function attempt({ options: how, body }) {
    const terminal = await Terminal.start(how);
    let timer;
    try {
        await Promise.race([body(terminal), new Promise((_, fail) => {
            timer = setTimeout(() => fail(new Error('it takes too long')),
                1000 * (how.seconds ?? TEST_SECONDS));
        })]);
    } finally {
        clearTimeout(timer);
        await terminal.end();
    }
}

async function runOne(one) {
    const start = performance.now();
    let fault;
    try {
        await attempt(one);
    } catch (error) {
        fault = error;
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${fault ? 'FAIL' : 'ok  '} ${one.name} (${seconds} s)`);
    if (fault)
        console.log(String(fault.stack ?? fault).replace(/^/gm, '    '));
    return !fault;
}

const queue = tests.filter(({ name }) =>
    !options.only || new RegExp(options.only).test(name));
const results = [];
const work = async () => {
    for (let next; (next = queue.shift());)
        results.push(await runOne(next));
};

prepare();
// The tests mostly wait.
const jobs = +(options.jobs ?? 3 * Math.max(2, os.cpus().length));
try {
    await Promise.all(Array.from({ length: jobs }, work));
} finally {
    await endAll();
}
const failed = results.filter(ok => !ok).length;
console.log(`terminal: ${results.length - failed} passed, ${failed} failed`);
process.exit(failed || !results.length ? 1 : 0);
