// SPDX-License-Identifier: GPL-3.0-or-later
// player.mjs: plays a transcript against a program and says what went wrong.
// Whatever the transcript says, the player holds the program to this: stdout is
// lines of JSON in UTF-8 that the transcript expects, every request is answered
// exactly once, the program ends as it should and leaves no process behind.
import fs from 'node:fs';
import path from 'node:path';
import { Fault, cut } from './fault.mjs';
import { match, matchLines, member, parseJson, parsePattern, print }
    from './pattern.mjs';
import { PATIENCE, Peer, poll } from './peer.mjs';
import { command, lives } from './proc.mjs';
import { MODERN, expand, words } from './transcript.mjs';
import { VERBS } from './verbs.mjs';

// What a load or a run of tests prints when it takes longer than two seconds.
const PROGRESS =
    /^; (?:compiling \S+|form \d+ of \S+|\d+ of \d+ tests, \d+ failed)(?:\n|$)/m;

function withoutProgress(text) {
    if (!PROGRESS.test(text))
        return text;
    return text.replace(new RegExp(PROGRESS, 'gm'), '')
        .replace(/^\[stdout\]\n(?:\n|$)/m, '').replace(/\n+$/, '');
}

const NAMESPACE = 'io.modelcontextprotocol';
const ELICITATION = 'elicitation/create';

// The ids, as JSON texts, of the messages of a line that get an answer with
// their id, even if it is an error.
function requestIds(text) {
    let node;
    try {
        node = parseJson(text.replace(/^\ufeff/, ''));
    } catch {
        return [];
    }
    return (node.type === 'array' ? node.list : [node])
        .filter(m => !member(m, 'result') && !member(m, 'error'))
        .map(m => member(m, 'id'))
        .filter(id => id?.type === 'string' || id?.type === 'number').map(print);
}

export class Player {
    // OPENS: the first call runs the handshake. GRACE: the seconds within which
    // the family of a program that has ended must be gone.
    constructor({ program, folder, home, show, opens, grace = PATIENCE }) {
        this.program = program;
        this.folder = folder; // the working directory, the transcript's own
        this.home = home;
        this.opens = opens;
        this.grace = grace;
        this.show = show ?? (() => {});
        this.names = {};
        this.env = {};
        this.under = [];
        this.seconds = PATIENCE;
        this.calls = 0;
        this.editorRequests = new Map(); // @name: the id of a request to the editor
        this.#forget();
    }

    #forget() {
        this.peer = undefined;
        this.plain = false;
        this.arrived = []; // lines of stdout that no step took yet
        this.sent = new Map(); // id of a request: how many of them wait
        this.silent = new Set(); // ids that get no answer
        this.texts = new Map(); // @name: what was asked, for --show
        this.calling = new Map(); // @name: the params of the call
        this.ids = new Map(); // @name: its id, if that differs from the name
        this.questions = new Map(); // @name: the question to the user
        this.capabilities = {};
        this.version = undefined;
        this.ending = false;
        this.deaf = false; // hung up: no answer can come
    }

    // Plays a whole transcript. Returns undefined, or the fault: the line AT,
    // the MESSAGE, the last lines of the program's LOG.
    async play(steps) {
        try {
            return await this.attempt(() => this.#playAll(steps));
        } finally {
            await this.end();
        }
    }

    // Plays the steps after "each" once for each of its versions.
    async #playAll(steps) {
        for (const [i, step] of steps.entries()) {
            if (step.verb === 'each') {
                for (const version of words(step.rest)) {
                    this.each = version;
                    this.#emptyFolder();
                    await this.#playAll(steps.slice(i + 1));
                }
                return;
            }
            await this.step(step);
        }
        await this.finish();
    }

    #emptyFolder() {
        for (const name of fs.readdirSync(this.folder))
            fs.rmSync(path.join(this.folder, name),
                { recursive: true, force: true });
    }

    // The same for anything that RUN does.
    async attempt(run) {
        try {
            await run();
            return undefined;
        } catch (error) {
            const message = error instanceof Fault ||
                error instanceof SyntaxError ? error.message : error.stack;
            return { at: this.at, message,
                log: this.peer?.log.slice(-8) ?? [] };
        }
    }

    // Ends what is left of the program.
    async end() {
        await this.peer?.end(2);
        this.peer = undefined;
        this.editor?.close();
        this.editor = undefined;
    }

    async step(step) {
        this.at = step.at;
        if (step.verb.startsWith('@'))
            return this.#answer(step.verb.slice(1), step);
        const run = VERBS[step.verb];
        if (!run)
            throw new Fault(`no such word: ${step.verb}`);
        return run.call(this, expand(step.rest, this.names), step);
    }

    // --- the program ---

    begin(options, plain = false) {
        if (this.peer && !this.peer.closed)
            throw new Fault('the program is already running');
        this.#forget();
        this.plain = plain;
        this.peer = new Peer([...this.under, ...this.program, ...options], {
            cwd: this.folder,
            env: this.#environment(),
            take: text => this.#take(text),
        });
    }

    // No more than clients give.
    #environment() {
        return { PATH: process.env.PATH, HOME: this.home, ...this.env };
    }

    running() {
        if (!this.peer)
            this.begin([]);
        return this.peer;
    }

    #take(text) {
        if (this.plain) {
            this.arrived.push({ text });
            return;
        }
        try {
            JSON.parse(text);
            const node = parseJson(text);
            this.arrived.push({ text, node });
            for (const m of node.type === 'array' ? node.list : [node])
                this.#count(m);
        } catch (error) {
            this.peer.faults.push(
                `stdout: not JSON (${error.message}): ${cut(text, 300)}`);
        }
    }

    #count(message) {
        const id = member(message, 'id');
        if (!id || id.type === 'null' || member(message, 'method'))
            return;
        const key = print(id);
        if (this.silent.has(key))
            this.peer.faults.push(`an answer for ${key}, which may get none`);
        else if (!this.sent.get(key))
            this.peer.faults.push(
                `an answer for ${key}, which does not wait for one`);
        else
            this.sent.set(key, this.sent.get(key) - 1);
    }

    expectAnswers(text) {
        for (const id of requestIds(text))
            this.sent.set(id, (this.sent.get(id) ?? 0) + 1);
    }

    async send(text, splitSize) {
        const peer = this.running();
        this.expectAnswers(text);
        this.show('→', text);
        const bytes = Buffer.from(text + '\n');
        await (splitSize ? peer.sendSplit(bytes, splitSize) : peer.send(bytes));
    }

    // Waits for PROBE. WHAT names, in a fault, what did not come.
    async await(what, probe) {
        const peer = this.running();
        const found = await peer.until(() => peer.faults.length || probe() ||
            (peer.closed && 'closed'), this.seconds);
        this.#checkFaults();
        if (found === 'closed')
            throw new Fault(`the program ended (status ${peer.status}) before ` +
                what);
        if (!found)
            throw new Fault(`${this.seconds} s passed without ${what}`);
        return found;
    }

    #checkFaults() {
        if (this.peer.faults.length)
            throw new Fault(this.peer.faults.join('\n'));
    }

    // Takes the next line that arrives.
    next(what) {
        return this.await(what, () => this.arrived.shift());
    }

    // Takes the first line that fits.
    find(what, fits) {
        return this.await(what, () => {
            const at = this.arrived.findIndex(fits);
            return at < 0 ? undefined : this.arrived.splice(at, 1)[0];
        });
    }

    // --- calls ---

    async request(id, method, params) {
        const meta = this.version === MODERN && { _meta: {
            [`${NAMESPACE}/protocolVersion`]: MODERN,
            [`${NAMESPACE}/clientCapabilities`]: this.capabilities,
        } };
        await this.send(JSON.stringify({ jsonrpc: '2.0', id, method,
            ...((params || meta) && { params: { ...params, ...meta } }) }));
    }

    async call(step, rest, ask) {
        if (this.opens && !this.version)
            await VERBS.init.call(this, '');
        const [, name, text] = /^(?:@(\S+)\s*)?([^]*)$/.exec(rest);
        const { tool, args, show } = ask(text);
        const id = name ?? `call-${++this.calls}`;
        this.texts.set(id, show);
        const was = this.show;
        this.show = () => {};
        const params = { name: tool, arguments: args };
        this.calling.set(id, params);
        this.ids.delete(id);
        this.questions.delete(id);
        await this.request(id, 'tools/call', params);
        this.show = was;
        if (step.text)
            await this.#answer(id, step);
        else if (!name)
            throw new Fault('a call without an answer needs a @name');
    }

    // The question of call ID to the user: { message, requestedSchema }.
    async asked(id) {
        const what = `a question of ${id}`;
        if (this.version === MODERN) {
            const key = JSON.stringify(this.ids.get(id) ?? id);
            const { text } = await this.find(what,
                ({ node }) => node && print(member(node, 'id') ?? node) === key);
            const { result } = JSON.parse(text);
            if (result?.resultType !== 'input_required')
                throw new Fault(`no question, but ${cut(text)}`);
            const [[name, { method, params }]] =
                Object.entries(result.inputRequests);
            this.questions.set(id, { name, state: result.requestState });
            return this.#form(method, params);
        }
        const { text } = await this.find(what, ({ node }) =>
            node && member(node, 'method')?.value === ELICITATION);
        const { id: question, method, params } = JSON.parse(text);
        this.questions.set(id, { id: question });
        return this.#form(method, params);
    }

    #form(method, params) {
        if (method !== ELICITATION ||
            (this.version > '2025-06-18') !== (params.mode === 'form'))
            throw new Fault(`no question: ${method} ${JSON.stringify(params)}`);
        return params;
    }

    // Sends the user's answer to the question of call ID.
    async say(id, result) {
        if (!this.questions.has(id))
            await this.asked(id);
        const question = this.questions.get(id);
        if (this.version !== MODERN)
            return this.send(JSON.stringify({ jsonrpc: '2.0', id: question.id,
                ...result }));
        const next = `${id} again ${++this.calls}`;
        this.ids.set(id, next);
        return this.request(next, 'tools/call', { ...this.calling.get(id),
            inputResponses: { [question.name]: result.result },
            requestState: question.state });
    }

    async #answer(id, step) {
        const key = JSON.stringify(this.ids.get(id) ?? id);
        const { node } = await this.find(`the answer to ${key}`,
            ({ node }) => node && print(member(node, 'id') ?? node) === key);
        const result = member(node, 'result');
        const wrong = match(this.#resultPattern(
            result && member(result, 'structuredContent')), node);
        if (wrong)
            throw new Fault(wrong);
        let text = member(member(result, 'content').list[0], 'text').value;
        const isError = member(result, 'isError').type === 'true';
        this.answered = { text, isError };
        if (id !== 'recheck')
            this.show(isError ? '!' : '=', this.texts.get(id), text);
        const lines = step.text.map(line => expand(line, this.names));
        if (!lines.some(line => line.startsWith('; ') && PROGRESS.test(`${line}\n`)))
            text = withoutProgress(text);
        if (!lines.some(line => line.includes('Frozen as')))
            text = text.replace(/\n; Frozen as error \d+\.(?=\n|$)/, '');
        if (isError !== (step.isError ?? isError) ||
            !matchLines(lines, text, this.names))
            throw new Fault(`got ${isError ? 'the failure' : 'the text'}\n` +
                cut(text).replace(/^/gm, isError ? '! ' : '| ') +
                '\nexpected\n' +
                lines.join('\n').replace(/^/gm,
                    { true: '! ', false: '| ' }[step.isError] ?? '* '));
        if (this.recheck && id !== 'recheck')
            await this.alive();
    }

    #resultPattern(structured) {
        const modern = this.version === MODERN ? '"resultType":"complete",' : '';
        const more = structured && this.version >= '2025-06-18'
            ? '"structuredContent":{…},' : '';
        return parsePattern('{"jsonrpc":"2.0","id":…,"result":{' + modern +
            '"content":[{"type":"text","text":…}],' + more +
            '"isError":…,"_meta":{…}}}');
    }

    // Checks that the program still evaluates.
    async alive() {
        await this.call({ text: ['=> 2'], isError: false }, '@recheck',
            () => ({ tool: 'evaluate-lisp', args: { code: '(+ 1 1)' } }));
    }

    // --- the end ---

    // Waits until the program has ended with STATUS, and its whole family, too. A
    // busy machine takes up to five times as long as an idle one.
    async exit(status, seconds) {
        seconds *= 5;
        const peer = this.running();
        this.ending = true;
        await peer.until(() => peer.status !== undefined, seconds);
        if (peer.status === undefined)
            throw new Fault(`still running after ${seconds} s`);
        if (!await peer.until(() => peer.closed, this.grace))
            throw new Fault(`ended, but ${this.#survivors()} holds its stdout`);
        if (!await poll(() => !peer.survivors().length, this.grace))
            throw new Fault(`ended, but left ${this.#survivors()}`);
        this.#checkFaults();
        if (peer.status !== status)
            throw new Fault(`exit status ${peer.status}, expected ${status}`);
        if (this.arrived.length)
            throw new Fault('not expected: ' +
                this.arrived.map(line => cut(line.text, 300)).join('\n'));
        const waiting = [...this.sent].filter(
            ([id, n]) => n && !this.silent.has(id)).map(([id]) => id);
        if (waiting.length && status === '0' && !this.deaf)
            throw new Fault(`never answered: ${waiting.join(', ')}`);
    }

    #survivors() {
        return this.peer.survivors()
            .map(p => `process ${p.pid} (${command(p.pid) || p.name})`)
            .join(', ');
    }

    // A good end: the program still evaluates, and ends when its input does.
    async finish() {
        if (!this.peer || this.ending)
            return;
        if (this.version)
            await this.alive();
        this.peer.look();
        this.peer.child.stdin.end();
        await this.exit('0', 5);
    }

    // --- its processes ---

    // The process that plays ROLE: front, zygote, keeper, live (but not SPARED)
    // or sleeper (a checkpoint); the newest where there are several.
    process(role) {
        const all = this.peer.look();
        const front = this.#front(all);
        const isSleeper = p => p.name === 'mcp-sleeper';
        const isCopy = p => isSleeper(p) || p.name === 'mcp-frozen';
        const isKeeper = p => p.name === 'ecl-mcp-keeper';
        const images = all.filter(p => !isCopy(p) && !isKeeper(p) &&
            p.name !== 'mcp-compiler' && /ecl-mcp-image$/.test(
            command(p.pid).split(' ')[0]));
        // Each live image leads its own session of processes, even when its
        // zygote is gone and the front has become its parent.
        const zygotes = images.filter(p => p.parent === front?.pid &&
            p.pid !== p.session);
        const keepers = all.filter(isKeeper);
        const others = images.filter(p => !zygotes.includes(p));
        // A copy that has just been made does not have its own name yet, and
        // one that works has that of the image; a zygote that starts has
        // children for a moment, and a keeper one that is not yet an image.
        const parents = [...images, ...all.filter(isCopy)];
        const lisp = others.filter(p => p.pid !== this.spared &&
            p.pid === p.group && !parents.some(q => q.pid === p.parent));
        return {
            front, zygote: zygotes.at(-1), live: lisp.at(-1),
            sleeper: all.filter(isSleeper).at(-1),
            keeper: keepers.at(-1),
        }[role];
    }

    #front(all) {
        if (!this.under.length)
            return all.find(p => p.pid === this.peer.pid);
        const front = all.find(p => p.pid !== this.peer.pid &&
            command(p.pid).startsWith(this.program[0]));
        this.peer.frontPid = front?.pid;
        return front;
    }

    async present(role) {
        const found = await poll(() => this.process(role), this.seconds);
        if (!found)
            throw new Fault(`there is no ${role}`);
        return found;
    }
}
