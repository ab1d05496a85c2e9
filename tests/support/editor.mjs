// SPDX-License-Identifier: GPL-3.0-or-later
// editor.mjs: the editor's end of docs/editor-protocol.md, on a Unix socket. It
// takes one connection at a time, keeps the messages that it hears until a
// caller takes them, and acknowledges every request unless it plays deaf.
import fs from 'node:fs';
import net from 'node:net';
import { Waiting } from './waiting.mjs';

export class Editor extends Waiting {
    #server;
    #socket;

    constructor(path) {
        super();
        this.path = path;
        this.heard = []; // messages, oldest first
        this.deaf = false;
        this.connections = 0;
        this.longest = 0; // bytes of the longest line
        this.faults = [];
    }

    // Resolves when the socket exists.
    listen() {
        fs.rmSync(this.path, { force: true });
        this.#server = net.createServer(socket => this.#take(socket));
        return new Promise((done, failed) => {
            this.#server.on('error', failed);
            this.#server.listen(this.path, done);
        });
    }

    #take(socket) {
        this.#socket?.destroy();
        this.#socket = socket;
        this.connections++;
        let rest = '';
        const utf8 = new TextDecoder('utf-8', { fatal: true });
        socket.on('data', chunk => {
            rest += utf8.decode(chunk, { stream: true });
            const lines = rest.split('\n');
            rest = lines.pop();
            lines.forEach(line => this.#hear(line));
        });
        socket.on('error', () => {}); // the program may end at any time
        socket.on('close', () => {
            if (this.#socket === socket)
                this.#socket = undefined;
            this.wakeAll();
        });
    }

    #hear(line) {
        let message;
        this.longest = Math.max(this.longest, Buffer.byteLength(line));
        try {
            message = JSON.parse(line);
        } catch {
            this.faults.push(`the editor heard ${line.slice(0, 200)}`);
            return this.wakeAll();
        }
        if (message.id !== undefined && message.method && !this.deaf)
            this.notify('received', { id: message.id });
        this.heard.push({ message, line });
        this.wakeAll();
    }

    get connected() {
        return this.#socket !== undefined;
    }

    send(line) {
        this.longest = Math.max(this.longest, Buffer.byteLength(line));
        this.#socket?.write(line + '\n');
    }

    notify(method, params) {
        this.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
    }

    // Stops reading, like a process that was stopped; or reads on.
    pause() {
        this.#socket?.pause();
    }

    resume() {
        this.#socket?.resume();
    }

    // Hangs up and removes the socket.
    close() {
        this.#socket?.destroy();
        this.#socket = undefined;
        this.#server?.close();
        fs.rmSync(this.path, { force: true });
    }
}
