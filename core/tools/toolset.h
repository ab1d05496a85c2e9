/* SPDX-License-Identifier: GPL-3.0-or-later */
/* toolset.h: the tools that a connection has: those of some sets, and further
   ones that the host brings. */
#ifndef TOOLS_TOOLSET_H
#define TOOLS_TOOLSET_H

#include <stddef.h>

#include "base/str.h"
#include "gate/tool.h"

/* Zeroed it is empty. */
struct toolset {
    unsigned sets;                  /* of the registry */
    const struct tool *const *more; /* of the host, ends with NULL; or NULL */
};

/* The tool with this name or alias, or NULL. One of the registry hides another
   of the same name. */
const struct tool *toolset_find(const struct toolset *toolset, struct str name);

/* The INDEXth tool, or NULL behind the last one. The order never changes. */
const struct tool *toolset_at(const struct toolset *toolset, size_t index);

#endif
