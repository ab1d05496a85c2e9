// SPDX-License-Identifier: GPL-3.0-or-later
// sockets.mjs: the socket itself: where it may be, who may use it, what becomes
// of one that was left behind; and the options.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { kill } from '../support/peer.mjs';
import { NOBODY } from './server.mjs';

async function refused(world, args, expected, options) {
    const { status, log } = await world.run(args, options);
    assert.equal(status, '2', log);
    assert.match(log, expected);
}

const listen = path => ['--supervise', '--listen', path];

async function socketIsPrivate(world) {
    fs.rmSync(`${world.folder}/run`, { recursive: true });
    const keeper = await world.keep(); // makes the folder, too
    assert.equal(fs.statSync(world.socket).mode & 0o777, 0o600);
    assert.equal(fs.statSync(`${world.folder}/run`).mode & 0o777, 0o700);
    await keeper.close();
    assert.ok(!fs.existsSync(world.socket));
    fs.chmodSync(`${world.folder}/run`, 0o750);
    await refused(world, listen(world.socket), /its folder must be yours/);
}

async function leftSocketIsReplaced(world) {
    const first = await world.keep();
    kill(first.peer.pid, 'KILL');
    await first.ended('KILL');
    assert.ok(fs.existsSync(world.socket));
    const second = await world.keep();
    await second.front.greet();
    assert.equal(await second.front.evaluate('(+ 1 1)'), '=> 2');
    await refused(world, listen(world.socket),
        /another ecl-mcp listens there/);
    assert.equal(await second.front.evaluate('(+ 1 2)'), '=> 3');
    await second.close();
}

async function otherThingsAreLeftAlone(world) {
    fs.writeFileSync(world.socket, 'mine');
    await refused(world, listen(world.socket), /it exists and is not a socket/);
    assert.equal(fs.readFileSync(world.socket, 'utf8'), 'mine');
    fs.rmSync(world.socket);
    fs.symlinkSync('/dev/null', world.socket);
    await refused(world, listen(world.socket), /it exists and is not a socket/);
    fs.rmSync(world.socket);
    const before = world.socket.replace(/.$/, '~'); // its first name
    fs.writeFileSync(before, 'mine');
    await refused(world, listen(world.socket), /it exists and is not a socket/);
    assert.equal(fs.readFileSync(before, 'utf8'), 'mine');
    fs.rmSync(before);
    await refused(world, listen(`${world.folder}/run/${'x'.repeat(120)}`),
        /a path of less than 108 bytes/);
    await refused(world, listen('/proc/image.sock'), /its folder/);
}

// Locks FILE, a file or folder, as another program does, until it is ended.
async function holding(file) {
    const program = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat'],
        { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(program.stdout, 'data');
    return { async end() {
        program.stdin.end();
        await once(program, 'close');
    } };
}

// Code can open the folder, and so lock it; but not the file in it.
async function lockedFolderIsNoObstacle(world) {
    const folder = `${world.folder}/run`;
    const ours = await holding(folder);
    const keeper = await world.keep();
    await keeper.close();
    await ours.end();
    assert.equal(fs.statSync(`${folder}/listen.lock`).mode & 0o777, 0o600);
    const starting = await holding(`${folder}/listen.lock`);
    await refused(world, listen(world.socket),
        /another ecl-mcp is starting there/);
    await starting.end();
    fs.rmSync(`${folder}/listen.lock`);
    fs.symlinkSync('elsewhere', `${folder}/listen.lock`);
    await refused(world, listen(world.socket), /its folder: listen\.lock: /);
    assert.ok(!fs.existsSync(`${folder}/elsewhere`));
    fs.rmSync(`${folder}/listen.lock`);
}

// A socket that another program has put there is not removed.
async function foreignSocketStays(world) {
    const keeper = await world.keep();
    fs.rmSync(world.socket);
    const other = net.createServer();
    await new Promise(done => other.listen(world.socket, done));
    await keeper.close();
    assert.ok(fs.existsSync(world.socket));
    await new Promise(done => other.close(done));
}

// Of many servers that start at the same time, one gets the socket.
async function oneOfManyStarts(world) {
    const first = await world.keep();
    kill(first.peer.pid, 'KILL'); // which leaves its socket behind
    await first.ended('KILL');
    const peers = Array.from({ length: 6 }, () =>
        world.start(listen(world.socket), { raw: true }));
    await Promise.all(peers.map(peer => peer.until(() =>
        peer.status !== undefined ||
        peers.filter(p => p.status === '2').length === 5, 60)));
    assert.equal(peers.filter(peer => peer.status === '2').length, 5);
    const server = await world.attach();
    assert.equal(await server.evaluate('(+ 1 1)'), '=> 2');
    await server.close();
    for (const peer of peers)
        peer.child.stdin.end();
    await Promise.all(peers.map(peer =>
        peer.until(() => peer.status !== undefined, 60)));
}

async function nobodyIsThere(world) {
    const server = await world.attach();
    const text = await server.evaluate('1');
    assert.match(text, /^\[ERROR\] ECL-MCP:IMAGE-UNAVAILABLE\n/);
    assert.match(text, /image\.sock, which cannot be used: No such file/);
    assert.match(text, /M-x ecl-mcp in Emacs/);
    const keeper = await world.keep();
    const end = performance.now() + 10000;
    let answer;
    do
        answer = await server.evaluate('1');
    while (/UNAVAILABLE/.test(answer) && performance.now() < end);
    assert.equal(answer, '=> 1');
    await server.close();
    await keeper.close();
}

async function socketOfTheHome(world) {
    fs.mkdirSync(`${world.folder}/.local/state/ecl-mcp`,
        { recursive: true, mode: 0o700 });
    world.socket = `${world.folder}/.local/state/ecl-mcp/image.sock`;
    const keeper = await world.keep();
    const server = await world.attach(['--attach']);
    assert.equal(await server.evaluate('1'), '=> 1');
    await server.close();
    await keeper.close();
}

async function options(world) {
    const socket = world.socket;
    const owners = /for the program that keeps the images/;
    await refused(world, ['--attach', socket, '--memory', '1G'], owners);
    await refused(world, ['--attach', socket, '--sandbox', 'off'], owners);
    await refused(world, ['--allow-network', `--attach=${socket}`], owners);
    await refused(world, ['--attach', socket, '--supervise'],
        /--supervise keeps images/);
    await refused(world, ['--listen', socket], /needs --supervise/);
    await refused(world, ['--attach', 'x'.repeat(200)], /less than 108 bytes/);
    await refused(world, ['--attach='], /less than 108 bytes/);
    await refused(world, ['--attach'], /HOME/, { env: { HOME: '' } });
    await refused(world, ['--attach', socket, 'more'],
        /unexpected argument/);
    const peer = world.start(['--attach', socket, '--workspace', '/']);
    assert.ok(await peer.until(() => peer.log.some(line =>
        /--workspace and --secret apply to the file tools/.test(line)), 60));
    peer.child.stdin.end();
    await peer.until(() => peer.closed, 60);
    assert.equal(peer.status, '0');
}

// Both ends refuse another user.
async function otherUser(world) {
    world.admitNobody();
    const keeper = await world.keep({ uid: NOBODY });
    const server = await world.attach();
    assert.match(await server.evaluate('1'), /it belongs to another user/);
    const socket = net.connect(world.socket);
    let heard = '';
    socket.on('data', chunk => heard += chunk.toString('latin1'));
    socket.on('error', () => {});
    await new Promise(done => socket.on('close', done));
    assert.match(heard, /it belongs to another user/);
    await server.close();
    await keeper.close();
}

// The socket's folder can be listed, but not entered.
async function folderIsNotEntered(world) {
    world.admitNobody();
    fs.chmodSync(`${world.folder}/run`, 0o600);
    await refused(world, listen(world.socket), /its folder: listen\.lock: Permission denied/,
        { uid: NOBODY });
}

export const socketTests = [
    socketIsPrivate, leftSocketIsReplaced, otherThingsAreLeftAlone,
    foreignSocketStays, lockedFolderIsNoObstacle, oneOfManyStarts,
    nobodyIsThere, socketOfTheHome, options, otherUser, folderIsNotEntered,
];
