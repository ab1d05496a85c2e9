/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grants.h: the tools that a human lets run without being asked, until the
   server ends. An editor may replace its tools: then grants follow their
   names. */
#ifndef GATE_GRANTS_H
#define GATE_GRANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"

/* The tool of the editor that has this name now, or NULL. */
typedef const struct tool *grants_find(void *context, struct str name);

/* Zeroed, it has no grants, and there is no editor. */
struct grants {
    const struct tool *tools[LIMIT_GRANTS];
    size_t count;
    grants_find *find_editor_tool; /* NULL: there are none */
    void *context;                 /* borrowed, handed to find_editor_tool */
};

/* FIND knows the tools of the editor from now on. */
void grants_follow(struct grants *grants, grants_find *find_editor_tool,
                   void *context);

bool grants_has(const struct grants *grants, const struct tool *tool);

/* Grants TOOL; one that the editor has taken back meanwhile is left out.
   ST_LIMIT when there are LIMIT_GRANTS. */
enum status MUST_CHECK grants_add(struct grants *grants,
                                  const struct tool *tool);

/* TOOL needs an approval again. */
void grants_remove(struct grants *grants, const struct tool *tool);

/* The editor has replaced its tools. To be called while the old ones are still
   valid: a grant moves to the new tool of the same name, or ends. */
void grants_tools_replaced(struct grants *grants);

#endif
