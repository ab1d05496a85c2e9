#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [--program PROGRAM] [--attempt PROGRAM] [--user root|nobody]
// [--mode MODE] [TEXT…]: makes attempts against the sandbox in every mode, as
// root and as another user where it can be root, and compares what became of
// them with what *.walls say; only those with TEXT in their lines. README.md
// explains how. The last line is "walls: N passed, N failed".
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { scratchFolder } from '../support/peer.mjs';
import { MODES, hasWall, readAttempts } from './attempts.mjs';
import { Server } from './server.mjs';
import { World, substitute } from './world.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const BUILD = path.resolve(HERE, '../../build/release');
const NOBODY = 65534;
const JOBS = 2;
const OPTIONS = {
    workspace: [], 'read-only': ['--sandbox', 'read-only'],
    network: ['--allow-network'], off: ['--sandbox', 'off'],
};

const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        program: { type: 'string', default: path.join(BUILD, 'ecl-mcp') },
        attempt: { type: 'string', default: path.join(BUILD, 'attempt') },
        user: { type: 'string' }, mode: { type: 'string' },
    },
});
const attempts = readAttempts(HERE).filter(({ text, file, family }) =>
    !positionals.length || positionals.some(part =>
        `${file} ${family} ${text}`.includes(part)));
const scratch = scratchFolder('ecl-mcp-walls');

const seconds = start => ((performance.now() - start) / 1000).toFixed(1);

// Does WORK for each of ITEMS, for N at a time.
async function inParallel(n, items, work) {
    const queue = [...items];
    await Promise.all(Array.from({ length: n }, async () => {
        while (queue.length)
            await work(queue.shift());
    }));
}

// Programs that any user may run.
function copyPrograms() {
    const folder = path.join(scratch, 'bin');
    fs.mkdirSync(folder);
    fs.chmodSync(scratch, 0o755);
    for (const file of [options.program, `${options.program}-image`,
        options.attempt])
        fs.copyFileSync(file, path.join(folder, path.basename(file)));
    return { server: path.join(folder, path.basename(options.program)),
        attempt: path.join(folder, path.basename(options.attempt)) };
}

// What is in force, from the list of sessions: {landlock, seccomp}.
async function featuresOf(server) {
    const text = await server.call('list-sessions', {});
    return {
        landlock: +(/Landlock (\d+)/.exec(text)?.[1] ?? 0),
        seccomp: /(?<!NO )seccomp/.test(text),
    };
}

// Lisp that makes the attempts of CASES in Lisp and prints what became of them.
function lispPlan(cases) {
    const forms = cases.filter(c => c.attempt.kind === 'lisp').map(c =>
        `(cl-user::try ${c.i} ${JSON.stringify(c.text)})`);
    return '(defun cl-user::try (i text) (format t "~&~d ~a~%" i ' +
        '(handler-case (if (eval (read-from-string text)) "done" "NIL") ' +
        '(serious-condition (c) (type-of c)))))\n' + forms.join('\n');
}

// Number → what became of the attempt, from lines of TEXT.
function results(text) {
    return new Map([...text.matchAll(/^(\d+) (.+)$/gm)]
        .map(([, i, what]) => [+i, what]));
}

// Makes the attempts CASES on SERVER.
async function make(world, server, programs, cases) {
    const names = await server.processes();
    for (const c of cases)
        c.text = substitute(c.text, names);
    const plan = world.path('ws/plan');
    fs.writeFileSync(plan, cases.filter(c => c.attempt.kind !== 'lisp')
        .map(c => `${c.i} ${c.attempt.kind} ${c.text}\n`).join(''));
    fs.chmodSync(plan, 0o644);
    const lisp = await server.evaluate(lispPlan(cases));
    const other = await server.evaluate(
        `(ext:system "${programs.attempt} ${plan}")`);
    const found = new Map([...results(lisp), ...results(other)]);
    return found;
}

// What must become of ATTEMPT: done, refused, or null when either may.
function expectation(attempt, mode, user, features) {
    const letter = attempt.expected[MODES.indexOf(mode)];
    const root = user === 'root';
    if (mode !== 'off' && !hasWall(attempt, features))
        return null;
    return { r: 'refused', d: 'done', R: root ? 'done' : null,
        U: root ? null : 'done', '?': null }[letter];
}

const summary = { passed: 0, failed: 0, seen: new Map(), controlled: new Set() };

function judge(run, world, found, features) {
    for (const { i, attempt, before } of run.cases) {
        const what = found.get(i) ?? 'not made';
        const done = what === 'done' || attempt.through.includes(what);
        const expected = expectation(attempt, run.mode, run.user, features);
        const where = `${attempt.file}:${attempt.line}`;
        let fault = '';
        if (run.mode === 'off' && done)
            summary.controlled.add(`${run.user} ${where}`);
        if (what === 'not made' || /^(exit 200|signal 14)$/.test(what))
            fault = what;
        else if (expected && expected !== (done ? 'done' : 'refused'))
            fault = `${what}, must be ${expected}`;
        else if (expected === 'refused' && world.outside(i) !== before)
            fault = `${what}, but something has changed outside`;
        if (fault)
            console.log(`FAIL ${where} ${run.user} ${run.mode}: ` +
                `${attempt.kind} ${attempt.text}: ${fault}`);
        summary[fault ? 'failed' : 'passed']++;
    }
}

// All attempts of one mode as one user.
async function play(run, programs) {
    const folder = path.join(scratch, `${run.user}-${run.mode}`);
    const uid = run.user === 'nobody' && process.getuid() === 0
        ? NOBODY : undefined;
    const world = new World(folder, uid);
    const start = performance.now();
    run.cases = [...attempts.entries()].filter(([, { expected }]) => {
        const letter = expected[MODES.indexOf(run.mode)];
        return letter !== '-' && (run.user !== 'root' || letter !== 'U');
    }).map(([i, attempt]) => ({ i, attempt }));
    await inParallel(8, run.cases, async c => {
        c.text = await world.prepare(c.attempt, c.i, programs.attempt);
        c.before = world.outside(c.i);
    });
    world.own();
    const server = new Server([programs.server, '--max-output', '1000000',
        '--audit', 'off', ...OPTIONS[run.mode]], {
        cwd: world.path('ws'), home: world.path('home'), tmp: world.path('tmp'),
        uid });
    try {
        await server.open();
        const features = await featuresOf(server);
        const found = await make(world, server, programs, run.cases);
        judge(run, world, found, features);
        console.log(`ok   ${run.user} ${run.mode}: ${run.cases.length} ` +
            `attempts (${seconds(start)} s)`);
    } catch (error) {
        summary.failed++;
        console.log(`FAIL ${run.user} ${run.mode}: ${error.stack}`);
    }
    await server.close();
    await world.end();
}

const users = (process.getuid() === 0 ? ['root', 'nobody'] : ['nobody'])
    .filter(user => !options.user || user === options.user);
const queue = users.flatMap(user => MODES
    .filter(mode => !options.mode || mode === options.mode)
    .map(mode => ({ user, mode })));
const programs = copyPrograms();
await inParallel(JOBS, queue, run => play(run, programs));
for (const user of users) {
    const without = attempts.filter(({ file, line, expected }) =>
        expected !== 'dddd' &&
        !summary.controlled.has(`${user} ${file}:${line}`));
    console.log(`${user}: ${attempts.length} attempts, ${without.length} ` +
        'without a control here: ' +
        without.map(({ file, line }) => `${file}:${line}`).join(' '));
}
console.log(`walls: ${summary.passed} passed, ${summary.failed} failed`);
process.exit(summary.failed || !summary.passed ? 1 : 0);
