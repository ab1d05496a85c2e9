/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.h: all calls whose answers are still to come, and one step of one of
   them: what it works with, and what the client hears of it. */
#ifndef MCP_STEP_H
#define MCP_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "editor/editor.h"
#include "editor/editor_tools.h"
#include "gate/gate.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "json/json.h"
#include "json/rpc.h"
#include "mcp/pending.h"
#include "mcp/result.h"
#include "mcp/ticket.h"
#include "wire/image.h"

struct calls {
    const struct log *log; /* borrowed, as are the next four */
    struct gate *gate;
    struct image *image;
    struct buf *output;
    struct editor *editor;  /* NULL: none will ever come */
    int64_t approval_ms;    /* how long a human may think */
    bool finished;          /* nobody can be asked any more */
    uint64_t last_question; /* number of the newest request of ours */
    struct tickets tickets; /* for questions without such requests */
    struct pending_table pending;
};

/* A call to be made; with a uri, by resources/read. Nothing of it is needed
 * after calls_start. */
struct calls_request {
    struct arena *arena;
    struct rpc_to to; /* who gets the answer */
    enum mcp_version version;
    struct pending_texts texts;
    bool can_ask; /* the client can put questions to its user */
    const struct tool *tool;
    struct editor_tools_list *editor_tools; /* that it is of, or NULL */
    struct json arguments;                  /* an object, or absent */
    const struct schema_value *values;      /* they, checked */
    struct json replies; /* to questions of an earlier call, by name, or absent,
                          */
    struct str state;    /* and what that call gave with them; NULL: nothing */
    int64_t now_ms;
};

/* What a step of a call needs, and what came out of it. */
struct step {
    struct calls *calls;
    struct pending *pending;
    struct gate_step gate;
};

struct step step_of(struct calls *calls, struct arena *arena,
                    struct pending *pending, int64_t now_ms);

/* Tells the client of a running call, if it wants that and reads fast enough;
   what TEXT says stands in the answer, too. */
void step_report(struct calls *calls, struct pending *pending, struct str text);

/* The same about a call that waits for a human. */
void step_report_waiting(struct calls *calls, struct pending *pending,
                         int64_t now_ms);

/* Frees PENDING; its batch no longer waits for it. */
void step_end(struct calls *calls, struct pending *pending);

/* Sends the answer, which is complete, and ends the call. */
void step_send(struct step *t);

/* The call, of which nobody has said so yet, is over with the failure TEXT. */
void step_fail(struct step *t, struct str text);

/* Nobody answers the question of T, because of WHY; goes on as gate_decide. */
enum status MUST_CHECK step_decide_without(struct step *t, struct str why);

/* Why nobody has answered. */
struct str step_expiry(const struct step *t);

#endif
