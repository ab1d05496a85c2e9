// SPDX-License-Identifier: GPL-3.0-or-later
// layers.mjs: scripts/layers.awk accepts a good tree and refuses one with a
// fault. Each case is a few files in a temporary folder.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

// Two floors of the core, and a host that may include only core/core.h.
const LAYERS = 'base:\ngate: base\ncore: base gate\nserver: base core.h\n';
const TREE = {
    'core/core.h': '#include "base/str.h"\n#include "gate/gate.h"\n',
    'core/base/str.h': '',
    'core/base/str.c': '#include "base/str.h"\n',
    'core/gate/gate.h': '#include "base/str.h"\n',
    'core/gate/grants.h': '#include "gate/gate.h"\n',
    'server/main.c': '#include "core/core.h"\n#include "gate/gate.h"\n',
};

// What each case adds to the tree, and what the script must report.
const CASES = {
    'a good tree': [{}, /^$/],
    'an include that goes up': [
        { 'core/base/str.c': '#include "base/str.h"\n#include "gate/gate.h"\n' },
        /^core\/base\/str\.c:2: base may not include gate\/gate\.h\n$/],
    'an include of two files by each other': [
        { 'core/base/a.h': '#include "base/b.h"\n',
            'core/base/b.c': '#include "base/a.h"\n' },
        /^in a circle: base\/([ab]) -> base\/(?!\1)[ab] -> base\/\1\n$/],
    'an include without its folder': [
        { 'core/gate/gate.h': '#include "str.h"\n' },
        /^core\/gate\/gate\.h:1: the include does not name its folder: str\.h\n$/],
    'a folder that is not in LAYERS': [
        { 'core/attic/a.c': '#include "attic/a.h"\n' },
        /^core\/attic\/a\.c:1: the folder attic is not in LAYERS\n$/],
    'a host that includes what core.h does not name': [
        { 'server/main.c': '#include "gate/grants.h"\n' },
        /^server\/main\.c:1: server may not include gate\/grants\.h\n$/],
    'a library in a place that may not know it': [
        { 'core/base/str.c': '#include <jsmn.h>\n' },
        /^core\/base\/str\.c:1: jsmn\.h may not be included here\n$/],
};

function check(script, files) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecl-mcp-layers-'));
    try {
        for (const [name, text] of Object.entries({ ...files, LAYERS })) {
            fs.mkdirSync(path.dirname(path.join(folder, name)),
                { recursive: true });
            fs.writeFileSync(path.join(folder, name), text);
        }
        const others = Object.keys(files).filter(name => name !== 'core/core.h');
        return spawnSync('awk',
            ['-f', script, 'LAYERS', 'core/core.h', ...others],
            { cwd: folder, encoding: 'utf8' });
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
}

// What is wrong with the script at the path SCRIPT.
export function layersFaults(script) {
    return Object.entries(CASES).flatMap(([name, [more, wanted]]) => {
        const { status, stdout, stderr } = check(script, { ...TREE, ...more });
        const clean = Object.keys(more).length === 0;
        return wanted.test(stdout) && (status === 0) === clean && stderr === ''
            ? [] : [`${name}: status ${status}, ${stdout}${stderr}`];
    });
}
