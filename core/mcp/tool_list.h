/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tool_list.h: the editor tools as part of the server's list of tools: when
   they change, grants follow their names, and clients are notified. */
#ifndef MCP_TOOL_LIST_H
#define MCP_TOOL_LIST_H

#include "base/buf.h"
#include "editor/editor_tools.h"
#include "gate/gate.h"
#include "json/json.h"
#include "mcp/subscriptions.h"

struct tool_list {
    struct gate *gate; /* borrowed, as is output */
    struct buf *output;
    struct editor_tools editor_tools;
    struct subscriptions subscriptions;
};

/* From now on GATE finds editor tools in LIST, which must stay where it is.
   MORE: the tools of the host, or NULL; their names are reserved, too. */
void tool_list_init(struct tool_list *list, struct gate *gate,
                    struct buf *output, const struct tool *const *more);

/* Accepts a zeroed one. */
void tool_list_release(struct tool_list *list);

/* Replaces the editor tools by TOOLS, an array, or absent for none. */
void tool_list_replace(struct tool_list *list, struct json tools);

#endif
