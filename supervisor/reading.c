/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reading.c: see reading.h. */
#include "supervisor/reading.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/strand.h"
#include "supervisor/front.h"
#include "supervisor/output_search.h"
#include "supervisor/outputs.h"
#include "supervisor/reply.h"
#include "supervisor/state.h"
#include "wire/wire.h"

/* Looking for lines. */
struct reading {
    struct strand *strand;
    struct arena arena; /* of the steps */
    uint64_t id;        /* of READ */
    uint64_t output;    /* which may be dropped between two steps */
    struct str text;    /* a view of it */
    struct buf pattern;
    size_t offset;
    size_t limit;
    struct buf out;
    enum status status;
};

static void reading_free(struct reading *reading)
{
    strand_free(reading->strand); // which uses the rest
    arena_release(&reading->arena);
    buf_release(&reading->pattern);
    buf_release(&reading->out);
    free(reading);
}

void reading_end(struct front *front)
{
    if (front->reading)
        reading_free(front->reading);
    front->reading = NULL;
}

static void look(void *context)
{
    struct reading *reading = context;

    reading->arena.strand = reading->strand;
    reading->status = output_search(&reading->arena, reading->text,
                                    reading->offset, reading->limit,
                                    buf_view(&reading->pattern), &reading->out);
}

/* A reading that will look for PATTERN; NULL when memory runs out. */
static struct reading *reading_new(struct str pattern)
{
    struct reading *reading = calloc(1, sizeof *reading);

    if (!reading)
        return NULL;
    reading->strand = strand_new(look, reading);
    buf_str(&reading->pattern, pattern);
    if (reading->strand && !buf_failed(&reading->pattern))
        return reading;
    reading_free(reading);
    return NULL;
}

bool reading_go_on(struct front *front)
{
    const struct outputs *outputs = &front->supervisor->outputs;
    struct reading *reading = front->reading;
    struct buf why = BUF_EMPTY;

    if (!reading)
        return false;
    if (!outputs_has(outputs, reading->output)) {
        // a strand that is stopped no longer looks at it
        (void)outputs_find(outputs, reading->output, 0, &reading->text, &why);
        front_reply(front, reading->id, 0, buf_view(&why));
    } else if (!strand_go_on(reading->strand)) {
        return true;
    } else if (reading->status == ST_NOMEM) {
        front_reply(front, reading->id, 0, STR(REPLY_NO_MEMORY));
    } else {
        front_reply(front, reading->id, 0, buf_view(&reading->out));
    }
    buf_release(&why);
    reading_end(front);
    return false;
}

enum status reading_begin(struct front *front, uint64_t id, struct str body)
{
    const struct outputs *outputs = &front->supervisor->outputs;
    int64_t output;
    int64_t offset;
    int64_t limit;
    struct str pattern;
    struct str text;
    struct buf out = BUF_EMPTY;

    if (wire_take_int(&body, &output) != ST_OK ||
        wire_take_int(&body, &offset) != ST_OK ||
        wire_take_int(&body, &limit) != ST_OK ||
        wire_take_string(&body, &pattern) != ST_OK || offset < 0 || limit < 0)
        return ST_INVALID;
    if (pattern.n == 0) {
        bool found = outputs_read(outputs, (uint64_t)output, (uint64_t)offset,
                                  (uint64_t)limit, &out);
        (void)found; // when there is none, the text says so
    } else if (outputs_find(outputs, (uint64_t)output, (uint64_t)offset, &text,
                            &out)) {
        front->reading = reading_new(pattern);
        if (front->reading) {
            front->reading->id = id;
            front->reading->output = (uint64_t)output;
            front->reading->text = text;
            front->reading->offset = (size_t)offset;
            front->reading->limit = (size_t)limit;
            (void)reading_go_on(front); // most outputs take one step
            return ST_OK;
        }
        buf_str(&out, STR(REPLY_NO_MEMORY));
    }
    front_reply(front, id, 0, buf_view(&out));
    buf_release(&out);
    return ST_OK;
}
