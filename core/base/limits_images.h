/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits_images.h: the limits of Lisp images: their number, processes, time,
   memory and copies, and what their sandbox costs. limits.h includes it. */
#ifndef BASE_LIMITS_IMAGES_H
#define BASE_LIMITS_IMAGES_H

/* --- Sessions, their processes, and what starts them ---------------------- */

/* Sessions that may be open: each is a process, and another one for its
   checkpoint. */
#define LIMIT_SESSIONS 256

/* Bytes of a session's name. */
#define LIMIT_SESSION_NAME 64

/* Processes of one session, its image included: more than a parallel build
   starts, few enough that a fork bomb ends before the machine suffers. */
#define LIMIT_PROCESSES 256

/* Tasks (processes and threads) of one session, sleeping copies included, where
   the kernel itself counts them: so many that LIMIT_PROCESSES is met first by
   all but a fork bomb, which is faster than any count. */
#define LIMIT_TASKS 1024

/* How much sooner than others a process of a session is ended when the machine
   runs out of memory, in points of 1000 (/proc/PID/oom_score_adj). */
#define LIMIT_OOM_SCORE 500

/* Bytes of a file that evaluated code may write: an endless loop must not fill
   the disk. */
#define LIMIT_FILE_WRITTEN (4ull * 1024 * 1024 * 1024)

/* Descriptors that a process of a session may have open: as many as programs
   expect, and few enough to be closed one by one. */
#define LIMIT_DESCRIPTORS 4096

/* Descriptors that wait to be closed: those that images have sent unasked, and
   sockets of images and copies. While more wait, no session that has lost its
   image gets another, which could send 253 more. */
#define LIMIT_CLOSING 256

/* Starts of the zygote that may fail in a row before calls are refused, and
   milliseconds between two attempts from then on. */
#define LIMIT_ZYGOTE_TRIES 3
#define LIMIT_ZYGOTE_RETRY_MS 2000

/* Milliseconds in which the zygote must be ready, and it and keepers answer. */
#define LIMIT_ZYGOTE_BOOT_MS 20000

/* Milliseconds within which the zygote must have covered new files: until then
   no image gets a call, whose code could write them. */
#define LIMIT_ZYGOTE_COVER_MS 10000

/* --- Calls ---------------------------------------------------------------- */

/* Milliseconds that an evaluation gets by default: more than interactive work
   takes, and less than the 60 s after which clients give up. */
#define LIMIT_TIMEOUT_MS 30000

/* The same for loading a system, which may compile hundreds of files. */
#define LIMIT_LOAD_TIMEOUT_MS 600000

/* Longest time limit in seconds, a day: no call should take longer. */
#define LIMIT_TIMEOUT_MAX 86400

/* Milliseconds between the stages in which an evaluation is stopped: condition,
   throw, throw past cleanup forms, end of the image. */
#define LIMIT_INTERRUPT_MS 500

/* Milliseconds that a call must have run before reset-session, restore-session
   and the like, which wait for it, stop it: quick calls that were sent together
   with them still end as they would. */
#define LIMIT_STUCK_MS 1000

/* Interrupts that wait for a call while it has them off, none of which may be
   lost: more than the supervisor, a user and a copy send. */
#define LIMIT_INTERRUPTS 16

/* Calls that are sent ahead to a live image while it evaluates: enough to keep
   it busy, few enough that they never fill its socket. */
#define LIMIT_AHEAD 32

/* Milliseconds of processor time that an evaluation runs after a definition
   before that is compiled: most are done by then, and a fork costs 1. */
#define LIMIT_NATIVE_AFTER_MS 100

/* Levels of the tree of one evaluation: each line is indented by its level
   (lisp/step.lisp). */
#define LIMIT_STEP_DEPTH 100

/* Runs of one measurement, each of whose times is kept (lisp/measure.lisp). */
#define LIMIT_RUNS 100000

/* Seconds that one test of run-tests may take: a day. */
#define LIMIT_TEST_SECONDS 86400

/* --- Memory --------------------------------------------------------------- */

/* Bytes of the heap of a live image, the default of --memory, its range. */
#define LIMIT_HEAP (1024ull * 1024 * 1024)
#define LIMIT_HEAP_MIN (64ull * 1024 * 1024)
#define LIMIT_HEAP_MAX (1024ull * 1024 * 1024 * 1024)

/* Bytes of the heap that may be garbage when a copy of the image is taken; more
   of it, and more than a quarter of the heap, is given back to the system
   first. */
#define LIMIT_HEAP_LOOSE (32u * 1024 * 1024)

/* Quiet moments after which the forms and values of a large evaluation have
   left the variables of the read-eval-print loop, and that is tried again. */
#define LIMIT_HEAP_MOMENTS 4

/* Bytes that calls have allocated since the last collection when a copy of a
   smaller heap is taken; more is collected first if nobody waits: that of 900
   small calls, of which up to eight copies have some each, in 7 ms. */
#define LIMIT_HEAP_STALE (1024u * 1024)

/* Bytes of C stack that ECL counts on in each thread: enough to read 100,000
   open parentheses. */
#define LIMIT_LISP_STACK (64ull * 1024 * 1024)

/* Bytes of this stack that are reserved for handling an overflow. */
#define LIMIT_LISP_STACK_SAFETY (1024 * 1024)

/* Bytes of stack that the main thread really has: ECL's reader does not check
   how much is left, and would crash the process. */
#define LIMIT_C_STACK (1024ull * 1024 * 1024)

/* --- Copies --------------------------------------------------------------- */

/* Checkpoints that a session keeps, of those with a name and of those without:
   each is a process, which shares the memory that has not changed since. */
#define LIMIT_CHECKPOINTS 8

/* Checkpoints that an image can ask for replays: those that the supervisor
   keeps, and some that are about to end, as the next one is there. */
#define LIMIT_PASTS (3 * LIMIT_CHECKPOINTS)

/* Milliseconds without a call after which a session loads ahead what its calls
   will need: clients that know what they want have made the next call by then.
 */
#define LIMIT_PREPARE_MS 300

/* Sessions of a server that load ahead: each takes 10 MB for that, and a client
   that opens more does not use all of them for the same. */
#define LIMIT_PREPARED 4

/* Milliseconds within which a checkpoint must wake up. */
#define LIMIT_WAKE_MS 1000

/* Evaluations of a session whose first lines we remember, to say what was
   undone or lost. */
#define LIMIT_HISTORY 64

/* Frozen errors of a session: each is a process, too. */
#define LIMIT_FROZEN_ERRORS 3

/* Numbers of frozen errors, from the newest down, of which the supervisor knows
   whether they have been there: those of threads come late. As many as the bits
   of a word. */
#define LIMIT_FROZEN_NUMBERS 64

/* --- The sandbox ---------------------------------------------------------- */

/* Patterns of --secret: more than anybody types, and few enough for the command
   line of the image program. */
#define LIMIT_SECRETS 64

/* Folders of the home folder, and names in all of them, among which secrets are
   looked for when an image starts: so a large home costs no more than a
   millisecond or two. */
#define LIMIT_SECRET_FOLDERS 256
#define LIMIT_SECRET_NAMES 10000

/* Secret files, and files in secret folders of the homes, that have several
   names and are hidden under the others, too. */
#define LIMIT_SECRET_INSIDE 1000

/* Plain files in each folder on the way to a secret that images may read, each
   by a rule that takes 4 microseconds at every start: a home with thousands
   must not cost more than one with fifty. Dotted ones come first. */
#define LIMIT_FILES_READABLE 128

/* Entries of such a folder that are listed: more than anybody has, and 6 MB for
   a moment at a start. Nothing in a folder with more gets readable. */
#define LIMIT_WAY_ENTRIES 120000

/* Bytes in which a large home is remembered: to read more would save little. */
#define LIMIT_HOME_REMEMBERED (1024 * 1024)

/* Patterns of --protect; folders of the workspace in which repositories are
   looked for when the images start, and entries of them, a matter of some
   milliseconds; repositories whose hooks and settings are kept; and files that
   are. */
#define LIMIT_PROTECTS 64
#define LIMIT_COVERED_FOLDERS 300
#define LIMIT_COVERED_ENTRIES 4000
#define LIMIT_COVERED_ROOTS 16
#define LIMIT_COVERS 1000

/* Milliseconds in which the temporary folder of the images is removed when the
   server ends: a client waits for that end. The rest is removed in the
   background by the next server, within the second time. */
#define LIMIT_TEMPORARY_END_MS 1000
#define LIMIT_TEMPORARY_SWEEP_MS 60000

#endif
