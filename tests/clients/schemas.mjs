// SPDX-License-Identifier: GPL-3.0-or-later
// schemas.mjs: checks what the program says in a conversation, message by
// message, against the official JSON schema of each version of the protocol.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Peer, scratchFolder } from '../support/peer.mjs';
import { toolsFaults } from '../support/toolrules.mjs';
import { PROGRAM } from './program.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LEGACY = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const MODERN = '2026-07-28';
const WORKSPACE = scratchFolder('ecl-mcp-schemas');

// Checks values against the definitions of one version.
class Schema {
    constructor(version) {
        const file = path.join(HERE, '../schemas', `${version}.json`);
        const schema = JSON.parse(fs.readFileSync(file, 'utf8'));
        this.key = schema.$defs ? '$defs' : 'definitions';
        this.names = new Set(Object.keys(schema[this.key]));
        this.ajv = new (schema.$defs ? Ajv2020 : Ajv)(
            { strict: false, allErrors: true });
        addFormats(this.ajv);
        this.ajv.addFormat('byte', true);
        this.ajv.addSchema({ ...schema, $id: 'mcp' });
    }

    check(name, value) {
        const validate = this.ajv.getSchema(`mcp#/${this.key}/${name}`);
        assert.ok(validate(value), `${name}: ` +
            `${this.ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
    }

    // The name of the envelope changed with 2025-11-25.
    envelope(message) {
        const kind = message.error ? 'Error' : 'Result';
        const name = `JSONRPC${kind}Response`;
        if (this.names.has(name))
            return name;
        return message.error ? 'JSONRPCError' : 'JSONRPCResponse';
    }
}

// The requests: method, parameters, and the definition of the result, or none
// for an error.
const call = (name, args) => ['tools/call', { name, arguments: args }];
const COMMON = [
    ['tools/list', {}, 'ListToolsResult'],
    [...call('evaluate-lisp', { code: '(values 1 2)' }), 'CallToolResult'],
    [...call('evaluate-lisp', { code: '(progn (princ 1) (warn "w") 2)',
        'capture-time': true }), 'CallToolResult'],
    [...call('evaluate-lisp', { code: '(error "no")' }), 'CallToolResult'],
    [...call('list-definitions', {}), 'CallToolResult'],
    [...call('read-output', { id: 99 }), 'CallToolResult'],
    ['resources/list', {}, 'ListResourcesResult'],
    ['resources/templates/list', {}, 'ListResourceTemplatesResult'],
    ['resources/read', { uri: 'lisp://metrics' }, 'ReadResourceResult'],
    ['resources/read', { uri: 'lisp://session/main/definitions' },
        'ReadResourceResult'],
    ['resources/read', { uri: 'lisp://session/none/definitions' }, undefined],
    ['resources/list', { cursor: 'none' }, undefined],
    ['prompts/list', {}, 'ListPromptsResult'],
    ['prompts/get', { name: 'speed-up', arguments: { code: '(f)' } },
        'GetPromptResult'],
    ['prompts/get', { name: 'none' }, undefined],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'review-file' },
        argument: { name: 'path', value: '' } }, 'CompleteResult'],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'review-file' },
        argument: { name: 'path', value: 'none/' } }, 'CompleteResult'],
    ['completion/complete', { ref: { type: 'ref/resource',
        uri: 'lisp://session/{name}/definitions' },
    argument: { name: 'name', value: '' } }, 'CompleteResult'],
    [...call('reset-session', {}), 'CallToolResult'],
    [...call('no-such-tool', {}), undefined],
    ['no/such/method', {}, undefined],
    ['tools/call', { name: 17 }, undefined],
];
const OPENING = version => ['initialize', { protocolVersion: version,
    capabilities: {}, clientInfo: { name: 'schemas', version: '1' } },
'InitializeResult'];

function script(version) {
    if (version === MODERN)
        return [['server/discover', {}, 'DiscoverResult'], ...COMMON,
            [...call('evaluate-lisp', { code: 17 }), 'CallToolResult']];
    return [OPENING(version), ['ping', {}, 'EmptyResult'], ...COMMON,
        [...call('evaluate-lisp', { code: 17 }),
            version === '2025-11-25' ? 'CallToolResult' : undefined]];
}

const META = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
};

async function conversation(version) {
    const schema = new Schema(version);
    const lines = [];
    const peer = new Peer([PROGRAM], {
        env: { PATH: process.env.PATH, HOME: '/nonexistent' },
        take: line => lines.push(line),
    });
    try {
        for (const [id, [method, params, result]] of script(version).entries()) {
            const all = version === MODERN ? { ...params, _meta: META } : params;
            await peer.send(JSON.stringify(
                { jsonrpc: '2.0', id, method, params: all }) + '\n');
            const line = await peer.until(() => lines.shift(), 20);
            assert.ok(line, `no answer to ${method}`);
            const message = JSON.parse(line);
            assert.equal(message.id, id);
            schema.check('JSONRPCMessage', message);
            schema.check(schema.envelope(message), message);
            assert.equal('result' in message, result !== undefined, line);
            if (result)
                schema.check(result, message.result);
            if (method === 'tools/list')
                checkTools(message.result.tools);
            if (method === 'initialize')
                await peer.send(JSON.stringify({ jsonrpc: '2.0',
                    method: 'notifications/initialized' }) + '\n');
        }
        peer.child.stdin.end();
        await peer.until(() => peer.closed, 5);
        assert.equal(peer.status, '0');
        assert.deepEqual([...peer.faults, ...lines], []);
    } finally {
        await peer.end(2);
    }
}

// The question to the user, and its withdrawal.
async function questions(version) {
    const modern = version === MODERN;
    const schema = new Schema(version);
    const lines = [];
    const capabilities = { elicitation: {} };
    const peer = new Peer([PROGRAM, '--workspace', WORKSPACE], {
        env: { PATH: process.env.PATH, HOME: '/nonexistent' },
        take: line => lines.push(line),
    });
    const send = message => peer.send(
        JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    const next = async () => {
        const line = await peer.until(() => lines.shift(), 20);
        assert.ok(line, 'no message');
        schema.check('JSONRPCMessage', JSON.parse(line));
        return JSON.parse(line);
    };
    const [name, args] = ['write-file', { path: 'a', content: 'b\n' }];
    const ask = (id, more) => send({ id, method: 'tools/call', params: {
        name, arguments: args, ...more, ...(modern && { _meta: { ...META,
            'io.modelcontextprotocol/clientCapabilities': capabilities } }),
    } });
    try {
        if (!modern) {
            await send({ id: 0, method: 'initialize', params: {
                protocolVersion: version, capabilities,
                clientInfo: { name: 'schemas', version: '1' } } });
            await next();
        }
        await ask(1);
        const asked = await next();
        if (modern) {
            schema.check('InputRequiredResult', asked.result);
            const [[key, request]] = Object.entries(asked.result.inputRequests);
            schema.check('ElicitRequest', request);
            await ask(2, { requestState: asked.result.requestState,
                inputResponses: { [key]: { action: 'decline' } } });
        } else {
            schema.check('ServerRequest', asked);
            schema.check('ElicitRequest', asked);
            await send({ id: asked.id, result: { action: 'decline' } });
        }
        schema.check('CallToolResult', (await next()).result);
        if (!modern) {
            await ask(3);
            await next();
            await send({ method: 'notifications/cancelled',
                params: { requestId: 3 } });
            schema.check('CancelledNotification', await next());
        }
        peer.child.stdin.end();
        await peer.until(() => peer.closed, 5);
        assert.deepEqual([...peer.faults, ...lines], []);
    } finally {
        await peer.end(2);
    }
}

// Every inputSchema is a valid schema of today's default dialect.
function checkTools(tools) {
    assert.deepEqual(toolsFaults(tools), []);
    for (const tool of tools)
        new Ajv2020({ strict: true }).compile(tool.inputSchema);
}

export const schemaTests = [
    ...[...LEGACY, MODERN].map(version => ({
        name: `schema of ${version}`, run: () => conversation(version),
    })),
    ...['2025-06-18', '2025-11-25', MODERN].map(version => ({
        name: `questions in ${version}`, run: () => questions(version),
    })),
];
