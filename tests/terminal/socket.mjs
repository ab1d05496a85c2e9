// SPDX-License-Identifier: GPL-3.0-or-later
// socket.mjs: the socket for servers: an idle Emacs sleeps, and hears of what
// happens to its socket nevertheless.
import fs from 'node:fs';
import path from 'node:path';
import { check, kill, test, Terminal } from './terminal.mjs';

// An Emacs that starts may take this long until it has a Lisp.
const STARTS = 60;

const setUp = '(make-directory (setq ecl-mcp-workspace (expand-file-name "work" "~")))';

// Our timers: all but those of Emacs and of these tests.
const timers = `(cl-remove-if-not
    (lambda (timer) (string-match-p "ecl-mcp-[^t]"
        (format "%S" (timer--function timer))))
    (append timer-list timer-idle-list))`;

// How often the processor was given back, so how often Emacs woke up.
const wakeUps = emacs => Number(/^voluntary_ctxt_switches:\s*(\d+)/m
    .exec(fs.readFileSync(`/proc/${emacs.pid}/status`, 'utf8'))[1]);

test('socket: an Emacs with everything open has no timer, and sleeps', {
    load: ['cl-lib', 'ecl-mcp'], form: setUp, height: 48,
}, async emacs => {
    await emacs.keys('M-x');
    await emacs.type('ecl-mcp');
    await emacs.keys('Enter');
    await emacs.see(/^ {2}socket +~\/\.local\/state\/ecl-mcp\/emacs\.sock$/m, STARTS);
    await emacs.eval(`(progn (ecl-mcp-log) (ecl-mcp-repl)
        (find-file (expand-file-name "a.lisp" ecl-mcp-workspace))
        (ecl-mcp-mode) (insert "(list 1)") t)`);
    await emacs.keys('C-x', 'C-e');
    await emacs.see(/^=> \(1\)$/m, STARTS);
    await emacs.until(`(null ${timers})`, STARTS);
    // Nothing of ours comes back. The test itself wakes it a few times, Emacs
    // does by its own idle timers.
    const before = wakeUps(emacs);
    await new Promise(done => setTimeout(done, 4000));
    const woke = wakeUps(emacs) - before;
    check(await emacs.eval(timers) === 'nil', 'a timer came back');
    check(woke < 20, `Emacs woke up ${woke} times`);
    // The file goes: it is made again, and Emacs sleeps again.
    const socket = path.join(emacs.home, '.local/state/ecl-mcp/emacs.sock');
    for (const remove of [() => fs.rmSync(socket),
        () => fs.renameSync(socket, `${socket}.old`),
        () => fs.rmSync(path.dirname(socket), { recursive: true })]) {
        remove();
        await emacs.until(`(and (file-exists-p "${socket}") (ecl-mcp-socket--works-p)
            (null ${timers}))`, STARTS);
    }
    // Off is off.
    await emacs.eval('(progn (ecl-mcp-stop) t)');
    await emacs.until(`(not (or ecl-mcp-socket--watch ecl-mcp-socket--owner ${timers}))`);
    check(!fs.existsSync(socket), 'the socket is left');
});

test('socket: a second Emacs sleeps until the first has ended', {
    load: ['cl-lib', 'ecl-mcp'], form: '(progn (ecl-mcp-global-mode) t)',
}, async first => {
    const socket = path.join(first.home, '.local/state/ecl-mcp/emacs.sock');
    const second = await Terminal.start({ load: ['cl-lib', 'ecl-mcp'],
        env: { ECL_MCP_EMACS: socket }, form: '(progn (ecl-mcp-global-mode) t)' });
    try {
        await second.see(/Another Emacs has the socket/);
        await second.until(`(and ecl-mcp-socket--owner (null ${timers}))`, STARTS);
        // Silence is no reason to send it away.
        check(await first.eval('(length (ecl-mcp-socket--processes))') === '1', 'waits');
        // It may take it, and then the first one waits.
        await second.keys('M-x');
        await second.type('ecl-mcp-take-socket');
        await second.keys('Enter');
        await second.see(/Servers that connect from now on ask this Emacs/);
        await first.until('(and ecl-mcp-socket--owner (not ecl-mcp-socket--server))', STARTS);
        await first.until(`(null ${timers})`, STARTS);
        check(await second.eval('(ecl-mcp-socket--works-p)') !== 'nil', 'taken back');
        await first.eval('(progn (ecl-mcp-take-socket) t)');
        await second.until(`(and ecl-mcp-socket--owner (null ${timers}))`, STARTS);
        kill(first.pid, 'KILL');
        await second.until('(ecl-mcp-socket--works-p)', STARTS);
        await second.until(`(null ${timers})`, STARTS);
    } finally {
        await second.end();
    }
});
