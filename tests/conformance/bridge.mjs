// SPDX-License-Identifier: GPL-3.0-or-later
// bridge.mjs: a server on standard input and output, served over Streamable
// HTTP on the loopback interface, since the conformance suite knows no other
// way. Messages pass as they are; only request ids and progress tokens are
// made unique on the way in, and put back on the way out. What HTTP itself
// needs (headers, statuses, sessions) is done here: in these, the suite does not
// test the server.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { Peer } from '../support/peer.mjs';

const MCP = 'io.modelcontextprotocol/';
const HANDSHAKE_VERSIONS = ['2025-03-26', '2025-06-18', '2025-11-25'];
const HEADER_MISMATCH = -32020;
const SECONDS = 30; // for a server to end

const isRequest = message => 'method' in message && 'id' in message;

// The answer to one POST: JSON if there is only the response, else a stream of
// events.
class Answer {
    constructor(response, headers = {}) {
        this.response = response;
        this.headers = headers;
        this.open = true;
    }

    event(message) {
        if (!this.open)
            return;
        if (!this.response.headersSent)
            this.response.writeHead(200, {
                ...this.headers, 'Content-Type': 'text/event-stream',
                'Cache-Control': 'no-cache',
            });
        this.response.write(
            `event: message\ndata: ${JSON.stringify(message)}\n\n`);
    }

    end(status, message) {
        if (!this.open)
            return;
        if (this.response.headersSent) {
            this.event(message);
            this.response.end();
        } else {
            this.response.writeHead(status, {
                ...this.headers, 'Content-Type': 'application/json',
            });
            this.response.end(JSON.stringify(message));
        }
        this.open = false;
    }
}

// A server process and the requests that it has not answered.
class Backend {
    #last = 0;
    #open = new Map();

    constructor(command, env) {
        this.peer = new Peer(command,
            { env, take: line => this.#take(JSON.parse(line)) });
        this.peer.child.on('close', () => {
            for (const { id, answer } of this.#open.values())
                answer.end(500, { jsonrpc: '2.0', id, error: {
                    code: -32603, message: 'the server has ended' } });
        });
    }

    write(message) {
        this.peer.send(`${JSON.stringify(message)}\n`);
    }

    // Passes a request on; STATUS returns the HTTP status of its response.
    ask(message, answer, status) {
        const id = ++this.#last;
        const token = message.params?._meta?.progressToken;
        const sent = { ...message, id };
        if (token !== undefined)
            sent.params = { ...message.params,
                _meta: { ...message.params._meta, progressToken: id } };
        this.#open.set(id, { id: message.id, token, answer, status });
        answer.response.on('close', () => {
            answer.open = false;
            if (this.#open.delete(id))
                this.write({ jsonrpc: '2.0', method: 'notifications/cancelled',
                    params: { requestId: id } });
        });
        this.write(sent);
    }

    #take(message) {
        if ('method' in message)
            this.#event(message);
        else
            this.#response(message);
    }

    #response(message) {
        const request = this.#open.get(message.id);
        if (!request)
            throw new Error(`unexpected: ${JSON.stringify(message)}`);
        this.#open.delete(message.id);
        this.#nameSubscription(message.result, request);
        request.answer.end(request.status(message),
            { ...message, id: request.id });
    }

    // A notification or request of the server goes to the request to which it
    // belongs, or else to the newest one.
    #event(message) {
        const { params } = message;
        const known = this.#open.get(params?.progressToken) ??
            this.#open.get(params?._meta?.[`${MCP}subscriptionId`]);
        const request = known ?? [...this.#open.values()].at(-1);
        if (!request)
            return;
        if (params?.progressToken !== undefined)
            params.progressToken = request.token;
        this.#nameSubscription(params, request);
        request.answer.event(message);
    }

    #nameSubscription(holder, request) {
        if (holder?._meta?.[`${MCP}subscriptionId`] !== undefined)
            holder._meta[`${MCP}subscriptionId`] = request.id;
    }

    // Ends the process and resolves with what it did wrong.
    async close() {
        this.peer.child.stdin.end();
        await this.peer.until(() => this.peer.closed, SECONDS);
        const faults = [...this.peer.faults];
        if (this.peer.status !== '0')
            faults.push(`exit status ${this.peer.status ?? 'none'}`);
        for (const left of this.peer.survivors())
            faults.push(`left behind: ${left.pid} ${left.name}`);
        await this.peer.end(SECONDS);
        return faults;
    }
}

// What is wrong with the headers of a request that names its version itself.
function headerFault(headers, message) {
    const { method, params } = message;
    const version = params?._meta?.[`${MCP}protocolVersion`];
    const name = { 'tools/call': params?.name, 'prompts/get': params?.name,
        'resources/read': params?.uri }[method];
    if (version !== undefined && headers['mcp-protocol-version'] !== version)
        return 'MCP-Protocol-Version';
    if (headers['mcp-method'] !== method)
        return 'Mcp-Method';
    if (name !== undefined && headers['mcp-name'] !== name)
        return 'Mcp-Name';
    return '';
}

// Chooses the status of the response to such a request.
function statusFor(request) {
    const meta = request.params?._meta;
    const complete = meta?.[`${MCP}protocolVersion`] !== undefined &&
        meta?.[`${MCP}clientCapabilities`] !== undefined;
    return ({ error }) => {
        if (!error)
            return 200;
        if (error.code === -32601)
            return 404;
        return complete && error.code === -32602 ? 200 : 400;
    };
}

function readBody(request) {
    return new Promise((done, fail) => {
        const chunks = [];
        request.on('data', chunk => chunks.push(chunk));
        request.on('end', () => done(JSON.parse(Buffer.concat(chunks))));
        request.on('error', fail);
    });
}

// Serves COMMAND: {url, close}. Close resolves with what its processes did
// wrong.
export async function serve(command, env) {
    const sessions = new Map(); // with a handshake, by the id of HTTP
    const all = [];
    let shared; // for requests without one
    const start = () => {
        all.push(new Backend(command, env));
        return all.at(-1);
    };

    function respond(backend, message, answer, status) {
        if (isRequest(message)) {
            backend.ask(message, answer, status);
        } else {
            backend.write(message);
            answer.response.writeHead(202).end();
        }
    }

    function modern(message, request, response) {
        const fault = headerFault(request.headers, message);
        const answer = new Answer(response);
        shared ??= start();
        if (fault)
            answer.end(400, { jsonrpc: '2.0', id: message.id, error: {
                code: HEADER_MISMATCH, message: `Header mismatch: ${fault}` } });
        else
            respond(shared, message, answer, statusFor(message));
    }

    function legacy(message, request, response) {
        let id = request.headers['mcp-session-id'];
        if (id === undefined && message.method === 'initialize') {
            id = randomUUID();
            sessions.set(id, start());
        }
        const backend = sessions.get(id);
        if (backend)
            respond(backend, message,
                new Answer(response, { 'Mcp-Session-Id': id }), () => 200);
        else
            response.writeHead(404).end();
    }

    const server = http.createServer(async (request, response) => {
        const version = request.headers['mcp-protocol-version'];
        if (request.method === 'DELETE') {
            sessions.delete(request.headers['mcp-session-id']);
            response.writeHead(200).end();
        } else if (request.method !== 'POST') {
            response.writeHead(405, { Allow: 'POST, DELETE' }).end();
        } else if (version === undefined ||
            HANDSHAKE_VERSIONS.includes(version)) {
            legacy(await readBody(request), request, response);
        } else {
            modern(await readBody(request), request, response);
        }
    });
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    return {
        url: `http://127.0.0.1:${server.address().port}/mcp`,
        async close() {
            server.closeAllConnections();
            server.close();
            return (await Promise.all(all.map(one => one.close()))).flat();
        },
    };
}
