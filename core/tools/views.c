/* SPDX-License-Identifier: GPL-3.0-or-later */
/* views.c: calls that show, as resources, what no tool shows of a session. They
   pass the gate under the rules of the nearest tool. */
#include "tools/fields.h"
#include "tools/sets.h"

const struct tool view_checkpoints = {
    .name = "list-sessions",
    .title = "Show checkpoints",
    .description = "State and checkpoints of a session.",
    .fields = FIELDS(FIELD_SESSION),
    .level = TOOL_SAFE,
    .reads_only = true,
    .rules_of = &tool_list_sessions,
    .idempotent = true,
    .operation = "describe-session",
};

const struct tool view_output = {
    .name = "read-output",
    .title = "Show output",
    .description = "A whole output that was too long for its answer.",
    .fields = FIELDS({.name = "id",
                      .kind = SCHEMA_INTEGER,
                      .required = true,
                      .min = 1,
                      .max = INT32_MAX,
                      .help = "The id in the shortened answer."},
                     FIELD_SESSION),
    .level = TOOL_SAFE,
    .reads_only = true,
    .rules_of = &tool_read_output,
    .idempotent = true,
    .operation = "show-output",
};
