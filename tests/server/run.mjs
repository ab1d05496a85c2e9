#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [--show] [--program COMMAND] [--jobs N] [FILE…]
// Plays transcripts (tests/server/README.md) against build/release/ecl-mcp:
// the FILEs, or all of tests/server/*.mcp and the ```mcp blocks of README.md
// and docs/. --show prints the conversations for people. The last line is
// "server: N passed, N failed"; the exit status is not 0 when one failed.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTY } from '../support/faulty.mjs';
import { scratchFolder } from '../support/peer.mjs';
import { Player } from '../support/player.mjs';
import { parseMarkdown, parseTranscript } from '../support/transcript.mjs';

const ROOT = path.resolve(import.meta.dirname ??
    path.dirname(new URL(import.meta.url).pathname), '../..');

const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        show: { type: 'boolean' },
        program: { type: 'string' },
        jobs: { type: 'string' },
    },
});

function allFiles() {
    const here = path.join(ROOT, 'tests/server');
    const docs = path.join(ROOT, 'docs');
    const inDocs = fs.existsSync(docs) ? fs.readdirSync(docs) : [];
    return [
        ...fs.readdirSync(here).filter(name => name.endsWith('.mcp'))
            .map(name => path.join(here, name)),
        path.join(ROOT, 'README.md'),
        ...inDocs.filter(name => name.endsWith('.md'))
            .map(name => path.join(docs, name)),
    ].filter(file => fs.existsSync(file));
}

// {name, steps} of each FILE that holds a transcript. Those with a line
// "# slow" come first, so that nothing waits for them in the end.
function load(files) {
    const all = files.map(file => {
        const source = fs.readFileSync(file, 'utf8');
        const parse = file.endsWith('.md') ? parseMarkdown : parseTranscript;
        return { name: path.relative(ROOT, file), steps: parse(source),
            opens: file.endsWith('.md'), slow: /^# slow$/m.test(source) };
    });
    return all.filter(({ steps }) => steps)
        .sort((a, b) => b.slow - a.slow);
}

const COLOUR = process.stdout.isTTY
    ? { dim: '\x1b[2m', bold: '\x1b[1m', red: '\x1b[31m', off: '\x1b[0m' }
    : { dim: '', bold: '', red: '', off: '' };

// Prints one exchange: what the client sent, what came back.
function show(kind, asked, text) {
    const { dim, bold, red, off } = COLOUR;
    if (kind === '#')
        console.log(`\n${bold}${asked}${off}`);
    else if (kind === '→' || kind === '←')
        console.log(`${dim}${kind} ${asked.slice(0, 2000)}${off}`);
    else {
        console.log(`\n${asked.replace(/^/gm, '  ').replace(' ', '>')}`);
        const colour = kind === '!' ? red : dim;
        console.log(text.replace(/^.*$/gm, `  ${colour}$&${off}`));
    }
}

async function play({ name, steps, opens }, scratch, home) {
    const folder = path.join(scratch, path.basename(name));
    fs.mkdirSync(folder);
    const program = options.program?.split(' ') ??
        [path.join(ROOT, 'build/release/ecl-mcp')];
    const player = new Player({ program, folder, home, opens,
        show: options.show && show });
    const start = performance.now();
    const fault = await player.play(steps);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (fault) {
        console.log(`FAIL ${name}:${fault.at} (${seconds} s)\n` +
            fault.message.replace(/^/gm, '    '));
        for (const line of fault.log)
            console.log(`    stderr: ${line.slice(0, 300)}`);
    } else if (!options.show)
        console.log(`ok   ${name} (${seconds} s)`);
    return !fault;
}

// Plays the programs that must not pass.
async function playFaulty(scratch) {
    const folder = path.join(scratch, 'faulty');
    fs.mkdirSync(folder);
    let good = true;
    for (const { script, source, found } of FAULTY) {
        const player = new Player({ program: ['/bin/sh', '-c', script],
            folder, home: scratch, grace: 0.3 });
        const fault = await player.play(
            parseTranscript(`deadline 0.3\n${source}`));
        if (!found.test(fault?.message)) {
            good = false;
            console.log(`FAIL not noticed: ${script}\n    ${fault?.message}`);
        }
    }
    if (good)
        console.log('ok   faulty programs are noticed');
    return good;
}

// The log of calls would grow from run to run. Others may be running, and write
// to it: they, too, are transcripts (asan-server), and none lasts for an hour.
function removeOldLogs(folder) {
    for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
        const file = path.join(folder, name);
        const written = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs;
        if (written < Date.now() - 3600 * 1000)
            fs.rmSync(file, { force: true });
    }
}

async function main() {
    const scratch = scratchFolder('ecl-mcp-test');
    const home = path.join(ROOT, 'build/tests/home');
    fs.mkdirSync(home, { recursive: true });
    removeOldLogs(path.join(home, '.local/state/ecl-mcp/audit'));
    const queue = load(positionals.length ? positionals : allFiles());
    const results = [];
    const work = async () => {
        for (let next; (next = queue.shift());)
            results.push(await play(next, scratch, home));
    };
    const jobs = options.show ? 1
        : +(options.jobs ?? Math.max(2, os.cpus().length));
    if (!positionals.length)
        results.push(await playFaulty(scratch));
    await Promise.all(Array.from({ length: jobs }, work));
    const failed = results.filter(ok => !ok).length;
    console.log(`server: ${results.length - failed} passed, ${failed} failed`);
    process.exitCode = failed || !results.length ? 1 : 0;
}

await main();
