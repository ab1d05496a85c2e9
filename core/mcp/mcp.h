/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp.h: the Model Context Protocol over one connection, in both eras: up to
   2025-11-25 with initialize, from 2026-07-28 on (the modern era) without. Each
   request shows which era it is of, so that a client may try the one and fall
   back on the other. */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "editor/editor.h"
#include "json/rpc.h"
#include "mcp/mcp_config.h"

struct mcp;

/* NULL when memory runs out. */
struct mcp *mcp_new(const struct mcp_config *config);

/* Ends the pending calls without answers. Accepts NULL. */
void mcp_free(struct mcp *mcp);

/* Handles LINE, a message of the client. ARENA may be released afterwards. */
void mcp_message(struct mcp *mcp, struct arena *arena, struct str line,
                 int64_t now_ms);

/* Answers a message that could not even be read: an error without id. */
void mcp_unreadable(struct mcp *mcp, enum rpc_code code, struct str detail);

/* The image has replies: answers these calls, and reports the progress of calls
   that run. */
void mcp_replies(struct mcp *mcp, int64_t now_ms);

/* The same for one of them; false: there is none. */
bool mcp_reply(struct mcp *mcp, int64_t now_ms);

/* Handles a message of the editor. */
void mcp_editor(struct mcp *mcp, struct arena *arena,
                const struct editor_message *message, int64_t now_ms);

/* The editor is gone, and its tools are, too. Releases ARENA. */
void mcp_editor_gone(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* When mcp_tick has something to do: a time, NOW_MS if it has now, -1 if it has
   nothing to wait for. */
int64_t mcp_deadline(const struct mcp *mcp, int64_t now_ms);

/* Does what does not depend on bytes: work in steps, and the time limit of
   humans. Releases ARENA. */
void mcp_tick(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* The client will send nothing more: refuses calls that wait for its user, and
   ends its subscriptions. Releases ARENA. */
void mcp_finish(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* Ends the calls that work in steps or in the editor, with answers. Releases
   ARENA. */
void mcp_stop_work(struct mcp *mcp, struct arena *arena, int64_t now_ms);

/* How many calls the client still waits for. */
size_t mcp_waiting(const struct mcp *mcp);

#endif
