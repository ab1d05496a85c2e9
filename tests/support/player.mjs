// SPDX-License-Identifier: GPL-3.0-or-later
// player.mjs: plays a transcript against a program and says what went wrong.
// Whatever a transcript says, it holds the program to this: stdout is lines of
// JSON in UTF-8 that the transcript expects, every request is answered exactly
// once, the program ends as it should and leaves no process behind.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { editorWords } from './editorwords.mjs';
import { match, matchLines, matchText, member, parseJson, parsePattern, print }
    from './pattern.mjs';
import { Peer, kill, poll } from './peer.mjs';
import { command, lives, memory } from './proc.mjs';
import { toolsFaults } from './toolrules.mjs';
import { expand, unescapeBytes, words } from './transcript.mjs';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const NAMESPACE = 'io.modelcontextprotocol';
const ELICITATION = 'elicitation/create';
const UNIT = { k: 1 / 1024, M: 1, G: 1024 };

class Fault extends Error {}

const cut = (text, size = 1500) => text.length > size
    ? `${text.slice(0, size)} [${text.length - size} characters cut]` : text;

// {…} at the start of TEXT, and what follows it.
function leadingJson(text) {
    if (text[0] !== '{')
        return [{}, text];
    for (let at = text.indexOf('}'); at >= 0; at = text.indexOf('}', at + 1))
        try {
            return [JSON.parse(text.slice(0, at + 1)),
                text.slice(at + 1).trimStart()];
        } catch {
            // a brace inside
        }
    throw new Fault('unfinished {');
}

// The ids, as JSON texts, of the messages of a line that get an answer with
// their id, be it an error.
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

// The path of the one file whose name fits that of PATTERN, in which "*" is any
// text.
function onlyFile(pattern) {
    const folder = path.dirname(pattern);
    const [start, end] = path.basename(pattern).split('*');
    if (end === undefined)
        return pattern;
    const names = fs.readdirSync(folder).filter(name =>
        name.startsWith(start) && name.endsWith(end));
    if (names.length !== 1)
        throw new Fault(`${folder} has ${names.join(' ') || 'no such file'}`);
    return path.join(folder, names[0]);
}

export class Player {
    // OPENS: the first call runs the handshake. GRACE: seconds that the family
    // of a program that has ended may take to be gone.
    constructor({ program, folder, home, show, opens, grace = 3 }) {
        this.program = program;
        this.folder = folder; // the working directory, the transcript's own
        this.home = home;
        this.opens = opens;
        this.grace = grace;
        this.show = show ?? (() => {});
        this.names = {};
        this.env = {};
        this.under = [];
        this.seconds = 10;
        this.calls = 0;
        this.errands = new Map(); // @name: the id of a request to the editor
        this.#forget();
    }

    #forget() {
        this.peer = undefined;
        this.plain = false;
        this.arrived = []; // lines of stdout that nothing expected yet
        this.sent = new Map(); // id of a request: how many wait
        this.silent = new Set(); // ids that get no answer
        this.texts = new Map(); // @name: what was asked, for --show
        this.calling = new Map(); // @name: the params of the call
        this.ids = new Map(); // @name: the id it has, if another
        this.questions = new Map(); // @name: what the user is asked
        this.capabilities = {};
        this.version = undefined;
        this.ending = false;
        this.deaf = false; // we hung up: no answer can come
    }

    // Plays a whole transcript. Returns undefined, or what went wrong: the line
    // AT, the MESSAGE, the last lines of the program's LOG.
    async play(steps) {
        try {
            return await this.attempt(() => this.#playAll(steps));
        } finally {
            await this.end();
        }
    }

    // What follows "each" is played once for each of its versions.
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

    // The same for whatever RUN does.
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
            throw new Fault('the program runs already');
        this.#forget();
        this.plain = plain;
        this.peer = new Peer([...this.under, ...this.program, ...options], {
            cwd: this.folder,
            env: this.#environment(),
            take: text => this.#take(text),
        });
    }

    // No more than clients give; but a home in the folder for temporary files
    // would make that one untouchable.
    #environment() {
        const env = { PATH: process.env.PATH, HOME: this.home, ...this.env };
        if (!path.relative(os.tmpdir(), env.HOME).startsWith('..')) {
            env.TMPDIR ??= `${this.folder}.tmp`;
            fs.mkdirSync(env.TMPDIR, { recursive: true });
        }
        return env;
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

    // Waits for PROBE; what WHAT names did not come otherwise.
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

    // The question of the call ID to the user: { message, requestedSchema }.
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

    // What the user says to the question of the call ID.
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
        const text = member(member(result, 'content').list[0], 'text').value;
        const isError = member(result, 'isError').type === 'true';
        if (id !== 'recheck')
            this.show(isError ? '!' : '=', this.texts.get(id), text);
        const lines = step.text.map(line => expand(line, this.names));
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

    // The program still evaluates.
    async alive() {
        await this.call({ text: ['=> 2'], isError: false }, '@recheck',
            () => ({ tool: 'evaluate-lisp', args: { code: '(+ 1 1)' } }));
    }

    // --- the end ---

    // Waits until the program has ended with STATUS and its whole family too.
    async exit(status, seconds) {
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

    // A good end: it still evaluates, and ends when its input does.
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

    // The process that plays ROLE: front, zygote, live or sleeper (a
    // checkpoint); the newest where there are several.
    process(role) {
        const all = this.peer.look();
        const front = this.#front(all);
        const isSleeper = p => p.name === 'ecl-mcp-sleeper';
        const images = all.filter(p => !isSleeper(p) && /ecl-mcp-image$/.test(
            command(p.pid).split(' ')[0]));
        // Each live image leads a session of its own, also when its zygote is
        // gone and the front has become its parent.
        const zygotes = images.filter(p => p.parent === front?.pid &&
            p.pid !== p.session);
        const others = images.filter(p => !zygotes.includes(p));
        // A copy that has just been made has not yet its own name.
        const lisp = others.filter(p =>
            !others.some(q => q.pid === p.parent));
        return {
            front, zygote: zygotes.at(-1), live: lisp.at(-1),
            sleeper: all.filter(isSleeper).at(-1),
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

const VERBS = {
    // The text of a heading, for who reads the conversation.
    '##'(rest) {
        this.show('#', rest);
    },

    // --- starting ---

    start(rest) {
        this.begin(words(rest));
    },
    // A start whose stdout is not protocol.
    run(rest) {
        this.begin(words(rest), true);
    },
    env(rest) {
        const [, name, value] = /^(\w+)=([^]*)$/.exec(rest);
        this.env[name] = value.replace('$PWD', this.folder);
    },
    // The program is started by this one.
    under(rest) {
        this.under = words(rest);
    },
    file(rest) {
        const [, name, text] = /^(\S+)\n?([^]*)$/.exec(rest);
        const file = path.join(this.folder, name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, text && text + '\n');
    },
    deadline(rest) {
        this.seconds = +rest;
    },

    // --- messages ---

    async '>'(rest) {
        await this.send(rest);
    },
    async request(rest) {
        const [, id, method, params] = /^@(\S+) (\S+) ?([^]*)$/.exec(rest);
        await this.request(id, method, params ? JSON.parse(params) : undefined);
    },
    async split(rest) {
        const [, size, text] = /^(\d+) ([^]*)$/.exec(rest);
        await this.send(text, +size);
    },
    async bytes(rest) {
        const bytes = unescapeBytes(rest);
        if (bytes.equals(Buffer.from(bytes.toString()))) // valid UTF-8
            this.expectAnswers(bytes.toString());
        await this.running().send(bytes);
    },
    async repeat(rest) {
        const [, count, verb, text] = /^(\d+) ([<>]) ([^]*)$/.exec(rest);
        if (verb === '>') {
            for (let i = 0; i < +count; i++)
                this.expectAnswers(text);
            const sent = this.running().send(`${text}\n`.repeat(+count));
            return this.paused || sent; // it may not read while we do not
        }
        for (let i = 0; i < +count; i++)
            await VERBS['<'].call(this, text);
    },
    async '<'(rest) {
        const { text, node } = await this.next(cut(rest));
        const wrong = match(parsePattern(rest), node, 'message', this.names);
        if (wrong)
            throw new Fault(`${wrong}\nin ${cut(text)}`);
        this.show('←', text);
        return text;
    },
    async '<='(rest) {
        const { text } = await this.next(cut(rest));
        if (!matchText(rest, text, this.names))
            throw new Fault(`got ${cut(text)}\nexpected ${cut(rest)}`);
        this.show('←', text);
    },
    async shorter(rest) {
        const [, limit, pattern] = /^(\d+) ([^]*)$/.exec(rest);
        const text = await VERBS['<'].call(this, pattern);
        if (Buffer.byteLength(text) > +limit)
            throw new Fault(`${Buffer.byteLength(text)} bytes`);
    },
    async tools(rest) {
        const text = await VERBS['<'].call(this, rest);
        const faults = toolsFaults(JSON.parse(text).result.tools);
        if (faults.length)
            throw new Fault(faults.join('\n'));
    },
    // Any line that came and was not expected yet.
    async '<*'(rest) {
        const pattern = parsePattern(rest);
        const { text } = await this.find(cut(rest),
            ({ node }) => match(pattern, node, 'message', this.names) === '');
        this.show('←', text);
    },
    async init(rest) {
        const [, version, json] = /^(\S*) ?([^]*)$/.exec(rest);
        this.running();
        this.version = version || LEGACY;
        await this.request('init', 'initialize', {
            protocolVersion: this.version,
            capabilities: json ? JSON.parse(json) : {},
            clientInfo: { name: 'transcript', version: '1' },
        });
        await VERBS['<'].call(this, '{"jsonrpc":"2.0","id":"init","result":' +
            `{"protocolVersion":${JSON.stringify(this.version)},` +
            '"capabilities":{"tools":{…},"resources":{}},' +
            '"serverInfo":{"name":"ecl-mcp","version":"…",…},…}}');
        await this.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    },
    // Calls from now on are of the era without initialize.
    modern(rest) {
        this.running();
        this.version = MODERN;
        this.capabilities = rest ? JSON.parse(rest) : {};
    },
    // The one or the other, in the version of "each".
    async open(rest) {
        if (this.each === MODERN)
            VERBS.modern.call(this, rest);
        else
            await VERBS.init.call(this, `${this.each} ${rest}`);
    },

    // --- calls ---

    async eval(rest, step) {
        await this.call(step, rest, text => {
            const [options, code] = leadingJson(text);
            return { tool: 'evaluate-lisp', show: code,
                args: { code, ...options } };
        });
    },
    async call(rest, step) {
        await this.call(step, rest, text => {
            const [, tool, json] = /^(\S+)\s*([^]*)$/.exec(text);
            return { tool, args: json ? JSON.parse(json) : {},
                show: `(${tool}) ${json}` };
        });
    },
    // The user is asked about a call: the | lines are the message, the words
    // behind the @NAME the fields of the form.
    async asked(rest, step) {
        const [name, ...fields] = words(rest);
        const { message, requestedSchema } = await this.asked(name.slice(1));
        const lines = (step.text ?? ['…'])
            .map(line => expand(line, this.names));
        if (!matchLines(lines, message, this.names))
            throw new Fault(`asked\n${cut(message).replace(/^/gm, '| ')}\n` +
                `expected\n${lines.join('\n').replace(/^/gm, '| ')}`);
        const found = Object.keys(requestedSchema.properties);
        if (fields.length && fields.join() !== found.join())
            throw new Fault(`the form has ${found}`);
        this.show('=', 'The user is asked:', message);
    },
    // The user fills the form with a JSON object, or: decline, cancel, error.
    async say(rest) {
        const [, name, what] = /^@(\S+) ([^]*)$/.exec(rest);
        const filled = { result: { action: 'accept' } };
        if (what === 'error')
            return this.say(name,
                { error: { code: -32603, message: 'no user' } });
        if (what === 'decline' || what === 'cancel')
            filled.result.action = what;
        else
            filled.result.content = JSON.parse(what);
        return this.say(name, filled);
    },
    // The question of the call is taken back.
    async withdrawn(rest) {
        const { id } = this.questions.get(rest.slice(1));
        await VERBS['<*'].call(this, '{"jsonrpc":"2.0",' +
            '"method":"notifications/cancelled",' +
            `"params":{"requestId":${JSON.stringify(id)},"reason":"…"}}`);
    },
    // A file holds these lines, and nothing else; or is not there.
    holds(rest, step) {
        const text = fs.readFileSync(path.join(this.folder, rest), 'utf8');
        const wanted = (step.text ?? []).map(line => line + '\n').join('');
        if (text !== wanted)
            throw new Fault(`${rest} holds\n${cut(text)}`);
    },
    // The lines of a file fit these patterns, JSON; "*" in its name is any text
    // and fits one file.
    records(rest, step) {
        const lines = fs.readFileSync(onlyFile(path.join(this.folder, rest)), 'utf8')
            .replace(/\n$/, '').split('\n');
        const wanted = step.text ?? [];
        if (lines.length !== wanted.length)
            throw new Fault(`${rest} has ${lines.length} lines\n` +
                cut(lines.join('\n')));
        for (const [i, line] of lines.entries()) {
            const wrong = match(parsePattern(wanted[i]), parseJson(line),
                `line ${i + 1}`, this.names);
            if (wrong)
                throw new Fault(`${wrong}\nin ${cut(line)}`);
        }
    },
    missing(rest) {
        if (fs.existsSync(path.join(this.folder, rest)))
            throw new Fault(`there is ${rest}`);
    },
    async cancel(rest) {
        await this.send(JSON.stringify({ jsonrpc: '2.0',
            method: 'notifications/cancelled',
            params: { requestId: rest.replace('@', ''), reason: 'a test' } }));
    },
    // The request with this id, JSON or @NAME, gets no answer, ever.
    none(rest) {
        const key = rest.replace(/^@(.*)/, '"$1"');
        if (!this.sent.get(key))
            throw new Fault(`no request ${key} waits`);
        this.silent.add(key);
        this.sent.set(key, 0);
    },
    async alive() {
        await this.alive();
    },
    // The same after every answer from here on.
    recheck() {
        this.recheck = true;
    },

    ...editorWords({ Fault, cut }),

    // --- the program from outside ---

    async close() {
        this.running().look();
        this.peer.child.stdin.end();
    },
    // Our reading end of its stdout.
    async hangup() {
        this.running().look();
        this.peer.child.stdout.destroy();
        this.deaf = true;
    },
    // We stop reading; go on; wait until it has stopped reading, too.
    pause() {
        this.running().child.stdout.pause();
        this.paused = true;
    },
    resume() {
        this.peer.child.stdout.resume();
        this.paused = false;
    },
    async stall() {
        const { stdin } = this.peer.child;
        let last = -1;
        let still = 0;
        if (!await poll(() => {
            still = stdin.writableLength === last ? still + 1 : 0;
            last = stdin.writableLength;
            return still === 50;
        }, this.seconds) || !last)
            throw new Fault('it reads on and on');
    },
    async signal(rest) {
        this.running().look();
        const front = this.process('front'); // none when it has ended
        if (front)
            kill(front.pid, rest);
    },
    async kill(rest) {
        const victim = await this.present(rest);
        this.peer.look();
        kill(victim.pid, 'KILL');
        if (!await poll(() => !lives(victim), this.seconds))
            throw new Fault(`${rest} survived SIGKILL`);
    },
    async exit(rest) {
        const [, status, seconds] = /^(\S+)(?: within (\S+))?$/.exec(rest);
        await this.exit(status, +(seconds ?? 5));
    },
    async wait(rest) {
        const [what, name] = words(rest);
        const probe = {
            file: () => fs.existsSync(path.join(this.folder, name)),
            process: () => this.process(name),
        }[what];
        if (!await poll(probe, this.seconds))
            throw new Fault(`${this.seconds} s passed without ${rest}`);
    },
    // A line on stderr, which counts once.
    async log(rest) {
        const seen = () => {
            const at = this.peer.log.findIndex(
                line => matchText(rest, line, this.names));
            return at >= 0 && this.peer.log.splice(at, 1);
        };
        if (!await this.peer.until(seen, this.seconds))
            throw new Fault(`no such line on stderr: ${rest}\n` +
                cut(this.peer.log.join('\n')));
    },
    // memory ROLE below SIZE: the most it ever held.
    async memory(rest) {
        const [, role, size, unit] = /^(\w+) below (\d+)([kMG])$/.exec(rest);
        const { pid } = await this.present(role);
        const most = memory(pid, 'VmHWM') / 1024;
        if (!(most > 0 && most < size * UNIT[unit]))
            throw new Fault(`${role} held ${most.toFixed(1)}M`);
    },
    // Lines of a program that was run: | lines follow.
    async prints(rest, step) {
        await this.peer.until(() => this.peer.closed, this.seconds);
        const text = this.arrived.splice(0).map(line => line.text).join('\n');
        if (!matchLines(step.text, text, this.names))
            throw new Fault(`printed\n${text}\nexpected\n${step.text.join('\n')}`);
    },
};
