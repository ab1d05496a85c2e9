// SPDX-License-Identifier: GPL-3.0-or-later
// model.mjs: what a session must contain: some variables, functions, entries of
// a hash table and slots of another package, and the current package; and what
// all of them were after each evaluation.

const NAMES = 10;

// How to change a thing of each kind to VALUE, and how to read it. The forms
// can be read in any package.
const KINDS = {
    variable: {
        set: (n, value) =>
            `(cl:setf (cl:symbol-value 'cl-user::v${n}) ${value})`,
        get: n => `(cl:and (cl:boundp 'cl-user::v${n}) ` +
            `(cl:symbol-value 'cl-user::v${n}))`,
    },
    function: {
        set: (n, value) => `(cl:defun cl-user::f${n} () ${value})`,
        get: n => `(cl:and (cl:fboundp 'cl-user::f${n}) (cl-user::f${n}))`,
    },
    entry: {
        set: (n, value) => '(cl:progn (cl:defvar cl-user::*h* ' +
            `(cl:make-hash-table)) (cl:setf (cl:gethash ${n} cl-user::*h*) ` +
            `${value}))`,
        get: n => '(cl:and (cl:boundp \'cl-user::*h*) ' +
            `(cl:values (cl:gethash ${n} (cl:symbol-value 'cl-user::*h*))))`,
    },
    method: {
        set: (n, value) =>
            `(cl:defmethod cl-user::g ((x (cl:eql ${n}))) ${value})`,
        get: n => '(cl:and (cl:fboundp \'cl-user::g) ' +
            `(cl:ignore-errors (cl-user::g ${n})))`,
    },
    package: {
        set: (n, value) => `(cl:setf (cl:get 'cl-user::p ${n}) ` +
            `(cl:package-name (cl:or (cl:find-package "P${value % 4}") ` +
            `(cl:make-package "P${value % 4}" :use '()))))`,
        get: n => `(cl:get 'cl-user::p ${n})`,
        shown: value => `"P${value % 4}"`,
    },
};

const DEATH = new RegExp('^(?:Session main continues from the checkpoint after ' +
    'evaluation (\\d+).*\\n(No evaluation that was answered is lost|' +
    'Answered, but lost:\\n(?:- .*\\n)*)|A fresh session .*)', 'gm');

export class Model {
    constructor() {
        this.things = new Map(); // "kind n": value
        this.evaluation = 0;
        this.past = [this.things]; // after each evaluation; never changed
        this.deaths = 0;
        this.lost = 0;
    }

    // Notes an answered evaluation with its EFFECT, [thing, value], if any.
    answered(effect) {
        this.evaluation++;
        if (effect)
            this.things = new Map(this.things).set(...effect);
        this.past[this.evaluation] = this.things;
    }

    // Follows what TEXT says about deaths. There may be two: one before the
    // evaluation, and one during it. Returns what is wrong with the report.
    follow(text) {
        for (const [all, to, losses] of text.matchAll(DEATH)) {
            const left = Number(to ?? 0);
            const wanted = this.evaluation - left;

            this.deaths++;
            this.lost += Math.max(wanted, 0);
            if (wanted < 0)
                return `there were only ${this.evaluation} evaluations`;
            if (to !== undefined && !this.#isList(losses, left + 1, wanted))
                return `expected ${wanted} lost, from ${left + 1} on`;
            if (to === undefined && wanted > 0 && !/are lost/.test(all))
                return `expected a loss of all ${wanted}`;
            this.evaluation = left;
            this.things = this.past[left];
        }
        return '';
    }

    // Whether LOSSES names N evaluations, the first being FIRST. "- … M more"
    // stands for M of them.
    #isList(losses, first, n) {
        if (n === 0)
            return losses.startsWith('No evaluation');
        const named = [...losses.matchAll(/^- evaluation (\d+)/gm)]
            .map(([, number]) => Number(number));
        const more = Number(/^- … (\d+) more$/m.exec(losses)?.[1] ?? 0);
        return named.every((number, i) => number === first + i) &&
            named.length + more === n;
    }

    // An evaluation that changes one thing: {code, effect}.
    change(random) {
        const kind = random.of(Object.keys(KINDS));
        const n = random.below(NAMES);
        const value = random.below(1000);
        return {
            code: `(cl:progn ${KINDS[kind].set(n, value)} 1)`,
            effect: [`${kind} ${n}`, value],
        };
    }

    // A form with the values of all possible things.
    query() {
        const all = Object.keys(KINDS).map(kind => '(cl:list ' +
            Array.from({ length: NAMES }, (_, n) => KINDS[kind].get(n))
                .join(' ') + ')');
        return `(cl:list ${all.join(' ')})`;
    }

    // What is wrong with TEXT, the answer to that form.
    compare(text) {
        const all = Object.entries(KINDS).map(([kind, { shown }]) => {
            const values = Array.from({ length: NAMES }, (_, n) => {
                const value = this.things.get(`${kind} ${n}`);
                return value === undefined ? 'NIL' : shown?.(value) ?? value;
            });
            return `(${values.join(' ')})`;
        });
        const wanted = `=> (${all.join(' ')})`;
        const found = text.slice(text.lastIndexOf('=> '))
            .replace(/\s+/g, ' ');
        return found === wanted ? '' : `expected ${wanted}`;
    }
}
