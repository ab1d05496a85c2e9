/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.h: all calls of tools whose answers are still to come. Here they start,
   and here arrives what happens to them: answers, cancellations, time, the end.
   A resource that shows a session is read by such a call, too, and some
   completions are made by one. */
#ifndef MCP_CALLS_H
#define MCP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "editor/editor.h"
#include "editor/editor_tools.h"
#include "gate/gate.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "json/json.h"
#include "json/rpc.h"
#include "mcp/ask.h"
#include "mcp/pending.h"
#include "mcp/result.h"

struct calls {
    struct gate *gate; /* borrowed; its image runs calls and answers them */
    struct pending_table pending;
    struct ask ask;
};

/* A call to be made; with a uri, by resources/read. Nothing of it is needed
   after calls_start. */
struct calls_request {
    struct arena *arena;
    struct rpc_to to; /* who gets the answer */
    enum mcp_version version;
    struct pending_texts texts;
    bool can_ask; /* the client can put questions to its user */
    const struct tool *tool;
    struct editor_tools_list *editor_tools; /* with the tool; NULL: ours */
    struct json arguments;                  /* an object, or absent */
    const struct schema_value *values;      /* the arguments, checked */
    struct json replies; /* to questions of an earlier call, by name; absent:
                            none */
    struct str state;    /* what that call gave with them; p NULL: nothing */
    int64_t now_ms;
};

/* APPROVAL_MS: how long a human may think; KEY: TICKET_KEY random bytes. The
   others are borrowed; EDITOR is NULL where none will ever come. */
void calls_init(struct calls *calls, struct gate *gate, struct buf *output,
                struct editor *editor, int64_t approval_ms,
                const unsigned char *key);

/* Ends the waiting calls; they get no answer. Accepts a zeroed struct. */
void calls_release(struct calls *calls);

/* Number of calls whose answers the client expects. */
size_t calls_waiting(const struct calls *calls);

/* Hands the call to the gate. It is answered now or later, but not at all when
   this returns ST_NOMEM or, for a state that is not ours, ST_INVALID. */
enum status MUST_CHECK calls_start(struct calls *calls,
                                   const struct calls_request *request);

/* Stops every waiting call with this request id (its JSON text); the client
   hears no more of it. A late cancellation finds nothing, which is normal. */
void calls_cancel(struct calls *calls, struct arena *arena, struct str id,
                  int64_t now_ms);

/* Sends LINE, LIMIT_INPUT bytes at most, to the code of the call with this
   request id, if there is one and it waits for a line. */
void calls_input(struct calls *calls, struct str id, struct str line);

/* Takes the client's response to a request of ours. A response to none that is
   open is ignored. */
void calls_answer(struct calls *calls, struct arena *arena,
                  const struct rpc_message *response, int64_t now_ms);

/* Answers the calls whose replies the image has, and reports the progress of
   those that run. */
void calls_take_replies(struct calls *calls, int64_t now_ms);

/* The same for one of them; false: there is none. */
bool calls_take_reply(struct calls *calls, int64_t now_ms);

/* The editor acknowledges a request, or answers one. What belongs to none that
   is open is ignored. */
void calls_editor(struct calls *calls, struct arena *arena,
                  const struct editor_message *message, int64_t now_ms);

/* The editor is gone: what its human has not decided is refused, what it did
   has failed, and what it had not acknowledged goes to the client's user. ARENA
   is released after each call. */
void calls_editor_gone(struct calls *calls, struct arena *arena,
                       int64_t now_ms);

/* The time at which calls_tick has something to do, NOW_MS for immediately;
   DEADLINE_NEVER when it has nothing to do. */
int64_t calls_deadline(const struct calls *calls, int64_t now_ms);

/* Does a step of each call that works, ends what a human or the editor took too
   long for, and reports progress. ARENA is released after each call. */
void calls_tick(struct calls *calls, struct arena *arena, int64_t now_ms);

/* The client says no more: what waits for a human is refused. ARENA is released
   after each call. */
void calls_finish(struct calls *calls, struct arena *arena, int64_t now_ms);

/* Ends the calls that work, here or in the editor, with an answer that says so.
   ARENA is released after each call. */
void calls_stop_work(struct calls *calls, struct arena *arena, int64_t now_ms);

#endif
