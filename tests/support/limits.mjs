// SPDX-License-Identifier: GPL-3.0-or-later
// limits.mjs: the numbers of core/base/limits*.h, by name.
import fs from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname ??
    path.dirname(new URL(import.meta.url).pathname), '../../core/base');

let texts; // of the numbers, as C has them

// The value of limit NAME; an error when there is none.
export function limit(name) {
    texts ??= new Map(['limits.h', 'limits_images.h'].flatMap(file =>
        [...fs.readFileSync(path.join(FOLDER, file), 'utf8')
            .matchAll(/^#define (LIMIT_\w+) (.+)$/gm)]
            .map(([, key, text]) => [key, text])));
    if (!texts.has(name))
        throw new Error(`${FOLDER} has no ${name}`);
    const numbers = texts.get(name)
        .replace(/\b(\d+)u?l*\b/gi, '$1')
        .replace(/LIMIT_\w+/g, other => limit(other));
    if (!/^[\d\s()*+-]+$/.test(numbers))
        throw new Error(`${name} is no number: ${numbers}`);
    return Function(`return ${numbers}`)();
}

// TEXT with the numbers of @LIMIT_NAME@, @LIMIT_NAME+1@ and @LIMIT_NAME-1@.
export const withLimits = text => text.replace(/@(LIMIT_\w+?)([+-]\d+)?@/g,
    (_, name, more) => limit(name) + +(more ?? 0));
