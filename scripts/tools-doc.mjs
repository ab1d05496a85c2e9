#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// tools-doc.mjs PROGRAM: prints docs/tools.md, made from what the program
// answers to tools/list. It knows nothing of the tools themselves.
import { spawnSync } from 'node:child_process';

const request = {
    jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
    } },
};
const { stdout } = spawnSync(process.argv[2], ['--tools', 'all'], {
    input: JSON.stringify(request) + '\n', encoding: 'utf8',
});
const { tools } = JSON.parse(stdout).result;

function hints({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }) {
    if (readOnlyHint)
        return 'Changes nothing.';
    return 'Makes changes' +
        (destructiveHint ? ', possibly destructive ones' : '') +
        (idempotentHint ? '; repeating a call changes nothing more' : '') +
        (openWorldHint ? '; may reach beyond the Lisp image.' : '.');
}

function kind({ type, enum: choices, minimum, maximum }) {
    if (choices)
        return choices.map(choice => `\`${choice}\``).join(', ');
    const from = minimum === undefined ? '' : ` from ${minimum}`;
    const to = maximum === undefined ? '' : ` to ${maximum}`;
    return [type].flat().join(' or ') + from + to;
}

const cell = text => (text ?? '').replace(/\|/g, '\\|').replace(/\s+/g, ' ');

// TEXT in lines of at most 100 columns.
const wrap = text => text.replace(/(.{1,100})( |$)/g, '$1\n').trimEnd();

const lines = [
    '# Tools', '',
    wrap('`make docs` makes this page from what the server tells its clients; do ' +
        'not edit it. The [README](../README.md#tools) has the safety level of ' +
        'each tool. Names of tools and arguments may be written with `_` for ' +
        '`-`. `session` defaults to `main`, `package` to that of the session, ' +
        'and a choice to the first one. Arguments that a tool does not have ' +
        'are refused.'),
];
for (const { name, description, inputSchema, annotations } of tools) {
    lines.push('', `## ${name}`, '', wrap(cell(description)), '', hints(annotations));
    const fields = Object.entries(inputSchema.properties);
    if (!fields.length)
        continue;
    lines.push('', '| argument | kind | |', '|---|---|---|');
    for (const [field, schema] of fields) {
        const needed = inputSchema.required?.includes(field) ? '**' : '';
        lines.push(`| ${needed}${field}${needed} | ${kind(schema)} | ` +
            `${cell(schema.description)} |`);
    }
}
lines.push('', 'Arguments in bold are required.');
console.log(lines.join('\n'));
