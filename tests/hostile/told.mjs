// SPDX-License-Identifier: GPL-3.0-or-later
// told.mjs: what attacks expect to be told, and the calls that follow them.
export const DIED = /^\[ERROR\] ECL-MCP:IMAGE-DIED$/m;
export const WELL = /^=> 42$/m;
export const is = value => new RegExp(`^=> ${value}$`, 'm');

// What uses programs, files and copies, after the environment was changed.
export const COPIES = [
    ['compile-form', { code: '(defun later (x) (undefined-thing x))' }],
    ['evaluate-lisp', { code: '(error "frozen")', timeout: 3 }],
    ['checkpoint-session', { name: 'after' }],
    ['restore-session', { name: 'after' }],
];
export const TOOLS = [['load-system', { system: 'asdf' }], ...COPIES];
