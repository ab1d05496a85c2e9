// SPDX-License-Identifier: GPL-3.0-or-later
// editors.mjs: where the server looks for Emacs; a listener of another user in
// its place, and an Emacs that floods the server.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { poll } from '../support/peer.mjs';
import { memory } from '../support/proc.mjs';
import { NOBODY } from './server.mjs';

// The program that NOBODY runs: listens on the socket that its argument names,
// and prints what it hears.
const LISTENER = `
    const server = require('net').createServer(socket => {
        console.log('connected');
        socket.on('data', bytes => console.log('heard ' + bytes.toString('hex')));
        socket.on('error', () => {});
    });
    process.umask(0);
    server.listen(process.argv[1], () => console.log('ready'));
    process.stdin.on('close', () => process.exit()).resume();
`;

// Another user who listens where Emacs should hears nothing, not even a
// greeting. The client is then asked for approvals.
async function emacsOfAnotherUser(world) {
    world.admitNobody();
    const said = [];
    const socket = `${world.folder}/run/emacs.sock`;
    const listener = world.startOther(
        [process.execPath, '-e', LISTENER, socket],
        { uid: NOBODY, take: line => said.push(line) });
    assert.ok(await listener.until(() => said.includes('ready'), 60),
        listener.log.join('\n'));
    const server = await world.attach([], {
        env: { ECL_MCP_EMACS: socket }, capabilities: { elicitation: {} },
    });
    const call = server.beginCall('write-file',
        { path: 'a', content: 'secret\n' });
    const question = await server.asked('elicitation/create');
    assert.match(question.params.message, /secret/);
    server.write({ id: question.id, result: { action: 'decline' } });
    assert.match(await server.text(call), /denied/);
    assert.ok(!fs.existsSync(`${world.folder}/lisp/a`));
    // The server looks again, but logs the problem once.
    assert.ok(await listener.until(() =>
        said.filter(line => line === 'connected').length > 1, 60));
    const told = server.peer.log.filter(line =>
        line.includes(`${socket} belongs to another user and is not used`));
    assert.equal(told.length, 1, server.peer.log.join('\n'));
    await server.close();
    listener.child.stdin.end();
    await listener.until(() => listener.closed, 60);
    assert.deepEqual(said.filter(line => line.startsWith('heard')), []);
}

const tools = name => JSON.stringify({ jsonrpc: '2.0', method: 'tools',
    params: { tools: [{ name, description: 'X.', level: 'safe' }] } });

// Emacs changes its tools without end. The client, which is told each time,
// does not read, so Emacs is held back.
async function emacsFloods(world) {
    const socket = `${world.folder}/run/emacs.sock`;
    const flood = Buffer.from(`${tools('aa')}\n${tools('bb')}\n`.repeat(500));
    let sent = 0;
    const listener = net.createServer(editor => {
        const write = () => {
            do
                sent += flood.length;
            while (editor.write(flood));
        };
        editor.on('data', () => {});
        editor.on('error', () => {});
        editor.on('drain', write);
        world.go = write;
    });
    await new Promise(done => listener.listen(socket, done));
    const server = await world.attach([], { env: { ECL_MCP_EMACS: socket } });
    server.write({ method: 'notifications/initialized' });
    assert.equal(await server.evaluate('(+ 1 1)'), '=> 2');
    const { stdout } = server.peer.child;
    stdout.pause();
    world.go();
    let last = -1;
    assert.ok(await poll(() => {
        const still = sent === last || sent > 200e6;
        last = sent;
        return still;
    }, 20, 500));
    assert.ok(sent < 60e6, `the server took ${sent} bytes`);
    const held = memory(server.peer.pid, 'VmHWM');
    // a sanitizer keeps what was freed for a while
    const most = /asan/.test(fs.readFileSync(`/proc/${server.peer.pid}/maps`))
        ? 512 << 10 : 64 << 10;
    assert.ok(held < most, `the server holds ${held} KiB`);
    stdout.resume();
    assert.ok(await poll(() => sent > last, 60), 'the server stopped reading');
    listener.close();
    await server.close('notifications/tools/list_changed');
}

// An Emacs that answers nothing and keeps what it hears.
async function listen(socket) {
    const heard = [];
    const listener = net.createServer(editor => {
        editor.setEncoding('utf8');
        editor.on('data', text => heard.push(text));
        editor.on('error', () => {});
        listener.editor = editor;
    });
    listener.heard = heard;
    await new Promise(done => listener.listen(socket, done));
    return listener;
}

// The server looks for Emacs where ECL_MCP_EMACS says, or else in the home.
async function emacsIsLookedFor(world) {
    const folder = `${world.folder}/.local/state/ecl-mcp`;
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const home = await listen(`${folder}/emacs.sock`);
    const named = await listen(`${world.folder}/run/emacs.sock`);
    const places = [['', home], [`${world.folder}/run/emacs.sock`, named],
        ['off', undefined], [`/${'x'.repeat(120)}`, undefined]];
    for (const [ECL_MCP_EMACS, expected] of places) {
        const server = await world.attach([], { env: { ECL_MCP_EMACS } });
        assert.equal(await server.evaluate('(+ 1 1)'), '=> 2');
        await server.close();
        for (const listener of [home, named])
            assert.equal(listener.heard.splice(0).join('')
                .includes('"method":"hello"'), listener === expected,
            ECL_MCP_EMACS);
        assert.equal(server.peer.log.join('\n')
            .includes('no socket has a path of 121 bytes'),
        ECL_MCP_EMACS.length > 107);
    }
    const homeless = await world.attach([],
        { env: { ECL_MCP_EMACS: '', HOME: '' } });
    assert.equal(await homeless.evaluate('(+ 1 1)'), '=> 2');
    await homeless.close();
    home.close();
    named.close();
}

export const editorTests = [emacsIsLookedFor, emacsOfAnotherUser, emacsFloods];
