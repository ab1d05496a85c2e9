/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.c: the set of tools that measure time and memory, and trace. */
#include "tools/fields.h"
#include "tools/sets.h"

const struct tool *const tools_measure[] = {
    &(const struct tool){
        .name = "time-execution",
        .title = "Time execution",
        .description = "Evaluate Lisp code and measure time, GC and bytes "
                       "consed.",
        .fields = FIELDS(FIELD_CODE, FIELD_PACKAGE,
                         {.name = "runs",
                          .kind = SCHEMA_INTEGER,
                          .min = 1,
                          .max = LIMIT_RUNS},
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
        .description = "Evaluate Lisp code; count and time the calls of a "
                       "package's functions.",
        .fields = FIELDS(FIELD_CODE,
                         {.name = "package",
                          .kind = SCHEMA_STRING,
                          .package = true,
                          .help = "Default: current."},
                         FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "profile-code",
    },
    &(const struct tool){
        .name = "trace-evaluation",
        .title = "Trace evaluation",
        .description = "Evaluate Lisp code with functions traced: nested "
                       "calls, arguments, values.",
        .fields = FIELDS(FIELD_CODE,
                         {.name = "functions",
                          .kind = SCHEMA_STRING,
                          .required = true,
                          .help = "Names, separated by blanks."},
                         FIELD_PACKAGE, FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "trace-evaluation",
    },
    &(const struct tool){
        .name = "memory-report",
        .title = "Memory report",
        .description = "Memory of the session: heap, limit, collections.",
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
