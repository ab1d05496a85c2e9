// SPDX-License-Identifier: GPL-3.0-or-later
// tmux.mjs: a client of tmux that stays: a command costs a line and no process.
import { spawn } from 'node:child_process';

const quoted = word => `'${String(word).replace(/'/g, `'\\''`)}'`;

export class Control {
    #waiting = [];
    #block = null; // of the answer that arrives
    #rest = '';
    #ended = '';

    // A client of the server that OPTIONS of tmux name, with the environment ENV.
    // It has no terminal, so that it neither gives a window its size nor a focus.
    constructor(options, env) {
        this.child = spawn('tmux', [...options, '-C', 'attach-session', '-f',
            'no-output,ignore-size'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
        this.child.stdin.on('error', () => {});
        this.child.stdout.setEncoding('utf8');
        this.child.stdout.on('data', chunk => {
            const lines = (this.#rest + chunk).split('\n');
            this.#rest = lines.pop();
            lines.forEach(line => this.#take(line));
        });
        this.child.on('error', error => this.#end(error.message));
        this.child.on('close', () => this.#end('tmux has ended'));
    }

    // An answer is what stands between %begin and %end or %error, which repeat the
    // numbers of %begin; the last one is 1 if this client gave the command.
    #take(line) {
        const [, word, numbers] = line.match(/^%(begin|end|error) (\d+ \d+ \d+)$/) ?? [];
        if (!this.#block) {
            if (word === 'begin')
                this.#block = { numbers, lines: [] };
        } else if (word && word !== 'begin' && numbers === this.#block.numbers) {
            const text = this.#block.lines.map(each => `${each}\n`).join('');
            this.#block = null;
            if (numbers.endsWith(' 1'))
                this.#waiting.shift()?.(word === 'end' ? { text } : { error: text });
        } else {
            this.#block.lines.push(line);
        }
    }

    #end(why) {
        this.#ended ||= why;
        for (const answer of this.#waiting.splice(0))
            answer({ error: this.#ended });
    }

    // Runs one command of tmux and returns what it says.
    async run(...words) {
        const { text, error } = await new Promise(done => {
            if (this.#ended)
                return done({ error: this.#ended });
            this.#waiting.push(done);
            this.child.stdin.write(`${words.map(quoted).join(' ')}\n`);
        });
        if (error !== undefined)
            throw new Error(`tmux ${words.join(' ')}: ${error}`);
        return text;
    }

    end() {
        this.child.stdin.end();
    }
}
