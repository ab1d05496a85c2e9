/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delete_file.c: deletes a file, which the user sees first. */
#include "gate/changes.h"
#include "tools/fields.h"
#include "tools/mentions.h"
#include "tools/sets.h"

enum { PATH };

static const struct schema_field fields[] = {
    [PATH] = FIELD_PATH,
    {0},
};

static enum status divide(const struct tool_request *request,
                          struct tool_answer *answer)
{
    return changes_divide(request, &request->values[PATH].string, 1, answer);
}

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    struct review *review;
    enum status status = changes_open(request, 0, true, &review, answer);

    if (status == ST_OK)
        status = changes_forgive(request, 0, answer);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    return changes_propose(request, STR(""), STR(""), question, answer);
}

static enum status handle(const struct tool_request *request,
                          struct tool_answer *answer)
{
    struct str note;
    enum status status =
        mentions_find(request, &request->call->parts[0], &note);

    return status == ST_OK ? changes_apply_with(request, note, answer) : status;
}

const struct tool tool_delete_file = {
    .name = "delete-file",
    .title = "Delete file",
    .description = "Delete a file; the user approves it.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .edits = true,
    .in_steps = true,
    .divide = divide,
    .prepare = prepare,
    .handler = handle,
};
