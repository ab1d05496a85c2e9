// SPDX-License-Identifier: GPL-3.0-or-later
// connections.mjs: a supervisor's socket to which something other than a good
// front connects, and a server's socket at which something other than a
// supervisor listens.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { limit } from '../support/limits.mjs';
import { memory } from '../support/proc.mjs';
import { Front, KIND, VERSION, frame, hello } from './front.mjs';

const LIMIT_FRONTS = limit('LIMIT_FRONTS');

const ended = front => front.until(() => front.ended);

async function oddBytes(world) {
    const keeper = await world.keep();
    const server = await world.attach();
    assert.equal(await server.evaluate('(defvar *x* 7)'), '=> *X*');
    const odd = [
        Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
        Buffer.from('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n'),
        randomBytes(100000), Buffer.alloc(16), Buffer.alloc(16, 0xff),
        frame(KIND.CALL, 1, 'main', 'evaluate', 10000, 0, 'code', '1'),
        Buffer.concat([hello(), hello()]),
        Buffer.concat([hello(), Buffer.alloc(1000, 'x')]),
        Buffer.concat([hello(), frame(KIND.REPLY, 1, 'no')]),
        Buffer.concat([hello(), frame(KIND.CALL, 1, 'main')]),
        frame(KIND.HELLO, 0), frame(KIND.HELLO, 0, 'x'),
    ];
    for (const bytes of odd) {
        const front = await Front.connect(world.socket);
        front.send(bytes);
        await ended(front);
    }
    // a part of a frame, and then nothing: it is dropped with its connection
    for (const bytes of [hello().subarray(0, 20), Buffer.concat([hello(),
        frame(KIND.CALL, 1, 'main', 'evaluate').subarray(0, 30)])]) {
        const front = await Front.connect(world.socket);
        front.send(bytes);
        front.output.end();
        await ended(front);
    }
    assert.equal(await server.evaluate('*x*'), '=> 7');
    await server.close();
    await keeper.close();
}

async function otherVersion(world) {
    const keeper = await world.keep();
    const front = await Front.connect(world.socket);
    const [version, program, why] = await front.greet(VERSION + 1);
    assert.equal(version, BigInt(VERSION));
    assert.match(program, /^\d+\.\d+\.\d+$/);
    assert.equal(why, 'it speaks another version');
    await ended(front);
    await keeper.close();
}

// The same on standard input.
async function ownerOfAnotherVersion(world) {
    const keeper = await world.keep();
    const [, , why] = await keeper.front.greet(VERSION + 1);
    assert.equal(why, 'it speaks another version');
    await keeper.ended();
}

async function hundredConnections(world) {
    const keeper = await world.keep();
    const server = await world.attach();
    const fronts = [];
    assert.equal(await server.evaluate('(defvar *x* 7)'), '=> *X*');
    for (let i = 0; i < 100; i++)
        fronts.push(await Front.connect(world.socket));
    const free = LIMIT_FRONTS - 1; // the server is one front
    for (const front of fronts.slice(0, free))
        assert.equal((await front.greet())[2], '');
    for (const front of fronts.slice(free)) {
        const [, , why] = await front.welcome(); // without a HELLO
        assert.match(why, /LIMIT_FRONTS/);
        await ended(front);
    }
    const late = await world.attach();
    assert.match(await late.evaluate('*x*'),
        /refuses this server: too many programs are connected/);
    assert.equal(await server.evaluate('*x*'), '=> 7');
    fronts.forEach(front => front.end());
    assert.equal(await untilGood(late, '*x*'), '=> 7');
    await late.close();
    await server.close();
    await keeper.close();
}

// The answer to CODE once the images can be reached again.
async function untilGood(server, code) {
    const end = performance.now() + 15000;
    for (;;) {
        const text = await server.evaluate(code);
        if (!text.startsWith('[ERROR]') && !/refuses/.test(text) ||
            performance.now() > end)
            return text;
    }
}

async function silentOnesGo(world) {
    const keeper = await world.keep();
    const front = await Front.connect(world.socket);
    await ended(front); // LIMIT_HELLO_MS
    assert.deepEqual(front.frames, []);
    await keeper.close();
}

// A front that asks for much and reads nothing must wait, and takes no memory.
async function greedyReader(world) {
    const keeper = await world.keep();
    const server = await world.attach();
    const front = await Front.connect(world.socket, { paused: true });
    front.send(hello());
    const text = await server.evaluate(
        '(loop repeat 300000 do (write-line "0123456789012345678901234567890"))');
    const output = Number(/read-output id (\d+)/.exec(text)[1]);
    for (let id = 1; id <= 1000; id++)
        front.send(frame(KIND.READ, id, output, 0, 100000000, ''));
    assert.equal(await server.evaluate('1'), '=> 1');
    assert.ok(memory(keeper.peer.pid, 'VmRSS') < 800 * 1024);
    front.resume();
    for (let id = 1; id <= 3; id++)
        assert.ok((await front.answer(id)).length > 9000000);
    front.end();
    await server.close();
    await keeper.close();
}

// A front that leaves the answers to its calls unread is dropped; no other
// front notices.
async function slowReader(world) {
    const keeper = await world.keep();
    const server = await world.attach();
    const front = await Front.connect(world.socket, { paused: true });
    front.send(hello());
    for (let id = 1; id <= 24; id++)
        front.send(frame(KIND.CALL, id, 'big', 'evaluate', 100000000, 0, 'code',
            '(loop repeat 125000 do ' +
            '(write-line "0123456789012345678901234567890"))'));
    assert.equal(await server.evaluate('1'), '=> 1');
    assert.ok(await keeper.peer.until(() => keeper.peer.log.some(line =>
        /does not read its answers \(LIMIT_FRONT_BACKLOG\)/.test(line)), 60));
    assert.equal(await server.evaluate('2'), '=> 2');
    front.resume();
    await ended(front);
    await server.close();
    await keeper.close();
}

// SERVE answers at the socket; the server's call must then fail as EXPECTED.
async function withFake(world, serve, expected, code = '1') {
    const fake = net.createServer(serve);
    await new Promise(done => fake.listen(world.socket, done));
    const server = await world.attach();
    const text = await server.evaluate(code);
    assert.match(text, expected);
    assert.match(await server.evaluate(code), /^\[ERROR\]|refuses|versions|broken/);
    await server.close();
    await new Promise(done => fake.close(done));
}

const later = socket => socket.on('error', () => {}).resume();

async function noSupervisorThere(world) {
    await withFake(world, socket => later(socket).destroy(), /CONNECTION-LOST/);
    await withFake(world, socket => later(socket).end(randomBytes(5000)),
        /broken|CONNECTION-LOST/);
    await withFake(world, socket => {
        later(socket).write(frame(KIND.WELCOME, 0, VERSION + 1, '9.9', '', 1));
    }, /kept by ecl-mcp 9\.9, .* different versions/);
    await withFake(world, socket => {
        later(socket).end(frame(KIND.WELCOME, 0, VERSION, '0.1.0', 'no', 0));
    }, /refuses this server: no\./);
    await withFake(world, socket => {
        later(socket).write(frame(KIND.WELCOME, 0, VERSION, '0.1.0', '', 1));
        socket.end(frame(KIND.REPLY, 99, 'nobody waits for that'));
    }, /CONNECTION-LOST/);
}

async function silentSupervisor(world) {
    await withFake(world, later, /nobody answers there/); // LIMIT_HELLO_MS
}

export const connectionTests = [
    oddBytes, otherVersion, ownerOfAnotherVersion, hundredConnections,
    silentOnesGo, greedyReader, slowReader, noSupervisorThere, silentSupervisor,
];
