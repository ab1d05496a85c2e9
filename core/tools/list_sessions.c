/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list_sessions.c: the sessions and what can be restored in them. */
#include "tools/catalog.h"

const struct tool tool_list_sessions = {
    .name = "list-sessions",
    .title = "List sessions",
    .description = "List the open sessions, their checkpoints and memory.",
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "list-sessions",
};
