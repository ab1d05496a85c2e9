// SPDX-License-Identifier: GPL-3.0-or-later
// approval-frames.mjs: approvals without a frame and with several frames, and in
// an Emacs that was busy when a key was typed.
import { QUICK, ask, asking, decided, open, question, quick, review, settle,
    whileBusy } from './asking.mjs';
import { check, kill, pause, test } from './terminal.mjs';

const WINDOW = '(get-buffer-window "*ecl-mcp approval*" t)';
const daemon = form => ({ ...quick(form), daemon: true });

test('approval: a daemon without frames answers immediately: none', daemon(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await decided(emacs, 1, 'none');
        check(/no interactive Emacs/.test(
            await emacs.text(`(ecl-mcp-test-answer 1 'reason)`)), 'reason');
        await emacs.client();
        await ask(emacs, 2, '(car x)');
        await question(emacs, 2, QUICK);
        await emacs.keys('y');
        await decided(emacs, 2, 'approve');
        await ask(emacs, 3, '(car x)');
        await question(emacs, 3, QUICK);
        await emacs.keys('C-g');
        await emacs.until('(not (ecl-mcp-approval-prompt-request))');
        await open(emacs, 3);
        await emacs.keys('C-x', 'C-c');
        await emacs.until('(null (cdr (frame-list)))');
        await open(emacs, 3);
        await ask(emacs, 4, '(car x)');
        await decided(emacs, 4, 'none');
    });

test('approval: somebody on another terminal can keep typing', daemon(),
    async emacs => {
        const first = await emacs.client();
        const second = await emacs.client();
        await emacs.keys('C-x', 'b');
        await emacs.type('other');
        await emacs.keys('Enter');
        await ask(emacs, 1, '(car x)');
        await emacs.until(WINDOW);
        await emacs.never('(ecl-mcp-approval-prompt-request)', 1);
        for (const terminal of [first, second]) {
            await emacs.switchTo(terminal);
            await emacs.type('y n y');
            await settle(emacs);
            await emacs.keys('y');
            await settle(emacs);
        }
        await emacs.until(`(with-current-buffer "other"
            (string-suffix-p "y n yy" (buffer-string)))`);
        await open(emacs, 1);
        await emacs.switchTo(first);
        await review(emacs, QUICK);
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    });

test('approval: nothing comes up while a macro is defined elsewhere', daemon(
    `(setq ecl-mcp-approval-style 'popup)`), async emacs => {
    await emacs.client();
    await emacs.keys('C-x', '(');
    await emacs.until('defining-kbd-macro');
    await emacs.client();
    await emacs.keys('a');
    await ask(emacs, 1, '(car x)');
    await emacs.never(WINDOW, 1.5);
});

test('approval: a key typed while Emacs was busy, and what it was shown meanwhile',
    asking(`(setq ecl-mcp-approval-style 'queue)`), async emacs => {
        await ask(emacs, 1, '(car x)');
        // It came up and Emacs was busy: the key may be older.
        await whileBusy(emacs, '(ecl-mcp-review)', async () => {
            await pause(1500);
            await emacs.now('y');
        });
        await emacs.see(/Ignored y: it was typed while Emacs was busy/);
        await emacs.never('(ecl-mcp-test-decision 1)', 1);
        kill(emacs.pid, 'STOP');
        await pause(1000);
        const shown = emacs.eval('(ecl-mcp-approval-window--draw)');
        await emacs.now('y');
        kill(emacs.pid, 'CONT');
        await shown;
        await emacs.never('(ecl-mcp-test-decision 1)', 1);
        // It was there long before.
        await whileBusy(emacs, '', async () => {
            await pause(1500);
            await emacs.now('y');
        });
        await decided(emacs, 1, 'approve');
    });

for (const [name, where] of [['a question', question], ['the buffer', review]]) {
    test(`approval: keys typed while Emacs was busy, to ${name}`,
        asking(where === review ? `(setq ecl-mcp-approval-style 'queue)` : ''),
        async emacs => {
            await ask(emacs, 1, '(car x)');
            await where(emacs);
            await whileBusy(emacs, '', async () => {
                await pause(300);
                for (const key of ['x', 'y', 'n']) {
                    await emacs.now(key);
                    await pause(450);
                }
            });
            await emacs.never('(ecl-mcp-test-decision 1)', 1.5);
            await emacs.keys('y');
            await decided(emacs, 1, 'approve');
        });
}

test('approval: what is pasted into a question is not an answer, and no text', asking(),
    async emacs => {
        await ask(emacs, 1, '(car x)');
        await question(emacs);
        await emacs.bytes('\x1b[200~y\x1b[201~');
        await emacs.see(/Ignored <xterm-paste>/);
        await emacs.never('(ecl-mcp-test-decision 1)', 1);
        check(await emacs.eval(
            '(with-current-buffer "*scratch*" (buffer-modified-p))') === 'nil', 'text');
        await emacs.keys('y');
        await decided(emacs, 1, 'approve');
    });
