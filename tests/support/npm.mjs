// SPDX-License-Identifier: GPL-3.0-or-later
// npm.mjs: what tests need from the npm registry: the packages that a
// package-lock.json pins, and a Node.js if the system's is too old for them.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE = path.join(path.dirname(fileURLToPath(import.meta.url)), 'node');

function isInstalled(folder) {
    const lock = fs.readFileSync(path.join(folder, 'package-lock.json'));
    const stamp = path.join(folder, 'node_modules', '.installed-lock');
    return fs.existsSync(stamp) && fs.readFileSync(stamp).equals(lock);
}

// Installs what the lock file says into FOLDER/node_modules, or throws. Suites
// that run at the same time wait for each other.
export function install(folder) {
    if (isInstalled(folder))
        return;
    console.log(`installing ${path.relative(process.cwd(), folder)}`);
    const { status } = spawnSync('flock', [path.join(folder, 'package.json'),
        'sh', '-c', 'cmp -s package-lock.json node_modules/.installed-lock || ' +
        '{ npm ci --ignore-scripts --no-audit --no-fund --loglevel error && ' +
        'cp package-lock.json node_modules/.installed-lock; }'],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0)
        throw new Error(`npm could not install ${folder}`);
}

// A Node.js of at least this major VERSION.
export function node(version) {
    if (+process.versions.node.split('.')[0] >= version)
        return process.execPath;
    install(NODE);
    return path.join(NODE, 'node_modules', `node-linux-${process.arch}`,
        'bin/node');
}

// Installs FOLDERS, then runs SCRIPT with ARGUMENTS in such a Node.js. Returns
// its exit status; if it cannot run, SUITE has failed.
export function run(suite, version, folders, script, args) {
    try {
        folders.forEach(install);
        const { status } = spawnSync(node(version), [script, ...args],
            { stdio: 'inherit' });
        return status ?? 1;
    } catch (error) {
        console.log(`FAIL ${error.message}\n${suite}: 0 passed, 1 failed`);
        return 1;
    }
}
