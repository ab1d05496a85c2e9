/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.h: the core as a host sees it: one MCP connection. Bytes and the time go
   in. Bytes come out of three buffers: for the client, for the supervisor of
   the Lisp images, and for an editor, if one is connected. The core starts
   nothing, reads no clock, owns no descriptor and never ends the process.

   A host runs this loop:
   - While core_wants_input, it reads from the client, about 64 KiB at a time
     (the answers to one core_feed pile up), and passes that to core_feed.
   - After every call of a function here it sends the bytes of core_output to
     the client and those of core_image_output to the supervisor, as many as
     they take, and removes these with buf_consume.
   - It passes the bytes of the supervisor to core_image_feed.
   - When an editor connects, it calls core_editor_open; from then on, while
     core_wants_editor, it passes the bytes of the editor to core_editor_feed,
     and sends it those of core_editor_output in the same way.
   - It calls core_tick whenever it wakes, and wakes at core_deadline at the
     latest.
   - When the client closes its input, or the host is told to end, it calls
     core_finish and continues until core_is_idle and core_output is empty. */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "base/version.h"
#include "files/files.h"
#include "gate/audit.h"
#include "gate/policy.h"
#include "gate/tool.h"
#include "tools/resource.h"

struct core;

struct core_config {
    size_t max_message; /* bytes of one message; 0 = LIMIT_MESSAGE */
    size_t max_output;  /* characters of one answer; 0 = LIMIT_OUTPUT */
    uint64_t memory;   /* bytes of Lisp heap that the supervisor gives an image;
                          0 = unknown when attached, else LIMIT_HEAP */
    const char *tools; /* comma-separated tool sets, NULL = the default */
    int64_t approval_ms; /* how long a human may think; 0 = LIMIT_APPROVAL_MS */
    int64_t pid;         /* of this process; for the editor */
    bool editor;         /* an editor may connect at some time */
    bool attached;       /* the Lisp images are those of the editor */
    unsigned char key[32]; /* random; signs what clients send back */

    /* The core uses what these point to until core_free. */
    struct log log;
    struct audit_sink audit;     /* gets a line for each call; zeroed: none */
    const struct files *files;   /* NULL: no files */
    const struct policy *policy; /* NULL: no rules */
    struct buf *notices; /* lines that must stand before the next answer, which
                            the core takes out; NULL: the host has none */
    const struct tool *const *more_tools;  /* of the host, ends with NULL; or
                                              NULL */
    const struct resource *more_resources; /* of the host, ends with one without
                                              address; or NULL */
};

/* The names of the tool sets, separated by ", ", for messages about options. */
const char *core_tool_sets(void);

/* Whether NAMES (comma-separated) are all tool sets. */
bool core_has_tool_sets(const char *names);

/* The tool of this name or alias, of any set, or what stands in rules for
   several tools (policy.h); NULL: there is none. For policy_read and
   policy_add. */
const struct tool *core_find_tool(struct str name);

/* The name of the INDEXth tool; NULL after the last one. */
const char *core_tool_name(size_t index);

/* Makes a core, which the caller frees with core_free. NULL when memory runs
   out or the tool sets of CONFIG are unknown. CONFIG is copied. */
struct core *core_new(const struct core_config *config);

/* Accepts NULL. Calls that wait get no answer. */
void core_free(struct core *core);

/* Takes bytes from the client and handles every complete message in them.
   Answers that need not wait are in core_output when this returns. NOW_MS, here
   and below, is a monotonic time in milliseconds. Ignored after core_finish. */
void core_feed(struct core *core, const void *p, size_t n, int64_t now_ms);

/* Whether the host should read from the client now: false while the client
   leaves LIMIT_OUTPUT_BACKLOG bytes of answers unread, and after core_finish.
 */
bool core_wants_input(const struct core *core);

/* Whether LIMIT_OUTPUT_BACKLOG bytes or more wait: answers that the client has
   not taken, and what it has sent while the core was at work. A host that does
   not ask core_wants_input should take nothing from the client then. */
bool core_is_behind(const struct core *core);

/* Does at once all that is left to do of what came in. For a host whose caller
   waits for the answers; others leave it to core_tick. */
void core_settle(struct core *core, int64_t now_ms);

/* Stops the evaluations of all others that share the images, if this core owns
   the images. Their answers say that the user stopped them. While the core
   writes a frame, they are stopped after it. */
void core_stop_others(struct core *core);

/* Finishes: the client closed its input, or the host was told to end. Running
   calls get GRACE_MS, then they are stopped. Every call is still answered, also
   one whose line lacks its end. A second call may shorten the time. */
void core_finish(struct core *core, int64_t grace_ms, int64_t now_ms);

/* After core_finish: whether every call that was not cancelled has been
   answered. */
bool core_is_idle(const struct core *core);

/* When core_tick has something to do: a time, NOW_MS if it has now, -1 if it
   has nothing to wait for. */
int64_t core_deadline(const struct core *core, int64_t now_ms);

/* Does what does not depend on bytes: ends calls whose human took too long,
   reports progress, and works on calls that take several steps, for a few
   milliseconds. */
void core_tick(struct core *core, int64_t now_ms);

/* Writes down in the log of calls what could wait until the answers were out:
   to be called when they are. core_tick does it, too. */
void core_catch_up(struct core *core, int64_t now_ms);

/* For the metrics: between two waits for events, the host took US microseconds,
   and CPU_US of the processor's time. */
void core_note_turn(struct core *core, int64_t us, int64_t cpu_us);

/* Bytes for the client: lines of JSON, nothing else. */
struct buf *core_output(struct core *core);

/* Bytes for the supervisor: frames (wire.h). */
struct buf *core_image_output(struct core *core);

/* Whether bytes from the supervisor are read at once: others are kept for as
   long as the core is at work. */
bool core_wants_frames(const struct core *core);

/* Takes bytes from the supervisor. */
void core_image_feed(struct core *core, const void *p, size_t n,
                     int64_t now_ms);

/* Why the supervisor is of no use, as a sentence: it sent invalid frames,
   speaks another version, or refused this front. Every call that needs Lisp
   then fails until core_image_lost. Empty when all is well. */
struct str core_image_fault(const struct core *core);

/* The connection to the supervisor has ended, or none can be made. Calls that
   wait for it are answered with WHY, a sentence; frames not yet sent are
   dropped. The next frame is for another supervisor, which is greeted first. */
void core_image_lost(struct core *core, struct str why, int64_t now_ms);

/* An editor has connected: it is greeted, and its human is asked before the
   client's user. It replaces an editor that was connected before. */
void core_editor_open(struct core *core, int64_t now_ms);

/* The editor is gone: calls that its human has not decided are refused. Does
   nothing when no editor is connected. */
void core_editor_close(struct core *core, int64_t now_ms);

/* Whether the host should read from the editor now: some of what it says ends
   in the output for the client. */
bool core_wants_editor(const struct core *core);

/* Takes bytes from the editor; ignored when none is connected. */
void core_editor_feed(struct core *core, const void *p, size_t n,
                      int64_t now_ms);

/* Bytes for the editor: lines of docs/editor-protocol.md. The host does not
   wait for an editor that is slow to read, and closes the connection when more
   than LIMIT_EDITOR_BACKLOG bytes wait. */
struct buf *core_editor_output(struct core *core);

#endif
