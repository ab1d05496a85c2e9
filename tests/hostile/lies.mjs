// SPDX-License-Identifier: GPL-3.0-or-later
// lies.mjs: more attacks as in attacks.mjs: system calls that lie, because code
// has put a filter of its own before them, and what else a process can do to
// itself by calls that few programs make.
import { COPIES, DIED, TOOLS, WELL, is } from './told.mjs';

const ANSWER = /^(=> |\[ERROR\] |; No values$)/m;

// Numbers of system calls and of causes of signals, as this processor has them;
// on others these attacks are something else.
const X64 = process.arch === 'x64';
const CALLS = X64
    ? { getpid: 39, sendto: 44, recvfrom: 45, sendmsg: 46, recvmsg: 47, clone: 56, wait4: 61,
        sigmask: 14, poll: 7, futex: 202, exit: 231, timer: 222, filter: 317,
        landlock: 446, pipe: 293, socketpair: 53, execve: 59 }
    : {};

// From now on CALL does nothing and returns error number ERROR, 0 for success.
const lie = (call, error, more = {}) => ({
    name: `${call} does nothing and says ${error}`, told: is(0), then: TOOLS,
    code: `(lie ${CALLS[call]} ${0x50000 + error})`, ...more });

// CALL waits until somebody answers a question, which nobody does.
const wait = (call, more = {}) => ({
    name: `${call} waits for ever`, told: /^=> \d+$/m, then: COPIES,
    code: `(lie ${CALLS[call]} ${0x7fc00000} 8)`, ...more });

const LIES = !X64 ? [] : [
    lie('getpid', 0), lie('getpid', 1), lie('sendmsg', 4), lie('sendmsg', 0),
    lie('sendto', 4, { told: DIED }), lie('sendto', 0, { told: DIED }), // its answer, too
    lie('recvfrom', 0), lie('recvfrom', 4, { then: [] }), lie('recvmsg', 11), lie('clone', 0),
    lie('clone', 11), lie('wait4', 0), lie('wait4', 4), lie('sigmask', 1),
    lie('poll', 0), lie('futex', 0), lie('exit', 0), lie('timer', 0),
    lie('filter', 0), lie('landlock', 0), lie('pipe', 0), lie('socketpair', 0),
    lie('execve', 0), wait('clone'),
];

const WALLS = [
    { name: 'as many walls of its own as there may be', told: is('T'),
        code: '(progn (f "prctl" :int :int 38 :long 1 :long 0 :long 0 :long 0) ' +
            '(loop for n from 0 until (minusp (narrow)) finally (return (> n 8))))',
        then: TOOLS, next: WELL },
    { name: 'nothing new may be executed', told: is(0), then: TOOLS,
        code: '(f "prctl" :int :int 65 :long 1 :long 0 :long 0 :long 0)' },
];

const stream = (name, code, more = {}) =>
    ({ name, code, told: ANSWER, seconds: 3, then: COPIES, ...more });

const DESCRIPTORS = [
    stream('the socket waits for a millisecond only', '(list (option 200 20 0 1000) ' +
        '(option 200 21 0 1000))', { next: WELL }),
    stream('the socket has little room', '(list (option 200 7 1) (option 200 8 1) ' +
        '(make-string 2000000 :initial-element #\\x))'),
    stream('the socket hands over no descriptors', '(option 200 83 0)'),
    stream('the socket tells who sends', '(option 200 16 1)', { told: is(0), next: WELL }),
    stream('standard output does not wait', '(progn (f "fcntl" :int :int 1 :int 4 ' +
        ':int 2048) (dotimes (i 30000) (print i)))'),
    stream('standard output has packets', '(progn (f "fcntl" :int :int 1 :int 4 ' +
        ':int 16384) (dotimes (i 300) (print i)) (print :end))', { seconds: 20, told: /^:END/m }),
    stream('standard output is small', '(progn (f "fcntl" :int :int 1 :int 1031 ' +
        ':int 4096) (dotimes (i 3000) (print i)) (print :end))', { told: /^:END/m }),
    stream('standard output counts events', '(progn (f "dup2" :int :int (f "eventfd" ' +
        ':int :int 0 :int 0) :int 1) (print 1) (ext:system "echo 2"))'),
    stream('standard output is a folder', '(progn (f "dup2" :int :int (f "open" :int ' +
        ':cstring "/" :int 0) :int 1) (print 1) (ext:system "echo 2"))'),
    stream('standard output is the socket', '(progn (f "dup2" :int :int 200 :int 1) ' +
        '(princ (make-string 64 :initial-element #\\a)))'),
];

const signal = (name, number, code, address) => ({
    name: `a signal ${name} with another cause`, seconds: 3, then: COPIES,
    code: `(cause ${number} ${code} ${address})`, told: ANSWER });

const SIGNALS = !X64 ? [] : [
    signal('SEGV at 0', 11, 1, '0'),
    signal('SEGV on its stack', 11, 1, '(address (mem :int 1))'),
    signal('SEGV in the heap', 11, 2, '(si:pointer (list 1))'),
    signal('SEGV in its code', 11, 2, '(address (p "cl_car"))'),
    signal('SEGV nowhere', 11, 1, '#x7ffffffff000'),
    signal('SEGV by a user', 11, 0, '0'), signal('SEGV by the kernel', 11, 128, '0'),
    signal('BUS', 7, 2, '0'), signal('FPE', 8, 1, '0'), signal('ILL', 4, 1, '0'),
    signal('INT by a user', 2, 0, '0'), signal('INT of a timer', 2, -2, '1'),
    signal('PWR, of the collector', 30, 0, '0'),
    signal('XCPU, of the collector', 24, 0, '0'),
    signal('CHLD of nobody', 17, 1, '1'),
];

const THREADS = !X64 ? [] : [
    { name: 'its first thread ends, another stays', seconds: 1, told: /^\[ERROR\] /m,
        code: '(progn (mp:process-run-function "stays" (lambda () (sleep 1000))) ' +
            '(f "pthread_exit" :void :pointer-void (nul)))' },
    { name: 'its first thread ends without a word', seconds: 1, told: /^\[ERROR\] /m,
        code: '(progn (mp:process-run-function "stays" (lambda () (sleep 1000))) ' +
            '(f "syscall" :long :long 60 :long 0))' },
    { name: 'a thread ends without a word, then a collection', told: ANSWER,
        seconds: 3, then: COPIES, code: '(progn (mp:process-run-function "gone" ' +
            '(lambda () (f "syscall" :long :long 60 :long 0))) (sleep 0.2) (ext:gc t) 1)' },
    { name: 'a thread cancels the first', seconds: 2, told: ANSWER, then: COPIES,
        code: '(let ((me (f "pthread_self" :unsigned-long))) (mp:process-join ' +
            '(mp:process-run-function "cancels" (lambda () (f "pthread_cancel" :int ' +
            ':unsigned-long me)))) (sleep 1) (list (sleep 0.1)))' },
    { name: 'it waits for a child that has its memory', seconds: 1,
        told: /^\[ERROR\] /m, code: '(if (zerop (f "syscall" :long :long 58)) ' +
            '(f "pause" :int) 1)' },
    { name: 'a child has its memory and writes to it', told: ANSWER, seconds: 3,
        then: COPIES, code: '(let ((m (mem :long 1 2 3)) (s (mem :long 0 0))) ' +
            '(list m s (f "clone" :int :pointer-void (p "pause") :pointer-void ' +
            '(at (+ 65536 (address (f "malloc" :pointer-void :unsigned-long 131072)))) ' +
            ':int 256 :pointer-void (nul))))' },
    { name: 'locks that an ended thread leaves are nonsense', told: is(0), then: COPIES,
        code: '(f "syscall" :long :long 273 :long 12345 :long 24)' },
    { name: 'the end of the thread is written to nowhere', told: /^=> \d+$/m,
        then: COPIES, code: '(f "syscall" :long :long 218 :long 4096)' },
];

const MEMORY = !X64 ? [] : [
    { name: 'its memory is sealed', told: is(0), then: TOOLS,
        code: '(let ((l (make-array 100000 :initial-element 0))) (f "syscall" :long ' +
            ':long 462 :long (page-of l) :long 400000 :long 0))' },
    { name: 'guards stand in the heap', seconds: 2, told: /^\[ERROR\] |^=> -1$/m,
        code: '(let ((l (make-array 100000 :initial-element 0))) (if (zerop ' +
            '(f "madvise" :int :pointer-void (at (+ 4096 (page-of l))) :unsigned-long ' +
            '65536 :int 102)) (loop (fill l 1)) -1))' },
    { name: 'a page of the heap is empty', seconds: 3, told: ANSWER, then: COPIES,
        code: '(let ((l (loop repeat 10000 collect (list 1)))) (f "madvise" :int ' +
            ':pointer-void (at (page-of l)) :unsigned-long 65536 :int 4) (length l))' },
    { name: 'the data segment ends', seconds: 3, told: ANSWER, then: COPIES,
        code: '(f "brk" :int :pointer-void (at 4096))' },
    { name: 'all memory stays in memory', told: /^=> (0|-1)$/m, then: TOOLS,
        code: '(f "mlockall" :int :int 3)' },
    { name: 'the thread has no data of its own', seconds: 2, told: DIED,
        code: '(f "syscall" :long :long 158 :long 4098 :long 0)' },
    { name: 'the processor tells nothing of itself', told: ANSWER, seconds: 3,
        then: COPIES, code: '(f "syscall" :long :long 158 :long 4114 :long 0)' },
    { name: 'another personality', told: /^=> \d+$/m, then: TOOLS, next: WELL,
        code: '(f "personality" :int :long #x5060000)' },
    { name: 'an environment that is too long', told: is(0), then: COPIES,
        code: '(f "setenv" :int :cstring "X" :cstring (make-string 3000000 ' +
            ':initial-element #\\x) :int 1)', next: WELL },
    { name: 'no environment of C', told: ANSWER, then: COPIES, seconds: 3,
        code: '(setf (ffi:deref-array (p "environ") (quote (:array :long)) 0) 1)' },
    { name: 'one processor', told: is(0), then: TOOLS, next: WELL,
        code: '(f "sched_setaffinity" :int :int 0 :long 8 :pointer-void (mem :long 1))' },
];

export const MORE = [...LIES, ...WALLS, ...DESCRIPTORS, ...SIGNALS, ...THREADS,
    ...MEMORY];
