/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.h: the table of tools, cut into sets that are offered or not. */
#ifndef TOOLS_REGISTRY_H
#define TOOLS_REGISTRY_H

#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"

/* One bit for each set. */
#define REGISTRY_ALL_SETS (~0u)

/* The set of the tools that an editor has; none of them is in this table. */
#define REGISTRY_EDITOR_SET (1u << 5)

/* The names of the sets, separated by ", ". */
const char *registry_set_names(void);

/* Reads set names separated by commas. ST_MISSING when one of them is no
   set. */
enum status MUST_CHECK registry_read_sets(struct str names, unsigned *sets);

/* The tool of SETS with this name or alias, or NULL. */
const struct tool *registry_find(unsigned sets, struct str name);

/* The INDEXth tool of SETS, or NULL behind the last one. The order never
   changes. */
const struct tool *registry_at(unsigned sets, size_t index);

#endif
