// SPDX-License-Identifier: GPL-3.0-or-later
// program.mjs: the program under test, as the client tests start it.
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { MARK, poll, scratchFolder } from '../support/peer.mjs';
import { command, family } from '../support/proc.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

export const PROGRAM = process.env.ECL_MCP ??
    path.join(ROOT, 'build/release/ecl-mcp');

// Nothing is written to the home of the user who runs the tests.
const HOME = scratchFolder('ecl-mcp-home');

// A variable by which the processes of one test are found, and a check that
// they are gone.
export function trace() {
    const value = randomUUID();
    return {
        env: { [MARK]: value, HOME },
        async gone() {
            const left = () => family(0, `${MARK}=${value}`);
            if (!await poll(() => !left().length, 3))
                throw new Error('left behind: ' +
                    left().map(p => `${p.pid} ${command(p.pid)}`).join(', '));
        },
    };
}
