// SPDX-License-Identifier: GPL-3.0-or-later
// assault.mjs: makes an attack of attacks.mjs in a session of its own. Whatever
// it does, its call is answered, so is the next one, the session can be restored
// to what it was, and closed; nothing is left of it.
import { Fault, cut } from '../support/fault.mjs';
import { descendants, processFault } from './whole.mjs';

// What the next call may find: its value, perhaps behind a notice that the image
// was replaced, or that code of the session is broken.
const ANSWERED = /^=> 42$|^\[ERROR\] /m;

// Seconds within which each call is answered: an image that must be copied has
// 30, and then what is left of it is ended.
const PATIENCE = 60;

// An answer to a call that the server has understood.
const POSSIBLE = /^(?!Invalid params)/;

// One session, and the calls to it.
class Session {
    constructor(player, name) {
        this.player = player;
        this.name = name;
    }

    // Calls TOOL; returns the text of the answer, which must come.
    async call(tool, args) {
        await this.player.step({ at: 0, verb: 'call', text: ['…'],
            rest: `${tool} ${JSON.stringify({ session: this.name, ...args })}` });
        return this.player.answered.text;
    }

    evaluate(code, timeout) {
        return this.call('evaluate-lisp', { code, timeout });
    }
}

function expect(what, text, pattern) {
    if (!pattern.test(text))
        throw new Fault(`${what}: not ${pattern}:\n${cut(text)}`);
}

export async function assault(player, attack) {
    const { code, told, before, then = [], seconds = 5, next = ANSWERED,
        lost } = attack;
    player.seconds = PATIENCE;
    player.attacks = (player.attacks ?? 0) + 1;
    const session = new Session(player, `attack-${player.attacks}`);

    await session.evaluate('(setf ecl-mcp::*native* nil) ' +
        '(load "attacks.lisp") (defvar *kept* 41)', 30);
    const keeper = +/=> (\d+)/.exec(
        await session.evaluate('(f "getppid" :int)', 30))[1];
    await session.call('checkpoint-session', { name: 'safe' });
    if (before)
        expect('before', await session.evaluate(before, 30), /^=> /m);
    expect('the attack', await session.evaluate(code, seconds), told);
    for (const [tool, args, pattern = POSSIBLE] of then)
        expect(tool, await session.call(tool, args), pattern);
    expect('the next call', await session.evaluate('(1+ *kept*)', 3), next);
    const were = descendants(player.peer, keeper);
    await session.call('restore-session', { name: 'safe' });
    if (!lost)
        expect('the restored session',
            await session.evaluate('(1+ *kept*)', 30), /^=> 42$/m);
    were.push(...descendants(player.peer, keeper));
    if (!were.length)
        throw new Fault('the session had no processes');
    await session.call('reset-session', { close: true });
    const fault = await processFault(player.peer, were);
    if (fault)
        throw new Fault(fault);
}
