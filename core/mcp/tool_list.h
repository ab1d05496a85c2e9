/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tool_list.h: the tools that an editor lends, as part of a session: grants
   follow them, and clients hear of every change. */
#ifndef MCP_TOOL_LIST_H
#define MCP_TOOL_LIST_H

#include "base/buf.h"
#include "editor/editor_tools.h"
#include "gate/gate.h"
#include "json/json.h"
#include "mcp/subscriptions.h"

struct tool_list {
    struct gate *gate; /* borrowed, as is the next */
    struct buf *output;
    struct editor_tools editor_tools;
    struct subscriptions subscriptions;
};

/* GATE finds its tools from now on. MORE: tools of the host, or NULL. */
void tool_list_init(struct tool_list *list, struct gate *gate,
                    struct buf *output, const struct tool *const *more);

/* Accepts a zeroed one. */
void tool_list_release(struct tool_list *list);

/* Puts TOOLS, an array or absent, in the place of those before. */
void tool_list_replace(struct tool_list *list, struct json tools);

#endif
