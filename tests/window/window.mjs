// SPDX-License-Identifier: GPL-3.0-or-later
// window.mjs: an Emacs with windows, on a screen of its own that Xvfb keeps:
// xdotool moves the mouse and types, pictures are taken, and the socket of
// tests/terminal tells what Emacs knows.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT, Terminal, check, kill, lisp, pause } from '../terminal/terminal.mjs';
import { scratchFolder } from '../support/peer.mjs';

const run = promisify(execFile);
const OWN = path.join(ROOT, 'build/x11/usr'); // what `make window-emacs` unpacks
const PICTURES = path.join(ROOT, 'build/window');
const LIBRARIES = path.join(OWN, 'lib/x86_64-linux-gnu');
const folder = scratchFolder('ecl-mcp-window');
let started = 0;

const found = name => [path.join(OWN, 'bin', name), ...process.env.PATH.split(':')
    .map(place => path.join(place, name))].find(file => fs.existsSync(file));

// The program of an Emacs with windows, or null.
function emacs() {
    for (const name of [process.env.EMACS_WINDOW, 'emacs-lucid', 'emacs-gtk', 'emacs']) {
        const program = name && (name.includes('/') ? name : found(name));
        if (!program)
            continue;
        const asked = spawnSync(program, ['-Q', '--batch', '--eval',
            '(kill-emacs (if (featurep \'x) 0 1))'],
        { env: { ...process.env, LD_LIBRARY_PATH: LIBRARIES } });
        if (asked.status === 0)
            return program;
    }
    return null;
}

// Why these tests cannot run here, or null: what is missing, by its package.
export function missing() {
    const wanted = [[found('Xvfb'), 'xvfb'], [found('xdotool'), 'xdotool'],
        [found('import'), 'imagemagick'], [emacs(), 'emacs-lucid or emacs-gtk']];
    const packages = wanted.filter(([has]) => !has).map(([, name]) => name);
    return packages.length ? packages.join(', ') : null;
}

export class Window extends Terminal {
    // Starts an Emacs with LOAD and FORM, as Terminal.start does, whose frame has
    // WIDTH and HEIGHT in characters of FONT, on a screen with DPI.
    static async start({ width = 80, height = 30, font = 'DejaVu Sans Mono-10',
        dpi = 96, load = [], form = 'nil' } = {}) {
        const window = new Window();
        window.home = path.join(folder, String(++started));
        fs.mkdirSync(window.home, { mode: 0o700 });
        // Xvfb takes a free display, and says which when it is ready.
        window.server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1700x1200x24',
            '-dpi', dpi, '-nolisten', 'tcp', '-noreset'],
        { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
        const [display] = await once(window.server.stdio[3], 'data');
        window.env = { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: window.home,
            DISPLAY: `:${String(display).trim()}`, LD_LIBRARY_PATH: LIBRARIES };
        for (let count = 0; count < 100; count++) {
            if (await window.x('getdisplaygeometry').then(() => true, () => false))
                break;
            await pause(50);
        }
        window.emacs = spawn(emacs(), ['-Q', '--no-splash',
            '-fn', font, '-g', `${width}x${height}+20+10`,
            '-l', path.join(ROOT, 'tests/support/quiet.el'),
            '-L', path.join(ROOT, 'elisp'),
            '-l', path.join(ROOT, 'tests/terminal/terminal.el'),
            '-l', path.join(ROOT, 'tests/window/window.el'),
            '--eval', `(ecl-mcp-test-listen ${lisp(window.socket())})`,
            ...load.flatMap(feature => ['--eval', `(require '${feature})`])],
        { env: window.env, stdio: ['ignore', 'ignore', 'inherit'] });
        try {
            await window.connect();
            window.pid = Number(await window.eval('(emacs-pid)'));
            await window.until('(and after-init-time (not (input-pending-p)))');
            await window.focusOn(await window.text('(frame-parameter nil \'outer-window-id)'));
            await window.eval(form);
        } catch (error) {
            await window.end();
            throw error;
        }
        return window;
    }

    x(...args) {
        return run(found('xdotool'), args.map(String), { env: this.env });
    }

    // Gives the X window ID the focus, as a window manager would.
    async focusOn(id) {
        await this.x('windowfocus', id);
        await this.until('(eq t (frame-focus-state))');
    }

    async keys(...keys) {
        for (const key of keys)
            await this.x('key', '--clearmodifiers', key);
    }

    async type(text, ms = 20) {
        await this.x('type', '--delay', ms, text);
    }

    // Where FORM, which returns (X . Y) in pixels of the screen, is.
    async place(form) {
        const at = (await this.until(form)).match(/^\((-?\d+) \. (-?\d+)\)$/);
        check(at, form);
        return at.slice(1);
    }

    // Moves the mouse to TEXT: in a mode line, or with BUFFER in that.
    async point(text, buffer) {
        await this.x('mousemove', ...await this.place(buffer
            ? `(ecl-mcp-test-place ${lisp(text)} ${lisp(buffer)})`
            : `(ecl-mcp-test-mode-line-place ${lisp(text)})`));
    }

    async click(text, buffer, button = 1) {
        await this.point(text, buffer);
        await this.x('click', button);
    }

    // Takes a picture of the screen, for people to look at. An Emacs whose MENU is
    // open answers nothing meanwhile.
    async picture(name, menu) {
        fs.mkdirSync(PICTURES, { recursive: true });
        if (!menu)
            await this.eval('(redisplay t)');
        await run('import', ['-window', 'root', path.join(PICTURES, `${name}.png`)],
            { env: this.env });
    }

    // Whether the mode line right of TEXT is of one colour in the picture NAME.
    async plain(name, text) {
        const [x, y] = (await this.place(`(ecl-mcp-test-mode-line-end ${lisp(text)})`))
            .map(Number);
        const { stdout } = await run('convert', [path.join(PICTURES, `${name}.png`),
            '-crop', `${300}x1+${x}+${y}`, '+repage', '-format', '%k', 'info:']);
        check(stdout.trim() === '1', `${stdout} colours right of ${text}`);
    }

    async screen() {
        return this.text('(ecl-mcp-test-screen)');
    }

    async end() {
        this.channel?.destroy();
        if (this.emacs?.pid)
            kill(this.emacs.pid, 'KILL');
        this.server?.kill('SIGTERM'); // it removes its lock and its socket
    }
}
