/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe_symbol.c: what a symbol names. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "symbol",
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

const struct tool tool_describe_symbol = {
    .name = "describe-symbol",
    .title = "Describe symbol",
    .description = "Describe a symbol: kinds, lambda list, documentation, "
                   "value, methods, file.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "describe-symbol",
};
