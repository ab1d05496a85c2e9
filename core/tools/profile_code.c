/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_code.c: counts and times calls while code is evaluated. */
#include "tools/catalog.h"

static const struct schema_field fields[] = {
    {
        .name = "code",
        .kind = SCHEMA_STRING,
        .required = true,
    },
    {
        .name = "package",
        .kind = SCHEMA_STRING,
        .help = "Whose functions to measure; default the current.",
    },
    TOOL_SESSION_FIELD,
    {0},
};

const struct tool tool_profile_code = {
    .name = "profile-code",
    .title = "Profile code",
    .description = "Profile Lisp code: evaluates it, counts and times calls of "
                   "the functions of a package.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .destructive = true,
    .open_world = true,
    .operation = "profile-code",
};
