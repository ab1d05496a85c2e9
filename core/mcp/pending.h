/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.h: one record for each tools/call whose answer is still to come, and
   the tables in which it is found. What becomes of calls: calls.h. */
#ifndef MCP_PENDING_H
#define MCP_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "editor/editor_tools.h"
#include "gate/tool.h"
#include "json/rpc.h"
#include "mcp/result.h"

struct pending {
    struct tool_call tool;
    enum mcp_version version;
    struct rpc_to to;
    struct str token;  /* for progress, JSON text; empty: none is wanted */
    struct str uri;    /* of the resource that the answer is to be, */
    const char *type;  /* and its type; static */
    int64_t progress;  /* notifications so far */
    uint64_t question; /* number of our request, while it asks */
    uint64_t editor_request; /* that of the request to the editor; 0: there is
                        none */
    bool received;           /* the editor has it */
    int64_t receive_by_ms;   /* when it must have it, */
    int64_t expires_ms;      /* when the human's time, or the editor's, is over,
                              */
    int64_t next_report_ms;  /* and when progress is due */
    struct editor_tools_list
        *editor_tools;     /* that the tool is of, held; or NULL */
    size_t asking_bytes;   /* what it is counted with */
    bool remembered;       /* the client waits for the answer */
    struct pending **list; /* head of the list it is in; NULL: in none */
    struct pending *list_next;
    struct pending *list_previous;
    size_t bucket;
    struct pending *bucket_next;
    char texts[]; /* of TO's id and of struct pending_texts */
};

#define PENDING_BUCKETS 1024

struct pending_table {
    const struct log *log; /* borrowed */
    size_t remembered;
    struct pending *asking; /* wait for a human, newest first, */
    size_t asking_count;
    size_t asking_bytes;     /* of these, and of those that are away */
    struct pending *working; /* work in steps, likewise */
    struct pending *away;    /* for a text or a tool of the editor, likewise */
    size_t away_count;
    struct pending
        *buckets[PENDING_BUCKETS]; /* remembered, by the client's id */
};

/* What the client says with a call. */
struct pending_texts {
    struct str token;  /* for progress, JSON text; empty: none is wanted */
    struct str client; /* who it is, JSON text; may be empty */
    struct str uri;    /* of the resource that it reads; empty: a tool's call */
    const char *type;  /* of that resource; static */
};

/* A record in no table. The texts, also that of TO, are copied. NULL when
   memory runs out. */
struct pending *pending_new(const struct rpc_to *to, enum mcp_version version,
                            const struct pending_texts *texts);

/* Takes PENDING out of the tables and frees it. Its batch no longer waits for
   it and may go to OUTPUT, which is NULL when nothing is to be written. */
void pending_free(struct pending_table *table, struct pending *pending,
                  struct buf *output);

/* The client waits for the answer of PENDING, or no longer. */
void pending_remember(struct pending_table *table, struct pending *pending);
void pending_forget(struct pending_table *table, struct pending *pending,
                    struct buf *output);

/* The one whose request to the editor has this number, or NULL. */
struct pending *pending_of_editor_request(const struct pending_table *table,
                                          uint64_t editor_request);

/* A remembered one with this id, JSON text, or NULL. */
struct pending *pending_find(const struct pending_table *table, struct str id);

/* Bytes that PENDING takes while it asks, but for what its tool plans. */
size_t pending_bytes(const struct pending *pending);

/* Puts PENDING, which is in no list, at the head of one. */
void pending_ask(struct pending_table *table, struct pending *pending);
void pending_work(struct pending_table *table, struct pending *pending);
void pending_send_away(struct pending_table *table, struct pending *pending);

/* Takes it out again, if it is in one. */
void pending_leave(struct pending_table *table, struct pending *pending);

#endif
