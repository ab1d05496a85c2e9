/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory_report.c: what memory the image has in use. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "collect",
        .kind = SCHEMA_BOOLEAN,
        .help = "Collect garbage first.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_memory_report = {
    .name = "memory-report",
    .title = "Memory report",
    .description =
        "Memory of the session: heap in use, limit, collections, bytes consed.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .operation = "memory-report",
};
