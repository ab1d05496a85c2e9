#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [--program COMMAND] [--jobs N] [--part PART] [NAME…]: plays evaluations that have
// ended, blocked or confused Lisp servers, one after the other on a few
// long-lived processes. The *.mcp files hold them, each under a heading;
// tests/server/README.md explains the notation; attacks.mjs has more, each for a
// session of its own. After each, a function that was defined before the first
// must still work, and a vector of a million elements must be whole, even when
// the image died and continued from a checkpoint; the other session and the log
// of calls must be whole (whole.mjs), and at the end no process or temporary file
// may be left. once.mjs kills processes in the middle of calls. PART is evaluations
// (the *.mcp files) or attacks (the rest); without it, both. The last line is
// "hostile: N passed, N failed".
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Fault } from '../support/fault.mjs';
import { scratchFolder } from '../support/peer.mjs';
import { Player } from '../support/player.mjs';
import { parseTranscript } from '../support/transcript.mjs';
import { assault } from './assault.mjs';
import { ATTACKS } from './attacks.mjs';
import { once } from './once.mjs';
import { OTHER, OTHER_CHECK, control, logFault, temporaryFault }
    from './whole.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../..');
const DEFINE = 'init\neval (defun sq (x) (* x x))\n| => SQ\n' +
    'eval (defvar *data* (make-array 1000000 :initial-element 7))\n' +
    '| => *DATA*\n' +
    'eval (defun c (text) (funcall (compile nil `(lambda () ' +
    '(ffi:c-inline () () :void ,text :one-liner nil)))))\n| => C\n' +
    'eval (defun hit (n) (si:call-cfun (si:find-foreign-symbol "kill" :default ' +
    ':pointer-void 0) :int \'(:int :int) (list (ext:getpid) n)))\n| => HIT\n' +
    'call checkpoint-session {"name":"start"}\n| …\n' + OTHER;

const CHECK = 'eval (list (sq 12) (length *data*) (count 7 *data*))\n' +
    '| …\n| => (144 1000000 1000000)\n' + OTHER_CHECK;

// Ends the headings of groups that leave nothing to repair: there the check
// follows each evaluation, otherwise the group.
const EACH = '(each)';
const DEFAULT = 30; // seconds, the server's limit of an evaluation
const LATE = 15; // seconds after its limit in which a stopped evaluation is answered

const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: { program: { type: 'string' }, jobs: { type: 'string' },
        part: { type: 'string', default: '' } },
});

// Most entries wait more than they compute.
const PROCESSES = Number(options.jobs ?? 3);

// [{name, steps}] from the headings of all files.
function entries() {
    const all = [];
    const attacks = ATTACKS.map(attack => ({ file: 'attacks.mjs',
        name: attack.name, steps: [], attack }));
    if (options.part === 'attacks')
        return attacks;
    for (const file of fs.readdirSync(HERE).filter(n => n.endsWith('.mcp')))
        for (const step of parseTranscript(
            fs.readFileSync(path.join(HERE, file), 'utf8')))
            if (step.verb === '##')
                all.push({ file, name: step.rest, steps: [] });
            else
                all.at(-1).steps.push(step);
    return options.part === 'evaluations' ? all : [...all, ...attacks];
}

const scratch = scratchFolder('ecl-mcp-hostile');

function newPlayer(name) {
    const folder = path.join(scratch, name);
    const home = `${folder}.home`;
    const temporary = `${folder}.tmp`;
    for (const each of [folder, home, temporary])
        fs.mkdirSync(each);
    fs.copyFileSync(path.join(HERE, 'attacks.lisp'),
        path.join(folder, 'attacks.lisp'));
    const player = new Player({
        program: options.program?.split(' ') ??
            [path.join(ROOT, 'build/release/ecl-mcp'), '--memory', '512M'],
        folder, home,
    });
    player.env.TMPDIR = temporary;
    player.made = 0; // calls
    const { expectAnswers } = player;
    player.expectAnswers = text => {
        player.made += text.split('"tools/call"').length - 1;
        expectAnswers.call(player, text);
    };
    return player;
}

function expectWhole(fault) {
    if (fault)
        throw new Fault(fault);
}

async function play(player, source) {
    for (const step of parseTranscript(source))
        await player.step(step);
}

// Plays STEP. A stopped evaluation must be answered soon after its limit; other
// suites run at the same time.
async function timed(player, step) {
    const limit = /^\{"timeout":([\d.]+)\}/.exec(step.rest ?? '');
    const start = performance.now();
    const seconds = limit ? Number(limit[1]) : DEFAULT;
    player.seconds = seconds + LATE;
    await player.step(step);
    const took = (performance.now() - start) / 1000;
    if (took > seconds + LATE)
        throw new Error(`answered after ${took.toFixed(1)} s`);
    player.seconds = DEFAULT + LATE; // what follows has not the limit of STEP
}

// Why an error has no copy: the image died, perhaps before the code ran, the code
// or ECL threw the stack away, or it was read; else the answer says it.
const NOT_FROZEN = new RegExp('ECL-MCP:(IMAGE-DIED|NOT-EVALUATED)|' +
    'through a non-local exit|' +
    '^; Not frozen: |^\\d+: \\(READ\\)$|^Line \\d+, column \\d+: ', 'm');

// Code that has replaced what every printer calls can only be stopped, code
// that harms its process may end the copy as well, and threads that fill the
// memory leave the image no time for anything, perhaps not even to begin.
const DESCRIBED = new RegExp('^Exact class: |is no longer frozen: its process |' +
    '^\\[ERROR\\] ECL-MCP:TIME-LIMIT-EXCEEDED$|' +
    '^The Lisp image did not stop when its time limit of 3 s was reached |' +
    '^The call did not run: its time limit was reached\\.$', 'm');

// The copy of the session that the error of the last answer has left can be
// described, whatever the code has done; or the answer says why there is none.
async function describeError(player) {
    const { text, isError } = player.answered;
    const [, number] = /^; Frozen as error (\d+)\.$/m.exec(text) ?? [];

    if (!isError)
        return;
    if (number) {
        await play(player, 'call configure-limits {"timeout":3}\n| …\n' +
            `call describe-last-error {"error":${number}}\n* …\n`);
        if (!DESCRIBED.test(player.answered.text))
            throw new Error(`not described:\n${player.answered.text}`);
        // Whatever comes of it, it is the copy's alone.
        await play(player, 'call invoke-restart {"restart":"return-from-frame",' +
            `"error":${number},"code":"1"}\n* …\n`);
        await play(player, 'call configure-limits {"timeout":30}\n| …\n');
    } else if (!NOT_FROZEN.test(text))
        throw new Error(`neither frozen, nor is it said why:\n${text}`);
}

async function run(player, { file, name, steps, attack }) {
    const start = performance.now();
    let at = 0;
    const fault = await player.attempt(async () => {
        if (!player.peer) {
            await play(player, DEFINE);
            await play(player,
                'eval {"session":"other"} (first *mine*)\n| …\n');
            player.spared = +player.answered.text.slice('=> '.length);
        }
        const rest = [...steps];
        for (let step; (step = rest.shift());) {
            at = step.at;
            await timed(player, step);
            // what the code has started may still send it signals
            while (step.verb === 'eval' && rest[0]?.verb === 'wait')
                await player.step(rest.shift());
            if (step.verb === 'eval')
                await describeError(player);
            if (name.endsWith(EACH) && step.verb === 'eval')
                await play(player, CHECK);
        }
        if (attack)
            await assault(player, attack);
        await play(player, CHECK);
        expectWhole(logFault(player.home));
    });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (!fault) {
        console.log(`ok   ${name} (${seconds} s)`);
        return true;
    }
    console.log(`FAIL ${name} (${file}:${at})\n` +
        fault.message.replace(/^/gm, '    '));
    for (const line of fault.log)
        console.log(`    stderr: ${line.slice(0, 300)}`);
    await player.end(); // the next one gets a fresh process
    player.replaced = true; // whose calls are not all in the log
    return false;
}

const played = entries().filter(entry => !positionals.length ||
    positionals.some(n => entry.name.includes(n) || entry.file.startsWith(n)));
const results = [];

async function work(_, number) {
    const player = newPlayer(String(number));
    // Every time, an entry follows the same entries.
    for (let i = number; i < played.length; i += PROCESSES)
        results.push(await run(player, played[i]));
    const fault = await player.attempt(async () => {
        await player.finish();
        expectWhole(temporaryFault(player.env.TMPDIR));
        if (player.made && !player.replaced)
            expectWhole(logFault(player.home, player.made));
    });
    if (fault)
        console.log(`FAIL the end\n    ${fault.message}`);
    results.push(!fault);
    await player.end();
}

results.push(await control(newPlayer('control'), play, DEFINE, CHECK));
if (positionals.length ? positionals.includes('once') : options.part !== 'evaluations')
    results.push(await once(newPlayer('once')));
await Promise.all(Array.from({ length: PROCESSES }, work));
const failed = results.filter(ok => !ok).length;
console.log(`hostile: ${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
