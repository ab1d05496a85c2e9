/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checkpoint_session.c: keeps the state of a session under a name. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "name",
        .kind = SCHEMA_NAME,
        .required = true,
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_checkpoint_session = {
    .name = "checkpoint-session",
    .title = "Checkpoint session",
    .description = "Save the state of the Lisp session for restore-session.",
    .fields = fields,
    .level = TOOL_SAFE,
    .operation = "checkpoint-session",
};
