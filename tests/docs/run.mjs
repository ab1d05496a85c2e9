#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs PROGRAM: the documents agree with PROGRAM and with each other. The
// last line is "docs: N passed, N failed".
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeFiles, glossaryFaults, glossaryTestFaults } from './glossary.mjs';
import { layersFaults } from './layers.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const program = path.resolve(process.argv[2]);
const read = name => fs.readFileSync(path.join(ROOT, name), 'utf8');

// The files below the folder NAME of the repository, without generated ones.
function filesBelow(name) {
    return fs.readdirSync(path.join(ROOT, name), { withFileTypes: true })
        .filter(entry => !/^(\.git|build|node_modules)$/.test(entry.name))
        .flatMap(entry => entry.isDirectory()
            ? filesBelow(path.join(name, entry.name))
            : [path.join(name, entry.name)]);
}

const all = filesBelow('');
const documents = all.filter(name => name.endsWith('.md'));
const glossary = () => [read('docs/glossary.md'), codeFiles(ROOT, all),
    place => fs.existsSync(path.join(ROOT, place))];

// The rows of the table of tools in the README, each about one safety level.
const TOOL_NAME = /`([a-z]+-[a-z-]+)`/g;
const toolRows = () => read('README.md').split('\n## Tools\n')[1]
    .split('\n## ')[0].match(/^\| (safe|cautious|dangerous) .*$/gm);

// What PROGRAM, started without options, answers to METHOD.
function answer(method) {
    const request = { jsonrpc: '2.0', id: 1, method,
        params: { _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
        } } };
    const { stdout } = spawnSync(program,
        { input: JSON.stringify(request) + '\n', encoding: 'utf8' });
    return JSON.parse(stdout).result;
}

// The lines of TEXT that are prose: not code, tables, pictures or comments.
function proseLines(text) {
    let inCode = false;
    return text.split('\n').map((line, i) => ({ line, number: i + 1 }))
        .filter(({ line }) => {
            const fence = /^ *```/.test(line);
            inCode = fence ? !inCode : inCode;
            return !inCode && !fence && !/^(    |\||!\[|<!--)/.test(line);
        });
}

// Each test returns the faults that it found.
const tests = {
    'docs/tools.md is what the server says (make docs)'() {
        const { stdout } = spawnSync(process.execPath,
            [path.join(ROOT, 'scripts/tools-doc.mjs'), program],
            { encoding: 'utf8' });
        return stdout === read('docs/tools.md') ? [] : ['it differs'];
    },
    'the README names every tool and no other'() {
        const names = text => new Set(text);
        const there = names([...read('docs/tools.md')
            .matchAll(/^## (\S+)$/gm)].map(([, name]) => name));
        const told = names([...toolRows().join('\n').matchAll(TOOL_NAME)]
            .map(([, name]) => name));
        return [...there].filter(name => !told.has(name))
            .map(name => `${name} is missing`)
            .concat([...told].filter(name => !there.has(name))
                .map(name => `there is no ${name}`));
    },
    'the README has the level of every tool'() {
        const levels = new Map(all.filter(name => /^core\/tools\/.*\.c$/.test(name))
            .flatMap(name => [...read(name).matchAll(
                /\.name = "([a-z-]+)",\s*\.title[^]*?\.level = TOOL_([A-Z]+)/g)])
            .map(([, name, level]) => [name, level.toLowerCase()]));
        const faults = toolRows().flatMap(row =>
            [...row.matchAll(TOOL_NAME)].map(([, name]) => name)
                .filter(name => !row.startsWith(`| ${levels.get(name)} |`))
                .map(name => `${name} is ${levels.get(name)}`));
        return faults.concat(levels.size > 40 ? [] : ['few tools were found']);
    },
    'the README says which tools only --tools all has'() {
        const first = new Set(answer('tools/list').tools.map(({ name }) => name));
        return toolRows().flatMap(row => {
            const more = row.includes('| with `--tools all` |');
            return [...row.matchAll(TOOL_NAME)].map(([, name]) => name)
                .filter(name => first.has(name) === more)
                .map(name => `${name} is ${more ? 'always' : 'not always'} there`);
        }).concat(first.size > 30 ? [] : ['few tools were found']);
    },
    'docs/prompts.md has the prompts of the server'() {
        const rows = answer('prompts/list').prompts.map(prompt => {
            const args = prompt.arguments.map(({ name, required }) =>
                required ? `**\`${name}\`**` : `\`${name}\``).join(', ');
            return `| \`${prompt.name}\` | ${args} | ${prompt.description} |`;
        });
        const told = [...read('docs/prompts.md')
            .matchAll(/^(\| `[a-z-]+` \| [^|]*\| [A-Z][^|]*\|)/gm)]
            .map(([, row]) => row);
        return rows.filter(row => !told.includes(row))
            .concat(told.filter(row => !rows.includes(row)));
    },
    'links lead to files'() {
        return documents.flatMap(document =>
            [...read(document).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
                .map(([, link]) => link)
                .filter(link => !fs.existsSync(
                    path.join(ROOT, path.dirname(document), link)))
                .map(link => `${document}: ${link}`));
    },
    'lines of documents have at most 100 columns'() {
        return documents.flatMap(document => proseLines(read(document))
            .filter(({ line }) => [...line].length > 100)
            .map(({ number }) => `${document}:${number}`));
    },
    'tests that the promises of docs/security.md name exist'() {
        const tests = filesBelow('tests');
        const names = [...read('docs/security.md')
            .matchAll(/`([\w/-]+\.(?:mcp|mjs|walls|el|c)|[a-z]+(?:_[a-z]+){2,})`/g)]
            .map(([, name]) => name)
            .filter(name => !/^(image\/|core\/|supervisor\/|pthread_)/.test(name));
        const code = tests.filter(name => name.endsWith('.c')).map(read).join('');
        return [...new Set(names)].filter(name => name.includes('.')
            ? !tests.some(test => `/${test}`.endsWith(`/${name}`))
            : !code.includes(`void ${name}(`));
    },
    'files that the guides name exist'() {
        return ['CONTRIBUTING.md', 'docs/architecture.md', 'docs/glossary.md']
            .flatMap(document => [...read(document).split('## Retired')[0]
                .matchAll(/`([a-z]+\/[\w./-]*\w)`/g)]
                .map(([, name]) => name)
                .filter(name => !name.includes('NAME') &&
                    fs.existsSync(path.join(ROOT, name.split('/')[0])))
                .filter(name => !fs.existsSync(path.join(ROOT, name)))
                .map(name => `${document}: ${name}`));
    },
    'no entry of a list stands twice'() {
        return ['CHANGELOG.md', 'CONTRIBUTING.md', 'docs/glossary.md']
            .flatMap(document => {
                const entries = read(document)
                    .split(/\n(?=- |\| |#)|\n\n/)
                    .filter(entry => /^(- |\| [^-|])/.test(entry))
                    .map(entry => entry.replace(/\s+/g, ' ').trim());
                return entries.filter((entry, i) => entries.indexOf(entry) < i)
                    .map(entry => `${document}: ${entry.slice(0, 60)}`);
            });
    },
    'the decisions are listed in docs/adr/README.md'() {
        const list = read('docs/adr/README.md');
        return documents.filter(name => /^docs\/adr\/\d/.test(name))
            .filter(name => !list.includes(`](${path.basename(name)})`));
    },
    'the glossary and the code use the same words'() {
        return glossaryFaults(...glossary());
    },
    'a retired name and a word without code are found'() {
        return glossaryTestFaults(read('docs/glossary.md'));
    },
    'scripts/layers.awk finds what it must refuse'() {
        return layersFaults(path.join(ROOT, 'scripts/layers.awk'));
    },
    'docs/security.md lists the secrets of the code'() {
        const code = [.../secrets_patterns\[\] = \{([^}]*)\}/
            .exec(read('core/files/secrets.c'))[1].matchAll(/"(.*?)"/g)]
            .map(([, pattern]) => pattern);
        const section = read('docs/security.md').split('## Secrets')[1]
            .split('\n## ')[0];
        const listed = [...section.matchAll(/^\| [a-z].* \| (`.*`) \|$/gm)]
            .flatMap(([, cell]) => cell.split(' '))
            .map(name => name.replaceAll('`', ''));
        return code.filter(name => !listed.includes(name))
            .map(name => `${name} is missing`)
            .concat(listed.filter(name => !code.includes(name))
                .map(name => `${name} is not secret`))
            .concat(code.length < 50 ? ['no patterns were found'] : []);
    },
    'configurations in JSON are JSON'() {
        const cells = [...read('README.md').matchAll(/`(\{.*?\})` \|/g)];
        return cells.map(([, text]) => text).filter(text => {
            try {
                return !JSON.stringify(JSON.parse(text)).includes('PROG');
            } catch {
                return true;
            }
        }).concat(cells.length < 8 ? [`only ${cells.length} found`] : []);
    },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
    const faults = test();
    console.log(`${faults.length ? 'FAIL' : 'ok  '} ${name}`);
    for (const fault of faults)
        console.log(`    ${fault}`);
    failed += faults.length > 0;
}
console.log(`docs: ${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
