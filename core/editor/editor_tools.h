/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor_tools.h: the editor tools: tools that an editor has, described by its
   message "tools". They come and go; a list that was replaced lives until the
   last call of one of its tools is over. */
#ifndef EDITOR_EDITOR_TOOLS_H
#define EDITOR_EDITOR_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"
#include "json/json.h"
#include "tools/toolset.h"

/* One list of tools. */
struct editor_tools_list;

struct editor_tools {
    const struct log *log;         /* borrowed */
    struct toolset reserved;       /* their names are not for editor tools */
    struct editor_tools_list *now; /* NULL: no tools */
};

/* Drops the list. Accepts a zeroed one. */
void editor_tools_release(struct editor_tools *editor_tools);

/* Replaces the list by TOOLS, an array as in docs/editor-protocol.md. Leaves
   out, with a line in the log, tools that are malformed or whose name is taken.
   Sets *CHANGED, whatever it returns: whether the list is a different one now.
   ST_NOMEM: there are no tools now. */
enum status MUST_CHECK editor_tools_replace(struct editor_tools *editor_tools,
                                            struct json tools, bool *changed);

/* The tool NAME, and the INDEXth tool; NULL when there is none. Both are valid
   until the list is replaced, or longer while it is held. */
const struct tool *editor_tools_find(const struct editor_tools *editor_tools,
                                     struct str name);
const struct tool *editor_tools_at(const struct editor_tools *editor_tools,
                                   size_t index);

/* A call of a tool of LIST begins, or has ended: LIST lives as long as anybody
   holds it. Both accept NULL. */
void editor_tools_hold(struct editor_tools_list *list);
void editor_tools_drop(struct editor_tools_list *list);

#endif
