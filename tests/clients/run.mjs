#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs [NAME…]: runs the tests with the official clients (suite.mjs), all
// of them or only those whose name contains a NAME.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../support/npm.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const NODE = 20; // what the clients need

process.exitCode = run('clients', NODE, [HERE], path.join(HERE, 'suite.mjs'),
    process.argv.slice(2));
