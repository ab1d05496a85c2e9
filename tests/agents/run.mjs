#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
// run.mjs PROGRAM [NAME…]: runs a scripted session with each coding agent
// (suite.mjs), or only with those whose name contains a NAME.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../support/npm.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const NODE = 22; // what the agents need

process.exitCode = run('agents', NODE, [HERE], path.join(HERE, 'suite.mjs'),
    process.argv.slice(2));
