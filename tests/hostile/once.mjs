// SPDX-License-Identifier: GPL-3.0-or-later
// once.mjs: no call runs twice, and each is answered once, whatever processes of
// the server are killed meanwhile, and when. Each call adds a byte to a file of
// its own: what has run twice has two, and what was answered with its value one.
import fs from 'node:fs';
import path from 'node:path';
import { Peer, kill } from '../support/peer.mjs';
import { Random } from '../soak/random.mjs';

const KILLS = 200;
const PATIENCE = 60; // seconds for the answers of a round

// Microseconds after its calls at which a process is killed, at most: longer
// than most of them take.
const LATEST = 12000;

const run = n => `(with-open-file (s "runs/${n}" :direction :output ` +
    ':if-exists :append :if-does-not-exist :create) (write-char #\\x s))';

// What a call does beside its run.
const CALLS = [
    n => `(progn ${run(n)} ${n})`,
    n => `(progn ${run(n)} (sleep 0.01) ${n})`,
    n => `(progn (sleep 0.005) ${run(n)} ${n})`,
    n => `(progn (print ${n}) ${run(n)} (finish-output) ${n})`,
    n => `(progn ${run(n)} (make-string 200000) ${n})`,
    n => `(progn ${run(n)} (defun f${n} () ${n}) (f${n}))`,
];

class Calls {
    constructor(player) {
        this.folder = player.folder;
        this.answers = new Map(); // lists, by number
        this.made = 0;
        fs.mkdirSync(path.join(this.folder, 'runs'));
        this.peer = new Peer(player.program, {
            cwd: player.folder,
            env: { PATH: process.env.PATH, HOME: player.home, ...player.env },
            take: text => this.#take(JSON.parse(text)),
        });
    }

    #take(message) {
        if (message.id !== undefined)
            this.answers.set(message.id,
                [...this.answers.get(message.id) ?? [], message]);
    }

    send(message) {
        return this.peer.send(
            Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`));
    }

    // Makes a call of CODE, a function of its number; returns that.
    call(code, session) {
        const id = ++this.made;
        this.send({ id, method: 'tools/call', params: {
            name: 'evaluate-lisp', arguments: { code: code(id), session } } });
        return id;
    }

    // Resolves with the numbers of IDS that have no answer.
    async missing(ids) {
        await this.peer.until(() => ids.every(id => this.answers.has(id)) ||
            this.peer.closed, PATIENCE);
        return ids.filter(id => !this.answers.has(id));
    }

    // Makes calls of CODE until one is answered with its value: while what makes
    // images starts again, they are refused. Resolves with the number of the last.
    async settle(code) {
        const end = performance.now() + 1000 * PATIENCE;
        for (;;) {
            const id = this.call(code);
            await this.missing([id]);
            if (this.valued(id) || performance.now() > end)
                return id;
            await new Promise(done => setTimeout(done, 50));
        }
    }

    async begin() {
        const id = 'init';
        this.send({ id, method: 'initialize', params: {
            protocolVersion: '2025-11-25', capabilities: {},
            clientInfo: { name: 'once', version: '1' } } });
        await this.missing([id]);
        this.send({ method: 'notifications/initialized' });
    }

    async end() {
        this.peer.child.stdin.end();
        await this.peer.until(() => this.peer.closed, PATIENCE);
        await this.peer.end(PATIENCE);
    }

    // Whether call ID has been answered with its value.
    valued(id) {
        const text = this.answers.get(id)?.[0]?.result?.content?.[0]?.text ?? '';

        return new RegExp(`^=> ${id}$`, 'm').test(text);
    }

    // What is wrong with call ID, or ''.
    fault(id) {
        const file = path.join(this.folder, 'runs', String(id));
        const runs = fs.existsSync(file) ? fs.statSync(file).size : 0;
        const answers = this.answers.get(id) ?? [];
        const text = answers[0]?.result?.content?.[0]?.text ?? '';

        if (answers.length !== 1 || runs > 1 ||
            (this.valued(id) && runs !== 1))
            return `call ${id} has ${answers.length} answers and ran ` +
                `${runs} times: ${text.slice(0, 200)}`;
        return '';
    }
}

// Resolves with the processes of the server beside the front. When there are none,
// what makes images starts again; if it was killed while it started, again and
// again, only for a call that comes some time later.
async function victims(calls) {
    const look = () =>
        calls.peer.look().filter(p => p.pid !== calls.peer.front());
    const others = look();

    if (others.length)
        return others;
    await calls.settle(CALLS[0]);
    return look();
}

// Makes a few calls at once, and kills a process of the server meanwhile. Returns
// what went wrong, or ''.
async function round(calls, random) {
    const ids = [];
    if (random.below(4) > 0) // else it may be killed while it starts
        await calls.settle(CALLS[0]);
    for (let n = 1 + random.below(3); n > 0; n--)
        ids.push(calls.call(random.of(CALLS),
            random.below(4) === 0 ? 'b' : undefined));
    const end = performance.now() + random.below(LATEST) / 1000;
    await new Promise(done => setImmediate(done)); // the calls are on their way
    while (performance.now() < end)
        continue;
    const others = await victims(calls);
    if (!others.length)
        return calls.peer.closed ? 'the server has ended'
            : `no process to kill in ${PATIENCE} s`;
    kill(random.of(others).pid, 'KILL');
    const missing = await calls.missing(ids);
    return missing.length ? `no answer to call ${missing.join(', ')}` : '';
}

// Prints and returns whether all is well, on the program and in the folders of
// PLAYER, which is not running.
export async function once(player, seed = 1) {
    const random = new Random(seed);
    const calls = new Calls(player);
    let fault = '';

    await calls.begin();
    for (let n = 0; n < KILLS && !fault; n++)
        fault = await round(calls, random);
    // the control: what runs twice is seen, as soon as there is an image again
    const twice = await calls.settle(n => `(progn ${run(n)} ${run(n)} ${n})`);
    const faults = Array.from({ length: calls.made }, (_, i) => i + 1)
        .filter(id => calls.fault(id));
    if (!fault && faults.join() !== String(twice))
        fault = faults.length ? calls.fault(faults[0])
            : 'not seen: a call that runs twice';
    await calls.end();
    fault ||= calls.peer.faults.join('\n');
    console.log(fault ? `FAIL each call runs once\n    ${fault}`
        : `ok   each of ${calls.made} calls runs once, with ${KILLS} kills`);
    return !fault;
}
