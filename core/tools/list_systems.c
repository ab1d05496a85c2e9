/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list_systems.c: the ASDF systems that are loaded or can be. */
#include "base/limits.h"
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "pattern",
        .kind = SCHEMA_STRING,
    },
    {
        .name = "limit",
        .kind = SCHEMA_INTEGER,
        .min = 1,
        .max = LIMIT_LISTED,
        .help = "Default 100.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_list_systems = {
    .name = "list-systems",
    .title = "List systems",
    .description = "List ASDF systems: loaded first, then those that "
                   "load-system finds.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "list-systems",
};
