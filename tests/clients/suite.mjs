// SPDX-License-Identifier: GPL-3.0-or-later
// suite.mjs [NAME…]: the tests with the official clients. Started by run.mjs.
import { approvalTests } from './approvals.mjs';
import { inspectorTests } from './inspector.mjs';
import { schemaTests } from './schemas.mjs';
import { sdkTests } from './sdk.mjs';

const JOBS = 2;
const SECONDS = 60; // for one test

const wanted = process.argv.slice(2);
const queue = [...inspectorTests, ...sdkTests, ...approvalTests,
    ...schemaTests].filter(test =>
    !wanted.length || wanted.some(name => test.name.includes(name)));
const results = [];

// Rejects when PROMISE takes too long.
function within(seconds, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() =>
            reject(new Error(`unfinished after ${seconds} s`)), seconds * 1000);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function work() {
    for (let test; (test = queue.shift());)
        try {
            await within(SECONDS, test.run());
            results.push(true);
            console.log(`ok   ${test.name}`);
        } catch (error) {
            results.push(false);
            console.log(`FAIL ${test.name}\n` +
                (error.stack ?? String(error)).replace(/^/gm, '    '));
        }
}

await Promise.all(Array.from({ length: JOBS }, work));
const failed = results.filter(ok => !ok).length;
console.log(`clients: ${results.length - failed} passed, ${failed} failed`);
process.exit(failed || !results.length ? 1 : 0);
