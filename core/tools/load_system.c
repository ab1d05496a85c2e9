/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load_system.c: loads an ASDF or Quicklisp system into the image. */
#include "base/limits.h"
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "system",
        .alias = "system-name",
        .kind = SCHEMA_STRING,
        .required = true,
    },
    TOOL_SESSION_FIELD,
    {0},
};

static const char *const aliases[] = {"quickload", NULL};

const struct tool tool_load_system = {
    .name = "load-system",
    .title = "Load system",
    .description = "Load a library (ASDF system) with what it depends on; with "
                   "Quicklisp where the user has it.",
    .aliases = aliases,
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .idempotent = true,
    .open_world = true,
    .timeout_ms = LIMIT_LOAD_TIMEOUT_MS,
    .operation = "load-system",
};
