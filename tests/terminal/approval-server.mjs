// SPDX-License-Identifier: GPL-3.0-or-later
// approval-server.mjs: approvals between a real client, a running ecl-mcp and a
// human at the keys of an Emacs.
import fs from 'node:fs';
import path from 'node:path';
import { Peer, kill } from '../support/peer.mjs';
import { QUICK, settle } from './asking.mjs';
import { ROOT, check, test } from './terminal.mjs';

const SECONDS = 60; // that each step of a server under test may take
const options = { form: `(progn
    (require 'ecl-mcp-approval) (require 'ecl-mcp-review)
    (require 'ecl-mcp-socket)
    (setq ecl-mcp-approval-idle 0.3 ecl-mcp-approval-grace 0.15
          make-backup-files nil)
    (ecl-mcp-approval-activate) (ecl-mcp-review-activate) (ecl-mcp-socket-start))` };

// A client with a server of its own, in the home of EMACS; its rules ask about
// each evaluation.
class Client {
    static async start(emacs, args = []) {
        const client = new Client();
        const workspace = path.join(emacs.home, 'work');
        const config = path.join(emacs.home, '.config/ecl-mcp');
        fs.mkdirSync(workspace);
        fs.mkdirSync(config, { recursive: true });
        fs.writeFileSync(path.join(config, 'policy.json'),
            '{"ask": ["evaluate-lisp"]}', { mode: 0o600 });
        client.messages = [];
        client.peer = new Peer([path.join(ROOT, 'build/release/ecl-mcp'),
            '--workspace', workspace, ...args], {
            cwd: workspace, env: { PATH: process.env.PATH, HOME: emacs.home },
            take: line => client.messages.push(JSON.parse(line)),
        });
        client.id = 0;
        await client.request('initialize', {
            protocolVersion: '2025-11-25', capabilities: {},
            clientInfo: { name: 'claude', version: '1.0' } });
        client.send({ method: 'notifications/initialized' });
        await emacs.until('ecl-mcp-connections');
        return client;
    }

    send(message) {
        this.peer.send(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    }

    // Sends a request; returns its id and a promise of its answer.
    begin(method, params) {
        const id = ++this.id;
        this.send({ id, method, params });
        const answer = this.until(message => message.id === id);
        answer.catch(() => {}); // for callers that do not wait for it
        return { id, answer };
    }

    async until(wanted, seconds = SECONDS) {
        const found = await this.peer.until(
            () => this.messages.find(wanted), seconds);
        check(found, `no such message after ${seconds} s: ${wanted}\n` +
            this.peer.log.slice(-5).join('\n'));
        return found;
    }

    request(method, params) {
        return this.begin(method, params).answer;
    }

    call(name, args, token) {
        return this.begin('tools/call', { name, arguments: args,
            ...token && { _meta: { progressToken: token } } });
    }

    end() {
        return this.peer.end(5);
    }
}

// A test in which BODY gets an Emacs and a client, of a server with ARGS.
function served(name, body, args) {
    test(`approval: ${name}`, options, async emacs => {
        const client = await Client.start(emacs, args);
        try {
            await body(emacs, client);
        } finally {
            await client.end();
        }
    });
}

const text = ({ result }) => result.content[0].text;

async function question(emacs) {
    await emacs.until('(ecl-mcp-approval-prompt-request)');
    await emacs.see(/claude 1\.0 in \S+ wants .*Allow once\?/);
    await settle(emacs);
}

served('a client reads why its call was denied', async (emacs, client) => {
    const call = client.call('evaluate-lisp', { code: '(+ 1 2)' });
    await question(emacs);
    await emacs.keys('N');
    await emacs.see(/Deny, because:/);
    await emacs.type('not before the tests are green');
    await emacs.keys('Enter');
    const denied = await call.answer;
    check(denied.result.isError, 'isError');
    check(/not before the tests are green/.test(text(denied)), text(denied));
    // The run continues.
    const next = client.call('evaluate-lisp', { code: '(+ 2 3)' });
    await question(emacs);
    await emacs.keys('y');
    const done = await next.answer;
    check(!done.result.isError, text(done));
});

served('a client reads how its human has edited the call',
    async (emacs, client) => {
        const call = client.call('evaluate-lisp', { code: '(list 6)' });
        await question(emacs);
        await emacs.keys('v');
        await settle(emacs, QUICK + 100);
        await emacs.keys('e');
        await emacs.until(
            '(string-prefix-p "*ecl-mcp edit" (buffer-name (window-buffer)))');
        await emacs.keys('C-Space', 'M->', 'C-w');
        await emacs.type('(list 7)');
        await settle(emacs);
        await emacs.keys('C-c', 'C-c');
        const done = await call.answer;
        check(!done.result.isError, text(done));
        check(/list 7/.test(JSON.stringify(done.result)) &&
            /edited|changed/i.test(text(done)), text(done));
    });

served('write-file is refused for a reason', async (emacs, client) => {
    const call = client.call('write-file', { path: 'a.txt', content: 'one\n' });
    await emacs.see(/a accept +r reject/);
    await emacs.keys('M-x');
    await emacs.type('ecl-mcp-review');
    await emacs.keys('Enter');
    await emacs.until(`(with-current-buffer (window-buffer)
        (derived-mode-p 'ecl-mcp-review-mode))`);
    await emacs.until(`(with-current-buffer (window-buffer)
        (> (float-time) (+ ecl-mcp-review-fresh
            (ecl-mcp-review--came-up ecl-mcp-review--current))))`);
    await emacs.keys('C-c', 'C-k');
    await emacs.see(/[Rr]eason|[Ww]hy|because/);
    await emacs.type('the folder is wrong');
    await emacs.keys('Enter');
    const denied = await call.answer;
    check(denied.result.isError, 'isError');
    check(/the folder is wrong/.test(text(denied)), text(denied));
    check(!fs.existsSync(path.join(emacs.home, 'work/a.txt')), 'written');
});

served('a call that is cancelled takes its question away',
    async (emacs, client) => {
        const call = client.call('evaluate-lisp', { code: '(+ 1 2)' });
        await question(emacs);
        client.send({ method: 'notifications/cancelled',
            params: { requestId: call.id } });
        await emacs.until('(and (not (ecl-mcp-approval-prompt-request)) (= 0 (minibuffer-depth)))');
        await emacs.until('(not ecl-mcp-requests)');
        await emacs.unseen(/Allow once|MCP:/);
        await emacs.until('(not overriding-terminal-local-map)');
        await emacs.type('y');
        await emacs.until('(eq ?y (char-before))');
    });

served('a client is kept waiting while its human thinks',
    async (emacs, client) => {
        const call = client.call('evaluate-lisp', { code: '(+ 1 2)' }, 'token');
        await question(emacs);
        await client.until(({ method, params }) =>
            method === 'notifications/progress' &&
            params.progressToken === 'token');
        await emacs.keys('y');
        check(!(await call.answer).result.isError, 'denied');
    });

served('an Emacs that is stopped counts as absent, and asks nothing later',
    async (emacs, client) => {
        kill(emacs.pid, 'STOP');
        try {
            const denied = await client.call('evaluate-lisp',
                { code: '(+ 1 2)' }).answer;
            check(denied.result.isError && /approval/.test(text(denied)),
                text(denied));
        } finally {
            kill(emacs.pid, 'CONT');
        }
        await emacs.never('(ecl-mcp-approval-prompt-request)', 1.5);
        check(await emacs.eval('ecl-mcp-requests') === 'nil', 'it waits');
        // Emacs runs again.
        const call = client.call('evaluate-lisp', { code: '(+ 1 2)' });
        await question(emacs);
        await emacs.keys('n');
        check((await call.answer).result.isError, 'denied');
    });

served('an Emacs that is stopped while its human is asked', async (emacs, client) => {
    const ran = path.join(emacs.home, 'work/ran');
    const code = `(close (open "${ran}" :direction :output))`;
    const first = client.call('evaluate-lisp', { code });
    await question(emacs);
    kill(emacs.pid, 'STOP');
    let processes;
    try {
        await emacs.now('y'); // too late, or too early
        const denied = (await first.answer).result;
        check(denied.isError && /approv|decision/.test(denied.content[0].text),
            denied.content[0].text);
        processes = client.peer.look().length;
        const more = Array.from({ length: 5 }, () =>
            client.call('evaluate-lisp', { code }).answer);
        for (const answer of more)
            check((await answer).result.isError, 'it ran');
        check(client.peer.look().length <= processes, 'processes');
    } finally {
        kill(emacs.pid, 'CONT');
    }
    await emacs.until('(and (not (ecl-mcp-approval-prompt-request)) (= 0 (minibuffer-depth)))');
    await emacs.until('(not ecl-mcp-requests)');
    await emacs.never('(or (ecl-mcp-approval-prompt-request) ecl-mcp-requests)', 1);
    check(!fs.existsSync(ran), 'it ran');
    // The key went where keys go, and approvals still work.
    const next = client.call('evaluate-lisp', { code });
    await question(emacs);
    await emacs.keys('y');
    check(!(await next.answer).result.isError, 'denied');
    check(fs.existsSync(ran), 'it did not run');
}, ['--approval-timeout', '10']);

served('a grant answers later calls', async (emacs, client) => {
    const first = client.call('load-system', { system: 'no-such-system' });
    await first.answer;
    const call = client.call('write-file', { path: 'a.txt', content: '1\n' });
    await emacs.until('ecl-mcp-requests');
    await emacs.eval(`(progn (ecl-mcp-grant (car ecl-mcp-requests)
        (car (ecl-mcp-rule-offers (car ecl-mcp-requests) 'allow 'session))) nil)`);
    check(!(await call.answer).result.isError, 'denied');
    const next = await client.call('write-file',
        { path: 'b.txt', content: '2\n' }).answer;
    check(!next.result.isError, text(next));
    check(fs.readFileSync(path.join(emacs.home, 'work/b.txt'), 'utf8') === '2\n',
        'not written');
    await client.call('write-file', { path: 'sub/b.txt', content: '2\n' });
    await emacs.until('ecl-mcp-requests');
});
