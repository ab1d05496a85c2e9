/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grants.c: see grants.h. */
#include "gate/grants.h"

/* Where TOOL is; the count when it is not granted. */
static size_t find(const struct grants *grants, const struct tool *tool)
{
    size_t i = 0;

    while (i < grants->count && grants->tools[i] != tool)
        i++;
    return i;
}

/* The tool that has the name of TOOL now: itself, unless it is one of the
   editor's; NULL when the editor has none. */
static const struct tool *current(const struct grants *grants,
                                  const struct tool *tool)
{
    if (!tool->in_editor)
        return tool;
    if (!grants->find_editor_tool)
        return NULL;
    return grants->find_editor_tool(grants->context, str_from(tool->name));
}

void grants_follow(struct grants *grants, grants_find *find_editor_tool,
                   void *context)
{
    grants->find_editor_tool = find_editor_tool;
    grants->context = context;
}

bool grants_has(const struct grants *grants, const struct tool *tool)
{
    return find(grants, tool) < grants->count;
}

enum status grants_add(struct grants *grants, const struct tool *tool)
{
    tool = current(grants, tool);
    if (!tool || grants_has(grants, tool))
        return ST_OK;
    if (grants->count == LIMIT_GRANTS)
        return ST_LIMIT;
    grants->tools[grants->count++] = tool;
    return ST_OK;
}

void grants_remove(struct grants *grants, const struct tool *tool)
{
    size_t i = find(grants, tool);

    if (i < grants->count)
        grants->tools[i] = grants->tools[--grants->count];
}

void grants_tools_replaced(struct grants *grants)
{
    size_t kept = 0;

    for (size_t i = 0; i < grants->count; i++) {
        const struct tool *tool = current(grants, grants->tools[i]);

        if (tool)
            grants->tools[kept++] = tool;
    }
    grants->count = kept;
}
