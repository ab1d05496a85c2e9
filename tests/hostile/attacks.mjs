// SPDX-License-Identifier: GPL-3.0-or-later
// attacks.mjs: attacks of evaluated code on its own process and on the compiler
// of its session, with the functions of attacks.lisp; assault.mjs makes them.
// Each has:
//   name     what is done
//   before   code, evaluated first, which must succeed
//   code     the attack
//   seconds  its time limit, 5 at first
//   told     what its answer must say: the control, for it shows that the attack
//            has had its effect, or what refused it
//   then     more calls, [tool, arguments, what the answer must say, if not
//            anything]
//   next     what the next evaluation, of (1+ 41), must say, if not anything
//   lost     true if the session cannot be restored
// More of them are in lies.mjs.
import { MORE } from './lies.mjs';
import { COPIES, DIED, TOOLS, WELL, is } from './told.mjs';

const KILLED = /^The Lisp image did not stop when its time limit of .* was reached/m;
const LATE = /^\[ERROR\] ECL-MCP:TIME-LIMIT-EXCEEDED$/m;

const signal = (number, name) =>
    new RegExp(`^The Lisp image was killed by signal ${number} \\(SIG${name}\\)`, 'm');

// The compiler of a session waits in the C compiler, for file go; $PPID is its
// process. Whatever is done to it, functions stay what they are.
const HELD = 'until [ -e $here/$name-go ]; do sleep 0.02; done; exit 1';

const TIMERS = [
    { name: 'an alarm', code: '(f "alarm" :int :int 1) (sleep 5)',
        told: signal(14, 'ALRM') },
    { name: 'a timer of the clock that goes on', next: /^=> 42$|IMAGE-DIED/m,
        code: '(progn (interval 0 10) (sleep 5))', told: signal(14, 'ALRM') },
    { name: 'a timer of processor time', code: '(interval 1 10) (loop)',
        told: signal(26, 'VTALRM') },
    { name: 'a timer of all time', code: '(interval 2 10) (loop)',
        told: signal(27, 'PROF') },
    { name: 'a timer that kills', code: '(timer 1 9 20) (loop)',
        told: signal(9, 'KILL') },
    { name: 'a timer that stops', code: '(timer 1 19 20) (loop)', seconds: 1,
        told: KILLED },
    { name: 'a timer that stops it after its answer', seconds: 5,
        code: '(timer 1 19 900)', told: is(0),
        then: [['evaluate-lisp', { code: '(loop)', timeout: 1 }]] },
    { name: 'a timer that interrupts, again and again', seconds: 2,
        code: '(timer 1 2 5 5) (loop)', told: /^\[ERROR\] /m },
    { name: 'a timer that faults, again and again', seconds: 2,
        code: '(timer 1 11 5 5) (loop)', told: /^\[ERROR\] /m },
    { name: 'a timer that interrupts between calls', code: '(timer 1 2 5 5)',
        told: /^=> 0$|^\[ERROR\] /m },
    { name: 'as many timers as there are', seconds: 10,
        code: '(loop for n from 0 below 2000 while (zerop (timer 1 40 0)) ' +
            'finally (return (> n 100)))', told: is('T') },
];

const limited = (name, resource, value = 0) => ({ name: `no ${name}`,
    code: `(limit ${resource} ${value})`, told: is(0),
    then: [['compile-form', { code: '(defun later (x) x)' }],
        ['checkpoint-session', { name: 'limited' }]] });

const LIMITS = [
    { ...limited('processor time', 0), told: /^=> 0$|^The Lisp image was killed/m },
    limited('room in files', 1),
    limited('data', 2),
    limited('stack', 3),
    limited('processes', 6),
    limited('descriptors', 7),
    { name: 'no descriptors while functions become native', told: is(0),
        next: WELL, before: `(compiler "n1" "${HELD}") (setf ecl-mcp::*native* t) ` +
            '(defun slow (n) (list n)) (slow 1)',
        code: '(line-of "n1-lisp") (limit 7 0)', seconds: 50 },
    limited('locked memory', 8),
    limited('address space', 9),
    limited('signals that wait', 11),
    // Signals that wait are counted for all processes of a user: so one session
    // can have the system drop what signals tell others.
    { name: 'no signals that wait, and an endless loop', seconds: 1,
        code: '(limit 11 0) (loop)', told: LATE, next: WELL },
    { name: 'no room in files, and a file',
        code: '(limit 1 10 10) (with-open-file (s "limited" :direction :output ' +
            ':if-exists :supersede) (dotimes (i 1000) (print i s)))',
        told: /^\[ERROR\] /m },
];

const DESCRIPTORS = [
    { name: 'all descriptors closed', told: DIED,
        code: '(f "close_range" :int :unsigned-int 0 :unsigned-int 4294967295 :int 0)' },
    { name: '/dev/null over the socket', seconds: 2, told: /^\[ERROR\] |^=> 200$/m,
        code: '(f "dup2" :int :int (f "open" :int :cstring "/dev/null" :int 2) :int 200)' },
    { name: 'a socket that nobody writes to over the socket', seconds: 2,
        told: /^\[ERROR\] /m,
        code: '(let ((s (mem :int 0 0))) (f "socketpair" :int :int 1 :int 1 :int 0 ' +
            ":pointer-void s) (f \"dup2\" :int :int (ffi:deref-array s '(:array :int) 0) " +
            ':int 200))' },
    { name: 'a pipe that is full over standard output', seconds: 1,
        told: /^\[ERROR\] /m,
        code: '(let ((s (mem :int 0 0)) (page (make-string 4096 :initial-element #\\x))) ' +
            '(f "pipe" :int :pointer-void s) ' +
            "(f \"dup2\" :int :int (ffi:deref-array s '(:array :int) 1) :int 1) " +
            '(dotimes (i 100) (f "write" :long :int 1 :cstring page :unsigned-long 4096)))' },
    { name: 'the lowest descriptors closed, then a file', told: /^=> T$/m,
        code: '(dotimes (i 3) (f "close" :int :int i)) (touch "closed") ' +
            '(princ "printed") (ext:system "echo said") t' },
    { name: 'a table of descriptors that is full', told: is('T'), then: TOOLS,
        code: '(loop for fd = (f "dup" :int :int 0) while (>= fd 0) count t) t' },
    { name: 'a frame after the end', seconds: 5, told: DIED,
        code: '(when (zerop (f "fork" :int)) (sleep 0.3) (f "write" :long :int 200 ' +
            ':cstring (make-string 64 :initial-element #\\a) :unsigned-long 64) ' +
            '(f "_exit" :void :int 0)) (f "_exit" :void :int 5)' },
    { name: 'the socket made deaf', told: /^(=> |\[ERROR\] |; No values$)/m, seconds: 2,
        code: '(f "shutdown" :int :int 200 :int 0)' },
    { name: 'the socket made dumb', told: DIED, seconds: 2,
        code: '(f "shutdown" :int :int 200 :int 1)' },
    // Those of all processes of a user count, with the limit of who sends: so one
    // session can keep others from sending any. The copy is not made, no more.
    { name: 'as many descriptors on their way as there may be', told: is('T'),
        code: '(limit 7 250 1000) (loop repeat 9 thereis (minusp ' +
            '(send-descriptors 200)))', next: /^=> 42$/,
        then: [['checkpoint-session', { name: 'after' },
            /^\[ERROR\] ECL-MCP:NO-CHECKPOINT$/m]] },
    { name: 'one descriptor that is no stream to the server', told: DIED,
        code: '(progn (send-descriptors 1 200) (sleep 60))' },
    { name: 'as many descriptors to the server as a message can have', told: DIED,
        code: '(progn (send-descriptors 253 200) (sleep 60))' },
    { name: 'a socket that does not wait', told: is(0), seconds: 2,
        code: '(f "fcntl" :int :int 200 :int 4 :int 2048)', next: WELL },
];

const environment = (name, value) => ({ name: `${name} is ${value || 'empty'}`,
    code: `(list (f "setenv" :int :cstring ${JSON.stringify(name)} ` +
        `:cstring ${JSON.stringify(value)} :int 1) (ext:getenv ${JSON.stringify(name)}))`,
    told: new RegExp(`^=> \\(0 "${value}"\\)$`, 'm'), then: TOOLS, next: WELL });

const ENVIRONMENT = [
    environment('TMPDIR', '/nonexistent'),
    environment('TMPDIR', '/proc'),
    environment('PATH', ''),
    environment('HOME', '/nonexistent'),
    environment('LD_PRELOAD', '/nonexistent.so'),
    environment('ECLDIR', '/nonexistent/'),
    environment('ECL_MCP_NATIVE', 'off'),
    { name: 'no environment', code: '(f "clearenv" :int)', told: is(0),
        then: TOOLS, next: WELL },
    { name: 'files that nobody may use', then: TOOLS, next: WELL,
        code: '(f "umask" :int :int 511) (touch "masked") ' +
            '(ext:system "test $(stat -c %a masked) = 0")', told: is(0) },
    { name: 'files that all may use', then: TOOLS, next: WELL,
        code: '(f "umask" :int :int 0) (touch "open") ' +
            '(ext:system "test $(stat -c %a open) = 666")', told: is(0) },
    { name: 'a folder that is gone', then: TOOLS,
        code: '(ext:system "mkdir gone") (f "chdir" :int :cstring "gone") ' +
            '(ext:system "rmdir ../gone") (ext:system "test -d ../gone")',
        told: /^=> [1-9]/m },
    { name: 'another root', code: '(f "chroot" :int :cstring ".")', told: is(-1),
        then: TOOLS, next: WELL },
    { name: 'the image has another name', told: is(0), then: TOOLS, next: WELL,
        code: '(f "prctl" :int :int 15 :cstring "ecl-mcp-keeper")' },
    { name: 'the image adopts orphans', then: TOOLS, next: WELL,
        code: '(list (f "prctl" :int :int 36 :long 1) ' +
            '(ext:system "(setsid sleep 1000 &)"))', told: is('\\(0 0\\)') },
    { name: 'another group', code: '(list (f "setsid" :int) (f "setpgid" :int ' +
        ':int 0 :int 0))', told: is('\\(-1 (-1|0)\\)'), next: WELL },
    { name: 'the lowest priority', code: '(f "setpriority" :int :int 0 :int 0 ' +
        ':int 19)', told: is(0), then: TOOLS },
    { name: 'idle time only', code: '(f "sched_setscheduler" :int :int 0 :int 5 ' +
        ':pointer-void (mem :int 0))', told: is(0), then: TOOLS },
];

const SIGNALS = [
    { name: 'it stops itself', code: '(f "raise" :int :int 19) (loop)', seconds: 1,
        told: KILLED },
    { name: 'all signals are held up', code: '(block-signals) (loop)', seconds: 1,
        told: /^\[ERROR\] /m },
    { name: 'all signals are ignored', seconds: 1, told: /^\[ERROR\] /m,
        code: '(loop for n from 1 to 64 do (f "signal" :pointer-void :int n ' +
            ':pointer-void (at 1))) (loop)' },
    { name: 'all signals do what they do by default', seconds: 2, told: DIED,
        code: '(loop for n from 1 to 64 do (f "signal" :pointer-void :int n ' +
            ':pointer-void (nul))) (loop)' },
    { name: 'all signals wait', seconds: 1, told: /^\[ERROR\] /m,
        code: '(loop for n from 1 to 64 do (f "signal" :pointer-void :int n ' +
            ':pointer-void (p "pause"))) (loop)' },
    { name: 'all signals end it', seconds: 2, told: DIED,
        code: '(loop for n from 1 to 64 do (f "signal" :pointer-void :int n ' +
            ':pointer-void (p "_exit"))) (f "raise" :int :int 10)' },
    { name: 'children are not waited for', then: COPIES, told: is(-1),
        code: '(f "signal" :pointer-void :int 17 :pointer-void (at 1)) ' +
            '(ext:system "true")' },
    { name: 'no other stack for signals', seconds: 5, told: /^\[ERROR\] /m,
        code: '(f "sigaltstack" :int :pointer-void (mem :long 0 2 0) :pointer-void ' +
            '(nul)) (labels ((deep (x) (1+ (deep x)))) (deep 1))' },
    // Of a user, not of a process: more would be felt by other servers.
    { name: 'as many signals as can wait', seconds: 1, told: /^\[ERROR\] /m,
        code: '(limit 11 500) (block-signals) (assert (loop repeat 1000 thereis ' +
            '(minusp (f "sigqueue" :int :int (me) :int 40 :pointer-void (nul))))) ' +
            '(loop)' },
];

const MEMORY = [
    { name: 'its code cannot run', seconds: 2, told: DIED,
        code: '(f "mprotect" :int :pointer-void (at (logandc2 (ffi:pointer-address ' +
            '(p "cl_car")) 4095)) :unsigned-long 8192 :int 0) (loop (car (list 1)))' },
    { name: 'a page of the heap cannot be written', seconds: 2,
        told: /^\[ERROR\] /m,
        code: '(let ((l (make-array 100000 :initial-element 0))) (f "mprotect" :int ' +
            ':pointer-void (at (+ 4096 (page-of l))) :unsigned-long 65536 :int 1) ' +
            '(loop (fill l 1)))' },
    { name: 'pages of the heap are gone', seconds: 2, told: /^\[ERROR\] /m,
        code: '(let ((l (make-array 100000 :initial-element 0))) (f "munmap" :int ' +
            ':pointer-void (at (+ 4096 (page-of l))) :unsigned-long 65536) ' +
            '(loop (fill l 1) (ext:gc t)))' },
    { name: 'copies lack pages of the heap', told: is(0), then: COPIES,
        code: '(defvar *l* (make-array 100000 :initial-element 0)) (f "madvise" ' +
            ':int :pointer-void (at (page-of *l*)) :unsigned-long 400000 :int 10)' },
    { name: 'copies lose what is on pages', told: is(0), then: COPIES,
        code: '(f "madvise" :int :pointer-void (at (page-of (list 1))) ' +
            ':unsigned-long 4096 :int 18)' },
    { name: 'a filter of its own that kills', seconds: 2, told: DIED,
        code: '(let* ((program (mem :unsigned-short 6 0 0 32768)) (head (mem ' +
            ':unsigned-long 1 (ffi:pointer-address program)))) (f "prctl" :int :int ' +
            '22 :long 2 :pointer-void head) (loop (f "getppid" :int)))' },
];

const ENDS = [
    { name: 'an end that waits for ever', seconds: 1, told: /^\[ERROR\] /m,
        code: '(f "__cxa_atexit" :int :pointer-void (p "pause") :pointer-void (nul) ' +
            ':pointer-void (nul)) (f "exit" :void :int 0)' },
    { name: 'an end that ends otherwise', seconds: 2, told: DIED,
        code: '(f "__cxa_atexit" :int :pointer-void (p "abort") :pointer-void (nul) ' +
            ':pointer-void (nul)) (f "exit" :void :int 0)' },
    { name: 'a hook at the end that waits for ever', next: WELL,
        code: '(push (lambda () (loop)) si::*exit-hooks*) (length si::*exit-hooks*)',
        told: /^=> [1-9]/m },
    { name: 'a hook of threads that waits for ever', seconds: 2,
        code: '(push (lambda () (loop)) si::*exit-hooks*) (ext:quit)',
        told: /^\[ERROR\] /m },
    { name: 'a copy that waits for ever before it is made', told: is(0),
        code: '(f "__register_atfork" :int :pointer-void (p "pause") :pointer-void ' +
            '(nul) :pointer-void (nul) :pointer-void (nul))',
        then: [['evaluate-lisp', { code: '1', timeout: 1 }]] },
    { name: 'a copy that waits for ever when it is made', told: is(0),
        then: [['checkpoint-session', { name: 'after' }],
            ['restore-session', { name: 'after' }],
            ['evaluate-lisp', { code: '(error "frozen")', timeout: 1 }]],
        code: '(f "__register_atfork" :int :pointer-void (nul) :pointer-void (nul) ' +
            ':pointer-void (p "pause") :pointer-void (nul))' },
];

const held = (what, name, act, told, more = {}) => ({
    name: `the compiler ${what}`, told,
    before: `(compiler "${name}" "${more.script ?? HELD}") ` +
        '(setf ecl-mcp::*native* t) (defun slow (n) (list n)) (slow 1)',
    code: `(let* ((lisp (line-of "${name}-lisp")) (gcc (line-of "${name}-gcc")) ` +
        `(result ${act})) (list result lisp (slow gcc)) result)`,
    then: [['evaluate-lisp', { code: `(touch "${name}-go") (slow 2)` }]],
    next: WELL, seconds: 50 });

const send = (who, number) => `(f "kill" :int :int (parse-integer ${who}) :int ${number})`;

const ends = who => `(loop while (state-of ${who}) do (sleep 0.02) finally (return :gone))`;

const COMPILER = [
    held('is killed', 'c1', `(progn ${send('lisp', 9)} ${ends('lisp')})`, is(':GONE')),
    held('is stopped', 'c2', `(progn ${send('lisp', 19)} (loop until ` +
        '(eql (state-of lisp) #\\T) do (sleep 0.02)) :stopped)', is(':STOPPED')),
    held('loses its C compiler', 'c3', `(progn ${send('gcc', 9)} ${ends('gcc')})`,
        is(':GONE')),
    held('has a C compiler that is stopped', 'c4', `(progn ${send('gcc', 19)} ` +
        '(loop until (eql (state-of gcc) #\\T) do (sleep 0.02)) :stopped)', is(':STOPPED')),
    held('has the lowest priority', 'c5', '(list (f "setpriority" :int :int 0 ' +
        ':int (parse-integer lisp) :int 19) (f "getpriority" :int :int 0 :int ' +
        '(parse-integer lisp)))', is('\\((0 19|-1 \\d+)\\)')),
    held('is traced', 'c6', '(f "ptrace" :long :long 16 :long (parse-integer lisp) ' +
        ':long 0 :long 0)', /^=> (0|-1)$/m),
    held('is written to', 'c7', '(f "open" :int :cstring (format nil ' +
        '"/proc/~a/mem" lisp) :int 1)', /^=> -?\d+$/m),
    held('is interrupted', 'c8', `(progn ${[1, 2, 3, 10, 12, 13, 15].map(n =>
        send('lisp', n)).join(' ')} ${send('lisp', 14)} ${ends('lisp')})`,
    is(':GONE')),
    held('is limited', 'c9', '(f "prlimit" :int :int (parse-integer lisp) :int 7 ' +
        ':pointer-void (mem :unsigned-long 0 0) :pointer-void (nul))',
    /^=> (0|-1)$/m),
];

// The C compiler of a call stops itself; it goes with its call.
const FOREGROUND = [
    { name: 'the C compiler of a call is stopped', seconds: 2, told: LATE,
        before: '(compiler "f1" "kill -STOP $$; exit 1") (with-open-file ' +
            '(s "f1.lisp" :direction :output) (print \'(defun f1 () 1) s)) t',
        code: '(compile-file "f1.lisp")', next: WELL,
        then: [['evaluate-lisp', { code: '(loop until (member (state-of ' +
            '(line-of "f1-gcc")) \'(nil #\\Z)) do (sleep 0.02))' }, is('NIL')]] },
];

const script = (name, what, text) => ({
    name: `the C compiler ${what}`, told: is('T'), next: WELL,
    before: `(compiler "${name}" ${JSON.stringify(text)}) ` +
        '(setf ecl-mcp::*native* t) (defun slow (n) (list n)) (slow 1)',
    code: `(await "${name}-done") (equal (slow 2) '(2))`, seconds: 50 });

const TEMPORARY = [
    script('t1', 'finds links for its files', 'for f in $TMPDIR/ecl-mcp-native-*; ' +
        'do rm -rf $f/*; ln -s $here/attacks.lisp $f/a.c; done; say $name-done 1; exit 1'),
    script('t2', 'removes its folder', 'rm -rf $TMPDIR/ecl-mcp-native-*; ' +
        'say $name-done 1; exit 1'),
    script('t3', 'closes its folder', 'chmod 0 $TMPDIR/ecl-mcp-native-*; ' +
        'say $name-done 1; exit 1'),
    script('t4', 'leaves programs', 'setsid sleep 1000 & say $name-done 1; exit 1'),
    script('t5', 'puts a folder where the object must be', 'while [ $# -gt 0 ]; do ' +
        '[ $1 = -o ] && mkdir -p $2; shift; done; say $name-done 1'),
];

export const ATTACKS = [...TIMERS, ...LIMITS, ...DESCRIPTORS, ...ENVIRONMENT,
    ...SIGNALS, ...MEMORY, ...ENDS, ...COMPILER, ...FOREGROUND, ...TEMPORARY,
    ...MORE];
