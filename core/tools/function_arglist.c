/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_arglist.c: the lambda list of a function. */
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

const struct tool tool_function_arglist = {
    .name = "function-arglist",
    .title = "Function lambda list",
    .description = "Lambda list of a function, macro or (setf name).",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "function-arglist",
};
