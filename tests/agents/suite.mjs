// SPDX-License-Identifier: GPL-3.0-or-later
// suite.mjs PROGRAM [NAME…]: one session of each agent with the server. What
// counts is what the agent shows its model of each result, and what the server
// has logged. Started by run.mjs.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { kill, poll, scratchFolder } from '../support/peer.mjs';
import { command as commandOf, family } from '../support/proc.mjs';
import { agents, command, run } from './agents.mjs';
import { Model } from './model.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const JOBS = 2;
const SECONDS = 120; // for one session
const LIMIT = 4; // seconds that the agent gives a call
const [program, ...wanted] = process.argv.slice(2);

// All that docs/tools.md describes; check-docs holds it to the program.
const TOOLS = [...fs.readFileSync(path.join(HERE, '../../docs/tools.md'),
    'utf8').matchAll(/^## (\S+)$/gm)].map(([, name]) => name);

const evaluate = code => ({ tool: 'evaluate-lisp', args: { code } });

// What is called, what the model must then see, and what the server's log of
// calls must say about the call.
const STEPS = [
    { name: 'evaluates', ...evaluate('(defun square (x) (* x x))'),
        shown: ['=> SQUARE'] },
    { name: 'uses what it defined', ...evaluate('(square 12)'),
        shown: ['=> 144'] },
    { name: 'shows an error', ...evaluate('(/ (square 3) 0)'),
        shown: ['[ERROR] DIVISION-BY-ZERO', '[Backtrace]', '(SQUARE 3)'],
        outcome: 'error' },
    { name: 'shows a long output, shortened',
        ...evaluate('(dotimes (i 20000) (print i))'),
        shown: ['[stdout]', 'characters omitted; read-output id 1', '19999'] },
    { name: 'shows a page of it', tool: 'read-output',
        args: { id: 1, offset: 50000, limit: 500 },
        shown: ['[characters 50000 to 50500 of '] },
    { name: 'cancels what takes too long', ...evaluate('(loop)'),
        shown: [/timed out/i], outcome: 'error' },
    { name: 'continues after that', ...evaluate('(square 13)'),
        shown: ['=> 169'] },
    { name: 'lists definitions', tool: 'list-definitions', args: {},
        shown: ['SQUARE (X)'] },
    { name: 'shows that nobody approved', tool: 'write-file',
        args: { path: 'written.txt', content: 'x\n' },
        shown: [/approval|denied/], outcome: 'refused' },
];

const results = [];

function judge(name, problem) {
    results.push(!problem);
    console.log(problem ? `FAIL ${name}\n${problem.replace(/^/gm, '    ')}` :
        `ok   ${name}`);
}

const has = (text, part) =>
    part instanceof RegExp ? part.test(text) : text.includes(part);

// What is wrong with TEXT, which must have all PARTS.
function missing(text, parts) {
    const lacks = parts.filter(part => !has(text ?? '', part));
    return lacks.length ? `without ${lacks.join(' and ')}: ` +
        (text === undefined ? 'there is no result' : text.slice(0, 1000)) : '';
}

// A folder for the session: home, project, and the server as a program that
// writes its log there.
function makeHome(agent) {
    const home = scratchFolder('ecl-mcp-agent');
    const project = path.join(home, 'project');
    const server = path.join(home, 'ecl-mcp');
    fs.mkdirSync(project);
    fs.writeFileSync(server, `#!/bin/sh
exec '${path.resolve(program)}' --tools all --log-level info 2>>'${home}/server.log'
`, { mode: 0o755 });
    return { home, project, server, agent };
}

// Starts the agent; resolves at its end.
function play(agent, args, options) {
    const [file, ...first] = command(agent);
    return new Promise((done, fail) => {
        let output = '';
        const child = spawn(file, [...first, ...args], { ...options,
            stdio: ['ignore', 'pipe', 'pipe'], detached: true });
        const timer = setTimeout(() => {
            output += `\nnot finished after ${SECONDS} s`;
            kill(-child.pid, 'KILL');
        }, 1000 * SECONDS);
        child.stdout.on('data', chunk => { output += chunk; });
        child.stderr.on('data', chunk => { output += chunk; });
        child.on('error', fail);
        child.on('exit', (code, signal) => {
            clearTimeout(timer);
            done({ status: signal ?? code, output });
        });
    });
}

// The lines of the server's log of calls.
function readAudit(home) {
    const folder = path.join(home, '.local/state/ecl-mcp/audit');
    return (fs.existsSync(folder) ? fs.readdirSync(folder) : [])
        .flatMap(file => fs.readFileSync(path.join(folder, file), 'utf8')
            .split('\n').filter(Boolean)).map(line => JSON.parse(line));
}

// The server's processes that still run; ends those and the agent's.
async function leftOver(home) {
    const all = () => family(0, `HOME=${home}\0`)
        .filter(({ pid }) => pid !== process.pid);
    const ours = () => all().filter(({ name }) => name.startsWith('ecl-mcp'));
    await poll(() => !ours().length, 5);
    const left = ours().map(({ pid }) => `${pid} ${commandOf(pid)}`);
    for (const { pid } of all())
        kill(pid, 'KILL');
    return left.length ? `left behind: ${left.join(', ')}` : '';
}

function judgeSession(agent, model, { home, project }, end) {
    const say = (name, problem) => judge(`${agent.name} ${name}`, problem);
    const absent = model.absent(TOOLS);
    const audit = readAudit(home);
    const log = fs.existsSync(path.join(home, 'server.log')) ?
        fs.readFileSync(path.join(home, 'server.log'), 'utf8') : '';

    say('offers all tools', absent.length ? `without ${absent}` : '');
    say(`calls a tool ${agent.tool}`, model.offered.includes(agent.tool) ? '' :
        `not among ${model.offered}`);
    if (agent.instructions)
        say('shows the instructions', missing(model.prompts,
            ['Work as in a REPL: define a piece']));
    STEPS.forEach((step, i) => say(step.name,
        missing(model.results[i], step.shown)));
    say('writes nothing without an approval', fs.existsSync(
        path.join(project, 'written.txt')) ? 'the file exists' : '');
    say('says when it gives up', missing(log,
        ['mcp: evaluate-lisp is cancelled']));
    say(`speaks ${agent.version}`, missing(log.includes(' speaks ') ?
        log : ' speaks 2026-07-28', [` speaks ${agent.version}`]));
    const outcomes = audit.map(line => `${line.client?.name} ${line.tool} ` +
        line.outcome).join('\n');
    const expected = STEPS.map(step => `${agent.client} ${step.tool} ` +
        (step.outcome ?? 'ok')).join('\n');
    say('is known in the log of calls', outcomes === expected ? '' :
        `got\n${outcomes}\nexpected\n${expected}`);
    const refused = audit.find(line => line.outcome === 'refused');
    say(agent.asks ? 'can ask its user' : 'cannot ask its user',
        refused && (refused.by !== 'no approver') === agent.asks ? '' :
            `refused by ${refused?.by}`);
    say('ends', end.status === 0 ? '' :
        `exit status ${end.status}\n${end.output.slice(-2000)}`);
}

async function session(agent) {
    const place = makeHome(agent);
    const { home, project, server } = place;
    const model = new Model('lisp', STEPS);
    await model.start();
    const options = { cwd: project, env: {
        HOME: home, PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
        TERM: 'xterm', NO_PROXY: '127.0.0.1', HTTP_PROXY: model.url,
        HTTPS_PROXY: model.url, ...agent.env(model.url, LIMIT) } };
    try {
        const args = agent.prepare({ home, url: model.url, program: server,
            seconds: LIMIT, tools: [...new Set(STEPS.map(step => step.tool))],
            run: words => run(agent, words, options) });
        const start = performance.now();
        const end = await play(agent, args, options);
        console.log(`${agent.name}: ${((performance.now() - start) / 1000)
            .toFixed(1)} s; wanted to reach: ${[...model.strangers]
            .join(', ') || 'nobody'}`);
        judgeSession(agent, model, place, end);
    } finally {
        model.stop();
        judge(`${agent.name} leaves no server behind`, await leftOver(home));
    }
}

const queue = agents.filter(({ name }) => !wanted.length ||
    wanted.some(part => name.toLowerCase().includes(part.toLowerCase())));

async function work() {
    for (let agent; (agent = queue.shift());)
        try {
            await session(agent);
        } catch (error) {
            judge(agent.name, error.stack ?? String(error));
        }
}

await Promise.all(Array.from({ length: JOBS }, work));
const failed = results.filter(ok => !ok).length;
console.log(`agents: ${results.length - failed} passed, ${failed} failed`);
process.exit(failed || !results.length ? 1 : 0);
