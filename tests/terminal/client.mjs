// SPDX-License-Identifier: GPL-3.0-or-later
// client.mjs: a client of a running ecl-mcp, which finds the Emacs of a test.
import path from 'node:path';
import { Peer, kill } from '../support/peer.mjs';
import { ROOT, check } from './terminal.mjs';

const BUILD = path.join(ROOT, 'build', process.env.PROFILE ?? 'release');
const SECONDS = 60;

// A client with a server of its own, in WORKSPACE; both use the home of EMACS.
export class Client {
    constructor(emacs, workspace, args = []) {
        this.messages = [];
        this.peer = new Peer([path.join(BUILD, 'ecl-mcp'), ...args], {
            cwd: workspace,
            env: { PATH: process.env.PATH, HOME: emacs.home },
            take: line => this.messages.push(JSON.parse(line)),
        });
        this.id = 0;
    }

    send(message) {
        this.peer.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    }

    ask(method, params) {
        this.send({ id: ++this.id, method, params });
        return this.id;
    }

    async answer(id) {
        const found = await this.peer.until(() =>
            this.messages.find(message => message.id === id), SECONDS);
        check(found, `no answer to ${id}`);
        return found.result;
    }

    async open() {
        await this.answer(this.ask('initialize', {
            protocolVersion: '2025-11-25', capabilities: {},
            clientInfo: { name: 'tester', version: '1' },
        }));
        this.send({ method: 'notifications/initialized' });
    }

    call(name, args) {
        return this.ask('tools/call', { name, arguments: args });
    }

    async close() {
        this.peer.child.stdin.end();
        const ended = await this.peer.until(() => this.peer.closed, SECONDS);
        if (!ended)
            kill(this.peer.pid, 'KILL');
        check(ended, 'the server does not end');
    }
}
