// SPDX-License-Identifier: GPL-3.0-or-later
// whole.mjs: what must be whole after each hostile evaluation, and how one sees
// that it is not: the other session, the log of calls, the temporary folder, and
// the processes. Each check returns what is wrong, or ''.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Fault } from '../support/fault.mjs';
import { poll } from '../support/peer.mjs';
import { info, lives } from '../support/proc.mjs';

// Seconds within which processes that were ended must be gone.
const GONE = 60;

// What a session that nobody attacks has, and how it is seen. Its image must
// still be the same process.
export const OTHER = 'eval {"session":"other"} ' +
    '(defvar *mine* (list (ext:getpid) 1 2 3))\n| => *MINE*\n';
export const OTHER_CHECK = 'eval {"session":"other"} ' +
    '(list (= (ext:getpid) (first *mine*)) (rest *mine*))\n| => (T (1 2 3))\n';

const auditFolder = home => path.join(home, '.local/state/ecl-mcp/audit');

// Lines of the log of calls that are not one JSON object each, and, when CALLS
// is given, their number.
export function logFault(home, calls) {
    let lines = 0;
    for (const name of fs.readdirSync(auditFolder(home))) {
        const text = fs.readFileSync(path.join(auditFolder(home), name), 'utf8');
        if (text && !text.endsWith('\n'))
            return `${name} ends within a line`;
        for (const line of text.split('\n').slice(0, -1)) {
            lines++;
            try {
                if (!JSON.parse(line).tool)
                    return `${name} has a line without a tool: ${line}`;
            } catch {
                return `${name} has a line that is no JSON: ${line}`;
            }
        }
    }
    return calls === undefined || lines === calls ? ''
        : `the log of calls has ${lines} lines for ${calls} calls`;
}

// What the server leaves in the folder for temporary files once it has ended: the
// folder for those of all servers of the user may stay, empty.
export function temporaryFault(folder) {
    const common = `ecl-mcp-${process.getuid()}`;
    const left = fs.readdirSync(folder).filter(name => name !== common ||
        fs.readdirSync(`${folder}/${name}`).length);
    return left.length ? `left in the temporary folder: ${left.join(' ')}` : '';
}

// The process KEEPER and all that descends from it.
export function descendants(peer, keeper) {
    const all = new Map(peer.look().map(p => [p.pid, p]));
    const descends = process => {
        for (let p = process; p; p = all.get(p.parent))
            if (p.pid === keeper)
                return true;
        return false;
    };
    return [...all.values()].filter(descends);
}

// Of the processes that belong to PEER, those that are none of its own: neither
// it, nor the zygote, nor a keeper, nor below one.
function strays(peer) {
    const all = new Map(peer.look().map(p => [p.pid, p]));
    const front = peer.front();
    const belongs = process => {
        for (let p = process; p; p = all.get(p.parent))
            if (p.pid === front || p.name === 'ecl-mcp-keeper')
                return true;
        return false;
    };
    return [...all.values()].filter(p => !belongs(p));
}

// The processes WERE of a session that is closed, and strays.
export async function processFault(peer, were, seconds = GONE) {
    const left = () => [...were.filter(lives), ...strays(peer)];
    if (await poll(() => left().length === 0, seconds))
        return '';
    return 'left of the session: ' +
        left().map(p => `${p.pid} (${info(p.pid)?.name})`).join(' ');
}

// The control: does what no evaluation could do, and each check must see it.
// PLAY plays a transcript on PLAYER; DEFINE and CHECK are those of all.
async function harm(player, play, define, check) {
    const faults = [];
    const see = (what, fault) => fault || faults.push(`not seen: ${what}`);

    await play(player, define);
    await play(player, check); // all is whole
    see('a number of calls', logFault(player.home, player.made + 1));
    const [log] = fs.readdirSync(auditFolder(player.home));
    const whole = fs.readFileSync(path.join(auditFolder(player.home), log));
    for (const [what, text] of [['half a line', '{"tool":"x"'],
        ['a line of another kind', '[1]\n'], ['no JSON', 'tool\n']]) {
        fs.appendFileSync(path.join(auditFolder(player.home), log), text);
        see(what, logFault(player.home));
        fs.writeFileSync(path.join(auditFolder(player.home), log), whole);
    }
    const stray = spawn('sleep', ['1000'], { stdio: 'ignore',
        env: Object.fromEntries([player.peer.mark.split('=')]) });
    see('a process', await processFault(player.peer, [], 0.1));
    stray.kill('SIGKILL');
    if (await processFault(player.peer, []))
        faults.push('seen without reason: a process');
    fs.writeFileSync(path.join(player.env.TMPDIR, 'file'), '');
    see('a file', temporaryFault(player.env.TMPDIR));
    await player.step({ at: 0, verb: 'kill', rest: 'live' }); // of the other
    see('the other session', (await player.attempt(
        () => play(player, check)))?.message);
    return faults;
}

// Whether all harm is seen; prints what is not.
export async function control(player, play, define, check) {
    let faults = [];
    const fault = await player.attempt(async () => {
        faults = await harm(player, play, define, check);
        if (faults.length)
            throw new Fault(faults.join('\n'));
    });
    await player.end();
    console.log(fault ? `FAIL harm is seen\n    ${fault.message}`
        : 'ok   harm is seen');
    return !fault;
}
