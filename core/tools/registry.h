/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.h: all tools, in sets that are offered or not. */
#ifndef TOOLS_REGISTRY_H
#define TOOLS_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"

/* Chosen sets are a number with one bit for each. */
#define REGISTRY_ALL_SETS (~0u)

/* Those that are offered when none are chosen: not "step", "threads" and
   "replay", for which models would have to read more. */
unsigned registry_default_sets(void);

/* The names of the sets, separated by ", ". */
const char *registry_set_names(void);

/* Reads set names separated by commas, or "all" among them. ST_MISSING when one
   of them names no set. */
enum status MUST_CHECK registry_read_sets(struct str names, unsigned *chosen);

/* Whether the set of the tools that an editor offers is one of CHOSEN. The
   functions below find none of its tools. */
bool registry_has_editor_set(unsigned chosen);

/* The tool of CHOSEN with this name or alias, or NULL. */
const struct tool *registry_find(unsigned chosen, struct str name);

/* The INDEXth tool of CHOSEN, or NULL after the last one. The order never
   changes. */
const struct tool *registry_at(unsigned chosen, size_t index);

#endif
