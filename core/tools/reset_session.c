/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reset_session.c: empties a session, or ends it. */
#include "tools/fields.h"
#include "tools/sets.h"

enum { CLOSE };

static const struct schema_field fields[] = {
    [CLOSE] =
        {
            .name = "close",
            .kind = SCHEMA_BOOLEAN,
            .fallback = "false",
            .help = "End the session with its checkpoints.",
        },
    FIELD_SESSION,
    {0},
};

static enum status reset_session(const struct tool_request *request,
                                 struct tool_answer *answer)
{
    (void)answer; // comes from the image or the supervisor
    request->call->ends_session = request->values[CLOSE].boolean;
    tool_begin(request, request->values[CLOSE].boolean ? "close-session"
                                                       : "reset-session");
    return image_send(request->image, &request->call->image);
}

const struct tool tool_reset_session = {
    .name = "reset-session",
    .title = "Reset session",
    .description = "Clear all definitions of the Lisp session. Loaded systems "
                   "stay.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .destructive = true,
    .idempotent = true,
    .handler = reset_session,
};
