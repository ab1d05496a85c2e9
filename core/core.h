/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.h: the core as a host sees it: one MCP connection. Bytes and the
   time go in, bytes come out of three buffers, for the client, for the
   supervisor of the Lisp images, and for an editor, if there is one. The core
   starts nothing, reads no clock, owns no descriptor and never ends the
   process.

   What a host does, in a loop:
   - reads from the client while core_wants_input, 64 KiB or less at a time
     (answers pile up by what one core_feed brings), and feeds it;
   - after every call of a function here hands the bytes of core_image_output
     to the supervisor and writes those of core_output to the client, as
     much of them as is taken, and removes that with buf_consume;
   - feeds what the supervisor sends to core_image_feed;
   - when an editor is there, says so with core_editor_open, feeds what it
     sends to core_editor_feed, and hands it core_editor_output likewise;
   - calls core_tick whenever it wakes, and wakes at core_deadline at the
     latest;
   - at the end of the client's input, or when told to end, calls core_finish
     and goes on until core_is_idle and core_output is empty. */
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
    uint64_t memory;    /* bytes of Lisp heap of an image, as the supervisor
                           has it; 0 = unknown, or LIMIT_HEAP unless attached */
    const char *tools;  /* comma-separated tool sets, NULL = the default */
    struct log log;     /* its context must outlive the core, as must: */
    const struct files *files;             /* NULL: no files */
    const struct policy *policy;           /* NULL: no rules */
    const struct tool *const *more_tools;  /* of the host, ends with NULL; */
    const struct resource *more_resources; /* its resources, the last one has no
                                              address; NULL: none */
    struct audit_sink audit; /* gets a line about each call; zeroed: none */
    int64_t approval_ms; /* how long a human may think; 0 = LIMIT_APPROVAL_MS */
    int64_t pid;         /* of this process; an editor is told */
    bool editor;         /* there may be one at some time */
    bool attached;       /* the Lisp images are those of the editor */
    unsigned char key[32]; /* random; signs what clients hand back */
};

/* The names of the tool sets, separated by ", ", for messages about options. */
const char *core_tool_sets(void);

/* Whether NAMES (comma-separated) are all tool sets. */
bool core_has_tool_sets(const char *names);

/* The tool with this name or alias, of whatever set, or NULL: what policy_read
   and policy_add want. */
const struct tool *core_find_tool(struct str name);

/* The name of the INDEXth tool, or NULL behind the last one. */
const char *core_tool_name(size_t index);

/* NULL when memory runs out or TOOLS names what is no set. The caller frees it
   with core_free. CONFIG is copied, the string TOOLS is not. */
struct core *core_new(const struct core_config *config);
void core_free(struct core *core);

/* Bytes from the client. NOW_MS is a monotonic time in milliseconds. Every
   complete message in them is handled; what is answered at once stands in
   core_output when this returns. Ignored after core_finish. */
void core_feed(struct core *core, const void *p, size_t n, int64_t now_ms);

/* Whether the host should read more from the client now: false while answers
   pile up unread (LIMIT_OUTPUT_BACKLOG). */
bool core_wants_input(const struct core *core);

/* Stops what others evaluate in the images, if this core is that of their
   owner; they are told that the user stopped it. */
void core_stop_others(struct core *core);

/* The client closed its end, or the host was told to end: running calls get
   GRACE_MS, then are stopped; every call is still answered, also one whose line
   lacks its end. A second call with a shorter grace shortens it. */
void core_finish(struct core *core, int64_t grace_ms, int64_t now_ms);

/* After core_finish: whether every call that was not cancelled has been
   answered. */
bool core_is_idle(const struct core *core);

/* The time at which core_tick has something to do, NOW_MS for at once; -1
   when it has nothing. */
int64_t core_deadline(const struct core *core, int64_t now_ms);

/* Goes on with what does not wait for bytes: the time limit of humans, progress
   while they think, and work that is done in steps of a few milliseconds. */
void core_tick(struct core *core, int64_t now_ms);

/* Bytes for the client: lines of JSON, nothing else. The host writes what it
   can and removes it with buf_consume. */
struct buf *core_output(struct core *core);

/* Frames for the supervisor, likewise (wire.h). */
struct buf *core_image_output(struct core *core);

/* Frames from the supervisor. */
void core_image_feed(struct core *core, const void *p, size_t n,
                     int64_t now_ms);

/* Why the supervisor cannot be talked to: what came was no frame, or it speaks
   another version. Every call that needs Lisp is refused until
   core_image_lost. Empty when all is well. */
struct str core_image_fault(const struct core *core);

/* The connection to the supervisor has ended, or there is none. Calls that wait
   for it are answered with WHY, a sentence; what was to be sent is dropped. The
   next call is for another supervisor, which is greeted first. */
void core_image_lost(struct core *core, struct str why, int64_t now_ms);

/* An editor is there: it is greeted, and its human is asked before the client's
   user. One that was there before is gone. */
void core_editor_open(struct core *core, int64_t now_ms);

/* It went away: what its human has not decided is refused. Nothing happens when
   there is none. */
void core_editor_close(struct core *core, int64_t now_ms);

/* Bytes from the editor; ignored when there is none. */
void core_editor_feed(struct core *core, const void *p, size_t n,
                      int64_t now_ms);

/* Lines for the editor (docs/editor-protocol.md). A host whose editor does not
   read them goes on nevertheless, and closes it at LIMIT_EDITOR_BACKLOG. */
struct buf *core_editor_output(struct core *core);

#endif
