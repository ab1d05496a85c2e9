/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restore_session.c: takes a session back to a checkpoint. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "name",
        .kind = SCHEMA_NAME,
        .help = "Of a checkpoint.",
    },
    {
        .name = "back",
        .kind = SCHEMA_INTEGER,
        .min = 1,
        .max = INT32_MAX,
        .instead_of = "name",
        .help = "Evaluations to undo.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_restore_session = {
    .name = "restore-session",
    .title = "Restore session",
    .description = "Undo: return the Lisp session to the state before its last "
                   "evaluations or to a checkpoint.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .destructive = true,
    .operation = "restore-session",
};
