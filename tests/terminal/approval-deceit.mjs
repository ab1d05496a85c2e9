// SPDX-License-Identifier: GPL-3.0-or-later
// approval-deceit.mjs: requests that are made to look like others.
import fs from 'node:fs';
import path from 'node:path';
import { QUICK, ask, decided, open, quick, review, settle } from './asking.mjs';
import { check, lisp, pause, test } from './terminal.mjs';

const QUEUE = `(setq ecl-mcp-approval-style 'queue)`;

// TEXT as a literal of Emacs Lisp, in ASCII: tmux need not know its characters.
const elisp = text => lisp(text).replace(/[^ -~\n]/gu, char =>
    `\\U${char.codePointAt(0).toString(16).padStart(8, '0')}`);

test('approval: letters stand in the order in which Lisp reads them',
    quick(QUEUE), async emacs => {
        const path = '/srv/\u05d0\u05d1/1/2/\u05d2\u05d3';
        await emacs.eval(`(ecl-mcp-test-code 1 ${elisp(`(print "${path}")`)})`);
        await review(emacs, QUICK);
        await emacs.see(new RegExp(`print "${path}"`));
        await settle(emacs);
        await emacs.keys('e');
        await emacs.until('(string-prefix-p "*ecl-mcp edit" (buffer-name (window-buffer)))');
        await emacs.see(new RegExp(`print "${path}"`));
    });

test('approval: invisible characters are shown where a call is edited, and stay',
    quick(QUEUE), async emacs => {
        const code = '(list "a\u202eb\u200bc" "e\u0301" "\u{e0041}")';
        await emacs.eval(`(ecl-mcp-test-code 1 ${elisp(code)})`);
        await review(emacs, QUICK);
        await emacs.see(/"a\\u\{202e\}b\\u\{200b\}c" "e\\u\{0301\}" "\\u\{e0041\}"/);
        await emacs.keys('e');
        await emacs.until('(string-prefix-p "*ecl-mcp edit" (buffer-name (window-buffer)))');
        await emacs.see(/Edit the call/);
        const shown = (await emacs.screen()).split('\n').filter(line =>
            /^\(list "a\\u\{202e\}b\\u\{200b\}c" "e\\u\{0301\}" "\\u\{e0041\}"/
                .test(line));
        check(shown.length === 1, await emacs.screen());
        await settle(emacs);
        await emacs.keys('M->');
        await emacs.type(' ');
        await emacs.keys('C-c', 'C-c');
        await decided(emacs, 1, 'approve');
        check(await emacs.eval(`(equal ${elisp(`${code} `)}
            (alist-get 'code (ecl-mcp-test-answer 1 'arguments)))`) === 't',
        'the code');
    });

test('approval: what code can do is seen before it, even if it is long',
    { ...quick(QUEUE), height: 16 }, async emacs => {
        await ask(emacs, 1, `(list ${'1\n'.repeat(60)} (delete-file "x")
            (run-program "y" nil))`);
        await review(emacs, QUICK);
        const lines = (await emacs.screen()).split('\n');
        const at = pattern => lines.findIndex(line => pattern.test(line));
        check(at(/^Operators/) > 0 && at(/file +delete-file/) > at(/^Operators/) &&
            at(/process +run-program/) > 0 && at(/^\| \(list 1/) > at(/delete-file/),
        lines.join('\n'));
        check(lines.every(line => !/\(delete-file/.test(line)), 'the end is shown');
    });

test('approval: lines of a client do not pass for ours', quick(QUEUE),
    async emacs => {
        await ask(emacs, 1, `1\nOperators, from the text alone: a hint, not a sandbox\n  known-pure   car
Code, read in package CL-USER\n(car x)`);
        await emacs.eval(`(ecl-mcp-test-ask 2 "some-tool"
            '((a . "1\nb: 2\nc: 3")))`);
        await review(emacs, QUICK);
        await emacs.keys('v');
        await emacs.see(/\(car x\)/);
        const lines = (await emacs.screen()).split('\n');
        check(lines.filter(line => /^Operators/.test(line)).length === 1, 'heading');
        check(lines.filter(line => /^Code, read/.test(line)).length === 1, 'code');
        check(lines.filter(line => /^\| (Operators|Code, read|\(car)/.test(line))
            .length === 3, lines.join('\n'));
        await settle(emacs);
        await emacs.keys('Tab');
        await emacs.see(/^a: \(3 lines.*\n\| 1\n\| b: 2\n\| c: 3$/m);
    });

test('approval: a name that is too wide hides no tool', quick(QUEUE),
    async emacs => {
        for (const [id, name] of [[1, '\u65e5'.repeat(60)], [2, '\t'.repeat(60)],
            [3, 'x'.repeat(200)], [4, '\ufdfd'.repeat(60)], [5, 'a\u0301\n'.repeat(40)]])
            await emacs.eval(`(ecl-mcp-test-ask ${id} "delete-everything"
                '((a . 1)) :client '((name . ${elisp(name)}) (version . "1")))`);
        await review(emacs, QUICK);
        for (let id = 1; id <= 5; id++) {
            await emacs.see(new RegExp(`#${id} ·`));
            const screen = await emacs.screen();
            check(/wants delete-everything \(dangerous\)/.test(screen), screen);
            await settle(emacs);
            await emacs.keys('Tab');
        }
    });

test('approval: the title is shown when its window is narrow', quick(
    `${QUEUE} (split-window-right) (setq window-sides-slots '(0 0 0 0))
     (setq display-buffer-overriding-action
           '((display-buffer-use-some-window)))`), async emacs => {
    await ask(emacs, 1, '(car x)');
    await review(emacs, QUICK);
    // Whatever is cut, the time is not.
    await emacs.see(/#1 · claude\S* .*… · 1 of 1 · \d+ (?:s|min) left/);
    const screen = await emacs.screen();
    const below = screen.replace(/#1.*/, '');
    check(/claude 1\.0 in \S+ wants evaluate-lisp/.test(below) &&
        /\(dangerous\)/.test(below), screen);
});

test('approval: a question with a name that is too wide', quick(),
    async emacs => {
        await emacs.eval(`(ecl-mcp-test-code 1 "(car x)"
            :client '((name . ${elisp('\u65e5'.repeat(60))})))`);
        await emacs.until('(ecl-mcp-approval-prompt-request)');
        await emacs.see(/… in \S+ wants evaluate-lisp \(dangerous\)\. Allow once\?/);
    });

test('approval: format and key signs of Emacs in a name are text',
    { ...quick(), width: 100 }, async emacs => {
        await emacs.eval(`(ecl-mcp-test-code 1 "(car x)"
            :client '((name . "%s %d \`a' \\\\[quit] \\\\=x")))`);
        await emacs.until('(ecl-mcp-approval-prompt-request)');
        await emacs.see(/%s %d .a' \\\[quit\](?: \\=x|…) in \S+ wants evaluate-lisp \(dangerous\)\. Allow/);
        await emacs.see(/#1 · %s %d .a' \\\[quit\] \\=x in \S+ wants/);
        await emacs.keys('C-g');
        await emacs.until('(not (ecl-mcp-approval-prompt-request))');
        await open(emacs, 1);
    });

test('approval: a rule whose end is not on the screen is not made', quick(QUEUE),
    async emacs => {
        const names = Array.from({ length: 60 }, (_, at) =>
            `(some-function-with-a-long-name-${at})`).join(' ');
        await ask(emacs, 1, `(progn ${names} (zz-the-last))`);
        await review(emacs, QUICK);
        for (let count = 0; count < 30 && await emacs.eval(
            '(buffer-local-value (quote ecl-mcp-approval-window--end-shown) (get-buffer "*ecl-mcp approval*"))') === 'nil'; count++) {
            await emacs.keys('Space');
            await pause(300);
        }
        await emacs.keys('!');
        await emacs.see(/Allow until this server ends\?/);
        await settle(emacs);
        await emacs.keys('y');
        await emacs.see(/SPC to see the rest of the rule/);
        await open(emacs, 1);
        for (let count = 0; count < 60; count++) {
            await settle(emacs);
            await emacs.keys('C-n', 'C-n', 'C-n');
            if (/zz-the-last in progn/.test(await emacs.screen()))
                break;
        }
        for (let count = 0; count < 6; count++)
            await emacs.keys('C-n');
        await settle(emacs, 2 * QUICK);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    });

test('approval: a call that is too long to be shown', quick(
    `${QUEUE} (setq ecl-mcp-approval-text--limit 1000)`), async emacs => {
    await ask(emacs, 1, `(car "${'x'.repeat(1000)}")`);
    await review(emacs, QUICK);
    await emacs.see(/at most 1000 can be shown/);
    await settle(emacs, 2 * QUICK);
    await emacs.keys('y');
    await emacs.see(/too long to show: n denies it, e edits it/);
    for (const key of ['!', '*']) {
        await settle(emacs, 2 * QUICK);
        await emacs.eval('(message nil)');
        await emacs.keys(key);
        await emacs.see(/too long to show: n denies it, e edits it/);
    }
    await settle(emacs, 2 * QUICK);
    await emacs.keys('n');
    await decided(emacs, 1, 'deny');
});

for (const [count, fits] of [[3, true], [60, false]])
    test(`approval: ${count} rules must be shown before they are trusted`,
        quick(QUEUE), async emacs => {
            const folder = path.join(emacs.home, '.ecl-mcp');
            fs.mkdirSync(folder);
            fs.writeFileSync(path.join(folder, 'permissions.eld'),
                `(${Array.from({ length: count }, (_, at) => `(:effect allow
                    :tool "read-file" :path "a${at}")`).join('\n')}
                (:effect allow :tool "*"))`);
            const trust = async toTheEnd => {
                await emacs.keys('M-x');
                await emacs.type('ecl-mcp-trust-project');
                await emacs.keys('Enter');
                await emacs.see(/Type yes:/);
                await emacs.see(new RegExp(`[Tt]hese ${count + 1} rules`));
                for (let tries = 0; toTheEnd && tries < 30 &&
                    !/^  allow any tool/m.test(await emacs.screen()); tries++) {
                    await emacs.keys('C-M-v');
                    await pause(100);
                }
                await emacs.type('yes');
                await emacs.keys('Enter');
            };
            if (!fits) {
                await trust(false);
                await emacs.see(/Not trusted: go to the end/);
                await ask(emacs, 1, '(car x)');
                await open(emacs, 1);
            }
            await trust(true);
            await emacs.see(/ecl-mcp: Trusted/);
            await ask(emacs, 2, '(car x)');
            await decided(emacs, 2, 'approve');
        });
