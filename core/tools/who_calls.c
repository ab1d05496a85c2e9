/* SPDX-License-Identifier: GPL-3.0-or-later */
/* who_calls.c: what uses a function, from the sources of the session. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "function",
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

const struct tool tool_who_calls = {
    .name = "who-calls",
    .title = "Who calls",
    .description = "Find callers of a function or macro in evaluated code, "
                   "loaded files and systems.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "who-calls",
};
