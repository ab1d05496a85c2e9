// SPDX-License-Identifier: GPL-3.0-or-later
// suite.mjs PROGRAM [NAME…]: the scenarios that each version of MCP requires.
// All must pass except those that README.md lists with a reason, and those must
// not pass. Started by run.mjs.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../support/peer.mjs';
import { serve } from './bridge.mjs';
import { startEditor } from './editor.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SUITE = path.join(HERE, 'node_modules/@modelcontextprotocol/conformance');
const VERSIONS = ['2025-11-25', '2026-07-28'];
const SECONDS = 120; // for all scenarios of a version
const BAD = ['FAILURE', 'WARNING', 'SKIPPED'];

const [program, ...names] = process.argv.slice(2);
const folder = scratchFolder('ecl-mcp-conformance');

// The scenarios for servers in the suite's list for VERSION, including those
// that it calls "not scored".
function scenariosOf(version) {
    const text = fs.readFileSync(
        path.join(SUITE, 'requirements', `${version}.yaml`), 'utf8');
    const [, scored] = /^server:\n((?: .*\n)+)/m.exec(text);
    const more = text.matchAll(/- scenario: (\S+)\n +leg: server/g);
    return [...scored.matchAll(/^ +- (\S+)/gm), ...more].map(match => match[1]);
}

// The rows of the tables in README.md: "| versions | scenario | why |".
function readListed() {
    const listed = [];
    let heading = '';
    for (const line of
        fs.readFileSync(path.join(HERE, 'README.md'), 'utf8').split('\n')) {
        heading = /^## (.*)/.exec(line)?.[1] ?? heading;
        const row = /^\| (20[-0-9, ]+) \| `([^`]+)`(?:, `([^`]+)`)? \| (.+) \|$/
            .exec(line);
        if (row)
            listed.push({ versions: row[1].split(', '), scenario: row[2],
                check: row[3], used: false,
                bridge: heading.startsWith('HTTP') });
    }
    return listed;
}

// Runs all scenarios of VERSION against URL. Resolves with what is printed.
function runSuite(url, version, output) {
    return new Promise((done, fail) => {
        const child = spawn(process.execPath, [
            path.join(SUITE, 'dist/index.js'), 'server', '--url', url,
            '--requirements', version, '--output-dir', output],
        { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'],
            timeout: 1000 * SECONDS });
        let text = '';
        child.stdout.on('data', chunk => { text += chunk; });
        child.stderr.on('data', chunk => { text += chunk; });
        child.on('error', fail);
        child.on('close', () => done(text));
    });
}

// The checks of each scenario, by name, from the files that the suite writes.
function readChecks(output) {
    const found = new Map();
    for (const name of fs.existsSync(output) ? fs.readdirSync(output) : []) {
        const [, scenario] = /^server-(.*)-\d{4}-\d\d-\d\dT[-\dZ]+$/.exec(name);
        const file = path.join(output, name, 'checks.json');
        if (fs.existsSync(file)) // or else the scenario was stopped
            found.set(scenario, JSON.parse(fs.readFileSync(file, 'utf8')));
    }
    return found;
}

// What is wrong with the CHECKS of a scenario; empty if nothing is.
function problemsOf(checks, excused) {
    if (!checks)
        return ['it was not run'];
    const bad = checks.filter(({ id, status }) => BAD.includes(status) &&
        !excused.some(row => row.check === id));
    const problems = bad.map(({ id, status, errorMessage }) =>
        `${status} ${id}: ${errorMessage ?? ''}`);
    if (!checks.some(({ status }) => status === 'SUCCESS'))
        problems.push('no check has passed');
    return problems;
}

const listed = readListed();
const results = [];

function judge(name, problems) {
    results.push(!problems.length);
    console.log(problems.length
        ? `FAIL ${name}\n${problems.join('\n').replace(/^/gm, '    ')}`
        : `ok   ${name}`);
}

function judgeScenario(version, scenario, checks) {
    const rows = listed.filter(row =>
        row.scenario === scenario && row.versions.includes(version));
    for (const row of rows)
        row.used = true;
    const whole = rows.find(row => !row.check);
    if (whole?.bridge)
        return;
    const problems = problemsOf(checks, rows);
    if (whole && !problems.length)
        judge(`${version} ${scenario}`,
            ['it passes, but README.md lists it as not applying']);
    else if (!whole)
        judge(`${version} ${scenario}`, problems.concat(rows.filter(row =>
            !checks?.some(({ id, status }) =>
                id === row.check && BAD.includes(status))).map(row =>
            `README.md lists the check ${row.check}, which did not fail`)));
}

const socket = path.join(folder, 'editor.sock');
const endEditor = await startEditor(socket);
for (const version of VERSIONS) {
    const output = path.join(folder, version);
    const bridge = await serve([program], { HOME: folder, PATH: process.env.PATH,
        ECL_MCP_EMACS: socket });
    const text = await runSuite(bridge.url, version, output);
    const faults = await bridge.close();
    const checks = readChecks(output);
    for (const scenario of new Set([...scenariosOf(version), ...checks.keys()]))
        if (!names.length || names.some(name => scenario.includes(name)))
            judgeScenario(version, scenario, checks.get(scenario));
    judge(`${version} every server process ends in order`, faults);
    if (!checks.size)
        console.log(text);
}
endEditor();
for (const row of listed.filter(({ used }) => !used && !names.length))
    judge(`README.md ${row.scenario}`, ['there is no such scenario']);

const failed = results.filter(ok => !ok).length;
console.log(`conformance: ${results.length - failed} passed, ${failed} failed`);
process.exit(failed || !results.length ? 1 : 0);
