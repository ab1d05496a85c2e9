// SPDX-License-Identifier: GPL-3.0-or-later
// toolrules.mjs: the rules for every tool that tools/list names, so that all
// clients and their models can use it.

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint',
    'openWorldHint'];
const SEEN_LIMIT = 15000; // bytes of name, description, schema that models see
const TEXT_LIMIT = 2048;
// Arguments that mean the same in every tool, and what they say.
const PLAIN_WORDS = new Set(['session', 'package', 'code', 'form', 'path',
    'system', 'symbol', 'function', 'variable', 'class', 'action', 'id', 'kind',
    'limit', 'pattern', 'name', 'type', 'old', 'new', 'all', 'dry-run',
    'regex', 'delete', 'edits', 'direction', 'to', 'show', 'error', 'frame',
    'runs']);

function schemaFaults(name, schema, at = '') {
    const faults = [];
    const say = text => faults.push(`${name}${at}: ${text}`);
    if (schema.type === 'array' && !schema.items)
        say('an array without items');
    if (schema.type === 'object') {
        if (schema.properties === null || Array.isArray(schema.properties) ||
            typeof schema.properties !== 'object')
            say('properties is not an object');
        if (schema.additionalProperties !== false)
            say('additionalProperties is not false');
        for (const required of schema.required ?? [])
            if (!schema.properties?.[required])
                say(`required ${required} is not a property`);
    }
    for (const [key, inner] of Object.entries(schema.properties ?? {})) {
        if (!/^[a-z][a-z-]*$/.test(key))
            say(`property ${key} is not lower-case words with hyphens`);
        if (!inner.description?.endsWith('.') &&
            (inner.description || !PLAIN_WORDS.has(key)))
            say(`the description of ${key} is not a sentence`);
        faults.push(...schemaFaults(name, inner, `${at}.${key}`));
    }
    if (schema.items)
        faults.push(...schemaFaults(name, schema.items, `${at}[]`));
    return faults;
}

function toolFaults(tool) {
    const faults = [];
    const say = text => faults.push(`${tool.name}: ${text}`);
    if (!/^[a-z][a-z-]{0,39}$/.test(tool.name))
        say('not a portable name');
    if (!tool.description?.endsWith('.'))
        say('the description does not end in a full stop');
    if (Buffer.byteLength(tool.description ?? '') >= TEXT_LIMIT)
        say(`a description of ${TEXT_LIMIT} bytes or more`);
    for (const hint of HINTS)
        if (typeof tool.annotations?.[hint] !== 'boolean')
            say(`no annotation ${hint}`);
    if (!tool.annotations?.title)
        say('no annotation title');
    if (tool.inputSchema?.type !== 'object')
        say('inputSchema is not an object');
    for (const root of ['oneOf', 'anyOf', 'allOf'])
        if (tool.inputSchema?.[root])
            say(`${root} at the root of inputSchema`);
    return faults.concat(schemaFaults(tool.name, tool.inputSchema ?? {}));
}

// What is wrong with TOOLS, the list of a tools/list result; [] if nothing is.
export function toolsFaults(tools) {
    const faults = tools.flatMap(toolFaults);
    const names = tools.map(tool => tool.name);
    for (const name of names)
        if (names.indexOf(name) !== names.lastIndexOf(name))
            faults.push(`${name} is listed twice`);
    const seen = Buffer.byteLength(JSON.stringify(tools.map(
        ({ name, description, inputSchema }) =>
            ({ name, description, inputSchema }))));
    if (seen > SEEN_LIMIT)
        faults.push(`models see ${seen} bytes, more than ${SEEN_LIMIT}`);
    return faults;
}
