/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apropos_search.c: symbols whose names contain a text. */
#include "base/limits.h"
#include "tools/catalog.h"

static const char *const kinds[] = {
    "all", "function", "macro", "variable", "class", NULL,
};

static const struct schema_field fields[] = {
    {
        .name = "pattern",
        .kind = SCHEMA_STRING,
        .required = true,
    },
    {
        .name = "package",
        .kind = SCHEMA_STRING,
    },
    {
        .name = "kind",
        .kind = SCHEMA_CHOICE,
        .choices = kinds,
        .fallback = "\"all\"",
    },
    {
        .name = "limit",
        .kind = SCHEMA_INTEGER,
        .min = 1,
        .max = LIMIT_LISTED,
        .fallback = "50",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_apropos_search = {
    .name = "apropos-search",
    .title = "Search symbols",
    .description = "Find symbols whose names contain a text, with their kinds "
                   "and lambda lists.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "apropos-search",
};
