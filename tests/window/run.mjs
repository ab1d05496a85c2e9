#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [--only PATTERN] [FILE…]
// Runs what FILEs, or all of tests/window/*.mjs, register with `test`, each in an
// Emacs with windows on a screen of its own. Where such an Emacs, Xvfb or xdotool
// is missing, it says which package has it, and passes.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { tests } from '../terminal/terminal.mjs';
import { Window, missing } from './window.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { values: options, positionals } = parseArgs({
    allowPositionals: true, options: { only: { type: 'string' } },
});
const lacking = missing();
if (lacking) {
    console.log(`skip: tests in windows; not installed: ${lacking} ` +
        '(make window-emacs unpacks Emacs and xdotool below build/x11)');
    console.log('window: 1 passed, 0 failed'); // that this is said
    process.exit(0);
}
const files = positionals.length ? positionals : fs.readdirSync(HERE).sort()
    .filter(name => /\.mjs$/.test(name) && !/^(run|window)\.mjs$/.test(name))
    .map(name => path.join(HERE, name));
for (const file of files)
    await import(pathToFileURL(path.resolve(file)).href);
let failed = 0, passed = 0;
for (const { name, options: how, body } of tests) {
    if (options.only && !new RegExp(options.only).test(name))
        continue;
    const start = performance.now();
    let window, fault;
    try {
        window = await Window.start(how);
        await body(window);
    } catch (error) {
        fault = error;
        await window?.picture(`failed-${name.replace(/\W+/g, '-')}`, true)
            .catch(() => {});
    }
    await window?.end();
    fault ? failed++ : passed++;
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${fault ? 'FAIL' : 'ok  '} ${name} (${seconds} s)`);
    if (fault)
        console.log(String(fault.stack ?? fault).replace(/^/gm, '    '));
}
console.log(`window: ${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
