// SPDX-License-Identifier: GPL-3.0-or-later
// pattern.mjs: JSON as transcripts see it. Numbers keep their text (1.0 is not
// 1), and an expectation may hold patterns:
//   …        in a string: any text; as a value: any value; as the last member
//            or element: any more of them
//   ⟨n⟩      in a string: a number; ⟨n:NAME⟩ also remembers it as NAME
// It knows nothing of MCP.

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;

class Parser {
    constructor(text, wild) {
        this.text = text;
        this.wild = wild;
        this.at = 0;
    }

    take(regexp) {
        regexp.lastIndex = this.at;
        const found = regexp.exec(this.text);
        if (found)
            this.at = regexp.lastIndex;
        return found?.[0];
    }

    eat(literal) {
        this.take(BLANK);
        if (!this.text.startsWith(literal, this.at))
            return false;
        this.at += literal.length;
        return true;
    }

    fail(what) {
        throw new SyntaxError(
            `${what} at ${JSON.stringify(this.text.slice(this.at, this.at + 30))}`);
    }

    items(end, item) {
        const out = { list: [], more: false };
        if (this.eat(end))
            return out;
        do {
            if (this.wild && this.eat('…')) {
                out.more = true;
                break;
            }
            out.list.push(item());
        } while (this.eat(','));
        if (!this.eat(end))
            this.fail(`expected ${end}`);
        return out;
    }

    string() {
        this.take(BLANK);
        if (this.text[this.at] !== '"')
            this.fail('expected a string');
        let end = this.at;
        let escapes;
        do {
            end = this.text.indexOf('"', end + 1);
            if (end < 0)
                this.fail('unterminated string');
            for (escapes = 0; this.text[end - 1 - escapes] === '\\';)
                escapes++;
        } while (escapes % 2);
        const raw = this.text.slice(this.at, end + 1);
        this.at = end + 1;
        const value = JSON.parse(raw);
        if (/\p{Surrogate}/u.test(value))
            this.fail('half a surrogate pair before');
        return value;
    }

    member() {
        const name = this.string();
        if (!this.eat(':'))
            this.fail('expected :');
        return [name, this.value()];
    }

    value() {
        this.take(BLANK);
        if (this.wild && this.eat('…'))
            return { type: 'any' };
        if (this.eat('{'))
            return { type: 'object', ...this.items('}', () => this.member()) };
        if (this.eat('['))
            return { type: 'array', ...this.items(']', () => this.value()) };
        if (this.text[this.at] === '"')
            return { type: 'string', value: this.string() };
        for (const word of ['null', 'true', 'false'])
            if (this.eat(word))
                return { type: word };
        const number = this.take(NUMBER) ?? this.fail('expected a value');
        return { type: 'number', value: number };
    }
}

function parse(text, wild) {
    const parser = new Parser(text, wild);
    const value = parser.value();
    parser.take(BLANK);
    if (parser.at !== text.length)
        parser.fail('text after the value');
    return value;
}

export const parsePattern = text => parse(text, true);
export const parseJson = text => parse(text, false);

// The member NAME of an object node, or undefined.
export const member = (node, name) =>
    node?.type === 'object'
        ? node.list.findLast(([n]) => n === name)?.[1] : undefined;

const HOLE = /…|⟨n(?::[a-z]+)?⟩/u;
const escape = text => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

// The source of a regular expression for TEXT; … stands for ANY.
function source(text, any) {
    return text.split(/(…|⟨n(?::[a-z]+)?⟩)/u).map(part => {
        if (part === '…')
            return any;
        const hole = /^⟨n(?::([a-z]+))?⟩$/u.exec(part);
        if (!hole)
            return escape(part);
        return hole[1] ? `(?<${hole[1]}>\\d+(?:\\.\\d+)?)` : '\\d+(?:\\.\\d+)?';
    }).join('');
}

// Whether TEXT fits PATTERN, in which … spans lines too.
export function matchText(pattern, text, names) {
    if (!HOLE.test(pattern))
        return pattern === text;
    const found = new RegExp(`^${source(pattern, '[^]*')}$`, 'u').exec(text);
    Object.assign(names, found?.groups);
    return found !== null;
}

// Whether TEXT fits the LINES; … stays inside a line, and a line with nothing
// but … is any number of lines.
export function matchLines(lines, text, names) {
    const all = lines.map(line =>
        line === '…' ? '(?:[^]*\\n)?' : source(line, '[^\\n]*') + '\\n');
    const found = new RegExp(`^${all.join('')}$`, 'u').exec(text + '\n');
    Object.assign(names, found?.groups);
    return found !== null;
}

const brief = node => {
    const text = node ? print(node) : 'nothing';
    return text.length > 400 ? text.slice(0, 400) + ' [cut]' : text;
};

export function print(node) {
    const list = (open, items, close) =>
        open + items.concat(node.more ? ['…'] : []).join(',') + close;
    switch (node.type) {
    case 'any':
        return '…';
    case 'object':
        return list('{', node.list.map(
            ([n, v]) => `${JSON.stringify(n)}:${print(v)}`), '}');
    case 'array':
        return list('[', node.list.map(print), ']');
    case 'string':
        return JSON.stringify(node.value);
    default:
        return node.value ?? node.type;
    }
}

function matchObject(pattern, node, at, names) {
    const left = new Set(node.list.map(([name]) => name));
    if (left.size !== node.list.length)
        return `${at}: a member is repeated`;
    for (const [name, wanted] of pattern.list) {
        const got = member(node, name);
        if (!got)
            return `${at}: no member ${name} in ${brief(node)}`;
        const wrong = match(wanted, got, `${at}.${name}`, names);
        if (wrong)
            return wrong;
        left.delete(name);
    }
    return left.size && !pattern.more
        ? `${at}: unexpected ${[...left].join(', ')} in ${brief(node)}` : '';
}

function matchArray(pattern, node, at, names) {
    const wanted = pattern.list.length;
    if (node.list.length < wanted || (node.list.length > wanted && !pattern.more))
        return `${at}: ${node.list.length} elements, expected ${wanted}: ` +
            brief(node);
    for (const [i, element] of pattern.list.entries()) {
        const wrong = match(element, node.list[i], `${at}[${i}]`, names);
        if (wrong)
            return wrong;
    }
    return '';
}

// '' if NODE fits PATTERN, or else the difference. Numbers that ⟨n:NAME⟩ met
// are put into NAMES.
export function match(pattern, node, at = 'message', names = {}) {
    if (pattern.type === 'any')
        return '';
    if (pattern.type === node.type) {
        if (node.type === 'object')
            return matchObject(pattern, node, at, names);
        if (node.type === 'array')
            return matchArray(pattern, node, at, names);
        if (node.type === 'string'
            ? matchText(pattern.value, node.value, names)
            : pattern.value === node.value)
            return '';
    }
    return `${at}: got ${brief(node)}, expected ${brief(pattern)}`;
}
