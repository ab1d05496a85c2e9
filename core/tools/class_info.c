/* SPDX-License-Identifier: GPL-3.0-or-later */
/* class_info.c: a class and its slots. */
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

const struct tool tool_class_info = {
    .name = "class-info",
    .title = "Class information",
    .description = "Describe a class, structure or condition: super- and "
                   "subclasses, slots.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "class-info",
};
