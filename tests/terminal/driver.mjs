// SPDX-License-Identifier: GPL-3.0-or-later
// driver.mjs: the driver itself: keys arrive, the screen is seen, failures are
// noticed.
import { info, lives } from '../support/proc.mjs';
import { Terminal, check, test } from './terminal.mjs';

test('driver: typed text is on the screen and in the buffer', async emacs => {
    await emacs.type('yes, (a "b\\c") ; \u00e4 \u20ac');
    await emacs.see(/yes, \(a "b\\c"\) ; \u00e4 \u20ac/);
    const text = await emacs.text('(buffer-string)');
    check(text.endsWith('yes, (a "b\\c") ; \u00e4 \u20ac'), text);
});

test('driver: a window, a prompt, and forms during it', async emacs => {
    await emacs.keys('C-x', '2', 'M-x');
    await emacs.see(/^M-x/m);
    check(await emacs.eval('(length (window-list nil (quote no)))') === '2', 'windows');
    check(await emacs.eval('(minibuffer-depth)') === '1', 'the prompt');
    await emacs.keys('C-g');
    await emacs.until('(= 0 (minibuffer-depth))');
});

test('driver: no key is lost behind an error or C-g', {
    form: `(progn (global-set-key [f5] (lambda () (interactive) (error "No")))
        (global-set-key [f6] (lambda () (interactive) (read-string "More: "))))`,
}, async emacs => {
    for (let count = 0; count < 20; count++)
        await emacs.keys('F5', { text: 'a' }, 'F6', { text: 'b' }, 'C-g', 'c');
    const text = await emacs.text('(buffer-string)');
    check(text.endsWith('ac'.repeat(20)), text);
});

test('driver: what is seen is not older than the last key', {
    form: `(global-set-key [f5] (lambda () (interactive) (sleep-for 0.3)
        (erase-buffer)))`,
}, async emacs => {
    await emacs.type('some text');
    await emacs.see(/some text/);
    await emacs.keys('F5');
    check(!/some text/.test(await emacs.screen()), 'the screen is old');
});

test('driver: keys arrive while Emacs is busy', async emacs => {
    const busy = emacs.eval('(call-process "sleep" nil nil nil "0.5")');
    await emacs.now('C-a', 'x', 'y');
    await busy;
    await emacs.until('(string-match-p "^xy" (buffer-string))');
});

test('driver: the focus goes and comes', async emacs => {
    await emacs.focus(false);
    await emacs.until('(not (frame-focus-state))');
    await emacs.focus(true);
    await emacs.until('(eq t (frame-focus-state))');
});

test('driver: a missing text, value or answer is a failure', async emacs => {
    const noticed = async (what, pattern) => {
        const text = await what.then(() => '', error => error.message);
        check(pattern.test(text), `not noticed: ${pattern} ${text}`);
    };
    await noticed(emacs.see(/no such text/, 0.2), /not on the screen/);
    await noticed(emacs.until('nil', 0.2), /still nil/);
    await noticed(emacs.never('t', 0.2), /^t: t/);
    await noticed(emacs.eval('(error "so it is")'), /so it is/);
    await noticed(emacs.eval('(sit-for 3 t)', 0.2), /no answer/);
});

test('driver: nothing is left', async () => {
    const other = await Terminal.start();
    const emacs = info(other.pid);
    check(emacs && lives(emacs), 'it runs');
    await other.end();
    for (let tries = 0; lives(emacs) && tries < 500; tries++)
        await new Promise(done => setTimeout(done, 10));
    check(!lives(emacs), 'Emacs still runs');
});
