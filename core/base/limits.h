/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.h: every limit on input, memory, time and number, each with its
   reason. A message that refuses something names the limit that it met. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* Bytes of one message line, the default of --max-message: ten times the most
   that SDK clients send, and small enough to be held twice. */
#define LIMIT_MESSAGE (16u * 1024 * 1024)

/* Range of --max-message in bytes: no tool call fits into less, and a single
   larger message could exhaust a small machine. */
#define LIMIT_MESSAGE_MIN (4u * 1024)
#define LIMIT_MESSAGE_MAX (1024u * 1024 * 1024)

/* Nesting of JSON arrays and objects: no real message goes deeper than 30. */
#define LIMIT_JSON_DEPTH 512

/* Tokens of one JSON message: a token takes 20 bytes, so the table stays below
   5 MB, and is searched in a millisecond or two; 16 MiB of "[1,1,…" would need
   160 MB. */
#define LIMIT_JSON_TOKENS (256u * 1024)

/* Bytes of a number: more than any program writes, and read in no time. */
#define LIMIT_JSON_NUMBER 262144

/* Bytes of a path: more than any system takes, which then says so. */
#define LIMIT_PATH 65536

/* Messages of one batch: a client sends a few, and the answer to each may be a
   list of tools of some 10 KB. */
#define LIMIT_BATCH 1000

/* Files that we remember having shown the model: it works on fewer at once. */
#define LIMIT_SEEN_FILES 512

/* Patterns of --secret: more than anybody types, and few enough for the command
   line of the image program. */
#define LIMIT_SECRETS 64

/* Folders of the home folder, and names in all of them, among which secrets are
   looked for when an image starts: so a large home costs no more than a
   millisecond or two. */
#define LIMIT_SECRET_FOLDERS 256
#define LIMIT_SECRET_NAMES 10000

/* Files in secret folders of the homes, hidden under other names, too. */
#define LIMIT_SECRET_INSIDE 1000

/* Patterns of --protect; folders of the workspace in which repositories are
   looked for when the images start, and entries of them, a matter of some
   milliseconds; repositories whose hooks and settings are kept; and files that
   are. */
#define LIMIT_PROTECTS 64
#define LIMIT_COVERED_FOLDERS 300
#define LIMIT_COVERED_ENTRIES 4000
#define LIMIT_COVERED_ROOTS 16
#define LIMIT_COVERS 1000

/* Bytes of a file that is read or changed: as many as can be compared. */
#define LIMIT_FILE LIMIT_DIFF_TEXT

/* Names that are read from one folder: nobody reads a longer list. */
#define LIMIT_FOLDER_ENTRIES 10000

/* One search: matches shown, bytes of the pattern, files searched, bytes of one
   such file, and bytes of all of them. */
#define LIMIT_SEARCH_MATCHES 200
#define LIMIT_SEARCH_PATTERN (64u * 1024)
#define LIMIT_SEARCH_FILES 50000
#define LIMIT_SEARCH_FILE (8u * 1024 * 1024)
#define LIMIT_SEARCH_BYTES (512u * 1024 * 1024)

/* A regular expression: its instructions, how deep its groups are nested (they
   are parsed on the stack), and how often one is repeated by number. Matching
   takes at most this many times as long as the text, whatever the expression.
 */
#define LIMIT_REGEX 2000
#define LIMIT_REGEX_DEPTH 50
#define LIMIT_REGEX_REPEAT 1000

/* Instructions that one search with a regular expression may run: half a
 * minute. */
#define LIMIT_SEARCH_WORK 4000000000ull

/* The same for one search in a long output, a tenth of a second or two, for
   which its client waits; the next search goes on from there. Characters of a
   line that are looked at as one, so that this also bounds a line that never
   ends. */
#define LIMIT_OUTPUT_SEARCH_WORK 20000000ull
#define LIMIT_OUTPUT_SEARCH_LINE (16u * 1024)

/* Work of one step (strand.h), as much as looking at so many bytes: a few
   milliseconds, for which everything else waits. */
#define LIMIT_STEP (512u * 1024)

/* Microseconds of one step, where the host has a clock: what the same work
   takes depends on the machine, and on whether the memory that it needs is new.
   The clock is looked at each time so much work has been done. */
#define LIMIT_STEP_US 4000
#define LIMIT_STEP_LOOK (8u * 1024)

/* Milliseconds after which what waits for the disk is looked at once more, if
   nobody has said that it is done. */
#define LIMIT_DISK_MS 20

/* Bytes of a file from which on its end is left to a thread: a system may take
   milliseconds to free them. */
#define LIMIT_FREED (1024 * 1024)

/* Calls that are worked on in steps at a time: as each may hold the text of a
   file, the others wait. */
#define LIMIT_STINTS 4

/* Bytes of the stack of such work, which never recurs deep: several times of
   what it takes. */
#define LIMIT_STRAND_STACK (256u * 1024)

/* Bytes of each of two texts that are compared: more than any source file has.
   The tables of their lines take a few times as much. */
#define LIMIT_DIFF_TEXT (64u * 1024 * 1024)

/* Edits of one call times the bytes of the file, which is searched for each of
   them: some seconds of work, and 1,000 edits of a file of 4 MB. */
#define LIMIT_EDITS_BYTES 4294967296ull

/* Places that the edits of one call may replace in a file: more than any name
   has in one, and sorted in some milliseconds. */
#define LIMIT_EDIT_PLACES 20000

/* Bytes of a text in which the place that was probably meant is looked for. It
   is a help in a message; files that people edit are smaller. */
#define LIMIT_NEAREST (4u * 1024 * 1024)

/* One review of several files: the files, which are asked about one by one; the
   hunks, more than anybody decides; and the bytes of the files, which are held
   until that is done. */
#define LIMIT_CHANGES_FILES 64
#define LIMIT_CHANGES_HUNKS 1000
#define LIMIT_CHANGES_BYTES LIMIT_DIFF_TEXT

/* Bytes of all patches of such a change that the log keeps: each has at most
   LIMIT_PATCH. */
#define LIMIT_CHANGES_PATCHES (4u * 1024 * 1024)

/* Renaming a symbol: files of Lisp that are read, bytes of each and of all of
   them, facts about packages, structures and slots that are kept, which are as
   many as a large project has, and places that are listed but not touched,
   which somebody reads. */
#define LIMIT_RENAME_FILES 5000
#define LIMIT_RENAME_FILE (4u * 1024 * 1024)
#define LIMIT_RENAME_BYTES (64u * 1024 * 1024)
#define LIMIT_RENAME_FACTS 100000
#define LIMIT_RENAME_LISTED 50

/* System definitions that are searched for the name of a file that is moved or
   deleted, bytes of each, and places that are reported: a project has a few. */
#define LIMIT_MENTIONS_FILES 32
#define LIMIT_MENTIONS_FILE (1024u * 1024)
#define LIMIT_MENTIONS 10

/* Lines of each of these texts: the tables take some 120 bytes for each line of
   one of them, so 64 MB. */
#define LIMIT_DIFF_LINES (512 * 1024)

/* Comparisons of lines after which a diff need no longer be the shortest one:
   they take a tenth of a second or two, and suffice for 10,000 changed lines.
   From then on each search ends after LIMIT_DIFF_COST edits. */
#define LIMIT_DIFF_STEPS 50000000
#define LIMIT_DIFF_COST 64

/* Lines by which a hunk may have moved in a text that was changed in the
   meantime: farther away, equal lines may mean something else. */
#define LIMIT_DIFF_DRIFT 1000

/* Bytes of lines that are compared to find such places, whether they are equal
   or not: some tenths of a second. Hunks that are left then are out of date. */
#define LIMIT_DIFF_COMPARED (1024u * 1024 * 1024)

/* Elements of a list that is an argument: nobody reviews more edits. */
#define LIMIT_LIST_ITEMS 1000

/* Characters of an answer that a model sees: clients cut longer ones. */
#define LIMIT_OUTPUT 10000

/* Range of --max-output in characters: with less, an error report loses its
   backtrace; no model reads more. */
#define LIMIT_OUTPUT_MIN 1000
#define LIMIT_OUTPUT_MAX 1000000

/* Bytes that are kept of one output or value for read-output, and of the answer
   of an image. */
#define LIMIT_OUTPUT_KEPT (16u * 1024 * 1024)

/* Bytes of output and answers that one session may make the supervisor hold
   until they are passed on: an evaluation that prints and returns all that is
   kept. */
#define LIMIT_SESSION_HELD (4 * LIMIT_OUTPUT_KEPT)

/* The same for all sessions together, without the first bytes of each, which it
   may always have: no session can take all memory, or the room of another. */
#define LIMIT_SESSIONS_HELD (256u * 1024 * 1024)
#define LIMIT_SESSION_SHARE (1024u * 1024)

/* Characters of an answer that the other users of a session are told, when it
   changes the session for them. */
#define LIMIT_NOTICE 2000

/* Bytes of all kept outputs of one supervisor; the oldest go first. */
#define LIMIT_OUTPUTS_BYTES (64u * 1024 * 1024)

/* Number of kept outputs of one supervisor; the oldest go first. */
#define LIMIT_OUTPUTS 64

/* Calls that wait for an answer, and the bytes of their arguments: a client
   has a few dozen waiting at most. */
#define LIMIT_PENDING_CALLS 4096
#define LIMIT_PENDING_BYTES (64u * 1024 * 1024)

/* Bytes of the files, before and after, in changes about which a human is
   asked; one change alone may have more. */
#define LIMIT_PLANS_BYTES (256u * 1024 * 1024)

/* The same for all servers that share the Lisp images of one supervisor: enough
   for several of them, and no more than fits into memory. */
#define LIMIT_SHARED_CALLS (4 * LIMIT_PENDING_CALLS)
#define LIMIT_SHARED_BYTES (4 * LIMIT_PENDING_BYTES)

/* Servers that share the images of one supervisor: more than anybody runs. */
#define LIMIT_FRONTS 64

/* Bytes of answers that one of these servers may leave unread before it is
   dropped; beyond LIMIT_OUTPUT_BACKLOG its calls are no longer read. More than
   one answer, which has at most LIMIT_OUTPUT_KEPT. */
#define LIMIT_FRONT_BACKLOG (64u * 1024 * 1024)

/* Milliseconds within which each end of a connection must say what it is. */
#define LIMIT_HELLO_MS 5000

/* Milliseconds between two attempts to connect to a socket on which nobody
   listens. */
#define LIMIT_ATTACH_MS 1000

/* Bytes of a policy file, of which a thousand rules take 64 KiB, and characters
   of a mistake in it that a message quotes. */
#define LIMIT_POLICY (256u * 1024)
#define LIMIT_POLICY_SHOWN 100

/* Sessions on one page of the list of resources. */
#define LIMIT_RESOURCES_PAGE 32

/* Tools whose calls are counted each; those of all others are one count. */
#define LIMIT_METRICS 128

/* Bytes of a tool's name: model providers accept no more. */
#define LIMIT_TOOL_NAME 64

/* Bytes of a file's change that the log keeps: more than an edit has. A change
   that replaces a whole large file has to be undone by other means. */
#define LIMIT_PATCH (256u * 1024)

/* Characters of a call's arguments that the log shows: two lines of a screen,
   enough to recognize the call. */
#define LIMIT_PREVIEW 160

/* Days for which files of the audit log are kept: long enough to find out what
   happened, and the folder does not grow forever. */
#define LIMIT_AUDIT_DAYS 90

/* Bytes from which on a file of the audit log is full, and how many full files
   are kept of one day, besides the one in use: 1 GiB a day. Calls that change
   large files leave some 256 KiB each. */
#define LIMIT_AUDIT_FILE (64u * 1024 * 1024)
#define LIMIT_AUDIT_PARTS 15

/* Characters that are kept of a client's name, and of its version. */
#define LIMIT_CLIENT_NAME 100

/* Tools that a human lets run without a question: more than there are. */
#define LIMIT_GRANTS 64

/* Milliseconds for which a human may think about an approval, the default of
   --approval-timeout: enough to read a large diff. */
#define LIMIT_APPROVAL_MS 300000

/* Milliseconds after its question in which a human who works on it in the
   editor prolongs a call: a working day. */
#define LIMIT_APPROVAL_WORK_MS (8 * 60 * 60 * 1000)

/* Calls that may wait for a human at a time: nobody reviews more. */
#define LIMIT_APPROVALS 64

/* Approvals with a signed state that we remember as used: more than a human
   gives while one of them is valid. */
#define LIMIT_TICKETS 256

/* Bytes that a tool may keep in such a state: each message carries it. */
#define LIMIT_TICKET_EXTRA 1024

/* Milliseconds between two notifications of progress while a human thinks: some
   clients give up on a call when they hear nothing about it. */
#define LIMIT_APPROVAL_PROGRESS_MS 10000

/* Bytes of a question to a human: clients refuse messages of 10 MB, and nobody
   reads so much. */
#define LIMIT_QUESTION (1024u * 1024)

/* Bytes of one message from an editor: room for the texts of a buffer before
   and after a change, with their escapes. */
#define LIMIT_EDITOR_MESSAGE (64u * 1024 * 1024)

/* Bytes that an editor may leave unread before it counts as gone; half of that
   for what it can do without, lines about calls. */
#define LIMIT_EDITOR_BACKLOG (16u * 1024 * 1024)

/* Milliseconds within which an editor must say that a request has arrived: one
   that does not is stopped or busy, and the client's user is asked instead. */
#define LIMIT_EDITOR_RECEIVE_MS 2000

/* Milliseconds between two searches for an editor: when a message of the client
   may need one, and otherwise. */
#define LIMIT_EDITOR_WANTED_MS 2000
#define LIMIT_EDITOR_RETRY_MS 5000

/* Milliseconds within which an editor, once it has received the request, must
   send the text of a buffer. */
#define LIMIT_EDITOR_LOOK_MS 10000

/* Bytes of a buffer against which a change is reviewed: twice as much, escaped,
   must fit into one message. */
#define LIMIT_EDITOR_TEXT (8u * 1024 * 1024)

/* Files with unsaved changes that an editor names at a time: who has more in
   work saves some of them. */
#define LIMIT_EDITOR_UNSAVED 256

/* What an editor gets of a call that is over: bytes of its arguments, and
   characters of its answer. Nobody reads more in passing. */
#define LIMIT_EDITOR_ARGUMENTS (4u * 1024)
#define LIMIT_EDITOR_ANSWER 1000

/* Calls that wait at a time for an editor to run them or to send a text: a
   client has a few dozen waiting at most. */
#define LIMIT_EDITOR_CALLS 64

/* The tools of an editor: their number, the bytes of a title, of a description
   and of the help of a field, the fields of each tool, and the choices of a
   field. Models read all of it. */
#define LIMIT_EDITOR_TOOLS 64
#define LIMIT_EDITOR_TITLE 100
#define LIMIT_EDITOR_DESCRIPTION 2000
#define LIMIT_EDITOR_HELP 300
#define LIMIT_EDITOR_FIELDS 16
#define LIMIT_EDITOR_CHOICES 32

/* Streams of notifications that a client may have open: it needs one. */
#define LIMIT_SUBSCRIPTIONS 16

/* Bytes of arguments that a form offers for editing: nobody edits longer ones
   in a line of a form. */
#define LIMIT_PREFILL (16u * 1024)

/* Characters of a human's reason that the model reads. */
#define LIMIT_REASON 2000

/* Characters of a changed argument that the answer quotes. */
#define LIMIT_CHANGE 500

/* Calls that are sent ahead to a live image while it evaluates: enough to keep
   it busy, few enough that they never fill its socket. */
#define LIMIT_AHEAD 32

/* Characters of output in one notification of progress: more than a person
   reads in the quarter of a second between two of them. */
#define LIMIT_PROGRESS 2000

/* Bytes of answers that a slow client may leave unread before its input is no
   longer read. */
#define LIMIT_OUTPUT_BACKLOG (4u * 1024 * 1024)

/* Milliseconds that running calls get after the end of input, and after SIGTERM
   or SIGINT, before they are stopped. */
#define LIMIT_GRACE_EOF_MS 2000
#define LIMIT_GRACE_SIGNAL_MS 500

/* Bytes of a line that code reads from its human: more than one types. */
#define LIMIT_INPUT (64u * 1024)

/* Milliseconds for which code may wait for a line, during which its own limit
   does not count: as long as a human may think, and a session may be held up
   for its other users. */
#define LIMIT_INPUT_MS 600000

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

/* Bytes of one log line. */
#define LIMIT_LOG_LINE 2000

/* Starts of the zygote that may fail in a row before calls are refused, and
   milliseconds between two attempts from then on. */
#define LIMIT_ZYGOTE_TRIES 3
#define LIMIT_ZYGOTE_RETRY_MS 2000

/* Milliseconds in which the zygote must be ready, and it and keepers answer. */
#define LIMIT_ZYGOTE_BOOT_MS 20000

/* Milliseconds within which the zygote must have covered new files: until then
   no image gets a call, whose code could write them. */
#define LIMIT_ZYGOTE_COVER_MS 10000

/* Bytes of one frame between supervisor and image: the largest message, with
   room for the head of the frame. */
#define LIMIT_FRAME (LIMIT_MESSAGE_MAX + 1024u * 1024)

/* Sessions that may be open: each is a process, and another one for its
   checkpoint. */
#define LIMIT_SESSIONS 256

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
   expect, and few enough to be closed one by one. Those that wait to be closed,
   while no session gets a new image: one can send 253. */
#define LIMIT_DESCRIPTORS 4096
#define LIMIT_CLOSING 256

/* Plain files in each folder on the way to a secret that images may read, each
   by a rule that takes 4 microseconds at every start: a home with thousands
   must not cost more than one with fifty. Dotted ones come first. */
#define LIMIT_FILES_READABLE 128

/* Entries of such a folder that are listed: more than anybody has, and 6 MB for
   a moment at a start. Nothing in a folder with more gets readable. */
#define LIMIT_WAY_ENTRIES 120000

/* Bytes in which a large home is remembered: to read more would save little. */
#define LIMIT_HOME_REMEMBERED (1024 * 1024)

/* Milliseconds in which the temporary folder of the images is removed when the
   server ends: a client waits for that end. The rest is removed in the
   background by the next server, within the second time. */
#define LIMIT_TEMPORARY_END_MS 1000
#define LIMIT_TEMPORARY_SWEEP_MS 60000

/* Checkpoints that a session keeps, of those with a name and of those without:
   each is a process, which shares the memory that has not changed since. */
#define LIMIT_CHECKPOINTS 8

/* Checkpoints that an image can ask for replays: those that the supervisor
   keeps, and some that are about to end, as the next one is there. */
#define LIMIT_PASTS (3 * LIMIT_CHECKPOINTS)

/* Interrupts that wait for a call while it has them off, none of which may be
   lost: more than the supervisor, a user and a copy send. */
#define LIMIT_INTERRUPTS 16

/* Frozen errors of a session: each is a process, too. */
#define LIMIT_FROZEN_ERRORS 3

/* Numbers of frozen errors, from the newest down, of which the supervisor knows
   whether they have been there: those of threads come late. As many as the bits
   of a word. */
#define LIMIT_FROZEN_NUMBERS 64

/* Evaluations of a session whose first lines we remember, to say what was
   undone or lost. */
#define LIMIT_HISTORY 64

/* Milliseconds within which a checkpoint must wake up. */
#define LIMIT_WAKE_MS 1000

/* Parentheses and quotes open at a time in source text: each takes 32 bytes. */
#define LIMIT_SOURCE_DEPTH 1000000

/* What is reported about source text: problems, lists that are open at each,
   and characters that are quoted of each. Nobody reads more, and the first
   problem often causes the others. */
#define LIMIT_SOURCE_PROBLEMS 5
#define LIMIT_SOURCE_OPEN 6
#define LIMIT_SOURCE_EXCERPT 30

/* Bytes of the name of a definition that is searched: more than a method with
   all its specialisers needs. */
#define LIMIT_SOURCE_NAME 1000

/* Definitions that are listed when a name matches many of them, or none. */
#define LIMIT_SOURCE_CANDIDATES 20

/* Levels of the tree of one evaluation: each line is indented by its level
   (lisp/step.lisp). */
#define LIMIT_STEP_DEPTH 100

/* Runs of one measurement, each of whose times is kept (lisp/measure.lisp). */
#define LIMIT_RUNS 100000

/* Seconds that one test of run-tests may take: a day. */
#define LIMIT_TEST_SECONDS 86400

/* Characters that an answer shows of each output of a call that is not about
   what was printed: enough to see which test wrote it. */
#define LIMIT_OUTPUT_ASIDE 1000

/* Entries that a tool lists when asked for many: nobody reads more. */
#define LIMIT_LISTED 1000

/* Milliseconds of processor time that an evaluation runs after a definition
   before that is compiled: most are done by then, and a fork costs 1. */
#define LIMIT_NATIVE_AFTER_MS 100

/* Values that complete what a user types: MCP allows no more in an answer. To
   find systems, the folders that are looked into: more than a workspace with
   its vendored libraries has, and a matter of milliseconds. */
#define LIMIT_COMPLETIONS 100
#define LIMIT_COMPLETION_FOLDERS 500

/* Bytes of an argument of a prompt: more than anybody types. */
#define LIMIT_PROMPT_ARGUMENT (64u * 1024)

/* Bytes of a session's name. */
#define LIMIT_SESSION_NAME 64

/* Inside Emacs: log lines that are kept until somebody asks for them, each of
   at most LIMIT_LOG_LINE bytes; the oldest go first. */
#define LIMIT_LOG_KEPT 500

/* Cores that exist at a time inside one Emacs, which uses one: those to which
   nobody refers are only freed when Emacs collects garbage. */
#define LIMIT_MODULE_CORES 32

/* Inside Emacs: milliseconds after which work on what came in pauses, so that
   keys are read: most messages need less. */
#define LIMIT_MODULE_TURN_MS 10

/* Bytes of each of two texts that are compared inside Emacs, which does nothing
   else meanwhile: this takes a tenth of a second or two. */
#define LIMIT_MODULE_TEXT (4u * 1024 * 1024)

#endif
