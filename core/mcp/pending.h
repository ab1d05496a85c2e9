/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.h: the record of a call whose answer is still to come, the state that
   says what it waits for, and the tables in which it is found.

     new ----------+---------------+---------------+
      |            |               |               | may run
      v            v               v               v
     reading- ---> asking- ------> asking- ------> in-image,
     buffer   <--- editor          client          in-editor ----> over
      |            |               ^               ^
      |            '---------------|---------------'
      '----------------------------'

   The gate (gate.h) decides about a new call, and again after each answer of a
   human or an editor. For a tool that works in steps, it may take some time to
   find out which state is next, or what the answer is; meanwhile the call is
   working, between any two of the states before over. From every state a call
   may also go straight to over: refused, failed, or cancelled. A state that
   asks may be followed by itself, with another question. What runs asks
   nothing, and over is the end. Before that, the answer of a dangerous call is
   settling, until the line about it in the log of calls is on the disk. */
#ifndef MCP_PENDING_H
#define MCP_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "editor/editor_tools.h"
#include "gate/audit.h"
#include "gate/tool.h"
#include "json/rpc.h"
#include "mcp/result.h"

enum pending_state {
    PENDING_NEW,            /* nothing has been decided */
    PENDING_READING_BUFFER, /* the editor is asked for the text of a file */
    PENDING_ASKING_EDITOR,  /* the editor puts the question to its human */
    PENDING_ASKING_CLIENT,  /* the client puts the question to its user */
    PENDING_IN_IMAGE,       /* the image runs it, or will */
    PENDING_WORKING,        /* the gate, or the tool, works on it in steps */
    PENDING_IN_EDITOR,      /* the editor runs it */
    PENDING_SETTLING,       /* its answer waits for the log of calls */
    PENDING_OVER            /* it has its answer, or needs none */
};

#define PENDING_STATES (PENDING_OVER + 1)

/* A human has to answer its question. */
static inline bool pending_asks(enum pending_state state)
{
    return state == PENDING_ASKING_EDITOR || state == PENDING_ASKING_CLIENT;
}

/* The editor has a request about it. */
static inline bool pending_is_with_editor(enum pending_state state)
{
    return state == PENDING_READING_BUFFER || state == PENDING_ASKING_EDITOR ||
           state == PENDING_IN_EDITOR;
}

/* The client or the editor has a request of ours about it. */
static inline bool pending_has_request(enum pending_state state)
{
    return pending_asks(state) || pending_is_with_editor(state);
}

/* The gate has let it run, or works on it. */
static inline bool pending_is_running(enum pending_state state)
{
    return state == PENDING_IN_IMAGE || state == PENDING_WORKING ||
           state == PENDING_IN_EDITOR;
}

/* "asking-client": as the log and the drawing have it. Static. */
const char *pending_state_name(enum pending_state state);

struct pending {
    struct tool_call tool;
    enum mcp_version version;
    struct rpc_to to;
    struct str token; /* for progress, JSON text; empty: it is unwanted */
    struct str uri;   /* of the resource that the answer shows; empty: none */
    const char *type; /* of that resource; static */
    bool completion;  /* the answer completes what a user types */
    int64_t progress; /* notifications so far */
    struct editor_tools_list *editor_tools; /* with its tool; held; or NULL */
    struct ask_again_kept *again;           /* ask_again.h; from malloc */
    struct tool_answer answer;              /* settling: the answer, */
    struct arena answer_arena;              /* of its texts, */
    uint64_t line;                          /* and what it waits for */

    /* Read only: pending_set_state and pending_forget change them. */
    enum pending_state state;
    bool remembered;           /* the client waits for the answer */
    struct pending *list_next; /* in the same state */

    /* About the request of ours in the state, which ask.h and ask_editor.h fill
       after it is set. */
    uint64_t question;       /* asking-client: number of that request */
    uint64_t editor_request; /* with the editor: the same; 0 in other states */
    bool received;           /* the editor has acknowledged that request; */
    int64_t receive_by_ms;   /* it must do so before */
    int64_t expires_ms;      /* when its answer, or the human's, is too late */
    int64_t next_report_ms;  /* when the client hears that a human is asked */
    int64_t asked_ms;        /* when the human was asked */
    bool worked_on;          /* the human has begun to work on it */

    /* Private. */
    size_t counted_bytes; /* its share of the table's */
    struct pending *list_previous;
    size_t bucket;
    struct pending *bucket_next;
    char texts[]; /* of TO's id and of struct pending_texts */
};

#define PENDING_BUCKETS 1024

struct pending_table {
    const struct log *log; /* borrowed, as is the next */
    struct buf *output;    /* lines for the client; NULL: it hears no more */
    const struct audit *audit; /* borrowed; NULL: nothing waits for it */
    size_t remembered;         /* calls whose answers the client waits for */

    /* The calls in each state, except new and over: linked by list_next, the
       one that entered it last first, and their number. */
    struct pending *first[PENDING_STATES];
    size_t count[PENDING_STATES];
    size_t asked_bytes; /* of those about which somebody has a request */

    struct pending *buckets[PENDING_BUCKETS]; /* remembered, by client's id */
};

/* What the client says with a call. */
struct pending_texts {
    struct str token;  /* for progress, JSON text; empty: it is unwanted */
    struct str client; /* who it is, JSON text; may be empty */
    struct str uri;    /* of the resource that it reads; empty: a tool's call */
    const char *type;  /* of that resource; static */
    bool completion;   /* it completes what a user types */
};

/* A new record, in no table; the caller frees it with pending_free. Copies the
   texts, also that of TO. NULL when memory runs out. */
struct pending *pending_new(const struct rpc_to *to, enum mcp_version version,
                            const struct pending_texts *texts);

/* Moves PENDING, which is not over, from its state to STATE: from list to list,
   with what the table counts. The request that belonged to the old state is
   forgotten. From its first state on the client waits for the answer. Logs a
   change at debug level. */
void pending_set_state(struct pending_table *table, struct pending *pending,
                       enum pending_state state);

/* How many calls may be in a state with a request of ours: LIMIT_APPROVALS in
   the two that ask, LIMIT_EDITOR_CALLS in the two others, together. 0 for other
   states. */
size_t pending_limit(enum pending_state state);

/* Whether PENDING may enter STATE, which has a pending_limit, without passing
   it, or LIMIT_PENDING_BYTES for all four such states, or LIMIT_PLANS_BYTES.
   What PENDING takes up already counts once. */
bool pending_fits(const struct pending_table *table,
                  const struct pending *pending, enum pending_state state);

/* The client no longer waits for the answer. A batch of which this was the last
   one goes to the output. */
void pending_forget(struct pending_table *table, struct pending *pending);

/* Ends PENDING: its state is over, the client no longer waits for it, and it is
   freed. */
void pending_free(struct pending_table *table, struct pending *pending);

/* A remembered call with this id, JSON text, or NULL. */
struct pending *pending_find(const struct pending_table *table, struct str id);

#endif
