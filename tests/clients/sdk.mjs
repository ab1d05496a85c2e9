// SPDX-License-Identifier: GPL-3.0-or-later
// sdk.mjs: the official TypeScript SDK talks to the program, in both of its
// major versions and in all of its ways to open a connection.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as v2 from '@modelcontextprotocol/client';
import * as v2stdio from '@modelcontextprotocol/client/stdio';
import { PROGRAM, trace } from './program.mjs';

const MODERN = '2026-07-28';
// All that docs/tools.md describes; check-docs holds it to the program.
const TOOLS = [...fs.readFileSync(
    new URL('../../docs/tools.md', import.meta.url), 'utf8')
    .matchAll(/^## (\S+)$/gm)].map(([, name]) => name).sort();

// The kinds of client: class, transport and options, what each should find, and
// how it calls a tool.
export const KINDS = [
    { name: 'SDK 1', sdk: v1, stdio: v1stdio, options: {}, legacy: true,
        call: (client, params, options) =>
            client.callTool(params, undefined, options) },
    ...[
        ['legacy', undefined, true],
        ['auto', { mode: 'auto' }, false],
        ['modern', { mode: { pin: MODERN } }, false],
    ].map(([era, versionNegotiation, legacy]) => ({
        name: `SDK 2 ${era}`, sdk: v2, stdio: v2stdio, legacy,
        options: versionNegotiation ? { versionNegotiation } : {},
        call: (client, params, options) => client.callTool(params, options),
    })),
];

export const text = result => result.content.map(part => part.text).join('');

async function session(kind) {
    const traced = trace();
    const transport = new kind.stdio.StdioClientTransport({
        command: PROGRAM, args: ['--tools', 'all'], stderr: 'pipe',
        env: { ...kind.stdio.getDefaultEnvironment(), ...traced.env },
    });
    const client = new kind.sdk.Client({ name: 'client-test', version: '1' },
        { capabilities: {}, ...kind.options });
    const complaints = [];
    client.onerror = error => complaints.push(error.message);
    try {
        await client.connect(transport);
        await converse(kind, client);
    } finally {
        const start = performance.now();
        await client.close();
        // The SDK closes stdin, waits two seconds, then kills.
        assert.ok(performance.now() - start < 1900,
            'did not end when stdin was closed');
        await traced.gone();
    }
    assert.deepEqual(complaints, []);
}

async function converse(kind, client) {
    const evaluate = (code, more, options) => kind.call(client,
        { name: 'evaluate-lisp', arguments: { code, ...more } }, options);

    assert.equal(client.getServerVersion().name, 'ecl-mcp');
    assert.ok(client.getServerCapabilities().tools);
    assert.match(client.getInstructions(), /Lisp/);
    if (kind.sdk === v2)
        assert.equal(client.getProtocolEra(), kind.legacy ? 'legacy' : 'modern');
    if (kind.legacy)
        await client.ping();

    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(tool => tool.name).sort(), TOOLS);

    const six = await evaluate('(+ 1 2 3)');
    assert.equal(text(six), '=> 6');
    assert.ok(!six.isError);
    assert.equal(text(await evaluate('(values "hällo 💡" 1)')),
        '=> "hällo 💡"\n=> 1');
    assert.equal(text(await evaluate('(defun sq (x) (* x x))')), '=> SQ');
    assert.equal(text(await evaluate('(sq 12)')), '=> 144');

    const failure = await evaluate('(/ 1 0)');
    assert.equal(failure.isError, true);
    assert.match(text(failure), /^\[ERROR\] DIVISION-BY-ZERO\n/);
    const bad = await evaluate(17);
    assert.equal(bad.isError, true);
    assert.match(text(bad), /code/);
    await assert.rejects(kind.call(client, { name: 'no-such-tool',
        arguments: {} }), { code: -32602 });

    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(resource => resource.uri), [
        'lisp://metrics', ...['definitions', 'last-error', 'checkpoints']
            .map(view => `lisp://session/main/${view}`)]);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates.length, 4);
    const { contents } = await client.readResource({
        uri: 'lisp://session/main/definitions' });
    assert.match(contents[0].text, /SQ \(X\)/);
    const metrics = await client.readResource({ uri: 'lisp://metrics' });
    assert.equal(JSON.parse(metrics.contents[0].text).waiting, 0);
    await assert.rejects(client.readResource({ uri: 'lisp://none' }), {
        // SDK 2 knows both codes, and has one class of errors for them.
        code: kind.sdk === v1 ? -32002 : -32602, data: { uri: 'lisp://none' },
    });

    await prompted(client);
    await refuses(kind, client, false);
    await cancelled(kind, client);
    assert.equal(text(await evaluate('(sq 13)')), '=> 169');
    const reset = await kind.call(client, { name: 'reset-session',
        arguments: {} });
    assert.match(text(reset), /^Session reset\./);
}

// What a user starts by name, and how its arguments are completed.
async function prompted(client) {
    const { prompts } = await client.listPrompts();
    const names = prompts.map(prompt => prompt.name);
    assert.ok(names.includes('explain-error') && names.includes('review-file'));
    const { messages } = await client.getPrompt({ name: 'review-file',
        arguments: { path: 'a.lisp' } });
    assert.equal(messages[0].role, 'user');
    assert.match(messages[0].content.text, /^Review the Lisp file a\.lisp\. /);
    await assert.rejects(client.getPrompt({ name: 'review-file' }),
        { code: -32602 });
    const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'explain-error' },
        argument: { name: 'session', value: 'm' } });
    assert.deepEqual(completion.values, ['main']);
}

// A misspelt argument is refused, and the model reads which there are: in a
// result, or, from a server of an old version, in the error that the SDK throws.
async function refuses(kind, client, old) {
    const call = kind.call(client, { name: 'evaluate-lisp',
        arguments: { code: '(defvar *done* t)', pakage: 'CL-USER' } });
    const words = /unknown argument pakage; known are code, package, /;
    if (old) {
        await assert.rejects(call, error =>
            error.code === -32602 && words.test(error.message));
    } else {
        const refused = await call;
        assert.equal(refused.isError, true);
        assert.match(text(refused), words);
    }
    const done = await kind.call(client, { name: 'evaluate-lisp',
        arguments: { code: "(boundp '*done*)" } });
    assert.equal(text(done), '=> NIL');
}

// The client asks for VERSION, an old one.
async function oldSession(kind, version) {
    const traced = trace();
    const transport = new kind.stdio.StdioClientTransport({
        command: PROGRAM, args: [], stderr: 'pipe',
        env: { ...kind.stdio.getDefaultEnvironment(), ...traced.env },
    });
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
        if (message.method === 'initialize')
            message = { ...message, params: { ...message.params,
                protocolVersion: version } };
        return send(message, options);
    };
    const client = new kind.sdk.Client({ name: 'client-test', version: '1' },
        { capabilities: {}, ...kind.options });
    try {
        await client.connect(transport);
        await refuses(kind, client, true);
    } finally {
        await client.close();
        await traced.gone();
    }
}

// A call that is aborted does not keep others from running.
async function cancelled(kind, client) {
    const aborter = new AbortController();
    const endless = kind.call(client, { name: 'evaluate-lisp',
        arguments: { code: '(loop)' } }, { signal: aborter.signal });
    await client.listTools(); // when it is answered, the call has been sent
    aborter.abort('a test');
    await assert.rejects(endless);
}

export const sdkTests = [
    ...KINDS.map(kind => ({ name: kind.name, run: () => session(kind) })),
    ...['2024-11-05', '2025-03-26', '2025-06-18'].map(version => ({
        name: `SDK 1, ${version}`, run: () => oldSession(KINDS[0], version),
    })),
    { name: 'SDK 2, 2025-06-18', run: () => oldSession(KINDS[1], '2025-06-18') },
];
