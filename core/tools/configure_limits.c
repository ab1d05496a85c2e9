/* SPDX-License-Identifier: GPL-3.0-or-later */
/* configure_limits.c: shows and sets limits. This server keeps those of time
   and output itself; the images keep that of memory. */
#include "base/limits.h"
#include "base/units.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { TIMEOUT, MAX_OUTPUT, MEMORY, SESSION };
#define LIMITS SESSION /* the number of limits, which come first */

static const struct schema_field fields[] = {
    [TIMEOUT] =
        {
            .name = TOOL_TIMEOUT,
            .kind = SCHEMA_NUMBER,
            .max = LIMIT_TIMEOUT_MAX,
            .help = "Seconds per call; 0 for no limit.",
        },
    [MAX_OUTPUT] =
        {
            .name = "max-output",
            .kind = SCHEMA_INTEGER,
            .min = LIMIT_OUTPUT_MIN,
            .max = LIMIT_OUTPUT_MAX,
            .help = "Characters per answer.",
        },
    [MEMORY] =
        {
            .name = "memory",
            .kind = SCHEMA_SIZE,
            .min = LIMIT_HEAP_MIN,
            .max = LIMIT_HEAP_MAX,
            .help = "Lisp heap, such as 2G.",
        },
    [SESSION] = FIELD_SESSION,
    {0},
};

/* TEXT and LINE on a line of its own. *STATUS changes when memory runs out. */
static struct str add_line(struct arena *arena, struct str text,
                           enum status *status, struct str line)
{
    struct str more = line;
    if (text.n > 0 && line.n > 0)
        more = arena_printf(arena, "%.*s\n%.*s", STR_ARG(text), STR_ARG(line));
    if (more.n == 0)
        *status = ST_NOMEM;
    return more;
}

/* Describes the limits that VALUES set, or all when they set none. */
static enum status describe(struct arena *arena,
                            const struct tool_limits *limits,
                            const struct schema_value *values, struct str *out)
{
    char words[UNITS_TEXT] = "none";
    char size[UNITS_TEXT] = "as set for the images";
    bool all = true;
    enum status status = ST_OK;
    struct str text = STR("");
    for (size_t i = 0; i < LIMITS; i++)
        all = all && !values[i].given;
    if (limits->timeout_ms > 0)
        (void)units_time(limits->timeout_ms, words);
    if (all || values[TIMEOUT].given)
        text = add_line(arena, text, &status,
                        arena_printf(arena, "timeout: %s", words));
    if (all || values[MAX_OUTPUT].given)
        text = add_line(arena, text, &status,
                        arena_printf(arena, "max-output: %zu characters",
                                     limits->max_output));
    if (limits->memory > 0)
        (void)units_size((uint64_t)limits->memory, size);
    if (all || values[MEMORY].given)
        text = add_line(arena, text, &status,
                        arena_printf(arena, "memory: %s", size));
    *out = text;
    return status;
}

/* Sends the limit to the image, which then answers with TEXT. */
static enum status send_memory(const struct tool_request *request,
                               int64_t memory, struct str text)
{
    struct buf *out = &request->image->out;
    tool_begin(request, "configure-limits");
    wire_put_string(out, STR("memory"));
    wire_put_int(out, memory);
    wire_put_string(out, STR("text"));
    wire_put_string(out, text);
    return image_send(request->image, &request->call->image);
}

static enum status configure_limits(const struct tool_request *request,
                                    struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct tool_limits wanted = *request->limits;
    if (values[TIMEOUT].given)
        wanted.timeout_ms = tool_milliseconds(values[TIMEOUT].real);
    if (values[MAX_OUTPUT].given)
        wanted.max_output = (size_t)values[MAX_OUTPUT].integer;
    if (values[MEMORY].given)
        wanted.memory = values[MEMORY].integer;

    struct str text;
    enum status status = describe(request->arena, &wanted, values, &text);
    if (status == ST_OK && values[MEMORY].given) {
        status = send_memory(request, wanted.memory, text);
    } else if (status == ST_OK) {
        answer->state = TOOL_ANSWERED;
        answer->text = text;
    }
    if (status == ST_OK)
        *request->limits = wanted;
    return status;
}

const struct tool tool_configure_limits = {
    .name = "configure-limits",
    .title = "Configure limits",
    .description = "Set limits; without arguments, show them.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .reads_only = true, // no limit is part of a session
    .idempotent = true,
    .handler = configure_limits,
};
