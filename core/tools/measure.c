/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.c: the set of tools that measure time and memory. */
#include "tools/fields.h"
#include "tools/sets.h"

const struct tool *const tools_measure[] = {
    &(const struct tool){
        .name = "time-execution",
        .title = "Time execution",
        .description = "Evaluate Lisp code and time it: values, real, run and "
                       "GC time, bytes consed.",
        .fields = FIELDS(FIELD_CODE, FIELD_PACKAGE,
                         {.name = "runs",
                          .kind = SCHEMA_INTEGER,
                          .min = 1,
                          .max = LIMIT_RUNS,
                          .help = "Number of runs."},
                         FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "time-execution",
    },
    &(const struct tool){
        .name = "profile-code",
        .title = "Profile code",
        .description = "Profile Lisp code: evaluate it, count and time calls "
                       "to the functions of a package.",
        .fields = FIELDS(
            FIELD_CODE,
            {.name = "package",
             .kind = SCHEMA_STRING,
             .package = true,
             .help = "Whose functions to measure; default: the current one."},
            FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "profile-code",
    },
    &(const struct tool){
        .name = "memory-report",
        .title = "Memory report",
        .description = "Memory of the session: heap in use, limit, "
                       "collections, bytes consed.",
        .fields = FIELDS({.name = "collect",
                          .kind = SCHEMA_BOOLEAN,
                          .help = "Collect garbage first."},
                         FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "memory-report",
    },
    NULL,
};
