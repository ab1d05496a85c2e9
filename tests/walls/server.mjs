// SPDX-License-Identifier: GPL-3.0-or-later
// server.mjs: an ecl-mcp that evaluates, with a client of few words.
import fs from 'node:fs';
import { Peer, poll } from '../support/peer.mjs';
import { info } from '../support/proc.mjs';

// Seconds for all attempts of one server.
const SECONDS = 100;

const fail = text => {
    throw new Error(text);
};

export class Server {
    #messages = new Map();
    #last = 0;

    // COMMAND is the program with its options.
    constructor(command, { cwd, home, tmp, uid }) {
        this.peer = new Peer(command, {
            cwd, uid, take: line => {
                const message = JSON.parse(line);
                this.#messages.set(message.id, message);
            },
            env: { PATH: process.env.PATH, HOME: home, TMPDIR: tmp,
                ECL_MCP_EMACS: 'off' },
        });
    }

    async #request(method, params) {
        const id = ++this.#last;
        await this.peer.send(JSON.stringify(
            { jsonrpc: '2.0', id, method, params }) + '\n');
        const message = await this.peer.until(() => this.#messages.get(id) ??
            (this.peer.closed && {}), SECONDS);
        if (!message?.result)
            throw new Error(`no answer to ${method}: ` +
                `${JSON.stringify(message)}\n${this.peer.log.join('\n')}`);
        return message.result;
    }

    open() {
        return this.#request('initialize', {
            protocolVersion: '2025-11-25', capabilities: {},
            clientInfo: { name: 'walls', version: '1' },
        });
    }

    // The text of the answer to a call of TOOL.
    async call(name, args) {
        const result = await this.#request('tools/call',
            { name, arguments: args });
        return result.content[0].text;
    }

    evaluate(code, session = 'main') {
        return this.call('evaluate-lisp', { code, session, timeout: SECONDS });
    }

    // The number of the copy of process PID that sleeps as NAME.
    async #copy(pid, name) {
        const children = () =>
            fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
                .split(' ').filter(Boolean);
        // Nothing that the server says tells when it sleeps.
        return await poll(() => children().find(child =>
            info(+child)?.name === name), 20) ??
            fail(`no ${name}: ${this.peer.log.join('\n')}`);
    }

    // The numbers of its processes: its own, that of the process that made its
    // images, of the keeper of session main, and of the image of another
    // session, its checkpoint and its frozen error.
    async processes() {
        const pid = async session => {
            const answer = await this.evaluate('(si:getpid)', session);
            return /=> (\d+)/.exec(answer)?.[1] ?? fail(answer);
        };
        const parent = number => info(number).parent;
        const KEEPER = parent(await pid('main'));
        const OTHER = await pid('other');
        await this.call('checkpoint-session',
            { name: 'one', session: 'other' });
        const error = await this.evaluate('(error "walls")', 'other');
        if (!/^; Frozen as error \d+\.$/m.test(error))
            fail(error);
        return { SERVER: this.peer.pid, ZYGOTE: parent(KEEPER), KEEPER, OTHER,
            SLEEPER: await this.#copy(OTHER, 'mcp-sleeper'),
            FROZEN: await this.#copy(OTHER, 'mcp-frozen') };
    }

    // The line of its log that fits PATTERN.
    async logged(pattern) {
        const line = await this.peer.until(() =>
            this.peer.log.find(text => pattern.test(text)), 20);
        if (!line)
            throw new Error(`no ${pattern}: ${this.peer.log.join('\n')}`);
        return line.replace(/^.*?sandbox: /, 'sandbox: ');
    }

    async close() {
        this.peer.child.stdin.end();
        await this.peer.until(() => this.peer.closed, 20);
        await this.peer.end(5);
    }
}
