/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c: the set of tools about Lisp sessions as a whole: what is in them,
   their limits, checkpoints and output. */
#include "tools/fields.h"
#include "tools/sets.h"

static const char *const types[] = {
    "all", "functions", "variables", "macros", "classes", "systems", NULL,
};

const struct tool tool_list_definitions = {
    .name = "list-definitions",
    .title = "List definitions",
    .description = "List what the Lisp session has defined, and the systems "
                   "loaded.",
    .fields = FIELDS({.name = "type",
                      .kind = SCHEMA_CHOICE,
                      .choices = types,
                      .fallback = "\"all\""},
                     FIELD_SESSION),
    .level = TOOL_SAFE,
    .reads_only = true,
    .idempotent = true,
    .operation = "list-definitions",
};

const struct tool tool_list_sessions = {
    .name = "list-sessions",
    .title = "List sessions",
    .description = "List open sessions, checkpoints and memory.",
    .level = TOOL_SAFE,
    .reads_only = true,
    .look_up = true,
    .idempotent = true,
    .operation = "list-sessions",
};

const struct tool *const tools_session[] = {
    &tool_list_definitions,
    &tool_reset_session,
    &tool_configure_limits,
    &(const struct tool){
        .name = "checkpoint-session",
        .title = "Checkpoint session",
        .description = "Save the Lisp session for restore-session.",
        .fields =
            FIELDS({.name = "name", .kind = SCHEMA_NAME, .required = true},
                   FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .operation = "checkpoint-session",
    },
    &(const struct tool){
        .name = "restore-session",
        .title = "Restore session",
        .description = "Undo: return the Lisp session to before its last "
                       "evaluations, or to a checkpoint.",
        .fields = FIELDS(
            {.name = "name", .kind = SCHEMA_NAME, .help = "A checkpoint."},
            {.name = "back",
             .kind = SCHEMA_INTEGER,
             .max = INT32_MAX,
             .instead_of = "name",
             .help = "Evaluations to undo; 0: only stop what runs."},
            FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .operation = "restore-session",
    },
    &tool_list_sessions,
    &tool_read_output,
    NULL,
};
