/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reset_session.c: takes the image back to an empty CL-USER. */
#include "catalog.h"

const struct tool tool_reset_session = {
    .name = "reset-session",
    .title = "Reset session",
    .description =
        "Clear all definitions, variables and packages made in the Lisp "
        "session and return to the package CL-USER. Loaded systems stay.",
    .level = TOOL_CAUTIOUS,
    .destructive = true,
    .idempotent = true,
    .operation = "reset-session",
};
