// SPDX-License-Identifier: GPL-3.0-or-later
// proc.mjs: the processes of a server under test, as /proc shows them. They are
// found by an environment variable, which children inherit even when their
// parent is gone, and by descent.
import fs from 'node:fs';

const read = path => {
    try {
        return fs.readFileSync(path, 'latin1');
    } catch {
        return '';
    }
};

// {pid, parent, group, session, state, start, name}, or undefined when there is
// no process.
export function info(pid) {
    const stat = read(`/proc/${pid}/stat`);
    const end = stat.lastIndexOf(')');
    if (end < 0)
        return undefined;
    const fields = stat.slice(end + 2).split(' ');
    return {
        pid, name: stat.slice(stat.indexOf('(') + 1, end),
        state: fields[0], parent: +fields[1], group: +fields[2],
        session: +fields[3],
        start: +fields[19],
    };
}

// Whether PROCESS (from info) still runs; a zombie does not.
export function lives(process) {
    const now = info(process.pid);
    return now !== undefined && now.start === process.start &&
        now.state !== 'Z' && now.state !== 'X';
}

// Every live process that has MARK in its environment or descends from ROOT.
export function family(root, mark) {
    const all = new Map();
    for (const name of fs.readdirSync('/proc'))
        if (/^\d+$/.test(name)) {
            const process = info(+name);
            if (process && process.state !== 'Z' && process.state !== 'X')
                all.set(process.pid, process);
        }
    const descends = process => {
        for (let p = process; p; p = all.get(p.parent))
            if (p.pid === root)
                return true;
        return false;
    };
    return [...all.values()].filter(p => descends(p) ||
        read(`/proc/${p.pid}/environ`).includes(mark));
}

// Kilobytes from /proc/PID/status: VmRSS is now, VmHWM the most there was.
export function memory(pid, field) {
    const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm')
        .exec(read(`/proc/${pid}/status`));
    return found ? +found[1] : 0;
}

export const command = pid =>
    read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
