// SPDX-License-Identifier: GPL-3.0-or-later
// front.mjs: a front that speaks frames (docs/image-protocol.md) itself, over a
// socket or the pipes of a process.
import net from 'node:net';
import { Waiting } from '../support/waiting.mjs';

export const VERSION = 4;
export const KIND = {
    CALL: 1, STOP: 2, READ: 3, FINISH: 4, HELLO: 5,
    REPLY: 16, OUTPUT: 17, WELCOME: 18,
};

function field(value) {
    if (typeof value === 'string') {
        const text = Buffer.from(value);
        const head = Buffer.alloc(5);
        head.write('S');
        head.writeUInt32LE(text.length, 1);
        return Buffer.concat([head, text]);
    }
    const bytes = Buffer.alloc(9);
    bytes.write('I');
    bytes.writeBigInt64LE(BigInt(value), 1);
    return bytes;
}

export function frame(kind, id, ...fields) {
    const body = Buffer.concat(fields.map(field));
    const head = Buffer.alloc(16);
    head.writeUInt32LE(body.length, 0);
    head.writeUInt16LE(kind, 4);
    head.writeBigUInt64LE(BigInt(id), 8);
    return Buffer.concat([head, body]);
}

export const hello = (version = VERSION, known = 0n) =>
    frame(KIND.HELLO, 0, version, 'test', known);

// The fields of a body: strings and bigints.
function fields(body) {
    const all = [];
    for (let at = 0; at < body.length;)
        if (body[at] === 0x53) {
            const n = body.readUInt32LE(at + 1);
            all.push(body.toString('utf8', at + 5, at + 5 + n));
            at += 5 + n;
        } else {
            all.push(body.readBigInt64LE(at + 1));
            at += 9;
        }
    return all;
}

export class Front extends Waiting {
    #rest = Buffer.alloc(0);
    #last = 0;

    // Reads from INPUT, unless it is PAUSED, and writes to OUTPUT.
    constructor(input, output, { paused = false } = {}) {
        super();
        this.input = input;
        this.output = output;
        this.frames = []; // that no caller took yet
        this.ended = false;
        output.on('error', () => {}); // the other end may go
        input.on('error', () => {});
        input.on('close', () => {
            this.ended = true;
            this.wakeAll();
        });
        if (!paused)
            this.resume();
    }

    // A front that is connected to the socket PATH.
    static connect(path, options) {
        return new Promise((done, failed) => {
            const socket = net.connect(path);
            socket.once('error', failed);
            socket.once('connect', () =>
                done(new Front(socket, socket, options)));
        });
    }

    resume() {
        this.input.on('data', chunk => this.#take(chunk));
    }

    #take(chunk) {
        this.#rest = Buffer.concat([this.#rest, chunk]);
        for (;;) {
            const size = this.#rest.length < 16
                ? Infinity : this.#rest.readUInt32LE(0);
            if (this.#rest.length < 16 + size)
                break;
            this.frames.push({
                kind: this.#rest.readUInt16LE(4),
                flags: this.#rest.readUInt16LE(6),
                id: Number(this.#rest.readBigUInt64LE(8)),
                fields: fields(this.#rest.subarray(16, 16 + size)),
            });
            this.#rest = this.#rest.subarray(16 + size);
        }
        this.wakeAll();
    }

    // As in Waiting, but to wait in vain is an error.
    async until(probe, seconds = 60) {
        const found = await super.until(probe, seconds);
        if (!found)
            throw new Error(`front: nothing after ${seconds} s`);
        return found;
    }

    send(bytes) {
        this.output.write(bytes);
    }

    // The next frame that FITS.
    next(fits) {
        return this.until(() => {
            const at = this.frames.findIndex(fits);
            return at >= 0 && this.frames.splice(at, 1)[0];
        });
    }

    // Says HELLO and resolves with the fields of the WELCOME.
    greet(version, known) {
        this.send(hello(version, known));
        return this.welcome();
    }

    async welcome() {
        return (await this.next(f => f.kind === KIND.WELCOME)).fields;
    }

    // Sends a call and returns its id.
    beginCall(session, operation, ...args) {
        const id = ++this.#last;
        this.send(frame(KIND.CALL, id, session, operation, 10000, 0, ...args));
        return id;
    }

    begin(code, session = 'main') {
        return this.beginCall(session, 'evaluate', 'code', code);
    }

    async answer(id) {
        return (await this.next(f => f.kind === KIND.REPLY && f.id === id))
            .fields[0];
    }

    evaluate(code, session) {
        return this.answer(this.begin(code, session));
    }

    end() {
        this.output.destroy();
    }
}
