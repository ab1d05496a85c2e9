// SPDX-License-Identifier: GPL-3.0-or-later
// peer.mjs: a program under test, started with pipes: its lines on stdout and
// stderr, its end, and its family of processes. All that it knows of MCP is
// that stdout must be lines of UTF-8.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { family, info, lives } from './proc.mjs';
import { Waiting } from './waiting.mjs';

export const MARK = 'ECL_MCP_TEST_RUN';

// Seconds that an awaited event may take on a busy machine, at least.
export const PATIENCE = 60;

// Calls PROBE every MS until its value is true, and returns that; undefined
// after SECONDS. For things without events: files and foreign processes.
export async function poll(probe, seconds, ms = 2) {
    const end = performance.now() + 1000 * seconds;
    for (;;) {
        const found = probe();
        if (found || performance.now() > end)
            return found || undefined;
        await new Promise(done => setTimeout(done, ms));
    }
}

// An empty folder that goes away with this process.
export function scratchFolder(name) {
    // the path of a socket in it must be short
    const parent = os.tmpdir().length > 60 ? '/tmp' : os.tmpdir();
    const folder = fs.mkdtempSync(path.join(parent, `${name}-`));
    process.on('exit', () =>
        fs.rmSync(folder, { recursive: true, force: true }));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
        process.once(signal, () => process.exit(1));
    return folder;
}

export function kill(pid, signal) {
    try {
        process.kill(pid, `SIG${signal}`);
    } catch {
        // it ended by itself
    }
}

// Cuts chunks into lines without joining more than needed.
class Lines {
    constructor(take) {
        this.take = take;
        this.rest = [];
    }

    feed(chunk) {
        let from = 0;
        for (let at; (at = chunk.indexOf(10, from)) >= 0; from = at + 1) {
            this.rest.push(chunk.subarray(from, at));
            this.take(Buffer.concat(this.rest));
            this.rest = [];
        }
        if (from < chunk.length)
            this.rest.push(chunk.subarray(from));
    }

    finish() {
        const last = Buffer.concat(this.rest);
        this.rest = [];
        return last;
    }
}

export class Peer extends Waiting {
    #seen = new Map();

    // COMMAND is the program and its arguments; TAKE gets each line of stdout,
    // unless that is RAW and the caller's. UID: another user.
    constructor(command, { cwd, env, take, raw = false, uid }) {
        super();
        this.lines = 0;
        this.log = [];
        this.faults = []; // that no program under test may have
        this.mark = `${MARK}=${randomUUID()}`;
        const [name, value] = this.mark.split('=');
        this.child = spawn(command[0], command.slice(1), {
            cwd, env: { ...env, [name]: value }, stdio: 'pipe', uid, gid: uid,
        });
        this.pid = this.child.pid;
        const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
        this.stdout = new Lines(bytes => {
            this.lines++;
            let text;
            try {
                text = utf8.decode(bytes);
            } catch {
                this.faults.push('stdout: a line is not valid UTF-8: ' +
                    bytes.toString('latin1').slice(0, 200));
                text = bytes.toString();
            }
            take(text);
        });
        const stderr = new Lines(bytes => this.log.push(bytes.toString()));
        if (!raw)
            this.child.stdout.on('data',
                chunk => this.#feed(this.stdout, chunk));
        this.child.stderr.on('data', chunk => this.#feed(stderr, chunk));
        this.child.stdin.on('error', () => {}); // the program may end first
        this.child.stdout.on('error', () => {});
        this.child.on('error', error => {
            this.faults.push(`cannot start: ${error.message}`);
            this.wakeAll();
        });
        this.child.on('exit', (code, signal) => {
            this.status = signal ? signal.replace('SIG', '') : String(code);
            this.wakeAll();
        });
        this.child.on('close', () => {
            if (this.stdout.finish().length)
                this.faults.push('stdout: the last line has no line end');
            this.closed = true;
            this.wakeAll();
        });
    }

    #feed(lines, chunk) {
        lines.feed(chunk);
        this.wakeAll();
    }

    // Resolves when the pipe has taken BYTES, or can take nothing more.
    send(bytes) {
        return new Promise(done => {
            if (!this.child.stdin.writable)
                done();
            else
                this.child.stdin.write(bytes, () => done());
        });
    }

    // The same in pieces of SIZE bytes. Each is sent when the program has read
    // the one before and waits again.
    async sendSplit(bytes, size) {
        for (let at = 0; at < bytes.length; at += size) {
            await this.send(bytes.subarray(at, at + size));
            for (let tries = 0; tries < 1000; tries++)
                if (info(this.front())?.state !== 'R')
                    break;
        }
    }

    // The process that is the program; not the child if that only started it.
    front() {
        return this.frontPid ?? this.pid;
    }

    // Looks at the processes of the family, and remembers all ever seen.
    look() {
        const now = family(this.pid, this.mark);
        for (const process of now)
            this.#seen.set(process.pid, process);
        return now;
    }

    // The processes seen that still live.
    survivors() {
        this.look();
        return [...this.#seen.values()].filter(lives);
    }

    // Ends whatever is left of the family.
    async end(seconds) {
        for (const process of this.survivors())
            kill(process.pid, 'KILL');
        await this.until(() => this.closed, seconds);
    }
}
