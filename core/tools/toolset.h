/* SPDX-License-Identifier: GPL-3.0-or-later */
/* toolset.h: the tools of a connection: those of some sets, and those that the
   host adds. */
#ifndef TOOLS_TOOLSET_H
#define TOOLS_TOOLSET_H

#include <stddef.h>

#include "base/str.h"
#include "gate/tool.h"

/* A zeroed one is empty. */
struct toolset {
    unsigned sets;                  /* chosen ones of the registry */
    const struct tool *const *more; /* of the host, ends with NULL; or NULL */
};

/* The tool with this name or alias, or NULL. A tool of the registry hides one
   of the host with the same name. */
const struct tool *toolset_find(const struct toolset *toolset, struct str name);

/* The INDEXth tool, or NULL after the last one. The order never changes. */
const struct tool *toolset_at(const struct toolset *toolset, size_t index);

#endif
