/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe_system.c: what is known of an ASDF system, loaded or not. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "system",
        .kind = SCHEMA_STRING,
        .required = true,
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_describe_system = {
    .name = "describe-system",
    .title = "Describe system",
    .description = "Describe an ASDF system without loading it: version, "
                   "author, dependencies, files.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "describe-system",
};
