// SPDX-License-Identifier: GPL-3.0-or-later
// sharing.mjs: what servers that share images see of each other.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { kill } from '../support/peer.mjs';
import { info } from '../support/proc.mjs';
import { Front, hello } from './front.mjs';

const UNKNOWN = /^\[ERROR\] ECL-MCP:CONNECTION-LOST\n[^]*is unknown/;

// Two servers on the images of one keeper, whose owner has said HELLO.
async function open(world, options) {
    const keeper = await world.keep(options);
    const [one, two] = await Promise.all([world.attach(), world.attach()]);
    return { keeper, one, two };
}

async function close({ keeper, one, two }) {
    await Promise.all([one.close(), two.close()]);
    await keeper.close();
}

async function definitionsAreShared(world) {
    const all = await open(world);
    const { keeper, one, two } = all;
    assert.equal(await one.evaluate('(defun twice (x) (* 2 x))'), '=> TWICE');
    assert.equal(await two.evaluate('(twice 21)'), '=> 42');
    await keeper.front.greet();
    assert.equal(await keeper.front.evaluate('(twice 4)'), '=> 8');
    assert.equal(await keeper.front.evaluate('(defvar *human* t)'),
        '=> *HUMAN*');
    assert.match(await one.call('list-definitions'), /TWICE[^]*\*HUMAN\*/);
    assert.equal(await two.evaluate('1', 'other'), '=> 1');
    assert.match(await one.call('list-sessions'), /other: idle[^]*main: idle/);
    assert.match(await one.call('configure-limits'),
        /memory: as set for the images/);
    const definitions = await two.request('resources/read',
        { uri: 'lisp://session/main/definitions' });
    assert.match(JSON.stringify(definitions.result ?? definitions), /TWICE/);
    await close(all);
    assert.ok(!fs.existsSync(world.socket));
}

// A call is cancelled while the call of another server waits for it.
async function cancelConcernsOneCall(world) {
    const all = await open(world);
    const { one, two } = all;
    const loop = one.beginEval(world.seen('(loop)'));
    await world.runs();
    const waiting = two.beginEval('(+ 1 1)');
    two.cancel(99);
    const session = two.beginEval('(+ 1 2)', 'other');
    assert.equal(await two.text(session), '=> 3');
    one.cancel(loop);
    assert.equal(await two.text(waiting), '=> 2');
    assert.deepEqual(one.messages, []);
    await close(all);
}

// The id of a call belongs to its server: both have a call of the same number.
async function cancelOfOneIsNotThatOfTheOther(world) {
    const all = await open(world);
    const { one, two } = all;
    const first = one.beginEval(world.seen('(sleep 1) 1'));
    await world.runs();
    const second = two.beginEval('2');
    assert.equal(first, second);
    two.cancel(second);
    assert.equal(await one.text(first), '=> 1');
    await close(all);
}

async function keeperIsKilled(world) {
    const { keeper, one, two } = await open(world);
    fs.writeFileSync(`${world.folder}/lisp/notes.txt`, 'some text\n');
    assert.equal(await two.evaluate('(defvar *x* 7)'), '=> *X*');
    const running = one.beginEval(world.seen('(loop)'));
    await world.runs();
    const waiting = [two.beginEval('1'), two.beginEval('2', 'other')];
    kill(keeper.peer.pid, 'KILL');
    assert.match(await one.text(running), UNKNOWN);
    for (const id of waiting)
        assert.match(await two.text(id), /^=> 2$|CONNECTION-LOST/);
    const refused = await two.evaluate('3');
    assert.match(refused, /^\[ERROR\] ECL-MCP:IMAGE-UNAVAILABLE\n/);
    assert.ok(refused.includes(world.socket));
    assert.match(refused, /M-x ecl-mcp in Emacs/);
    assert.match(await two.call('read-file', { path: 'notes.txt' }), /some text/);
    assert.ok((await two.request('tools/list', {})).result.tools.length > 30);
    await keeper.ended('KILL');
    assert.ok(fs.existsSync(world.socket)); // nobody could remove it
    const next = await world.keep();
    const end = performance.now() + 10000;
    let text;
    do
        text = await two.evaluate("(boundp '*x*)");
    while (/UNAVAILABLE/.test(text) && performance.now() < end);
    assert.match(text, /^\[notice\]\nThe Lisp images that this server used/);
    assert.match(text, /=> NIL$/);
    assert.equal(await two.evaluate('4'), '=> 4');
    await close({ keeper: next, one, two });
}

async function serverIsKilled(world) {
    const { keeper, one, two } = await open(world);
    assert.equal(await one.evaluate('(defvar *x* 7)'), '=> *X*');
    one.beginEval(world.seen('(loop)'));
    await world.runs();
    const waiting = two.beginEval('*x*');
    kill(one.peer.pid, 'KILL');
    assert.equal(await two.text(waiting), '=> 7');
    await two.close();
    await keeper.close();
}

// A client leaves: its call ends after the grace time, the other's does not.
async function clientHangsUp(world) {
    const { keeper, one, two } = await open(world);
    const running = one.beginEval(world.seen('(loop)'));
    await world.runs();
    const waiting = two.beginEval('7');
    one.peer.child.stdin.end();
    assert.match(await one.text(running), /^\[ERROR\] ECL-MCP:EVALUATION-INTERRUPTED/);
    assert.equal(await two.text(waiting), '=> 7');
    await one.close();
    await two.close();
    await keeper.close();
}

async function imageIsKilled(world) {
    const all = await open(world);
    const { one, two } = all;
    assert.equal(await one.evaluate('(defvar *x* 7)'), '=> *X*');
    const pid = Number((await two.evaluate('(ext:getpid)')).slice(3));
    const running = one.beginEval(world.seen('(loop)'));
    await world.runs();
    const waiting = two.beginEval('(+ 1 1)');
    assert.match(info(pid).name, /^ecl-mcp/);
    kill(pid, 'KILL');
    assert.match(await one.text(running), /^\[ERROR\] ECL-MCP:IMAGE-DIED/);
    assert.match(await two.text(waiting),
        /^\[notice\]\n[^]*someone who shares it\.[^]*\n=> 2$/);
    assert.equal(await two.evaluate('*x*'), '=> 7');
    await close(all);
}

// The owner neither reads nor writes, because it is stopped or busy.
async function ownerIsStopped(world) {
    const { keeper, one, two } = await open(world, { paused: true });
    keeper.front.send(hello());
    for (let i = 0; i < 600; i++) // more than LIMIT_OUTPUT_BACKLOG
        keeper.front.begin('(make-string 9000)', 'human');
    const running = one.beginEval('(loop repeat 3 do (sleep 0.1)) 1');
    assert.equal(await one.text(running), '=> 1');
    for (let i = 0; i < 20; i++)
        assert.equal(await two.evaluate(`${i}`), `=> ${i}`);
    keeper.front.resume();
    for (let id = 1; id <= 600; id++)
        await keeper.front.answer(id);
    await close({ keeper, one, two });
}

async function serverIsStopped(world) {
    const all = await open(world);
    const { one, two } = all;
    assert.equal(await one.evaluate('1'), '=> 1');
    const running = one.beginEval(world.seen('(make-string 9000)'));
    await world.runs();
    kill(one.peer.pid, 'STOP');
    for (let i = 0; i < 20; i++)
        assert.equal(await two.evaluate(`${i}`), `=> ${i}`);
    kill(one.peer.pid, 'CONT');
    assert.match(await one.text(running), /^=> "/);
    await close(all);
}

// The keeper answers nobody. Waiting calls are answered nevertheless when their
// client leaves.
async function keeperIsStopped(world) {
    const { keeper, one, two } = await open(world);
    assert.equal(await one.evaluate('1'), '=> 1');
    kill(keeper.peer.pid, 'STOP');
    const waiting = one.beginEval('2');
    const cancelled = two.beginEval('3');
    two.cancel(cancelled);
    assert.ok((await two.request('tools/list', {})).result.tools.length > 30);
    one.peer.child.stdin.end();
    assert.match(await one.text(waiting), UNKNOWN);
    await one.close();
    await two.close();
    kill(keeper.peer.pid, 'CONT');
    await keeper.close();
}

async function progressGoesToTheCaller(world) {
    const all = await open(world);
    const { one, two } = all;
    const call = one.begin('tools/call', {
        name: 'evaluate-lisp', _meta: { progressToken: 'p' },
        arguments: { code: '(dotimes (i 4) (print i) (terpri) (finish-output) ' +
            '(sleep 0.3))' },
    });
    const waiting = two.beginEval('1');
    assert.match(await one.text(call), /\[stdout\]/);
    const told = one.messages.splice(0);
    assert.ok(told.length >= 1);
    for (const message of told)
        assert.equal(message.method, 'notifications/progress');
    assert.equal(await two.text(waiting), '=> 1');
    await close(all);
}

// The keeper may be told to end in the middle of the servers' calls.
async function keeperEnds(world) {
    const { keeper, one, two } = await open(world);
    const running = one.beginEval(world.seen('(loop)'));
    await world.runs();
    await keeper.close();
    assert.match(await one.text(running), UNKNOWN);
    assert.match(await two.evaluate('1'), /UNAVAILABLE/);
    await one.close();
    await two.close();
    assert.ok(!fs.existsSync(world.socket));
}

// Many fronts at the same time: each gets its own answers.
async function manyServers(world) {
    const keeper = await world.keep();
    const fronts = await Promise.all(Array.from({ length: 20 }, () =>
        Front.connect(world.socket)));
    await Promise.all(fronts.map(front => front.greet()));
    const servers = await Promise.all(Array.from({ length: 4 }, () =>
        world.attach()));
    assert.equal(await servers[0].evaluate('(defvar *n* 0)'), '=> *N*');
    const seen = (await Promise.all([
        ...fronts.flatMap(f => [1, 2, 3].map(() => f.evaluate('(incf *n*)'))),
        ...servers.flatMap(s => [1, 2, 3].map(() => s.evaluate('(incf *n*)'))),
    ])).map(text => Number(text.slice(3))).sort((a, b) => a - b);
    assert.deepEqual(seen, Array.from({ length: 72 }, (_, i) => i + 1));
    fronts.forEach(front => front.end());
    await Promise.all(servers.map(server => server.close()));
    await keeper.close();
}

// Each has its own copy of the error; when one adopts, the other is told.
async function errorIsSharedByAll(world) {
    const tools = ['--attach', world.socket, '--tools', 'all'];
    const keeper = await world.keep();
    const [one, two] = await Promise.all([world.attach(tools), world.attach(tools)]);
    const retry = (server, n, adopt) => server.call('invoke-restart',
        { restart: 'retry-form', error: 1, code: `(setf *n* ${n})`, adopt });
    assert.equal(await one.evaluate('(defvar *n* 0)'), '=> *N*');
    assert.match(await one.evaluate('(/ 1 *n*)'), /; Frozen as error 1\.$/);
    assert.equal(await two.call('evaluate-in-frame', { code: '*n*', error: 1 }),
        '=> 0');
    const texts = await Promise.all([retry(one, 4, false), retry(two, 5, false)]);
    assert.match(texts[0], /^=> 1\/4\n; In a copy of error 1: /);
    assert.match(texts[1], /^=> 1\/5\n; In a copy of error 1: /);
    assert.equal(await one.evaluate('*n*'), '=> 0');
    for (const [server, other, n] of [[one, two, 4], [two, one, 5]]) {
        assert.match(await retry(server, n, true),
            new RegExp(`^=> 1/${n}\n; Adopted: session main continues`));
        assert.match(await other.evaluate('*n*'), new RegExp('^\\[notice\\]\n' +
            `[^]*has called invoke-restart with adopt:\n[^]*\n=> ${n}$`));
    }
    // the human of the owner, too; of those who adopt at once, one comes last
    const human = keeper.front;
    await human.greet();
    const answer = (operation, ...args) =>
        human.answer(human.beginCall('main', operation, ...args));
    assert.equal(await answer('evaluate-in-frame',
        'code', '(setf *n* 7)', 'error', 1), '=> 7');
    const said = await Promise.all([retry(one, 8, true),
        answer('invoke-restart', 'restart', 'retry-form', 'error', 1,
            'code', '(setf *n* 9)', 'adopt', true), retry(two, 10, false)]);
    assert.match(said[0], /=> 1\/8\n; Adopted: session main continues/);
    assert.match(said[1], /=> 1\/9\n; Adopted: session main continues/);
    const after = [await one.evaluate('*n*'), await human.evaluate('*n*'),
        await two.evaluate('*n*')];
    const [n] = /(8|9)$/.exec(after[0]);
    const told = after.map((text, i) => {
        assert.match(text, new RegExp(`=> ${n}$`));
        return /has called invoke-restart with adopt:/.test(said[i] + text);
    });
    assert.deepEqual(told, [told[0], told[1], true]);
    assert.ok(told[n === '8' ? 1 : 0]); // whose outcome did not last
    await close({ keeper, one, two });
}

export const sharingTests = [
    errorIsSharedByAll,
    definitionsAreShared, cancelConcernsOneCall, cancelOfOneIsNotThatOfTheOther,
    keeperIsKilled, serverIsKilled, clientHangsUp, imageIsKilled, ownerIsStopped,
    serverIsStopped, keeperIsStopped, progressGoesToTheCaller, keeperEnds, manyServers,
];
