/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compile_form.c: what the compiler says of code that is not run. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "code",
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

const struct tool tool_compile_form = {
    .name = "compile-form",
    .title = "Compile form",
    .description =
        "Compile Lisp code without running or defining it: warnings, "
        "undefined functions and variables, errors.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .idempotent = true,
    .operation = "compile-form",
};
