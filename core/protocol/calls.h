/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.h: the tools/call requests whose answers are still to come. */
#ifndef CORE_CALLS_H
#define CORE_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "buf.h"
#include "gate.h"
#include "image.h"
#include "json.h"
#include "log.h"
#include "result.h"
#include "rpc.h"
#include "schema.h"
#include "status.h"
#include "str.h"
#include "tool.h"

struct calls_entry;

#define CALLS_BUCKETS 1024

struct calls {
    const struct log *log; /* all four are borrowed */
    struct gate *gate;
    struct image *image;
    struct buf *output;
    size_t waiting; /* calls whose answers the client expects */
    struct calls_entry *buckets[CALLS_BUCKETS]; /* those, by request id */
};

/* A call to be made. Nothing of it is needed after calls_start. */
struct calls_request {
    struct arena *arena;
    struct rpc_to to; /* who gets the answer */
    enum mcp_version version;
    struct str token; /* for progress, JSON text; empty: none is wanted */
    const struct tool *tool;
    struct json arguments;             /* an object, or absent */
    const struct schema_value *values; /* they, checked */
    int64_t now_ms;
};

/* Takes the waiting calls back from the image; they get no answer. Accepts a
   zeroed struct. */
void calls_release(struct calls *calls);

/* Hands the call to the gate. It is answered at once or when its reply comes,
   but not at all when this returns ST_NOMEM. */
enum status MUST_CHECK calls_start(struct calls *calls,
                                   const struct calls_request *request);

/* Stops every waiting call with this request id (its JSON text); the client
   hears no more of it. A late cancellation finds nothing, which is normal. */
void calls_cancel(struct calls *calls, struct str id);

/* Answers the calls whose replies the image has, and reports the progress of
   those that run. */
void calls_take_replies(struct calls *calls, int64_t now_ms);

#endif
