/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.h: every limit on input, memory, time and number, each with its
   reason. A message that refuses something names the limit it met. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* One message line in bytes, default of --max-message: ten times what SDK
   clients send at most, small enough to be held twice. */
#define LIMIT_MESSAGE (16u * 1024 * 1024)

/* Range of --max-message in bytes: below it no tool call fits, above it a
   single message could exhaust a small machine. */
#define LIMIT_MESSAGE_MIN (4u * 1024)
#define LIMIT_MESSAGE_MAX (1024u * 1024 * 1024)

/* Nesting of JSON arrays and objects: no real message passes 30. */
#define LIMIT_JSON_DEPTH 512

/* Tokens of one JSON message: a token takes 20 bytes, so this bounds the
   table at 20 MB where 16 MiB of "[1,1,…" would need 160 MB. */
#define LIMIT_JSON_TOKENS (1024u * 1024)

/* Messages of one batch: a client sends a few, and each may be answered by a
   list of tools of some 10 KB. */
#define LIMIT_BATCH 1000

/* Files whose content the model has been shown is remembered of so many; a
   model does not work on more at a time. */
#define LIMIT_SEEN_FILES 512

/* Patterns of --secret: what nobody types, and few enough for the command line
   of the image program. */
#define LIMIT_SECRETS 64

/* Bytes of a file that is read or changed: what can be compared. */
#define LIMIT_FILE LIMIT_DIFF_TEXT

/* Names in a folder that are looked at: nobody reads a longer list. */
#define LIMIT_FOLDER_ENTRIES 10000

/* Of one search: matches shown, files looked at, bytes of a file that is
   searched, bytes of all of them, and those of one step, so that nothing else
   waits longer than a few milliseconds. */
#define LIMIT_SEARCH_MATCHES 200
#define LIMIT_SEARCH_FILES 50000
#define LIMIT_SEARCH_FILE (8u * 1024 * 1024)
#define LIMIT_SEARCH_BYTES (512u * 1024 * 1024)
#define LIMIT_SEARCH_STEP (2u * 1024 * 1024)

/* Bytes of each of two texts that are compared: more than any source file; the
   tables of their lines take a few times as much. */
#define LIMIT_DIFF_TEXT (64u * 1024 * 1024)

/* Lines of each of them: the tables take some 50 bytes for a line. */
#define LIMIT_DIFF_LINES (2 * 1024 * 1024)

/* Comparisons of lines after which a diff need not be the shortest any more: a
   tenth of a second or two, and enough for 10,000 changed lines. Then every
   search ends after so many edits. */
#define LIMIT_DIFF_STEPS 50000000
#define LIMIT_DIFF_COST 64

/* Lines by which a hunk may have moved in a text that was changed meanwhile:
   farther away, equal lines may mean something else. */
#define LIMIT_DIFF_DRIFT 1000

/* Elements of an argument that is a list: a review of more has no reader. */
#define LIMIT_LIST_ITEMS 1000

/* Characters of an answer that a model sees; clients cut near this. */
#define LIMIT_OUTPUT 10000

/* Range of --max-output in characters: below it an error report loses its
   backtrace, above it no model reads on. */
#define LIMIT_OUTPUT_MIN 1000
#define LIMIT_OUTPUT_MAX 1000000

/* Bytes of one output or value text that are kept for read-output. */
#define LIMIT_OUTPUT_KEPT (16u * 1024 * 1024)

/* Bytes of all kept outputs of one supervisor; the oldest go first. */
#define LIMIT_OUTPUTS_BYTES (64u * 1024 * 1024)

/* Number of kept outputs of one supervisor. */
#define LIMIT_OUTPUTS 64

/* Calls that wait for an answer, and the bytes of their arguments: a client
   keeps a few dozen at most. */
#define LIMIT_PENDING_CALLS 4096
#define LIMIT_PENDING_BYTES (64u * 1024 * 1024)

/* The same for all who share the Lisp images of one supervisor: what several of
   them keep waiting, and no more than fits into memory. */
#define LIMIT_SHARED_CALLS (4 * LIMIT_PENDING_CALLS)
#define LIMIT_SHARED_BYTES (4 * LIMIT_PENDING_BYTES)

/* Processes that share them through a socket: more servers than anybody runs.
 */
#define LIMIT_FRONTS 64

/* Bytes of answers that wait for one of them before it is dropped; its calls
   are no longer read from LIMIT_OUTPUT_BACKLOG on. More than one answer, which
   has LIMIT_OUTPUT_KEPT at most. */
#define LIMIT_FRONT_BACKLOG (64u * 1024 * 1024)

/* Milliseconds within which one that connects, and who is connected to, must
   say what it is. */
#define LIMIT_HELLO_MS 5000

/* Milliseconds between two tries to connect to a socket behind which nobody
   is. */
#define LIMIT_ATTACH_MS 1000

/* Bytes of a policy file, and characters of what is wrong in it that are shown:
   a thousand rules have 64 KiB. */
#define LIMIT_POLICY (256u * 1024)
#define LIMIT_POLICY_SHOWN 100

/* Sessions whose resources a page of their list shows. */
#define LIMIT_RESOURCES_PAGE 32

/* Tools of which counts are kept: more than are used. */
#define LIMIT_METRICS 128

/* Bytes of a tool's name: what model providers accept. */
#define LIMIT_TOOL_NAME 64

/* Bytes of a change of a file that the log keeps: more than an edit has; what
   replaces a whole large file is taken back by other means. */
#define LIMIT_PATCH (256u * 1024)

/* Characters of the arguments of a call that the log shows: two lines of a
   screen, enough to recognize it. */
#define LIMIT_PREVIEW 160

/* Days for which the files of the audit log are kept: long enough to look into
   what happened, and a folder that nobody looks into does not grow forever. */
#define LIMIT_AUDIT_DAYS 90

/* Characters of the name of a client, and of its version, that are kept. */
#define LIMIT_CLIENT_NAME 100

/* Tools that a human has let run without being asked for: more than there
   are. */
#define LIMIT_GRANTS 64

/* Milliseconds for which a human may think about an approval, default of
   --approval-timeout: longer than the reading of a large diff takes. */
#define LIMIT_APPROVAL_MS 300000

/* Calls that wait for a human at a time: nobody looks through more. */
#define LIMIT_APPROVALS 64

/* Approvals that came back with a signed state and are remembered as used: more
   than a human gives in the time that one is good for. */
#define LIMIT_TICKETS 256

/* Bytes that a tool may keep in such a state: it travels with each message. */
#define LIMIT_TICKET_EXTRA 1024

/* Milliseconds between two notifications of progress while a human thinks: some
   clients give up on a call of which they hear nothing. */
#define LIMIT_APPROVAL_PROGRESS_MS 10000

/* Bytes of what a human is shown: clients refuse messages of 10 MB, and nobody
   reads that. */
#define LIMIT_QUESTION (1024u * 1024)

/* Bytes of one message from an editor: the texts of a buffer before and after a
   change, with their escapes. */
#define LIMIT_EDITOR_MESSAGE (64u * 1024 * 1024)

/* Bytes for an editor that may wait until it reads them: then it is taken for
   gone. Half of that for what it can do without: lines about calls. */
#define LIMIT_EDITOR_BACKLOG (16u * 1024 * 1024)

/* Milliseconds in which an editor has to say that a request has arrived: who
   does not is stopped or busy, and the client's user is asked instead. */
#define LIMIT_EDITOR_RECEIVE_MS 2000

/* Milliseconds between two looks for an editor: when a message of the client
   may want one, and otherwise. */
#define LIMIT_EDITOR_WANTED_MS 2000
#define LIMIT_EDITOR_RETRY_MS 5000

/* Milliseconds in which it has to give the text of a buffer then. */
#define LIMIT_EDITOR_LOOK_MS 10000

/* Bytes of a buffer against which a change is reviewed: twice that, escaped,
   has to fit into one message. */
#define LIMIT_EDITOR_TEXT (8u * 1024 * 1024)

/* Of a call that is over, as an editor is told: bytes of arguments, and
   characters of the answer. More is no longer read in passing. */
#define LIMIT_EDITOR_ARGUMENTS (4u * 1024)
#define LIMIT_EDITOR_ANSWER 1000

/* Calls that an editor does, or is asked for texts for, at a time. */
#define LIMIT_EDITOR_CALLS 64

/* Of the tools of an editor: their number, the bytes of a title, a description
   and the help of a field, the fields of each, and the choices of one. Models
   read all of it. */
#define LIMIT_EDITOR_TOOLS 64
#define LIMIT_EDITOR_TITLE 100
#define LIMIT_EDITOR_DESCRIPTION 2000
#define LIMIT_EDITOR_HELP 300
#define LIMIT_EDITOR_FIELDS 16
#define LIMIT_EDITOR_CHOICES 32

/* Streams of notifications that a client may have open: it needs one. */
#define LIMIT_SUBSCRIPTIONS 16

/* Bytes of arguments that stand in the form to be edited: what is longer is no
   longer edited in a line of a form. */
#define LIMIT_PREFILL (16u * 1024)

/* Characters of a human's reason that the model reads. */
#define LIMIT_REASON 2000

/* Characters of a changed argument that the answer repeats. */
#define LIMIT_CHANGE 500

/* Calls sent ahead to a live image while it evaluates: enough to keep it
   busy, few enough that its socket never fills with work to be moved. */
#define LIMIT_AHEAD 32

/* Characters of output in one notification of progress: more than a person
   reads in the quarter of a second between two of them. */
#define LIMIT_PROGRESS 2000

/* Bytes of answers that wait for a slow client before its input is no longer
   read. */
#define LIMIT_OUTPUT_BACKLOG (4u * 1024 * 1024)

/* Milliseconds that running calls get after end of input, and after SIGTERM
   or SIGINT, before they are stopped. */
#define LIMIT_GRACE_EOF_MS 2000
#define LIMIT_GRACE_SIGNAL_MS 500

/* Milliseconds that an evaluation gets unless told otherwise: longer than what
   is tried out interactively takes, shorter than the time after which clients
   give up (60 s). */
#define LIMIT_TIMEOUT_MS 30000

/* The same for loading a system, which may compile hundreds of files. */
#define LIMIT_LOAD_TIMEOUT_MS 600000

/* Longest time limit in seconds, a day: what takes longer is no call. */
#define LIMIT_TIMEOUT_MAX 86400

/* Milliseconds between the stages in which an evaluation is stopped: condition,
   throw, throw past cleanup forms, end of the image. */
#define LIMIT_INTERRUPT_MS 500

/* Bytes of Lisp heap of a live image, default of --memory, and its range. */
#define LIMIT_HEAP (1024ull * 1024 * 1024)
#define LIMIT_HEAP_MIN (64ull * 1024 * 1024)
#define LIMIT_HEAP_MAX (1024ull * 1024 * 1024 * 1024)

/* Bytes of C stack that ECL counts on in every thread: room for the reading of
   100,000 open parentheses. */
#define LIMIT_LISP_STACK (64ull * 1024 * 1024)

/* Bytes of it that are kept for the handling of an overflow. */
#define LIMIT_LISP_STACK_SAFETY (1024 * 1024)

/* Bytes of stack that the main thread really has: ECL's reader does not look
   where it is, and would end the process elsewhere. */
#define LIMIT_C_STACK (1024ull * 1024 * 1024)

/* Bytes of one log line. */
#define LIMIT_LOG_LINE 2000

/* Starts of the zygote that may fail in a row before calls are refused, and
   the milliseconds between two tries after that. */
#define LIMIT_ZYGOTE_TRIES 3
#define LIMIT_ZYGOTE_RETRY_MS 2000

/* Milliseconds within which the zygote has to be ready. */
#define LIMIT_ZYGOTE_BOOT_MS 20000

/* Bytes of one frame between supervisor and image: an answer of
   LIMIT_OUTPUT_KEPT with room for its head. */
#define LIMIT_FRAME (LIMIT_MESSAGE_MAX + 1024u * 1024)

/* Sessions that may be open: each is a process, and one for its checkpoint. */
#define LIMIT_SESSIONS 256

/* Processes that the code of one session may have running, its image counted:
   more than a parallel build starts, few enough that a fork bomb is ended
   before the machine feels it. */
#define LIMIT_PROCESSES 256

/* Bytes of a file that evaluated code may write: a loop that does not end must
   not fill the disk. */
#define LIMIT_FILE_WRITTEN (4ull * 1024 * 1024 * 1024)

/* Descriptors that a process of a session may have open: what programs expect
   to get, and few enough to be closed one by one. */
#define LIMIT_DESCRIPTORS 4096

/* Checkpoints of a session that are kept, of those with a name and of those
   without: each is a process that shares what has not changed since. */
#define LIMIT_CHECKPOINTS 8

/* Evaluations of a session whose first lines are remembered, to say what was
   undone or lost. */
#define LIMIT_HISTORY 64

/* Milliseconds in which a checkpoint must wake. */
#define LIMIT_WAKE_MS 1000

/* Parentheses and quotes that may be open in source text that is checked or
   searched: each takes 32 bytes. */
#define LIMIT_SOURCE_DEPTH 2000000

/* Problems of source text that are told of, lists that are said to be open
   there, and characters that are quoted of each: more is not read, and the
   first one often causes the others. */
#define LIMIT_SOURCE_PROBLEMS 5
#define LIMIT_SOURCE_OPEN 6
#define LIMIT_SOURCE_EXCERPT 30

/* Bytes of the name by which a definition is searched: longer than a method
   with all its specialisers has. */
#define LIMIT_SOURCE_NAME 1000

/* Definitions that are listed when a name fits many of them or none. */
#define LIMIT_SOURCE_CANDIDATES 20

/* Runs of one measurement: the time of each is kept (lisp/measure.lisp). */
#define LIMIT_RUNS 100000

/* Entries of a list that a tool shows when asked for many: more is not read. */
#define LIMIT_LISTED 1000

/* Bytes of a session's name. */
#define LIMIT_SESSION_NAME 64

/* Inside Emacs: log lines that are kept until they are asked for, each of at
   most LIMIT_LOG_LINE bytes; the oldest go first. */
#define LIMIT_LOG_KEPT 500

/* Sessions that are open at a time inside one Emacs, where one is used: those
   that nobody refers to are only closed when Emacs collects garbage. */
#define LIMIT_MODULE_SESSIONS 32

/* Bytes of each of two texts that are compared inside Emacs, which does nothing
   else meanwhile: what takes a tenth of a second or two. */
#define LIMIT_MODULE_TEXT (4u * 1024 * 1024)

#endif
