/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list_package_symbols.c: the symbols of a package. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "package",
        .kind = SCHEMA_STRING,
        .required = true,
    },
    {
        .name = "include-internal",
        .kind = SCHEMA_BOOLEAN,
        .fallback = "false",
        .help = "Internal ones, too.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_list_package_symbols = {
    .name = "list-package-symbols",
    .title = "List package symbols",
    .description = "List the external symbols of a package by kind.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "list-package-symbols",
};
