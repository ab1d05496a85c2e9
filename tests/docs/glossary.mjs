// SPDX-License-Identifier: GPL-3.0-or-later
// glossary.mjs: docs/glossary.md and the code use the same words. The code has
// each word and each place of the first table, and no name of the second.
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

// A word as names spell it: "pending call" is also pending_call.
const wordPattern = word =>
    new RegExp(escape(word).replace(/ /g, '[ _-]+'), 'i');

// A whole name, or the start of one if it ends in "*".
const namePattern = name => new RegExp('(?<![\\w-])' +
    (name.endsWith('*') ? escape(name.slice(0, -1))
        : `${escape(name)}(?![\\w-])`));

// The faults of the glossary TEXT, compared with the code: FILES is
// { path: text }, and EXISTS says whether a path exists.
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

// The paths of ALL that are files of the product, which is below ROOT.
export const codeFiles = (root, all) => Object.fromEntries(
    all.filter(name => FOLDERS.test(name) && CODE.test(name))
        .map(name => [name, fs.readFileSync(path.join(root, name), 'utf8')]));

// The faults of the test itself: it must find each retired name that is
// planted, in a text and as a file, and a word that the code lacks.
export function glossaryTestFaults(text) {
    const finds = (files, what, table = text) => glossaryFaults(table, files,
        () => true).some(fault => fault.includes(what));
    const word = '$&\n| sesquipedal | nothing | `core/core.h` |';
    return rows(text, 'Retired names').flatMap(([names]) => quoted(names))
        .map(name => name.replace(/\*$/, 'x'))
        .filter(name => !finds({ 'core/a.c': ` ${name} = 1;` }, 'core/a.c has') ||
            !finds({ [name]: '' }, `${name} has`))
        .map(name => `a planted ${name} is not found`)
        .concat(finds({}, 'sesquipedal', text.replace('|---|---|---|', word))
            ? [] : ['a planted word is not found']);
}
