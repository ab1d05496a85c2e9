/* SPDX-License-Identifier: GPL-3.0-or-later */
/* macroexpand_form.c: what a macro call stands for. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "form",
        .kind = SCHEMA_STRING,
        .required = true,
    },
    {
        .name = "package",
        .kind = SCHEMA_STRING,
    },
    {
        .name = "full",
        .kind = SCHEMA_BOOLEAN,
        .fallback = "false",
        .help = "All calls in the form, repeatedly.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_macroexpand_form = {
    .name = "macroexpand-form",
    .title = "Macroexpand form",
    .description = "Expand a macro call by one step, or fully.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "macroexpand-form",
};
