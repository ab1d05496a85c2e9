#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// soak.mjs [SEED]: a long session of good and hostile evaluations in random
// order, some sent before the answers to earlier ones, while its Lisp process
// is killed at random. EVALUATIONS (2,000) says how many. A model follows what
// must be defined: after a death, the answer says after which evaluation the
// session continues and which are lost, and then everything must be as it was
// after that evaluation. The last line is "soak: N passed, N failed", of
// evaluations.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Peer, kill, poll, scratchFolder } from '../support/peer.mjs';
import { info, memory } from '../support/proc.mjs';
import { Random } from './random.mjs';
import { Model } from './model.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const COUNT = Number(process.env.EVALUATIONS ?? 2000);
const SEED = Number(process.argv[2] ?? Date.now() % 1e9);
const ANSWER_SECONDS = 30;
const GROWTH_KB = 2048; // how much a process may grow after the first tenth

const random = new Random(SEED);
const model = new Model();
const waiting = new Map(); // id: what takes the answer
const folder = scratchFolder('ecl-mcp-soak');
let failed = 0;

function fault(text) {
    failed++;
    console.log(`FAIL ${text}`);
}

const peer = new Peer([path.join(ROOT, 'build/release/ecl-mcp'),
    '--memory', '256M', '--log-level', 'error'], {
    cwd: folder, env: { PATH: process.env.PATH, HOME: folder },
    take(line) {
        const message = JSON.parse(line); // anything else ends the campaign
        const done = waiting.get(message.id);
        waiting.delete(message.id);
        if (done)
            done(message);
        else
            fault(`an unexpected answer: ${line.slice(0, 200)}`);
    },
});

let lastId = 0;
function request(method, params) {
    const id = ++lastId;
    const answer = new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(
            `no answer to ${JSON.stringify(params).slice(0, 200)}`)),
        1000 * ANSWER_SECONDS);
        waiting.set(id, message => {
            clearTimeout(timer);
            resolve(message);
        });
    });
    peer.send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
}

// The zygote, and the live image, which leads its own session of processes;
// never a checkpoint.
const images = () => peer.look().filter(p => p.name === 'ecl-mcp-image');
const zygote = () => images().find(p => p.parent === peer.pid &&
    p.session !== p.pid);
const image = () => images().find(p => p.session === p.pid);

let kills = 0; // by this program, not yet reported by an answer

function killImage() {
    const victim = image();
    if (victim && info(victim.pid)?.name === victim.name) {
        kill(victim.pid, 'KILL');
        kills++;
    }
}

// Sends CODE; CHECK gets the text of its answer and returns what is wrong, but
// is not asked when the image died because this program killed it.
async function evaluate({ code, timeout = 10, effect, check }) {
    const { result, error } = await request('tools/call', {
        name: 'evaluate-lisp', arguments: { code, timeout },
    });
    const text = error ? JSON.stringify(error) : result.content[0].text;
    const said = model.follow(text);
    const died = /^\[ERROR\] ECL-MCP:IMAGE-DIED$/m.test(text);
    if (!died)
        model.answered(effect);
    const ours = kills > 0 && KILLED.test(text);
    if (ours)
        kills--;
    const wrong = said || (died && ours ? '' : check(text));
    if (wrong)
        fault(`${code}\n     gave ${text.replace(/\n/g, '\n     ')}\n` +
            `     ${wrong}`);
}

const KILLED = /The Lisp image was killed by signal 9/;
const expect = pattern => text =>
    pattern.test(text) ? '' : `expected ${pattern}`;

const HOSTILE = [
    ['(loop)', 0.1, /TIME-LIMIT-EXCEEDED/],
    ['(loop (ignore-errors (loop)))', 0.1, /TIME-LIMIT-EXCEEDED/],
    ['(loop (handler-case (sleep 1) (serious-condition () nil)))', 0.1,
        /TIME-LIMIT-EXCEEDED/],
    ['(unwind-protect (loop) (loop))', 0.1, /TIME-LIMIT-EXCEEDED/],
    ['(mp:without-interrupts (loop))', 0.1, /IMAGE-DIED/],
    ['(ext:system "sleep 100")', 0.1, /TIME-LIMIT-EXCEEDED|IMAGE-DIED/],
    ['(expt 7 (expt 7 9))', 0.1, /TIME-LIMIT-EXCEEDED|STORAGE|IMAGE-DIED/],
    ['(ext:quit 3)', 5, /EXIT-ATTEMPTED/],
    ['(unwind-protect (ext:quit 3) (ext:exit 4))', 5, /EXIT-ATTEMPTED/],
    ['(ext:system "kill -9 $PPID")', 5, /IMAGE-DIED/],
    ['(progn (princ "x") (ext:system "kill -ABRT $PPID") (sleep 5))', 5,
        /\[stdout\]\nx\n\n\[ERROR\] ECL-MCP:IMAGE-DIED/],
    ['(ffi:deref-pointer (ffi:make-pointer 16 :int) :int)', 5, /\[ERROR\]/],
    ['(labels ((f (n) (1+ (f n)))) (f 1))', 5, /STACK-OVERFLOW/],
    ['(let ((l nil)) (loop (push (make-array 100000) l)))', 20,
        /STORAGE-EXHAUSTED/],
    ['(make-array (expt 10 10))', 5, /\[ERROR\]/],
    ['(car 5)', 5, /TYPE-ERROR/],
    ['(throw :nowhere 1)', 5, /CONTROL-ERROR/],
    ['(close *standard-output*)', 5, /=> T$/],
    ['(progn (setf *print-base* 99) 1)', 5, /=> 1$/],
    ['(progn (makunbound \'*package*) 1)', 5, /=> 1$|\[ERROR\]/],
    ['(dotimes (i 3000) (print i))', 5, /characters omitted/],
    ['(mp:process-run-function "e" (lambda () (error "x")))', 5, /=> /],
    ['(progn (mp:process-run-function "s" \'sleep 0.01) 1)', 5, /=> 1$/],
].map(([code, timeout, pattern]) =>
    ({ code, timeout, check: expect(pattern) }));

// Everything that must be defined, and nothing else with these names.
function look() {
    return {
        code: model.query(),
        check: text => model.compare(text),
    };
}

// Hostile code may change the current package. The names here are qualified, so
// that only printing depends on it.
const repair = {
    code: '(cl:progn (cl:setf cl:*print-base* 10 cl:*package* ' +
        '(cl:find-package "COMMON-LISP-USER")) 1)',
    check: expect(/=> 1$/),
};

function next() {
    const dice = random.below(100);
    if (dice < 60)
        return [model.change(random)].map(change =>
            ({ ...change, check: expect(/=> 1$/) }));
    if (dice < 85)
        return [look()];
    return [random.of(HOSTILE), repair];
}

// Some evaluations in a row. Several of them may wait at once, since none of
// their codes depends on an answer.
async function step() {
    const batch = next();
    const burst = random.below(10) === 0;
    for (let more = burst ? random.below(6) : 0; more > 0; more--)
        batch.push({ ...model.change(random), check: expect(/=> 1$/) });
    const answers = [];
    for (const one of batch) {
        answers.push(evaluate(one));
        if (!burst)
            await answers.at(-1);
    }
    if (random.below(25) === 0) {
        await poll(() => false, random.below(30) / 1000); // any moment
        killImage();
    }
    await Promise.all(answers);
    return batch.length;
}

async function campaign() {
    let done = 0;
    let first;
    const resident = () => [peer.pid, zygote().pid].map(
        pid => memory(pid, 'VmRSS'));

    while (done < COUNT) {
        done += await step();
        if (!first && done >= COUNT / 10)
            first = resident();
    }
    await evaluate(look());
    const last = resident();
    console.log(`soak: ${model.deaths} deaths, ${model.lost} answered ` +
        `evaluations lost; server ${first[0]} kB, then ${last[0]} kB; ` +
        `zygote ${first[1]} kB, then ${last[1]} kB`);
    for (const [i, name] of ['server', 'zygote'].entries())
        if (last[i] > first[i] + GROWTH_KB)
            fault(`the ${name} keeps growing`);
    return done + 1;
}

async function end() {
    peer.look();
    peer.child.stdin.end();
    if (!await peer.until(() => peer.closed, 5) || peer.status !== '0')
        fault(`it ended with status ${peer.status}`);
    if (!await poll(() => !peer.survivors().length, 3))
        fault(`left ${peer.survivors().map(p => p.name).join(', ')}`);
    for (const text of peer.faults)
        fault(text);
}

console.log(`soak: ${COUNT} evaluations, seed ${SEED}`);
let done = 0;
try {
    await request('initialize', {
        protocolVersion: '2025-11-25', capabilities: {},
        clientInfo: { name: 'soak', version: '1' },
    });
    done = await campaign();
    await end();
} catch (error) {
    fault(`${error.stack}\n${peer.log.slice(-8).join('\n')}`);
} finally {
    await peer.end(2);
}
console.log(`soak: ${Math.max(done - failed, 0)} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
