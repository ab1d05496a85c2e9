// SPDX-License-Identifier: GPL-3.0-or-later
// attacks.mjs: who may not use the socket tries to, and who may floods it or sends
// it halves: code in the sandbox of the images, in each mode, and fronts.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { memory } from '../support/proc.mjs';
import { Front, KIND, frame, hello } from './front.mjs';

// What a client says that has code evaluated in a session of its own.
const CLIENT = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25',
        capabilities: {}, clientInfo: { name: 'code', version: '1' } } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'evaluate-lisp',
        arguments: { code: '(* 123457 1000)', session: 'victim' } } },
].map(message => JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n').join('');

// Code that attaches a server to the socket, as any program of the user may,
// and returns what that answers.
const attaching = world => `
(let ((out (ext:run-program "${path.resolve(world.program[0])}"
             '("--attach" "${world.socket}" "--audit" "off")
             :input "client" :output :stream :error nil)))
  (loop for line = (read-line out nil) while line collect line))`;

async function codeInMode(world, args, reaches) {
    fs.writeFileSync(`${world.folder}/lisp/client`, CLIENT);
    const keeper = await world.keep({ args });
    const server = await world.attach();
    await server.call('configure-limits', { 'max-output': 100000 });
    const text = await server.evaluate(attaching(world));
    assert.match(text, /ECL Common Lisp/, 'the server in the sandbox runs');
    assert.equal(/123457000/.test(text), reaches, text);
    const sessions = await server.call('list-sessions', {});
    assert.equal(/^victim: /m.test(sessions), reaches, sessions);
    await server.close();
    await keeper.close();
}

const codeInWorkspace = world => codeInMode(world, [], false);
const codeReadOnly = world =>
    codeInMode(world, ['--sandbox', 'read-only'], false);
const codeWithNetwork = world => codeInMode(world, ['--allow-network'], false);
// The control: it would be seen; and docs/security.md says that it can.
const codeWithoutSandbox = world =>
    codeInMode(world, ['--sandbox', 'off'], true);

// Where code may write it can put a link in the place of the socket: what is
// there is not opened, and nobody who is connected notices.
async function codeReplacesSocket(world) {
    world.socket = `${world.folder}/lisp/run/image.sock`;
    fs.mkdirSync(path.dirname(world.socket), { mode: 0o700 });
    const keeper = await world.keep();
    const server = await world.attach();
    assert.match(await server.evaluate(
        `(progn (delete-file "${world.socket}")
                (ext:system "ln -s /dev/null ${world.socket}"))`), /=> 0$/);
    const late = await world.attach(); // which does not open what is there
    assert.match(await late.evaluate('1'), /IMAGE-UNAVAILABLE/);
    await late.close();
    assert.equal(await server.evaluate('(+ 1 2)'), '=> 3');
    await server.close();
    await keeper.close();
    assert.ok(fs.lstatSync(world.socket).isSymbolicLink(),
        'what others have put there stays');
}

// Fronts that stop in the middle: of HELLO, of a head, of a body.
async function halfFrames(world) {
    const keeper = await world.keep();
    const server = await world.attach();
    const whole = frame(KIND.CALL, 1, 'main', 'evaluate', 1000, 0, 'code',
        `"${'x'.repeat(1000000)}"`);
    const fronts = [];
    for (let i = 0; i < 40; i++) {
        const front = await Front.connect(world.socket);
        front.send(i % 4 === 0 ? hello().subarray(0, 1 + i) : hello());
        if (i % 4 > 0)
            front.send(whole.subarray(0, [0, 7, 20, 999999][i % 4]));
        fronts.push(front);
        if (i % 10 === 9)
            assert.equal(await server.evaluate(`(+ ${i} 1)`), `=> ${i + 1}`);
    }
    for (let i = 0; i < 40; i++)
        if (i % 4 === 0) // LIMIT_HELLO_MS
            await fronts[i].until(() => fronts[i].ended);
    fronts[3].send(whole.subarray(999999));
    assert.match(await fronts[3].answer(1), /^=> "xxx/);
    fronts.forEach(front => front.end());
    await server.close();
    await keeper.close();
}

// A byte at a time: the last byte completes it.
async function slowWriter(world) {
    const keeper = await world.keep();
    const server = await world.attach();
    const front = await Front.connect(world.socket);
    for (const byte of Buffer.concat([hello(),
        frame(KIND.CALL, 1, 'main', 'evaluate', 100, 0, 'code', '(* 2 3)')])) {
        front.send(Buffer.from([byte]));
        await new Promise(setImmediate);
    }
    assert.equal(await front.answer(1), '=> 6');
    assert.equal(await server.evaluate('1'), '=> 1');
    front.end();
    await server.close();
    await keeper.close();
}

// Fronts that ask for much at once have their part, and others theirs: the
// answer of a call does not come behind all of the flood.
async function floodOfCalls(world) {
    const keeper = await world.keep();
    const server = await world.attach();
    await server.evaluate('1');
    const CALLS = 10000;
    const flood = Array.from({ length: CALLS }, (_, i) =>
        frame(KIND.CALL, i + 1, 'main', 'list-sessions', 1000, 0));
    const fronts = [];
    let over = false;
    // It does not end before the answer is there, however fast it is.
    const keepFlooding = async front => {
        let sent = 0;
        front.send(hello());
        while (!over) {
            front.send(Buffer.concat(flood));
            sent += CALLS;
            await front.until(
                () => over || front.frames.length > sent - CALLS / 2);
        }
        return sent;
    };
    for (let i = 0; i < 3; i++)
        fronts.push(await Front.connect(world.socket));
    const floods = fronts.map(keepFlooding);
    for (const front of fronts)
        await front.until(() => front.frames.length > 10);
    assert.equal(await server.evaluate('(+ 1 2)'), '=> 3');
    over = true;
    fronts.forEach(front => front.wakeAll());
    const sent = await Promise.all(floods);
    for (const [i, front] of fronts.entries())
        await front.until(() => front.frames.length > sent[i], 120);
    fronts.forEach(front => front.end());
    await server.close();
    await keeper.close();
}

// A host that says more than is done at once waits, and costs no memory.
async function floodOfHost(world) {
    const keeper = await world.keep();
    const flood = Buffer.concat(Array.from({ length: 4096 }, () =>
        frame(KIND.STOP, 77)));
    const { child } = keeper.peer;
    await keeper.front.greet();
    const most = () => memory(child.pid, 'VmHWM');
    const before = most();
    for (let sent = 0; sent < 32 << 20; sent += flood.length)
        if (!child.stdin.write(flood))
            await new Promise(done => child.stdin.once('drain', done));
    await keeper.front.answer(keeper.front.beginCall('main', 'list-sessions'));
    assert.ok(most() - before < 8 << 10, `${most() - before} KB`);
    await keeper.close();
}

export const attackTests = [
    codeInWorkspace, codeReadOnly, codeWithNetwork, codeWithoutSandbox,
    codeReplacesSocket, halfFrames, slowWriter, floodOfCalls, floodOfHost,
];
