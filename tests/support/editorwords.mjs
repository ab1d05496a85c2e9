// SPDX-License-Identifier: GPL-3.0-or-later
// editorwords.mjs: the words of transcripts that play an editor; "this" is the
// player. Each player has one editor at most.
import path from 'node:path';
import { Editor } from './editor.mjs';
import { Fault, cut } from './fault.mjs';
import { match, member, parseJson, parsePattern } from './pattern.mjs';

// Takes the first message of METHOD that the editor hears.
async function hear(player, method) {
    const { editor, seconds } = player;
    const { heard } = editor;
    const found = await editor.until(() => {
        const at = heard.findIndex(
            ({ message }) => message.method === method);
        return at < 0 ? undefined : heard.splice(at, 1)[0];
    }, seconds);
    if (editor.faults.length)
        throw new Fault(editor.faults.join('\n'));
    if (!found)
        throw new Fault(`${seconds} s passed without ${method}; ` +
            `heard ${cut(heard.map(({ line }) => line).join('\n'))}`);
    return found;
}

// Waits until PROBE of EDITOR is true.
async function has(editor, seconds, what, probe) {
    if (!await editor.until(probe, seconds))
        throw new Fault(`${seconds} s passed without ${what}`);
}

export const editorWords = {
    // Without a word, an editor starts to listen; a word changes its state.
    async editor(rest) {
        const states = {
            deaf: () => { this.editor.deaf = true; },
            attentive: () => { this.editor.deaf = false; },
            pause: () => this.editor.pause(),
            resume: () => this.editor.resume(),
            gone: () => this.editor.close(),
            connected: () => has(this.editor, this.seconds, 'a connection',
                () => this.editor.connected),
            dropped: () => has(this.editor, this.seconds,
                'the loss of its connection',
                () => !this.editor.connected),
        };
        if (rest)
            return states[rest]();
        this.editor?.close();
        this.editor = new Editor(path.join(this.folder, 'emacs.sock'));
        this.env.ECL_MCP_EMACS = this.editor.path;
        await this.editor.listen();
    },
    // The first message of this method that no step has taken yet fits the
    // params. With a @NAME, it is a request to which reply answers.
    async heard(rest) {
        const [, name, method, text] =
            /^(?:@(\S+) )?(\S+) ?([^]*)$/.exec(rest);
        const { message, line } = await hear(this, method);
        if (name)
            this.editorRequests.set(name, message.id);
        const wrong = match(parsePattern(text || '…'),
            member(parseJson(line), 'params'), method, this.names);
        if (wrong || (name && message.id === undefined))
            throw new Fault(`${wrong || 'no request'}\nin ${cut(line)}`);
        this.show('←', line);
    },
    // No message of this method is left.
    unheard(rest) {
        const found = this.editor.heard.find(
            ({ message }) => message.method === rest);
        if (found)
            throw new Fault(`heard ${cut(found.line)}`);
    },
    // Sends the result of a request that was heard; $PWD is the folder.
    reply(rest) {
        const [, name, text] = /^@(\S+) ([^]*)$/.exec(rest);
        const id = this.editorRequests.get(name);
        const [, error] = /^error ([^]*)$/.exec(text) ?? [];
        this.editor.send(JSON.stringify({ jsonrpc: '2.0', id,
            ...(error ? { error: { code: -32603, message: error } }
                : { result: JSON.parse(
                    text.replaceAll('$PWD', this.folder)) }) }));
    },
    // Sends a line as it stands.
    'editor>'(rest) {
        this.editor.send(rest);
    },
};
