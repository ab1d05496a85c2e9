// SPDX-License-Identifier: GPL-3.0-or-later
// status.mjs: M-x ecl-mcp and what it shows, calling tools by hand, and a tool
// in Emacs Lisp that does not end, by keys, in an Emacs with one `require`.
import { check, test } from './terminal.mjs';

const options = {
    load: ['ecl-mcp'], width: 100, height: 70, // all of it is on the screen
    form: `(make-directory (setq ecl-mcp-workspace
        (expand-file-name "work" (getenv "HOME"))))`,
};

// Runs a command by its name, as a person does.
async function command(emacs, name) {
    await emacs.keys('M-x');
    await emacs.see(/^M-x/m);
    await emacs.type(name);
    await emacs.keys('Enter');
}

test('status: M-x ecl-mcp starts and shows', options, async emacs => {
    await command(emacs, 'ecl-mcp');
    // Lisp starts meanwhile; on a busy machine, that takes its time.
    await emacs.see(/^ {2}workspace +~\/work\/$/m);
    await emacs.see(/^ {2}socket +~\/\.local\/state\/ecl-mcp\/emacs\.sock$/m);
    await emacs.see(/^Lisp sessions\n {2}No session is open yet\.$/m);
    check(await emacs.eval('(process-live-p (ecl-mcp-lisp-process ecl-mcp-lisp))')
        !== 'nil', 'no supervisor');
    await emacs.keys('q');
    await emacs.see(/^;; This buffer is for text|scratch/m);
});

test('status: a restart, the end and a start, by keys', options, async emacs => {
    await command(emacs, 'ecl-mcp');
    await emacs.see(/^Lisp sessions\n {2}No session is open yet\.$/m);
    await emacs.eval(`(progn (ecl-mcp-call "evaluate-lisp" '((code . "(loop)"))
        (lambda (it) (setq result it))) t)`);
    await emacs.eval('(setq result nil)');
    await emacs.keys('R');
    await emacs.until('(bound-and-true-p result)');
    check((await emacs.text('(plist-get result :error)'))
        .includes('The user restarted Lisp.'), 'the answer');
    await emacs.see(/^ {2}lost +1 times; last: The user restarted Lisp\.$/m);
    await emacs.keys('S');
    await emacs.see(/^ {2}state +not started$/m);
    await emacs.see(/^ {2}socket +This Emacs does not listen yet\.$/m);
    await emacs.keys('s');
    await emacs.see(/^ {2}process +\d+, since \d\d:\d\d:\d\d$/m);
});

test('status: a button is pressed', options, async emacs => {
    await command(emacs, 'ecl-mcp');
    await emacs.see(/^Lisp sessions\n {2}No session is open yet\.$/m);
    await emacs.eval('(progn (goto-char (point-min)) (search-forward "Messages") t)');
    await emacs.eval('(progn (backward-char 3) t)');
    await emacs.keys('Enter');
    await emacs.until('(get-buffer-window ecl-mcp--messages-buffer)');
});

test('call-tool: completion, arguments by schema, the result', options, async emacs => {
    await command(emacs, 'ecl-mcp-call-tool');
    await emacs.see(/^Call tool:$/m);
    await emacs.type('evaluate-l');
    await emacs.keys('Tab', 'Enter');
    await emacs.see(/^code \(.*\):$/m);
    await emacs.type('(format nil "~a!" 42)');
    await emacs.keys('Enter');
    await emacs.see(/^=> "42!"$/m);
    check(await emacs.eval('(length (window-list))') === '1', 'windows');
    await command(emacs, 'ecl-mcp-call-tool');
    await emacs.type('evaluate-lisp');
    await emacs.keys('Enter');
    await emacs.type('(car 1)');
    await emacs.keys('Enter');
    await emacs.see(/^evaluate-lisp failed$/m);
    await emacs.see(/^evaluate-lisp failed, see /m);
    await emacs.see(/^\[ERROR\] (?:SIMPLE-)?TYPE-ERROR/m);
});

test('call-tool: C-g in the middle calls nothing', options, async emacs => {
    await command(emacs, 'ecl-mcp-call-tool');
    await emacs.type('evaluate-lisp');
    await emacs.keys('Enter');
    await emacs.see(/^code \(.*\):$/m);
    await emacs.type('(defvar *never* 1)');
    // in the middle of a key's command C-g would end only that command
    await emacs.until(`(with-current-buffer (window-buffer (minibuffer-window))
        (string-suffix-p "1)" (minibuffer-contents)))`);
    await emacs.keys('C-g');
    await emacs.until('(= 0 (minibuffer-depth))');
    check(await emacs.eval('(ecl-mcp-client-calls)') === 'nil', 'a call');
});

test('tools: C-g stops one that does not end', options, async emacs => {
    await emacs.eval(`(progn (ecl-mcp-define-tool "spin" :description "Spins."
        :level 'safe :handler (lambda (_)
          (ecl-mcp-test-title "it spins") (while t)))
        (ecl-mcp-client-ensure)
        (setq result nil) t)`);
    await emacs.until('(ecl-mcp-client-tool "spin")');
    // From a timer: this form would not return before the tool does.
    await emacs.eval(`(progn (run-at-time 0.1 nil (lambda ()
        (ecl-mcp-call "spin" nil (lambda (it) (setq result it))))) t)`);
    await emacs.titled('it spins');
    await emacs.now('C-g');
    await emacs.until('result');
    check((await emacs.text('(plist-get result :error)')).includes('C-g'),
        'the answer');
    await emacs.type('typing goes on');
    await emacs.see(/typing goes on/);
});
