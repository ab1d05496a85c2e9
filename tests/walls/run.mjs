#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [--build FOLDER] [--user root|nobody] [--mode MODE] [TEXT…]: makes
// attempts against the sandbox of the program in FOLDER in every mode, as root
// and as another user where it can be root, and on systems that lack a part of
// it, and compares what became of them with what *.walls say; only those with
// TEXT in their lines. README.md explains how. The last line is "walls: N
// passed, N failed".
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { scratchFolder } from '../support/peer.mjs';
import { aheadFaults } from './ahead.mjs';
import { LISP, MODES, hasWall, readAttempts } from './attempts.mjs';
import { misplacedCalls } from './calls.mjs';
import { tryInLisp } from './lisp.mjs';
import { Server } from './server.mjs';
import { World, substitute } from './world.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../..');
const NOBODY = 65534;
const JOBS = 2;
const OPTIONS = {
    workspace: [], 'read-only': ['--sandbox', 'read-only'],
    network: ['--allow-network'], off: ['--sandbox', 'off'],
};

const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        build: { type: 'string', default: path.join(ROOT, 'build/release') },
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
    const programs = {};
    for (const name of ['ecl-mcp', 'ecl-mcp-image', 'attempt', 'without']) {
        programs[name] = path.join(folder, name);
        fs.copyFileSync(path.join(options.build, name), programs[name]);
    }
    return programs;
}

// What is in force, as the log says at the start: {landlock, seccomp,
// mounts, says}.
async function featuresOf(server) {
    const says = await server.logged(/sandbox: /);
    return {
        says,
        landlock: +(/(?<!NO )Landlock (\d+)/.exec(says)?.[1] ?? 0),
        seccomp: /(?<!NO )seccomp/.test(says),
        mounts: /, mounts/.test(says),
    };
}

// What the log and the list of sessions must say of a system without a part.
const REPORTS = {
    landlock: /NO Landlock in this kernel: files are not protected/,
    'landlock=1': /Landlock 1 of this kernel does not block signals/,
    'landlock=2': /Landlock 2 of this kernel does not block signals/,
    'landlock=5': /Landlock 5 of this kernel does not block signals/,
    seccomp: /NO seccomp in this system/,
    userns: /NO mount namespace/,
};

// Faults of what SERVER says about HIDDEN, which its system lacks.
async function reportFaults(server, hidden, says) {
    const sessions = await server.call('list-sessions', {});
    return hidden.flatMap(part => [['the log', says],
        ['list-sessions', sessions]]
        .filter(([, text]) => !REPORTS[part].test(text))
        .map(([where, text]) => `${where} does not say that ${part} is ` +
            `missing: ${text}`));
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
    fs.writeFileSync(plan, cases.filter(c => !LISP.includes(c.attempt.kind))
        .map(c => `${c.i} ${c.attempt.kind} ${c.text}\n`).join(''));
    fs.chmodSync(plan, 0o644);
    const lisp = await tryInLisp(server, cases);
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
        U: root ? null : 'done',
        u: root ? null : 'refused', '?': null }[letter];
}

const summary = { passed: 0, failed: 0, controlled: new Set() };

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
            console.log(`FAIL ${where} ${run.name}: ` +
                `${attempt.kind} ${attempt.text}: ${fault}`);
        if (fault || expected)
            summary[fault ? 'failed' : 'passed']++;
    }
}

// The attempts that RUN makes, prepared in WORLD.
async function prepare(run, world, programs) {
    const cases = [...attempts.entries()].filter(([, { expected }]) => {
        const letter = expected[MODES.indexOf(run.mode)];
        return letter !== '-' && (run.user !== 'root' || !/u/i.test(letter));
    }).map(([i, attempt]) => ({ i, attempt }));
    await inParallel(8, cases, async c => {
        c.text = await world.prepare(c.attempt, c.i, programs.attempt);
        c.before = world.outside(c.i);
    });
    world.own();
    return cases;
}

// Plays RUN: all attempts in one mode as one user, on a system without what is
// hidden.
async function play(run, programs) {
    run.name = [run.user, run.mode, ...run.hidden].join(' ');
    const uid = run.user === 'nobody' && process.getuid() === 0
        ? NOBODY : undefined;
    const world = new World(path.join(scratch, run.name.replaceAll(' ', '-')),
        uid);
    const start = performance.now();
    run.cases = await prepare(run, world, programs);
    const without = run.hidden.length
        ? [programs.without, ...run.hidden, '--'] : [];
    const server = new Server([...without, programs['ecl-mcp'],
        '--max-output', '1000000', '--audit', 'off', '--log-level', 'info',
        '--tools', 'all', ...OPTIONS[run.mode]], {
        cwd: world.path('ws'), home: world.path('home'), tmp: world.path('tmp'),
        uid });
    try {
        await server.open();
        await server.evaluate('1'); // images are made when one is needed
        const features = await featuresOf(server);
        const faults = await reportFaults(server, run.hidden, features.says);
        judge(run, world, await make(world, server, programs, run.cases),
            features);
        if (run.mode === 'workspace')
            faults.push(...await aheadFaults(server, world, run.hidden));
        summary.failed += faults.length;
        for (const fault of faults)
            console.log(`FAIL ${run.name}: ${fault}`);
        console.log(`ok   ${run.name}: ${run.cases.length} attempts ` +
            `(${seconds(start)} s; ${features.says})`);
    } catch (error) {
        summary.failed++;
        console.log(`FAIL ${run.name}: ${error.stack}`);
    }
    await server.close();
    await world.end();
}

const users = (process.getuid() === 0 ? ['root', 'nobody'] : ['nobody'])
    .filter(user => !options.user || user === options.user);
const runs = users.flatMap(user => MODES
    .map(mode => ({ user, mode, hidden: [] })))
    .concat([['landlock'], ['landlock=1'], ['landlock=2'], ['landlock=5'],
        ['seccomp'], ['userns'], ['landlock', 'seccomp']]
        .map(hidden => ({ user: users.at(-1), mode: 'workspace', hidden })))
    // root needs no namespace of users
    .filter(({ user, hidden }) => user !== 'root' || hidden[0] !== 'userns')
    .filter(({ mode }) => !options.mode || mode === options.mode);
const programs = copyPrograms();
await inParallel(JOBS, runs, run => play(run, programs));
for (const user of users) {
    const without = attempts.filter(({ file, line, expected }) =>
        expected !== 'dddd' &&
        !summary.controlled.has(`${user} ${file}:${line}`));
    console.log(`${user}: ${attempts.length} attempts, ${without.length} ` +
        'without a control here: ' +
        without.map(({ file, line }) => `${file}:${line}`).join(' '));
}
const misplaced = misplacedCalls(ROOT);
for (const name of misplaced)
    console.log(`FAIL ${name} has no place in the tables of image/`);
summary[misplaced.length ? 'failed' : 'passed']++;
console.log(`walls: ${summary.passed} passed, ${summary.failed} failed`);
process.exit(summary.failed || !summary.passed ? 1 : 0);
