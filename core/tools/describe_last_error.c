/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe_last_error.c: all that is known about the last failure. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "frames",
        .kind = SCHEMA_BOOLEAN,
        .fallback = "false",
        .help = "Show the whole backtrace.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_describe_last_error = {
    .name = "describe-last-error",
    .title = "Describe last error",
    .description = "Describe the error of the last evaluation: condition, "
                   "restarts, stack frames with local variables.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "describe-last-error",
};
