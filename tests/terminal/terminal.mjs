// SPDX-License-Identifier: GPL-3.0-or-later
// terminal.mjs: an Emacs in a real terminal, which tmux draws: keys go in as a
// person types them, the text on the screen comes out, and a socket beside the
// keyboard tells what Emacs knows. Of ecl-mcp this file knows only where its
// Lisp files are.
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kill, scratchFolder } from '../support/peer.mjs';
import { Control } from './tmux.mjs';

const run = promisify(execFile);
const HERE = path.dirname(fileURLToPath(import.meta.url));
export const ROOT = path.resolve(HERE, '../..');
const COMPILED = path.join(ROOT, 'build/tests/eln-cache');
const SECONDS = 60; // that an awaited event may take on a busy machine
const READ = 60; // seconds that the command of a key may take
const QUIT = 2; // seconds in which C-g is read, unless it has ended something
const GLANCE = 15; // ms between two looks at the screen

const running = new Set();

// However this process ends, it first ends all processes that it has started,
// while its folder, which has the sockets of tmux, still exists.
process.on('exit', () => {
    for (const terminal of running) {
        spawnSync('tmux', ['-L', terminal.name, 'kill-server'],
            { env: terminal.env });
        if (terminal.pid)
            kill(terminal.pid, 'KILL');
    }
});

const folder = scratchFolder('ecl-mcp-terminal');
let started = 0, titles = 0;

// Registered tests; tests/terminal/run.mjs runs them.
export const tests = [];

// A test called NAME: BODY gets a Terminal that is started with OPTIONS (those
// of Terminal.start) and ended afterwards.
export function test(name, options, body) {
    tests.push(body ? { name, options, body } : { name, options: {}, body: options });
}

export function check(condition, text) {
    if (!condition)
        throw new Error(text);
}

export { kill };
export const pause = ms => new Promise(done => setTimeout(done, ms));

// Makes native code of what each Emacs in a terminal loads before it can be told
// not to compile: otherwise each would, beside its test.
export function prepare() {
    const home = path.join(folder, 'home');
    fs.mkdirSync(COMPILED, { recursive: true });
    fs.mkdirSync(path.join(home, '.emacs.d'), { recursive: true });
    fs.symlinkSync(COMPILED, path.join(home, '.emacs.d/eln-cache'));
    spawnSync(process.env.EMACS ?? 'emacs', ['-Q', '--batch', '--eval', `(when (and
        (fboundp 'native-comp-available-p) (native-comp-available-p))
      (let ((file (locate-library "term/xterm.el")))
        (unless (file-exists-p (comp-el-to-eln-filename file))
          (native-compile file))))`], { env: { PATH: process.env.PATH, HOME: home } });
}

// Gives an Emacs with the home HOME a copy of its own of that native code: an
// Emacs that loads a file of it twice renames the file meanwhile (term/screen
// loads term/xterm twice), and no other may look for it then.
function copyCompiled(home) {
    fs.mkdirSync(path.join(home, '.emacs.d'), { mode: 0o700 });
    fs.cpSync(COMPILED, path.join(home, '.emacs.d/eln-cache'), { recursive: true });
}

// The arguments of tmux for KEY: a name of tmux (C-c, Enter, M-x, Space) or
// {text} that is typed as it is.
function inTmux(key) {
    return typeof key === 'string' ? [key] : ['-l', '--', key.text];
}

export class Terminal {
    // Starts `emacs -nw -Q` in a screen of WIDTH and HEIGHT, with LOAD (features
    // to require), then FORM evaluated. HOME, the folder of this Emacs, is
    // empty. With DAEMON it is one without frames; see `client`.
    static async start({ width = 80, height = 24, load = [], form = 'nil',
        env = {}, daemon = false } = {}) {
        const terminal = new Terminal();
        terminal.name = `ecl-mcp-${process.pid}-${++started}`;
        terminal.home = path.join(folder, String(started));
        terminal.clients = 0;
        fs.mkdirSync(terminal.home, { mode: 0o700 }); // a daemon insists
        copyCompiled(terminal.home);
        terminal.env = {
            PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: terminal.home,
            TMUX_TMPDIR: folder, ...env,
        };
        running.add(terminal);
        const command = [process.env.EMACS ?? 'emacs',
            daemon ? `--fg-daemon=${terminal.server()}` : '-nw', '-Q',
            '-l', path.join(ROOT, 'tests/support/quiet.el'),
            '-L', path.join(ROOT, 'elisp'),
            '-l', path.join(HERE, 'terminal.el'),
            '--eval', `(ecl-mcp-test-listen ${lisp(terminal.socket())})`,
            ...load.flatMap(feature => ['--eval', `(require '${feature})`])];
        const server = ['-L', terminal.name, '-f', '/dev/null'];
        await run('tmux', [...server, 'start-server',
            ';', 'set-option', '-g', 'status', 'off',
            ';', 'set-option', '-sg', 'escape-time', '0',
            ';', 'set-option', '-g', 'history-limit', '0',
            ';', 'new-session', '-d', '-x', String(width), '-y', String(height),
            // Under a shell: tmux lets no child of its own stay stopped.
            `${command.map(quoted).join(' ')}; true`], { env: terminal.env });
        terminal.control = new Control(server, terminal.env);
        try {
            await terminal.connect();
            terminal.pid = Number(await terminal.eval('(emacs-pid)'));
            // Its command loop runs: the start is over.
            await terminal.until('(and after-init-time (not (input-pending-p)))');
            await terminal.eval(form);
        } catch (error) {
            error.message += `\n${await terminal.look().catch(() => '')}`;
            await terminal.end();
            throw error;
        }
        return terminal;
    }

    socket() {
        return path.join(this.home, 'test.sock');
    }

    server() {
        return path.join(this.home, 'server');
    }

    // Opens a frame of a daemon on a terminal of its own, and shows it: keys go
    // to that terminal until `switchTo`. Returns its number.
    async client() {
        const number = await this.tmux('new-window', '-P', '-F',
            '#{window_index}',
            `emacsclient -nw -s ${quoted(this.server())}; true`);
        await this.until(`(> (length (frame-list)) ${++this.clients})`);
        return Number(number);
    }

    switchTo(number) {
        return this.tmux('select-window', '-t', `:${number}`);
    }

    tmux(...args) {
        return this.control.run(...args);
    }

    async connect() {
        const end = performance.now() + 1000 * SECONDS;
        for (;;) {
            const socket = net.connect(this.socket());
            try {
                await once(socket, 'connect');
                socket.on('error', () => {});
                this.channel = socket;
                break;
            } catch (error) {
                if (performance.now() > end)
                    throw new Error(`Emacs does not start: ${error.message}`);
                await pause(GLANCE);
            }
        }
        this.answers = [];
        let rest = '';
        this.channel.setEncoding('utf8');
        this.channel.on('data', chunk => {
            const lines = (rest + chunk).split('\n');
            rest = lines.pop();
            for (const line of lines)
                this.answers.shift()?.(JSON.parse(line));
        });
        this.channel.on('close', () => {
            for (const answer of this.answers.splice(0))
                answer({ error: 'Emacs has ended' });
        });
    }

    // The value of FORM in Emacs, printed by prin1. The command loop takes no
    // part in it: no key is read for it, none is lost.
    eval(form, seconds) {
        const value = this.#ask(form, seconds).then(answer => answer.value);
        value.catch(() => {}); // for callers that do not wait for it
        return value;
    }

    // The value of a form that returns a string, as it is.
    async text(form, seconds) {
        return (await this.#ask(form, seconds)).text;
    }

    async #ask(form, seconds = SECONDS) {
        let timer;
        const answer = await new Promise(done => {
            this.answers.push(done);
            timer = setTimeout(() => done({
                error: `no answer from Emacs after ${seconds} s` }), 1000 * seconds);
            this.channel.write(`${JSON.stringify(form)}\n`);
        });
        clearTimeout(timer);
        if (answer.error)
            throw new Error(`${answer.error}\nin ${form.slice(0, 200)}`);
        return answer;
    }

    // Waits until FORM is not nil and returns its value.
    async until(form, seconds = SECONDS) {
        const end = performance.now() + 1000 * seconds;
        for (;;) {
            const value = await this.eval(form, Math.max(seconds, SECONDS));
            if (value !== 'nil')
                return value;
            if (performance.now() > end)
                throw new Error(`still nil after ${seconds} s: ${form}\n` +
                    await this.look());
            await pause(GLANCE);
        }
    }

    // Checks that FORM is nil now and for SECONDS.
    async never(form, seconds) {
        const end = performance.now() + 1000 * seconds;
        do {
            const value = await this.eval(form);
            if (value !== 'nil')
                throw new Error(`${value}: ${form}\n${await this.look()}`);
            await pause(GLANCE);
        } while (performance.now() < end);
    }

    // Types keys, each when Emacs has done what the one before said, and waits
    // until what all of them have changed is on the screen: what is seen next is
    // not older, and no key is lost because Emacs throws away what was typed before
    // it tells of an error or quits. {text} stands for typed text.
    async keys(...keys) {
        for (const key of keys)
            await this.#done(() => this.now(key), key.text ? [...key.text].length : 1,
                key === 'C-g');
        await this.shown();
    }

    // Lets SEND send COUNT events or more, and waits until Emacs has read them and
    // done what they say. It may have quit without reading the key for that.
    async #done(send, count, quits) {
        const before = Number(await this.eval('(ecl-mcp-test-count)'));
        await send();
        await this.until(`(ecl-mcp-test-read-p ${before + count})`, quits ? QUIT : READ)
            .catch(error => quits || Promise.reject(error));
        await this.until('(ecl-mcp-test-read-p 0)', READ);
    }

    // Sends keys in one go, whatever Emacs does: for tests of keys that come while
    // Emacs is busy, or too soon. When this returns, the terminal has them.
    async now(...keys) {
        await Promise.all(keys.map(key => this.tmux('send-keys', ...inTmux(key))));
        // tmux has written them when it takes the next command.
        await this.tmux('display-message', '-p', '');
    }

    // Types TEXT, and with MS a character each so many milliseconds, as people do
    // who do not wait for Emacs.
    async type(text, ms = 0) {
        if (!ms)
            return this.keys({ text });
        await this.#done(async () => {
            for (const piece of text) {
                await this.now({ text: piece });
                await pause(ms);
            }
        }, [...text].length);
        await this.shown();
    }

    // Waits until the terminal shows what Emacs has written: all of it comes before
    // the title that Emacs writes now.
    async shown() {
        const title = `shown ${++titles}`;
        if (await this.eval(`(ecl-mcp-test-title ${lisp(title)})`) !== 'nil')
            await this.titled(title);
    }

    // Waits until the terminal has TITLE, which Emacs can write while it is busy.
    async titled(title) {
        const end = performance.now() + 1000 * SECONDS;
        while ((await this.tmux('display-message', '-p', '#{pane_title}')).trim() !== title) {
            if (performance.now() > end)
                throw new Error(`no title ${title}\n${await this.look()}`);
            await pause(1);
        }
    }

    // Sends bytes as the terminal does, such as those for a lost focus.
    async bytes(text) {
        await this.tmux('send-keys', '-H',
            ...[...Buffer.from(text)].map(byte => byte.toString(16)));
        await this.tmux('display-message', '-p', '');
    }

    // The same; waits until Emacs has done what they say, and that is on the screen.
    async strokes(text) {
        await this.#done(() => this.bytes(text), 1);
        await this.shown();
    }

    async focus(here) {
        await this.bytes(here ? '\x1b[I' : '\x1b[O');
    }

    // The lines on the screen.
    screen() {
        return this.tmux('capture-pane', '-p');
    }

    // The same for human readers: several empty lines become one.
    async look() {
        return (await this.screen()).replace(/\n(?:[ \t]*\n){2,}/g, '\n\n');
    }

    // Waits until the screen matches PATTERN and returns the match.
    async see(pattern, seconds = SECONDS) {
        const end = performance.now() + 1000 * seconds;
        for (;;) {
            const screen = await this.screen();
            const match = screen.match(pattern);
            if (match)
                return match;
            if (performance.now() > end)
                throw new Error(`not on the screen after ${seconds} s: ` +
                    `${pattern}\n${screen}`);
            await pause(GLANCE);
        }
    }

    // Waits until nothing on the screen matches PATTERN.
    async unseen(pattern, seconds = SECONDS) {
        const end = performance.now() + 1000 * seconds;
        for (;;) {
            const screen = await this.screen();
            if (!pattern.test(screen))
                return;
            if (performance.now() > end)
                throw new Error(`still on the screen after ${seconds} s: ` +
                    `${pattern}\n${screen}`);
            await pause(GLANCE);
        }
    }

    async end() {
        running.delete(this);
        this.channel?.destroy();
        await this.tmux?.('kill-server').catch(() => {});
        if (this.pid)
            kill(this.pid, 'KILL');
    }
}

// STRING as a literal of Emacs Lisp.
export function lisp(string) {
    return `"${string.replace(/["\\]/g, '\\$&')}"`;
}

function quoted(word) {
    return `'${String(word).replace(/'/g, `'\\''`)}'`;
}

export async function endAll() {
    await Promise.all([...running].map(terminal => terminal.end()));
}
