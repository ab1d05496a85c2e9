// SPDX-License-Identifier: GPL-3.0-or-later
// fault.mjs: a fault that a transcript finds in a program, and how much of a
// text it shows.

export class Fault extends Error {}

export const cut = (text, size = 1500) => text.length > size
    ? `${text.slice(0, size)} [${text.length - size} characters cut]` : text;
