// SPDX-License-Identifier: GPL-3.0-or-later
// glossary.mjs: docs/glossary.md and the code use the same words. Each word of
// the first table is in the code, each place exists, and nothing in the code has
// a name of the second table.
import fs from 'node:fs';
import path from 'node:path';

const FOLDERS = /^(core|host|image|supervisor|server|module|lisp|elisp)\//;
const CODE = /\.([ch]|lisp|asd|el)$/;

// The cells of the rows under the heading TITLE of the Markdown TEXT.
function rows(text, title) {
    const section = text.split(/^## /m).find(part => part.startsWith(title));
    return [...(section ?? '').matchAll(/^\| (.*) \|$/gm)]
        .map(([, row]) => row.split(' | ')).slice(1);
}

// The texts in backquotes of CELL.
const quoted = cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);

const escape = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// A word as it stands in names: "pending call" is also pending_call.
const wordPattern = word =>
    new RegExp(escape(word).replace(/ /g, '[ _-]+'), 'i');

// A whole name, or with a "*" at its end the start of one.
const namePattern = name => new RegExp('(?<![\\w-])' +
    (name.endsWith('*') ? escape(name.slice(0, -1))
        : `${escape(name)}(?![\\w-])`));

// The faults of the glossary TEXT beside FILES: { path: text } of the code, and
// EXISTS, whether there is a path.
export function glossaryFaults(text, files, exists) {
    const words = rows(text, 'Words');
    const retired = rows(text, 'Retired names');
    const code = Object.entries(files).map(([name, content]) =>
        ({ name, text: `${name}\n${content}` }));
    return [
        ...words.length < 30 ? [`only ${words.length} words`] : [],
        ...retired.length < 10 ? [`only ${retired.length} retired names`] : [],
        ...words.flatMap(([word, , where]) => [
            ...quoted(where).length ? [] : [`${word}: no place`],
            ...quoted(where).filter(place => !exists(place))
                .map(place => `${word}: there is no ${place}`),
            ...code.some(file => wordPattern(word).test(file.text)) ? []
                : [`${word}: not in the code`],
        ]),
        ...retired.flatMap(([names]) => quoted(names)).flatMap(name => code
            .filter(file => namePattern(name).test(file.text))
            .map(file => `${file.name} has the retired name ${name}`)),
    ];
}

// The files of the product below ROOT, of the paths ALL.
export const codeFiles = (root, all) => Object.fromEntries(
    all.filter(name => FOLDERS.test(name) && CODE.test(name))
        .map(name => [name, fs.readFileSync(path.join(root, name), 'utf8')]));

// The test finds what is planted.
export function glossaryTestFaults(text, files, exists) {
    const count = more => glossaryFaults(text, { ...files, ...more }, exists)
        .length;
    const clean = count({});
    const planted = rows(text, 'Retired names').flatMap(([names]) => quoted(names))
        .map(name => name.replace(/\*$/, 'x'));
    return planted.filter(name =>
        count({ 'core/planted.c': `\n    ${name} = 1;\n` }) === clean &&
        count({ [`core/${name}`]: '' }) === clean)
        .map(name => `a planted ${name} is not found`)
        .concat(glossaryFaults(`${text.replace(/^## Words[^]*?---\|$/m,
            '$&\n| sesquipedal | x | `core/nowhere.c` |')}`, files, exists)
            .length === clean + 2 ? [] : ['a planted word is not found']);
}
