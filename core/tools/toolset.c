/* SPDX-License-Identifier: GPL-3.0-or-later */
/* toolset.c: the tools of the registry come before those of the host. */
#include "tools/toolset.h"

#include "tools/registry.h"

static bool is_hidden(const struct toolset *toolset, const struct tool *tool)
{
    return registry_find(toolset->sets, str_from(tool->name)) != NULL;
}

const struct tool *toolset_find(const struct toolset *toolset, struct str name)
{
    const struct tool *found = registry_find(toolset->sets, name);
    const struct tool *const *tool = toolset->more;

    if (found || !tool)
        return found;
    while (*tool && !tool_has_name(*tool, name))
        tool++;
    return *tool;
}

const struct tool *toolset_at(const struct toolset *toolset, size_t index)
{
    size_t own = 0;
    const struct tool *const *tool = toolset->more;
    const struct tool *found;

    while ((found = registry_at(toolset->sets, own)))
        if (own++ == index)
            return found;
    for (; tool && *tool; tool++)
        if (!is_hidden(toolset, *tool) && own++ == index)
            return *tool;
    return NULL;
}
