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

/* Bytes that are copied at once. */
#define PIECE ((size_t)64 * 1024)

/* Looking for lines, or showing all. */
struct reading {
    struct strand *strand;
    struct arena arena; /* of the steps */
    uint64_t id;        /* of READ */
    uint64_t output;    /* which may be dropped between two steps */
    struct str text;    /* a view of it */
    bool whole;         /* it is shown; OUT becomes the whole frame */
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

/* Writes a frame with the whole text. */
static enum status show(struct reading *reading)
{
    struct buf *out = &reading->out;
    size_t start = wire_begin(out, WIRE_REPLY, 0, reading->id);

    wire_begin_string(out, reading->text.n);
    for (size_t at = 0; at < reading->text.n; at += PIECE) {
        size_t left = reading->text.n - at;

        buf_append(out, reading->text.p + at, left < PIECE ? left : PIECE);
        if (!strand_spend(reading->strand, PIECE / 8))
            return ST_NOMEM; // it is stopped, and the text may be gone
    }
    wire_end(out, start);
    return buf_failed(out) ? ST_NOMEM : ST_OK;
}

static void look(void *context)
{
    struct reading *reading = context;

    reading->arena.strand = reading->strand;
    if (reading->whole) {
        reading->status = show(reading);
        return;
    }
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
    struct outputs *outputs = &front->supervisor->outputs;
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
    } else if (reading->whole) {
        front_pass(front, &reading->out);
    } else {
        front_reply(front, reading->id, 0, buf_view(&reading->out));
    }
    buf_release(&why);
    reading_end(front);
    return false;
}

void reading_show(struct front *front, uint64_t id, struct str text)
{
    front->reading = text.n > PIECE ? reading_new(STR("")) : NULL;
    if (!front->reading) {
        front_reply(front, id, 0, text);
        return;
    }
    front->reading->id = id;
    front->reading->output = outputs_number(&front->supervisor->outputs, text);
    front->reading->text = text;
    front->reading->whole = true;
    (void)reading_go_on(front); // the rest comes later
}

enum status reading_begin(struct front *front, uint64_t id, struct str body)
{
    struct outputs *outputs = &front->supervisor->outputs;
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
