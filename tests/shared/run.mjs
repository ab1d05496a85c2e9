#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [--program COMMAND] [--suite NAME] [TEST…]: several servers that
// share the Lisp images of one supervisor, in real processes that are killed,
// stopped and sent nonsense. After each test, no process may be left. A test
// that cannot run here throws a Skip and is listed with its reason. The last
// line is "shared: N passed, N failed, N skipped".
import path from 'node:path';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { scratchFolder } from '../support/peer.mjs';
import { Skip, World } from './server.mjs';
import { attackTests } from './attacks.mjs';
import { connectionTests } from './connections.mjs';
import { sharingTests } from './sharing.mjs';
import { socketTests } from './sockets.mjs';
import { editorTests } from './editors.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const JOBS = 2;

const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: { program: { type: 'string' }, suite: { type: 'string' } },
});
const program = options.program?.split(' ') ??
    [path.join(ROOT, 'build/release/ecl-mcp')];
const scratch = scratchFolder('ecl-mcp-shared');
const queue = [...sharingTests, ...connectionTests, ...socketTests,
    ...editorTests, ...attackTests].filter(
    test => !positionals.length ||
        positionals.some(name => test.name.includes(name)));
let passed = 0;
let failed = 0;
let skipped = 0;

async function run(test) {
    const folder = path.join(scratch, test.name);
    fs.mkdirSync(folder);
    const world = new World(program, folder);
    try {
        await test(world);
        await world.end();
        passed++;
        console.log(`ok   ${test.name}`);
    } catch (error) {
        if (error instanceof Skip) {
            skipped++;
            console.log(`skip ${test.name}: ${error.message}`);
            return;
        }
        failed++;
        console.log(`FAIL ${test.name}\n` +
            (error.stack ?? String(error)).replace(/^/gm, '    '));
        await world.abandon();
    }
}

async function work() {
    for (let test; (test = queue.shift());)
        await run(test);
}

await Promise.all(Array.from({ length: JOBS }, work));
console.log(`${options.suite ?? 'shared'}: ${passed} passed, ${failed} failed, ` +
    `${skipped} skipped`);
process.exit(failed || !passed ? 1 : 0);
