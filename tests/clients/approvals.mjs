// SPDX-License-Identifier: GPL-3.0-or-later
// approvals.mjs: the official SDK's clients ask their user for the program, in
// each version in which they can. What the user answers shows on the disk.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { scratchFolder } from '../support/peer.mjs';
import { PROGRAM, trace } from './program.mjs';
import { KINDS, text } from './sdk.mjs';

const SCRATCH = scratchFolder('ecl-mcp-approvals');
const HELD = '(defun f () 1)\n';
const WRITTEN = '(defun f () 2)\n';
const OTHER = '(defun f () 3)\n';

// What the user does: the result of the elicitation, the text that the model
// reads, and the text that the file then has.
const CASES = [
    ['approves', { action: 'accept', content: { decision: 'approve' } },
        false, /./, WRITTEN],
    ['denies', { action: 'accept',
        content: { decision: 'deny', reason: 'keep it' } },
    true, /User denied tool execution: keep it/, HELD],
    ['declines', { action: 'decline' },
        true, /User denied tool execution/, HELD],
    ['cancels', { action: 'cancel' }, true, /no approval/, HELD],
    ['says nothing', { action: 'accept', content: {} },
        true, /no approval: the form has no decision/, HELD],
    ['changes the arguments', { action: 'accept', content: {
        decision: 'approve',
        arguments: JSON.stringify({ path: 'notes-5.lisp', content: OTHER }),
    } }, false, /^The user changed the arguments: "content" is /, OTHER],
    ['has no answer', new Error('no user today'),
        true, /no approval: the client could not ask its user/, HELD],
    ['lets it run from now on', { action: 'accept',
        content: { decision: 'approve', remember: true } },
    false, /./, WRITTEN],
];

// A client whose user gives the answer in user.answer.
async function connect(kind, capabilities) {
    const folder = fs.mkdtempSync(path.join(SCRATCH, 'workspace-'));
    const traced = trace();
    const transport = new kind.stdio.StdioClientTransport({
        command: PROGRAM, args: ['--workspace', folder], stderr: 'pipe',
        env: { ...kind.stdio.getDefaultEnvironment(), ...traced.env },
    });
    const client = new kind.sdk.Client({ name: 'client-test', version: '1' },
        { capabilities, ...kind.options });
    const user = { asked: [] };
    const onElicit = request => {
        user.asked.push(request.params);
        if (user.answer instanceof Error)
            throw user.answer;
        return user.answer;
    };
    if (capabilities.elicitation)
        client.setRequestHandler(kind.name === 'SDK 1' ? ElicitRequestSchema
            : 'elicitation/create', async request => onElicit(request));
    await client.connect(transport);
    return { client, user, folder, async close() {
        await client.close();
        await traced.gone();
    } };
}

// Writes file N in FOLDER; returns what the model reads and the file holds.
async function write(kind, { client, folder }, n) {
    const name = `notes-${n}.lisp`;
    const file = path.join(folder, name);
    fs.writeFileSync(file, HELD);
    const result = await kind.call(client, { name: 'write-file',
        arguments: { path: name, content: WRITTEN } }).catch(error => error);
    return { result, held: fs.readFileSync(file, 'utf8') };
}

async function approvals(kind) {
    const { user, ...at } = await connect(kind,
        { elicitation: kind.name === 'SDK 1' ? {} : { form: {} } });
    for (const [i, [name, answer, isError, told, held]] of CASES.entries()) {
        user.answer = answer;
        const wrote = await write(kind, at, i);
        const asked = user.asked.splice(0);
        // In the newer era the client has nothing to send when it cannot ask.
        if (answer instanceof Error && !kind.legacy) {
            assert.match(wrote.result.message, /no user today/);
        } else {
            assert.equal(wrote.result.isError ?? false, isError, name);
            assert.match(text(wrote.result), told, name);
            assert.equal(wrote.result._meta['ecl-mcp/approved'], !isError,
                name);
        }
        assert.equal(wrote.held, held, name);
        assert.equal(asked.length, 1, name);
        assert.match(asked[0].message, /notes-\d\.lisp/, name);
        assert.match(asked[0].message, /\(defun f \(\) 2\)/, name);
    }
    const { result, held } = await write(kind, at, CASES.length);
    assert.ok(!result.isError, text(result));
    assert.equal(held, WRITTEN);
    assert.deepEqual(user.asked, []); // the last answer was remembered
    await at.close();
}

async function noUser(kind) {
    const at = await connect(kind, {});
    const { result, held } = await write(kind, at, 0);
    assert.equal(result.isError, true);
    assert.match(text(result), /approval/);
    assert.equal(held, HELD);
    await at.close();
}

export const approvalTests = KINDS.flatMap(kind => [
    { name: `${kind.name} approvals`, run: () => approvals(kind) },
    { name: `${kind.name} without approvals`, run: () => noUser(kind) },
]);
