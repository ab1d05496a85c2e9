/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor_tools.h: the tools that an editor offers. They are tools as all
   others, but made of what it says, and they come and go: a list that was
   replaced stays as long as a call of one of its tools is under way. */
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
    struct toolset taken;          /* tools whose names an editor may not use */
    struct editor_tools_list *now; /* NULL: there are no tools */
};

/* Forgets the list. Accepts a zeroed one. */
void editor_tools_release(struct editor_tools *editor_tools);

/* Takes TOOLS, an array as docs/editor-protocol.md has it, in the place of the
   list before. A tool that is not as it has to be, or has the name of one that
   is there already, is left out, with a line in the log. *CHANGED: the list is
   another one. ST_NOMEM: there is none then. */
enum status MUST_CHECK editor_tools_replace(struct editor_tools *editor_tools,
                                            struct json tools, bool *changed);

/* The tool of this name, or NULL; also the INDEXth one. */
const struct tool *editor_tools_find(const struct editor_tools *editor_tools,
                                     struct str name);
const struct tool *editor_tools_at(const struct editor_tools *editor_tools,
                                   size_t index);

/* A call of a tool of LIST begins, or is over. Accept NULL. */
void editor_tools_hold(struct editor_tools_list *list);
void editor_tools_drop(struct editor_tools_list *list);

#endif
