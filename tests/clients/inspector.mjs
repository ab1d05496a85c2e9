// SPDX-License-Identifier: GPL-3.0-or-later
// inspector.mjs: the official MCP Inspector's command line.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROGRAM, trace } from './program.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const INSPECTOR = path.join(HERE, 'node_modules/.bin/mcp-inspector');
const TOOL_ERROR = 5; // its exit status for a result with isError

// Runs the inspector with ARGS on the program: its exit status and output.
async function inspect(...args) {
    const traced = trace();
    const child = spawn(process.execPath, [INSPECTOR, '--cli', '-q', PROGRAM,
        ...args], {
        env: { ...process.env, ...traced.env }, stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let errors = '';
    child.stdout.on('data', chunk => { out += chunk; });
    child.stderr.on('data', chunk => { errors += chunk; });
    const status = await new Promise(done => child.on('close', done));
    await traced.gone();
    return { status, out, errors };
}

async function expectStatus(wanted, ...args) {
    const { status, out, errors } = await inspect(...args);
    assert.equal(status, wanted, out + errors);
    return out;
}

const call = code => ['--method', 'tools/call', '--tool-name',
    'evaluate-lisp', '--tool-args-json', JSON.stringify({ code })];

export const inspectorTests = [
    {
        name: 'inspector lists the tools and finds their schemas portable',
        async run() {
            const out = await expectStatus(0, '--method', 'tools/list',
                '--format', 'json', '--strict');
            assert.match(out, /evaluate-lisp/);
        },
    },
    {
        name: 'inspector calls a tool',
        async run() {
            assert.match(await expectStatus(0, ...call('(+ 1 2)')), /=> 3/);
        },
    },
    {
        name: 'inspector calls a tool in the modern era',
        async run() {
            assert.match(await expectStatus(0, ...call('(+ 1 2)'),
                '--protocol-era', 'modern'), /=> 3/);
        },
    },
    {
        name: 'inspector sees an error of the evaluation',
        async run() {
            assert.match(await expectStatus(TOOL_ERROR, ...call('(car 5)')),
                /TYPE-ERROR/);
        },
    },
];
