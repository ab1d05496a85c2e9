// SPDX-License-Identifier: GPL-3.0-or-later
// faulty.mjs: programs that do what no program under test may do. The player
// must notice each of them, or else its "passed" means nothing.

const PING = '> {"jsonrpc":"2.0","id":1,"method":"ping"}\n';
const PONG = '< {"jsonrpc":"2.0","id":1,"result":{}}\n';
const answer = id => `echo '{"jsonrpc":"2.0","id":${id},"result":{}}'`;
const READ = 'read line';
const REST = 'cat >/dev/null'; // until its input ends

// A shell SCRIPT, the transcript that is played with it, and the fault that
// must be FOUND.
export const FAULTY = [
    { script: `${READ}; echo hello; ${REST}`, source: PING + PONG,
        found: /not JSON/ },
    { script: `${READ}; printf '"\\377"\\n'; ${REST}`, source: PING + PONG,
        found: /not valid UTF-8/ },
    { script: `${READ}; ${answer(1)}; printf x; ${REST}`,
        source: PING + PONG, found: /no line end/ },
    { script: `${READ}; ${answer(1)}; ${answer(1)}; ${REST}`,
        source: PING + PONG, found: /does not wait for one/ },
    { script: `${READ}; ${answer('1.0')}; ${REST}`, source: PING + PONG,
        found: /does not wait for one/ },
    { script: `${READ}; ${answer(2)}; ${REST}`, source: PING + PONG,
        found: /does not wait for one/ },
    { script: `${READ}; ${REST}`, source: PING, found: /never answered/ },
    { script: `${READ}; ${REST}; ${answer(1)}`,
        source: `${PING}none 1\n`, found: /may get none/ },
    { script: `${READ}; ${answer(1)}; ${REST}; exit 3`, source: PING + PONG,
        found: /exit status 3/ },
    { script: `${READ}; ${answer(1)}; exec sleep 5`,
        source: `${PING}${PONG}close\nexit 0 within 0.2\n`,
        found: /still running/ },
    { script: `sleep 5 <&- >/dev/null 2>&1 & ${READ}; ${answer(1)}; ${REST}`,
        source: PING + PONG, found: /ended, but left.*sleep 5/ },
    { script: `sleep 5 <&- 2>&1 & ${READ}; ${answer(1)}; ${REST}`,
        source: PING + PONG, found: /sleep 5.*holds its stdout/ },
    { script: `${READ}; ${answer(1)}; ${REST}`,
        source: `${PING}< {"jsonrpc":"2.0","id":1,"result":{"more":…}}\n`,
        found: /no member more/ },
    { script: `${READ}; echo '{"id":1,"id":1}'; ${REST}`,
        source: `${PING}< {"id":1}\n`, found: /repeated|does not wait/ },
    { script: `${READ}; ${answer(1)}; ${READ}; ${REST}`,
        source: `${PING}${PONG}eval @a 1\n@a\n| => 1\n`, found: /passed without/ },
];
