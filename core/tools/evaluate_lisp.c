/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluate_lisp.c: evaluates code in the persistent image. */
#include "base/limits.h"
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "code",
        .kind = SCHEMA_STRING,
        .required = true,
        .help = "Common Lisp expression(s) to evaluate. Can be a single form "
                "or multiple forms.",
    },
    {
        .name = "package",
        .kind = SCHEMA_STRING,
        .help =
            "Package context. Defaults to CL-USER or the last-used package.",
    },
    {
        .name = "capture-time",
        .kind = SCHEMA_BOOLEAN,
        .fallback = "false",
        .help = "If true, include timing information in the result.",
    },
    {
        .name = TOOL_SESSION,
        .kind = SCHEMA_NAME,
        .help = "Default main; a new name opens an isolated session.",
    },
    {
        .name = TOOL_TIMEOUT,
        .kind = SCHEMA_NUMBER,
        .max = LIMIT_TIMEOUT_MAX,
        .help = "Seconds, 0 for no limit. Defaults to 30.",
    },
    {0},
};

static const char *const aliases[] = {"eval-form", NULL};

const struct tool tool_evaluate_lisp = {
    .name = "evaluate-lisp",
    .title = "Evaluate Lisp",
    .description =
        "Evaluate Common Lisp code in a persistent REPL session. Definitions "
        "and variables persist across calls. Returns output, warnings and "
        "values, or an error with its backtrace.",
    .aliases = aliases,
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .destructive = true,
    .open_world = true,
    .operation = "evaluate",
};
