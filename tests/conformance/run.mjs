#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs PROGRAM [NAME…]: runs the conformance suite of MCP against PROGRAM
// (suite.mjs), or only the scenarios whose name contains a NAME.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../support/npm.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const NODE = 22; // what the suite needs

process.exitCode = run('conformance', NODE, [HERE],
    path.join(HERE, 'suite.mjs'), process.argv.slice(2));
