// SPDX-License-Identifier: GPL-3.0-or-later
// server.mjs: the programs of these tests: ecl-mcp as the keeper of images, and
// ecl-mcp attached to them, each with a client.
import assert from 'node:assert/strict';
import { Peer, poll } from '../support/peer.mjs';
import { Front } from './front.mjs';
import fs from 'node:fs';

const SECONDS = 60;

// Another user.
export const NOBODY = 65534;

// Thrown by a test that cannot run here, before it starts anything.
export class Skip extends Error {}

// ecl-mcp --supervise --listen SOCKET, and the front that owns it.
export class Keeper {
    constructor(world, { paused = false, args = [], uid } = {}) {
        this.peer = world.start(['--supervise', '--listen', world.socket,
            ...args], { raw: true, uid });
        this.front = new Front(this.peer.child.stdout, this.peer.child.stdin,
            { paused });
        this.socket = world.socket;
    }

    // Resolves when the socket exists.
    async ready() {
        const found = await poll(() => fs.existsSync(this.socket) ||
            this.peer.status, SECONDS);
        assert.equal(found, true, this.peer.log.join('\n'));
        return this;
    }

    async ended(status = '0') {
        await this.peer.until(() => this.peer.status !== undefined, SECONDS);
        assert.equal(this.peer.status, status, this.peer.log.join('\n'));
    }

    // Ends the keeper by closing its standard input.
    async close() {
        this.peer.child.stdin.end();
        await this.ended();
    }
}

// ecl-mcp --attach SOCKET, or with other ARGS, and its client.
export class Server {
    #last = 0;

    constructor(world, args = ['--attach', world.socket],
        { env, capabilities = {} } = {}) {
        this.messages = []; // that no caller took yet
        this.capabilities = capabilities;
        this.peer = world.start([...args, '--audit', 'off'], {
            env, take: line => this.messages.push(JSON.parse(line)),
        });
    }

    // Resolves when the handshake is finished.
    async open() {
        await this.answer(this.begin('initialize', {
            protocolVersion: '2025-11-25', capabilities: this.capabilities,
            clientInfo: { name: 'test', version: '1' },
        }));
        return this;
    }

    write(message) {
        this.peer.child.stdin.write(
            JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    }

    begin(method, params) {
        const id = ++this.#last;
        this.write({ id, method, params });
        return id;
    }

    async #take(what, probe, seconds) {
        const message = await this.peer.until(() => {
            const at = this.messages.findIndex(probe);
            return at >= 0 && this.messages.splice(at, 1)[0];
        }, seconds);
        assert.ok(message, `no ${what}: ${this.peer.log.join('\n')}`);
        return message;
    }

    answer(id, seconds = SECONDS) {
        return this.#take(`answer ${id}`,
            m => m.id === id && !m.method, seconds);
    }

    // Its next request of METHOD.
    asked(method, seconds = SECONDS) {
        return this.#take(method, m => m.method === method, seconds);
    }

    request(method, params) {
        return this.answer(this.begin(method, params));
    }

    beginCall(name, args = {}) {
        return this.begin('tools/call', { name, arguments: args });
    }

    beginEval(code, session = 'main') {
        return this.beginCall('evaluate-lisp', { code, session, timeout: 0 });
    }

    async text(id) {
        const message = await this.answer(id);
        assert.ok(message.result, JSON.stringify(message));
        return message.result.content[0].text;
    }

    evaluate(code, session) {
        return this.text(this.beginEval(code, session));
    }

    call(name, args) {
        return this.text(this.beginCall(name, args));
    }

    cancel(id) {
        this.write({
            method: 'notifications/cancelled', params: { requestId: id },
        });
    }

    // Ends the server by closing its standard input. Nothing may be unanswered,
    // and only notifications of METHOD may have come.
    async close(method) {
        this.peer.child.stdin.end();
        await this.peer.until(() => this.peer.closed, SECONDS);
        assert.equal(this.peer.status, '0', this.peer.log.join('\n'));
        assert.deepEqual(this.messages.filter(
            message => !method || message.method !== method), []);
    }
}

// What the processes of one test share: a folder, and the socket in it.
export class World {
    #peers = [];

    constructor(program, folder) {
        this.program = program;
        this.folder = folder;
        this.socket = `${folder}/run/image.sock`;
        this.flag = `${folder}/lisp/flag`;
        fs.mkdirSync(`${folder}/run`, { recursive: true, mode: 0o700 });
        fs.mkdirSync(`${folder}/lisp`);
    }

    start(args, options) {
        return this.startOther([...this.program, ...args], options);
    }

    // Starts COMMAND, which must be gone in the end, like all programs.
    startOther(command, { take = () => {}, raw = false, env = {}, uid } = {}) {
        const peer = new Peer(command, {
            cwd: `${this.folder}/lisp`, take, raw, uid,
            env: { PATH: process.env.PATH, HOME: this.folder,
                ECL_MCP_EMACS: 'off', ...env },
        });
        this.#peers.push(peer);
        return peer;
    }

    keep(options) {
        return new Keeper(this, options).ready();
    }

    attach(args, options) {
        return new Server(this, args, options).open();
    }

    // Lets NOBODY into the folders.
    admitNobody() {
        if (process.getuid() !== 0)
            throw new Skip('only root can be two users');
        fs.chmodSync(this.folder, 0o711);
        fs.chmodSync(`${this.folder}/..`, 0o711);
        for (const name of ['run', 'lisp'])
            fs.chownSync(`${this.folder}/${name}`, NOBODY, NOBODY);
    }

    // Starts the program with ARGS; resolves with its status and its log.
    async run(args, options) {
        const peer = this.start(args, options);
        await peer.until(() => peer.closed, SECONDS);
        return { status: peer.status, log: peer.log.join('\n') };
    }

    // Code that opens a file, so that it can be seen to run, and then runs
    // CODE.
    seen(code) {
        fs.rmSync(this.flag, { force: true });
        return `(progn (close (open "${this.flag}" :direction :output)) ${code})`;
    }

    async runs() {
        assert.ok(await poll(() => fs.existsSync(this.flag), SECONDS),
            'the call does not run');
    }

    // No program that was started may be left.
    async end() {
        const left = [];
        for (const peer of this.#peers) {
            if (peer.status === undefined)
                left.push('the program still runs');
            const gone = await poll(() => peer.survivors().length === 0, 60);
            if (!gone)
                left.push(...peer.survivors().map(p => `${p.pid} ${p.name}`));
            left.push(...peer.faults);
            await peer.end(5);
        }
        assert.deepEqual(left, []);
    }

    // After a failure.
    async abandon() {
        for (const peer of this.#peers) {
            if (peer.log.length)
                console.log(peer.log.join('\n').replace(/^/gm, '    | '));
            await peer.end(5);
        }
    }
}
