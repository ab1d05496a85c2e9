/* SPDX-License-Identifier: GPL-3.0-or-later */
/* who_references.c: what uses a variable, from the sources of the session. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "variable",
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

const struct tool tool_who_references = {
    .name = "who-references",
    .title = "Who references",
    .description = "Find what reads, sets or binds a global variable in "
                   "evaluated code, files and systems.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "who-references",
};
