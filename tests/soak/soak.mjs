#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// soak.mjs [EVALUATIONS [SEED]]: a long session of good and hostile evaluations
// in random order, while its Lisp process is killed at random. A model follows
// what must be defined: after a death the answer says after which evaluation
// the session goes on, and from then on everything must be as it was then. The
// last line is "soak: N passed, N failed".
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const COUNT = Number(process.argv[2] ?? 2000);
const SEED = Number(process.argv[3] ?? Date.now() % 1e9);

// Mulberry32: the same campaign for the same seed.
let state = SEED;
function random(n) {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
}

const server = spawn(path.join(ROOT, 'build/release/ecl-mcp'),
    ['--memory', '256M', '--log-level', 'error'],
    { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let failed = 0;

function fault(text) {
    failed++;
    console.log(`FAIL ${text}`);
}

readline.createInterface({ input: server.stdout }).on('line', line => {
    const message = JSON.parse(line); // anything else ends the campaign
    const done = waiting.get(message.id);
    waiting.delete(message.id);
    if (!done)
        return fault(`an answer that nobody waits for: ${line.slice(0, 200)}`);
    done(message);
});

let lastId = 0;
function request(method, params) {
    const id = ++lastId;
    const answer = new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(
            `no answer to ${JSON.stringify(params).slice(0, 200)}`)), 60000);
        waiting.set(id, message => {
            clearTimeout(timer);
            resolve(message);
        });
    });
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method,
        params })}\n`);
    return answer;
}

function children(pid) {
    return fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
        .split(' ').filter(Boolean).map(Number);
}

const named = name => pid => {
    try {
        return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name;
    } catch {
        return false; // it has just ended
    }
};

const zygote = () => children(server.pid).find(named('ecl-mcp-image'));
const image = () => children(zygote()).find(named('ecl-mcp-image'));

function kill() {
    const pid = image();
    if (pid)
        process.kill(pid, 'SIGKILL');
}

function resident(pid) {
    return +/VmRSS:\s+(\d+)/.exec(
        fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
}

// What is defined, and what was after each evaluation.
let model = new Map();
let evaluation = 0;
const past = [new Map()];

function follow(text) {
    const found = /goes on from the checkpoint after evaluation (\d+)/.exec(text);
    if (found)
        evaluation = Number(found[1]);
    else if (/A fresh session/.test(text))
        evaluation = 0;
    else
        return;
    model = new Map(past[evaluation]);
}

async function evaluate(code, timeout, effect) {
    const { result, error } = await request('tools/call', {
        name: 'evaluate-lisp', arguments: { code, timeout },
    });
    const text = error ? JSON.stringify(error) : result.content[0].text;
    follow(text);
    if (/\[ERROR\] ECL-MCP:IMAGE-DIED/.test(text))
        return { text, died: true };
    effect?.();
    past[++evaluation] = new Map(model);
    return { text, died: false };
}

const HOSTILE = [
    ['(loop)', 0.1, /TIME-LIMIT-EXCEEDED/],
    ['(loop (ignore-errors (loop)))', 0.1, /TIME-LIMIT-EXCEEDED/],
    ['(unwind-protect (loop) (loop))', 0.1, /TIME-LIMIT-EXCEEDED/],
    ['(mp:without-interrupts (loop))', 0.1, /IMAGE-DIED/],
    ['(ext:quit 3)', 5, /EXIT-ATTEMPTED/],
    ['(ext:system "kill -9 $PPID")', 5, /IMAGE-DIED/],
    ['(progn (ext:system "kill -ABRT $PPID") (sleep 5))', 5, /IMAGE-DIED/],
    ['(labels ((f (n) (1+ (f n)))) (f 1))', 5, /STACK-OVERFLOW/],
    ['(let ((l nil)) (loop (push (make-array 100000) l)))', 20,
        /STORAGE-EXHAUSTED/],
    ['(car 5)', 5, /SIMPLE-TYPE-ERROR/],
    ['(close *standard-output*)', 5, /=> T/],
    ['(setf *print-base* 99)', 5, /=> /],
    ['(mp:process-run-function "e" (lambda () (error "x")))', 5, /=> /],
];

async function good() {
    const name = `${random(2) ? 'v' : 'f'}${random(20)}`;
    const value = random(1000);
    const code = name[0] === 'v' ? `(progn (setf (symbol-value '${name}) ${value}) 1)`
        : `(progn (setf (fdefinition '${name}) (lambda () ${value})) 1)`;
    const { text, died } = await evaluate(code, 10,
        () => model.set(name, value));
    if (!died && !/=> 1$/.test(text))
        fault(`${code} gave ${text}`);
}

async function check() {
    const wanted = [...model].sort();
    const code = `(list ${wanted.map(([name]) => name[0] === 'v' ? name
        : `(${name})`).join(' ')})`;
    const before = evaluation;
    const { text, died } = await evaluate(code, 10);
    if (died || evaluation !== before + 1)
        return; // the model is another now
    const values = wanted.map(([, value]) => value);
    const list = values.length ? `=> (${values.join(' ')})` : '=> NIL';
    const shown = text.slice(text.lastIndexOf('=> ')).replace(/\s+/g, ' ');
    if (shown !== list)
        fault(`${code} gave ${text}, not ${list}`);
}

async function hostile() {
    const [code, timeout, pattern] = HOSTILE[random(HOSTILE.length)];
    const { text } = await evaluate(code, timeout);
    if (!pattern.test(text))
        fault(`${code} gave ${text}`);
    await evaluate('(setf *print-base* 10)', 5);
}

async function killed() {
    if (random(2))
        return kill();
    const answer = evaluate('(sleep 0.05)', 5);
    await new Promise(resolve => setTimeout(resolve, 10));
    kill();
    await answer;
}

console.log(`soak: ${COUNT} evaluations, seed ${SEED}`);
await request('initialize', {
    protocolVersion: '2025-11-25', capabilities: {},
    clientInfo: { name: 'soak', version: '1' },
});
let first;
for (let done = 0; done < COUNT; done++) {
    const dice = random(100);
    await (dice < 55 ? good : dice < 85 ? check : dice < 95 ? hostile : killed)();
    if (done === Math.floor(COUNT / 10))
        first = [resident(server.pid), resident(zygote())];
}
const last = [resident(server.pid), resident(zygote())];
console.log(`resident: server ${first[0]} kB, then ${last[0]} kB; ` +
    `zygote ${first[1]} kB, then ${last[1]} kB`);
for (const i of [0, 1])
    if (last[i] > first[i] * 1.2 + 4096)
        fault(`${i ? 'zygote' : 'server'} grows`);
server.stdin.end();
const status = await new Promise(resolve => server.on('exit', resolve));
if (status !== 0)
    fault(`exit status ${status}`);
console.log(`soak: ${COUNT - Math.min(failed, COUNT)} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
