/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe_last_error.c: all that is known about the last failure. */
#include "catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "frames",
        .kind = SCHEMA_BOOLEAN,
        .fallback = "false",
        .help = "If true, show the whole backtrace.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_describe_last_error = {
    .name = "describe-last-error",
    .title = "Describe last error",
    .description =
        "Describe the error of the last evaluation: condition class, message, "
        "restarts, and stack frames with their local variables.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "describe-last-error",
};
