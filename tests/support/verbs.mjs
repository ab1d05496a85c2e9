// SPDX-License-Identifier: GPL-3.0-or-later
// verbs.mjs: what each verb of a transcript does; "this" is the player.
// tests/server/README.md describes the verbs.
import fs from 'node:fs';
import path from 'node:path';
import { editorWords } from './editorwords.mjs';
import { Fault, cut } from './fault.mjs';
import { match, matchLines, matchText, parseJson, parsePattern }
    from './pattern.mjs';
import { PATIENCE, kill, poll } from './peer.mjs';
import { lives, memory } from './proc.mjs';
import { toolsFaults } from './toolrules.mjs';
import { MODERN, expand, unescapeBytes, words } from './transcript.mjs';

const LEGACY = '2025-11-25';
const UNIT = { k: 1 / 1024, M: 1, G: 1024 };

// {…} at the start of TEXT, and the rest.
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

export const VERBS = {
    // The text of a heading, for people who read the conversation.
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
    // This command starts the program.
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
        this.seconds = +rest < 1 ? +rest : Math.max(+rest, PATIENCE);
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
            // while this side does not read, the program may not, either
            return this.paused || sent;
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
    // Any line that no step has taken yet.
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
            '"capabilities":{"tools":{…},"resources":{},"prompts":{},…},' +
            '"serverInfo":{"name":"ecl-mcp","version":"…",…},…}}');
        await this.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    },
    // Later calls are of the era without initialize.
    modern(rest) {
        this.running();
        this.version = MODERN;
        this.capabilities = rest ? JSON.parse(rest) : {};
    },
    // init or modern, according to the version of "each".
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
    // after the @NAME the fields of the form.
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
    // The user fills the form with a JSON object; or: decline, cancel, error.
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
    // The question of the call is withdrawn.
    async withdrawn(rest) {
        const { id } = this.questions.get(rest.slice(1));
        await VERBS['<*'].call(this, '{"jsonrpc":"2.0",' +
            '"method":"notifications/cancelled",' +
            `"params":{"requestId":${JSON.stringify(id)},"reason":"…"}}`);
    },
    // A file holds these lines and nothing else; or is missing.
    holds(rest, step) {
        const text = fs.readFileSync(path.join(this.folder, rest), 'utf8');
        const wanted = (step.text ?? []).map(line => line + '\n').join('');
        if (text !== wanted)
            throw new Fault(`${rest} holds\n${cut(text)}`);
    },
    // The lines of a file fit these patterns, JSON; "*" in its name is any text
    // and fits one file. The last line may come a moment after its answer.
    async records(rest, step) {
        const wanted = step.text ?? [];
        const read = () =>
            fs.readFileSync(onlyFile(path.join(this.folder, rest)), 'utf8')
                .split('\n').slice(0, -1);
        let lines = read();
        for (let i = 0; i < 500 && lines.length < wanted.length; i++) {
            await new Promise(resolve => setTimeout(resolve, 10));
            lines = read();
        }
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
            throw new Fault(`${rest} exists`);
    },
    async cancel(rest) {
        await this.send(JSON.stringify({ jsonrpc: '2.0',
            method: 'notifications/cancelled',
            params: { requestId: rest.replace('@', ''), reason: 'a test' } }));
    },
    // The request with this id, JSON or @NAME, never gets an answer.
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

    ...editorWords,

    // --- the program from outside ---

    async close() {
        this.running().look();
        this.peer.child.stdin.end();
    },
    // Closes the reading end of its stdout.
    async hangup() {
        this.running().look();
        this.peer.child.stdout.destroy();
        this.deaf = true;
    },
    // Stops reading; reads on; waits until the program has stopped reading,
    // too.
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
            throw new Fault('it does not stop reading');
    },
    async signal(rest) {
        const [signal, role] = words(rest);
        this.running().look();
        const target = role ? await this.present(role)
            : this.process('front'); // none when it has ended
        if (target)
            kill(target.pid, signal);
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
    // memory ROLE below SIZE: the most that it ever held.
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
