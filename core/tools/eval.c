/* SPDX-License-Identifier: GPL-3.0-or-later */
/* eval.c: the set of tools that evaluate, load and check code. */
#include "tools/fields.h"
#include "tools/sets.h"

/* Calls can be followed and functions redefined, or not, for speed. */
static const char *const policies[] = {"live", "fast", NULL};

const struct tool tool_describe_last_error = {
    .name = "describe-last-error",
    .title = "Describe last error",
    .description = "Describe the error of the last evaluation: condition, "
                   "restarts, stack frames with local variables.",
    .fields = FIELDS({.name = "frames",
                      .kind = SCHEMA_BOOLEAN,
                      .fallback = "false",
                      .help = "Show the whole backtrace."},
                     FIELD_SESSION),
    .level = TOOL_SAFE,
    .reads_only = true,
    .idempotent = true,
    .operation = "describe-last-error",
};

const struct tool *const tools_eval[] = {
    &(const struct tool){
        .name = "evaluate-lisp",
        .title = "Evaluate Lisp",
        .description =
            "Evaluate Common Lisp code in a persistent REPL session. "
            "Definitions and variables persist across calls. Returns output, "
            "warnings and values, or an error with its backtrace.",
        .aliases = (const char *const[]){"eval-form", NULL},
        .fields = FIELDS(
            {.name = "code",
             .kind = SCHEMA_CODE,
             .required = true,
             .help = "Common Lisp expression(s) to evaluate. Can be a single "
                     "form or multiple forms."},
            {.name = "package",
             .kind = SCHEMA_STRING,
             .package = true,
             .help = "Package context. Defaults to CL-USER or the last-used "
                     "package."},
            {.name = "capture-time",
             .kind = SCHEMA_BOOLEAN,
             .fallback = "false",
             .help = "If true, include timing information in the result."},
            {.name = "source", .kind = SCHEMA_STRING, .hidden = true},
            {.name = "line",
             .kind = SCHEMA_INTEGER,
             .hidden = true,
             .min = 1,
             .max = INT32_MAX},
            {.name = TOOL_SESSION,
             .kind = SCHEMA_NAME,
             .help = "Default main; a new name opens an isolated session."},
            {.name = TOOL_TIMEOUT,
             .kind = SCHEMA_NUMBER,
             .max = LIMIT_TIMEOUT_MAX,
             .help = "Seconds, 0 for no limit. Defaults to 30."}),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "evaluate",
    },
    &(const struct tool){
        .name = "load-system",
        .title = "Load system",
        .description =
            "Load an ASDF system and its dependencies: the workspace's "
            "own, or a library, through Quicklisp if the user has it.",
        .aliases = (const char *const[]){"quickload", NULL},
        .fields = FIELDS({.name = "system",
                          .alias = "system-name",
                          .kind = SCHEMA_STRING,
                          .required = true,
                          .help = "Name or .asd file."},
                         {.name = "policy",
                          .kind = SCHEMA_CHOICE,
                          .choices = policies,
                          .help = "Default live in the workspace."},
                         FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .loads_code = true,
        .idempotent = true,
        .open_world = true,
        .timeout_ms = LIMIT_LOAD_TIMEOUT_MS,
        .evaluates = true,
        .operation = "load-system",
    },
    &(const struct tool){
        .name = "load-file",
        .title = "Load file",
        .description = "Load a Lisp source or compiled file; reports which "
                       "form fails, and on which line.",
        .fields = FIELDS({.name = "path",
                          .kind = SCHEMA_PATH,
                          .required = true,
                          .help = "Lisp file in the workspace."},
                         FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .loads_code = true,
        .destructive = true,
        .open_world = true,
        .timeout_ms = LIMIT_LOAD_TIMEOUT_MS,
        .evaluates = true,
        .operation = "load-file",
    },
    &(const struct tool){
        .name = "run-tests",
        .title = "Run tests",
        .description = "Run tests of a system, a package, or all; per failure: "
                       "form, expected, got, place, backtrace.",
        .fields =
            FIELDS(FIELD_OPTIONAL("system"), FIELD_PACKAGE,
                   {.name = "name", .alias = "test", .kind = SCHEMA_STRING},
                   {.name = "failed",
                    .kind = SCHEMA_BOOLEAN,
                    .help = "Only what failed last."},
                   {.name = "seconds",
                    .kind = SCHEMA_INTEGER,
                    .min = 1,
                    .max = LIMIT_TEST_SECONDS,
                    .help = "Per test."},
                   FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .loads_code = true,
        .destructive = true,
        .open_world = true,
        .timeout_ms = LIMIT_LOAD_TIMEOUT_MS,
        .evaluates = true,
        .operation = "run-tests",
    },
    &tool_compile_form,
    &(const struct tool){
        .name = "macroexpand-form",
        .title = "Macroexpand form",
        .description = "Expand a macro call by one step, or fully.",
        .fields =
            FIELDS({.name = "form", .kind = SCHEMA_CODE, .required = true},
                   FIELD_PACKAGE,
                   {.name = "full",
                    .kind = SCHEMA_BOOLEAN,
                    .fallback = "false",
                    .help = "Expand every call in the form, repeatedly."},
                   FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "macroexpand-form",
    },
    &tool_validate_syntax,
    &tool_describe_last_error,
    NULL,
};
