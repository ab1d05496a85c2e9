/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list_definitions.c: what the user has defined in the image. */
#include "tools/catalog.h"

static const char *const types[] = {
    "all", "functions", "variables", "macros", "classes", "systems", NULL,
};

static const struct schema_field fields[] = {
    {
        .name = "type",
        .kind = SCHEMA_CHOICE,
        .choices = types,
        .fallback = "\"all\"",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_list_definitions = {
    .name = "list-definitions",
    .title = "List definitions",
    .description = "List what was defined in the Lisp session since its start "
                   "or reset, and the systems loaded.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "list-definitions",
};
