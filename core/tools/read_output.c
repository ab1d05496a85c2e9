/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_output.c: shows a part of an output that was too long for its answer. */
#include "base/limits.h"
#include "base/regex.h"
#include "tools/sets.h"

enum { ID, OFFSET, LIMIT, PATTERN };

static const struct schema_field fields[] = {
    [ID] =
        {
            .name = "id",
            .kind = SCHEMA_INTEGER,
            .required = true,
            .min = 1,
            .max = INT32_MAX,
        },
    [OFFSET] =
        {
            .name = "offset",
            .kind = SCHEMA_INTEGER,
            .max = LIMIT_OUTPUT_KEPT,
            .help = "Characters to skip.",
        },
    [LIMIT] =
        {
            .name = "limit",
            .kind = SCHEMA_INTEGER,
            .min = 1,
            .max = LIMIT_OUTPUT_KEPT,
            .help = "Characters, default max-output.",
        },
    [PATTERN] =
        {
            .name = "pattern",
            .kind = SCHEMA_STRING,
            .help = "Regex: matching lines.",
        },
    {0},
};

static enum status read_output(const struct tool_request *request,
                               struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    int64_t limit = values[LIMIT].given ? values[LIMIT].integer
                                        : (int64_t)request->limits->max_output;
    struct str pattern = values[PATTERN].string;

    if (pattern.n > 0) {
        struct regex regex;
        struct str why;
        enum status status = regex_init(&regex, request->arena, pattern, &why);

        if (status == ST_INVALID) {
            answer->state = TOOL_FAILED;
            answer->text = arena_printf(
                request->arena,
                "argument pattern is not a regular expression: %.*s",
                STR_ARG(why));
            return answer->text.n > 0 ? ST_OK : ST_NOMEM;
        }
        if (status != ST_OK)
            return status;
    }
    // the answer comes from the image
    image_begin_read(request->image, values[ID].integer, values[OFFSET].integer,
                     limit, pattern);
    return image_send(request->image, &request->call->image);
}

const struct tool tool_read_output = {
    .name = "read-output",
    .title = "Read output",
    .description = "Read part of a long output, by the id in its answer.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .handler = read_output,
};
