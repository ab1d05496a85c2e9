// SPDX-License-Identifier: GPL-3.0-or-later
// editor.mjs: an editor on a Unix socket that offers a tool,
// test-trigger-tool-change: each call of it changes the list of tools that the
// editor offers (docs/editor-protocol.md).
import net from 'node:net';
import readline from 'node:readline';

const tool = name => ({ name, title: name, level: 'safe', fields: [],
    description: 'Fixture of the conformance suite.' });
const TRIGGER = tool('test-trigger-tool-change');
const LISTS = [[TRIGGER], [TRIGGER, tool('test-dynamic-tool')]];

function serve(socket) {
    let list = 0;
    const send = message => socket.write(
        `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const offer = () =>
        send({ method: 'tools', params: { tools: LISTS[list % 2] } });
    socket.on('error', () => {}); // the server may end
    readline.createInterface({ input: socket }).on('line', line => {
        const { id, method } = JSON.parse(line);
        if (method === 'hello')
            offer();
        if (method !== 'call')
            return;
        send({ method: 'received', params: { id } });
        send({ id, result: { text: 'changed', error: false } });
        list++;
        offer();
    });
}

// Listens at PATH; resolves with a function that ends the editor.
export async function startEditor(path) {
    const sockets = new Set();
    const server = net.createServer(socket => {
        sockets.add(socket);
        serve(socket);
    });
    await new Promise(done => server.listen(path, done));
    return () => {
        for (const socket of sockets)
            socket.destroy();
        server.close();
    };
}
