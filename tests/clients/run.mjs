#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [NAME…]: runs the tests with the official clients (suite.mjs), all
// of them or those whose name contains a NAME. Installs from the npm registry
// what package-lock.json pins, once; also a Node.js, where the system's is
// older than the clients need.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const NEEDED = 20; // major version of Node.js

// Brings FOLDER/node_modules to what its lock file says.
function install(folder) {
    const lock = fs.readFileSync(path.join(folder, 'package-lock.json'));
    const stamp = path.join(folder, 'node_modules', '.installed-lock');
    if (fs.existsSync(stamp) && fs.readFileSync(stamp).equals(lock))
        return;
    console.log(`installing ${path.relative(process.cwd(), folder)}`);
    const { status } = spawnSync('npm', ['ci', '--ignore-scripts',
        '--no-audit', '--no-fund', '--loglevel', 'error'],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) {
        console.log('clients: 0 passed, 1 failed');
        process.exit(1);
    }
    fs.writeFileSync(stamp, lock);
}

// A Node.js that is new enough.
function node() {
    if (+process.versions.node.split('.')[0] >= NEEDED)
        return process.execPath;
    const folder = path.join(HERE, 'node');
    install(folder);
    return path.join(folder, 'node_modules', `node-linux-${process.arch}`,
        'bin/node');
}

install(HERE);
const { status } = spawnSync(node(),
    [path.join(HERE, 'suite.mjs'), ...process.argv.slice(2)],
    { stdio: 'inherit' });
process.exitCode = status ?? 1;
