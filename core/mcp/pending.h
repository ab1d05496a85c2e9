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

struct entry {
    struct tool_call tool;
    enum mcp_version version;
    struct rpc_to to;
    struct str token;       /* for progress, JSON text; empty: none is wanted */
    struct str uri;         /* of the resource that the answer is to be, */
    const char *type;       /* and its type; static */
    int64_t progress;       /* notifications so far */
    uint64_t question;      /* number of our request, while it asks */
    uint64_t errand;        /* that of the request to the editor; 0: there is
                               none */
    bool received;          /* the editor has it */
    int64_t receive_by_ms;  /* when it must have it, */
    int64_t expires_ms;     /* when the human's time, or the editor's, is over,
                             */
    int64_t next_report_ms; /* and when progress is due */
    struct offer *offer;    /* that the tool is of, held; or NULL */
    size_t asking_bytes;    /* what it is counted with */
    bool remembered;        /* the client waits for the answer */
    struct entry **list;    /* head of the list it is in; NULL: in none */
    struct entry *list_next;
    struct entry *list_previous;
    size_t bucket;
    struct entry *bucket_next;
    char texts[]; /* of TO's id and of struct entry_texts */
};

#define ENTRY_BUCKETS 1024

struct entries {
    const struct log *log; /* borrowed */
    size_t remembered;
    struct entry *asking; /* wait for a human, newest first, */
    size_t asking_count;
    size_t asking_bytes;   /* of these, and of those that are away */
    struct entry *working; /* work in steps, likewise */
    struct entry *away;    /* for a text or a tool of the editor, likewise */
    size_t away_count;
    struct entry *buckets[ENTRY_BUCKETS]; /* remembered, by the client's id */
};

/* What the client says with a call. */
struct entry_texts {
    struct str token;  /* for progress, JSON text; empty: none is wanted */
    struct str client; /* who it is, JSON text; may be empty */
    struct str uri;    /* of the resource that it reads; empty: a tool's call */
    const char *type;  /* of that resource; static */
};

/* A record in no table. The texts, also that of TO, are copied. NULL when
   memory runs out. */
struct entry *entry_new(const struct rpc_to *to, enum mcp_version version,
                        const struct entry_texts *texts);

/* Takes ENTRY out of the tables and frees it. Its batch no longer waits for it
   and may go to OUTPUT, which is NULL when nothing is to be written. */
void entry_free(struct entries *entries, struct entry *entry,
                struct buf *output);

/* The client waits for the answer of ENTRY, or no longer. */
void entry_remember(struct entries *entries, struct entry *entry);
void entry_forget(struct entries *entries, struct entry *entry,
                  struct buf *output);

/* The one whose request to the editor has this number, or NULL. */
struct entry *entry_of_errand(const struct entries *entries, uint64_t errand);

/* A remembered one with this id, JSON text, or NULL. */
struct entry *entry_find(const struct entries *entries, struct str id);

/* Bytes that ENTRY takes while it asks, but for what its tool plans. */
size_t entry_bytes(const struct entry *entry);

/* Puts ENTRY, which is in no list, at the head of one. */
void entry_ask(struct entries *entries, struct entry *entry);
void entry_work(struct entries *entries, struct entry *entry);
void entry_send_away(struct entries *entries, struct entry *entry);

/* Takes it out again, if it is in one. */
void entry_leave(struct entries *entries, struct entry *entry);

#endif
