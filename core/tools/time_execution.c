/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_execution.c: evaluates code and measures it. */
#include "base/limits.h"
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
    {
        .name = "runs",
        .kind = SCHEMA_INTEGER,
        .min = 1,
        .max = LIMIT_RUNS,
        .help = "Repeat so often.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_time_execution = {
    .name = "time-execution",
    .title = "Time execution",
    .description = "Evaluate Lisp code and time it: values, real, run and GC "
                   "time, bytes consed.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .destructive = true,
    .open_world = true,
    .operation = "time-execution",
};
