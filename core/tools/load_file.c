/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load_file.c: loads a file of the workspace into the image. */
#include "base/limits.h"
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "path",
        .kind = SCHEMA_STRING,
        .required = true,
        .help = "Lisp file, from the workspace.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_load_file = {
    .name = "load-file",
    .title = "Load file",
    .description =
        "Load a Lisp source or compiled file; says which form fails, "
        "and in which line.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .destructive = true,
    .open_world = true,
    .timeout_ms = LIMIT_LOAD_TIMEOUT_MS,
    .operation = "load-file",
};
