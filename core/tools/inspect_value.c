/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inspect_value.c: the parts of a value, by a path into it and in pages. */
#include "base/limits.h"
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "expression",
        .kind = SCHEMA_STRING,
        .required = true,
        .help = "Variable or accessor call.",
    },
    {
        .name = "path",
        .kind = SCHEMA_STRING,
        .help = "Labels or indices: slots/0/name.",
    },
    {
        .name = "offset",
        .kind = SCHEMA_INTEGER,
        .max = INT32_MAX,
        .help = "Parts to skip.",
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

const struct tool tool_inspect_value = {
    .name = "inspect-value",
    .title = "Inspect value",
    .description = "Show the parts of a value: elements, slots, entries.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "inspect-value",
};
