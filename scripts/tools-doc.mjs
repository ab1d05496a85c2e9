#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// tools-doc.mjs PROGRAM: prints docs/tools.md, made from what the program
// answers to tools/list. It knows nothing of the tools.
import { spawnSync } from 'node:child_process';

const request = {
    jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
    } },
};
const { stdout } = spawnSync(process.argv[2], {
    input: JSON.stringify(request) + '\n', encoding: 'utf8',
});
const { tools } = JSON.parse(stdout).result;

function hints({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }) {
    if (readOnlyHint)
        return 'Changes nothing.';
    return 'Changes something' +
        (destructiveHint ? ', and may destroy' : '') +
        (idempotentHint ? '; a second time nothing more' : '') +
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

const lines = [
    '# Tools', '',
    'Made by `make docs` from what the server tells its clients; do not edit.',
    'The names of tools and arguments may be written with `_` for `-`. In every',
    'tool, `session` is `main` when it is not given, and `package` that of the',
    'session. The first of several choices is the one that is meant without.',
];
for (const { name, description, inputSchema, annotations } of tools) {
    lines.push('', `## ${name}`, '', cell(description), '', hints(annotations));
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
