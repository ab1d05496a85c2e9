/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_file.c: writes a whole file once the user has approved the diff. */
#include "gate/review.h"
#include "gate/review_apply.h"
#include "tools/sets.h"

enum { PATH, CONTENT };

static const struct schema_field fields[] = {
    [PATH] =
        {
            .name = "path",
            .kind = SCHEMA_PATH,
            .required = true,
            .help = "May be new.",
        },
    [CONTENT] =
        {
            .name = "content",
            .kind = SCHEMA_STRING,
            .required = true,
            .help = "Its whole text.",
        },
    {0},
};

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct review *review;
    enum status status = review_open(request, true, &review, answer);

    if (status != ST_OK || !review)
        return status;
    struct str content;
    status = text_normalize(&review->arena, &review->before,
                            values[CONTENT].string, &content);
    if (status == ST_OK && content.p == values[CONTENT].string.p)
        status = arena_str(&review->arena, content, &content);
    return status == ST_OK ? review_propose(review, content, STR(""), false,
                                            question, answer)
                           : status;
}

const struct tool tool_write_file = {
    .name = "write-file",
    .title = "Write file",
    .description = "Create a file or replace its text; the user approves it.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .idempotent = true,
    .edits = true,
    .in_steps = true,
    .prepare = prepare,
    .handler = review_apply,
};
