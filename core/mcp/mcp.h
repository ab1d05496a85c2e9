/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp.h: the Model Context Protocol: methods and lifecycle of both eras. Each
   request says by itself which era it belongs to, so that a client may try
   one and fall back on the other over the same connection. */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "editor/editor.h"
#include "gate/gate.h"
#include "gate/metrics.h"
#include "json/rpc.h"
#include "mcp/resources.h"
#include "mcp/ticket.h"
#include "tools/toolset.h"
#include "wire/image.h"

struct mcp;

/* What it works with; all borrowed. */
struct mcp_config {
    const struct log *log;
    struct gate *gate;
    struct image *image;
    struct buf *output; /* lines for the client */
    struct toolset tools;
    struct resources resources;
    const struct metrics *metrics;
    int64_t approval_ms;      /* how long a human may think */
    const unsigned char *key; /* TICKET_KEY random bytes */
    struct editor *editor;
    bool editor_comes; /* there may be an editor at some time */
};

/* NULL when memory runs out. */
struct mcp *mcp_new(const struct mcp_config *config);

/* Takes its waiting calls back from the image. Accepts NULL. */
void mcp_free(struct mcp *mcp);

/* Handles one line. What it takes from ARENA it does not need afterwards. */
void mcp_message(struct mcp *mcp, struct arena *arena, struct str line,
                 int64_t now_ms);

/* Answers a message that could not be read at all. */
void mcp_unreadable(struct mcp *mcp, enum rpc_code code, struct str detail);

/* Answers the calls whose replies the image has, and reports the progress of
   those that run. */
void mcp_replies(struct mcp *mcp, int64_t now_ms);

/* What the editor says. */
void mcp_editor(struct mcp *mcp, struct arena *arena,
                const struct editor_message *message, int64_t now_ms);

/* The editor is gone, and its tools with it. Releases ARENA. */
void mcp_editor_gone(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* The time at which mcp_tick has something to do, NOW_MS for at once; -1 when
   it has nothing. */
int64_t mcp_deadline(const struct mcp *mcp, int64_t now_ms);

/* Goes on with what does not wait for bytes: work in steps, and the time limit
   of humans. Releases ARENA. */
void mcp_tick(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* The client says no more: what waits for its user is refused. Releases
   ARENA. */
void mcp_finish(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* Ends the calls that work, with an answer. */
void mcp_stop_work(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* Number of calls that the client still waits for. */
size_t mcp_waiting(const struct mcp *mcp);

#endif
