// SPDX-License-Identifier: GPL-3.0-or-later
// lisp.mjs: makes the attempts that are Lisp, each kind in another process or in
// another way: the live image, copies of frozen errors and checkpoints, and an
// image that was such a copy.

// Lisp that makes CASES with the function HOW, of a form, and prints what became
// of them.
const plan = (cases, how = 'eval') =>
    '(defun cl-user::try (i text) (format t "~&~d ~a~%" i ' +
    `(handler-case (if (${how} (read-from-string text)) "done" "NIL") ` +
    '(serious-condition (c) (type-of c)))))\n' +
    cases.map(c => `(cl-user::try ${c.i} ${JSON.stringify(c.text)})`)
        .join('\n');

const inThread = code => '(let ((out *standard-output*)) (mp:process-join ' +
    '(mp:process-run-function "walls" (lambda () ' +
    `(let ((*standard-output* out)) ${code})))))`;

const COMPILED = '(lambda (form) ' +
    '(funcall (compile nil (list (quote lambda) () form))))';

// Kind → the answer of SERVER, which makes CASES.
const ways = {
    lisp: (server, cases) => server.evaluate(plan(cases)),
    compiled: (server, cases) =>
        server.evaluate(plan(cases, `funcall ${COMPILED}`)),
    thread: (server, cases) => server.evaluate(inThread(plan(cases))),
    frame: async (server, cases) => {
        await server.evaluate('(error "walls")', 'frame');
        return server.call('evaluate-in-frame',
            { code: plan(cases), session: 'frame' });
    },
    replay: async (server, cases) => {
        await server.evaluate('1', 'replay');
        await server.call('checkpoint-session',
            { name: 'before', session: 'replay' });
        await server.evaluate('2', 'replay');
        return server.call('replay-evaluation',
            { code: plan(cases), session: 'replay' });
    },
    restart: async (server, cases) => {
        await server.evaluate('(restart-case (error "walls") ' +
            `(go-on () ${plan(cases)} t))`, 'restart');
        return server.call('invoke-restart',
            { restart: 'go-on', session: 'restart' });
    },
    adopted: async (server, cases) => {
        await server.evaluate('(defvar *once* (si:getpid))', 'adopted');
        await server.evaluate('(restart-case (error "walls") ' +
            '(go-on () t))', 'adopted');
        await server.call('invoke-restart',
            { restart: 'go-on', adopt: true, session: 'adopted' });
        const other = await server.evaluate('(/= *once* (si:getpid))',
            'adopted');
        if (!/=> T/.test(other))
            throw new Error(`nothing was adopted: ${other}`);
        return server.evaluate(plan(cases), 'adopted');
    },
};

// What SERVER answers to all of CASES that are Lisp.
export async function tryInLisp(server, cases) {
    let text = '';
    for (const [kind, way] of Object.entries(ways)) {
        const some = cases.filter(c => c.attempt.kind === kind);
        if (some.length)
            text += `\n${await way(server, some)}\n`;
    }
    return text;
}
