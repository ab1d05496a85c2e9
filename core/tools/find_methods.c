/* SPDX-License-Identifier: GPL-3.0-or-later */
/* find_methods.c: the methods of a class. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "class",
        .kind = SCHEMA_STRING,
        .required = true,
    },
    {
        .name = "package",
        .kind = SCHEMA_STRING,
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_find_methods = {
    .name = "find-methods",
    .title = "Find methods",
    .description = "List the methods specialized on a class.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "find-methods",
};
