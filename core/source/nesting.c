/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nesting.c: see nesting.h. */
#include "source/nesting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"

/* Whether a list has a dot, and what follows it. */
enum {
    NO_DOT,
    DOT_SEEN,
    DOT_OBJECT, /* and the object after it */
    DOT_LOOSE   /* the same with #+ or #-, so that another object may follow */
};

/* Room for one more frame. */
static enum status grow(struct nesting *nesting)
{
    if (nesting->depth >= LIMIT_SOURCE_DEPTH)
        return ST_LIMIT;
    if (nesting->depth < nesting->room)
        return ST_OK;
    size_t room = nesting->room > 0 ? nesting->room * 2 : 64;
    struct nesting_frame *frames =
        realloc(nesting->frames, room * sizeof *frames);
    if (!frames)
        return ST_NOMEM;
    nesting->frames = frames;
    nesting->room = room;
    return ST_OK;
}

static struct nesting_frame *top(const struct nesting *nesting)
{
    return nesting->depth > 0 ? &nesting->frames[nesting->depth - 1] : NULL;
}

static bool is_feature(const struct nesting_frame *frame)
{
    return !frame->is_list && (frame->mark == '+' || frame->mark == '-');
}

/* Opens the list or prefix that TOKEN begins. */
static enum status push(struct nesting *nesting, struct token token,
                        enum token_fault *fault)
{
    enum status status = grow(nesting);
    if (status != ST_OK)
        return status;
    const struct nesting_frame *outer = top(nesting);
    struct nesting_frame frame = {.start = token.start,
                                  .line = token.line,
                                  .column = token.column,
                                  .indent = token.indent,
                                  .list = outer ? outer->list : 0,
                                  .mark = token.mark,
                                  .is_list = token.kind == TOKEN_OPEN};
    if (frame.is_list) {
        frame.list = (uint32_t)nesting->depth + 1;
        if (++nesting->lists > nesting->deepest)
            nesting->deepest = nesting->lists;
    } else if (token.mark == '`') {
        frame.counted = true;
        nesting->commas++;
    } else if (token.mark == ',' && nesting->commas > 0) {
        frame.counted = true;
        nesting->commas--;
    } else if (token.mark == ',' && *fault == TOKEN_FINE) {
        *fault = TOKEN_COMMA;
    }
    assert(nesting->frames); // there is room
    nesting->frames[nesting->depth++] = frame;
    return ST_OK;
}

/* Removes the innermost frame. */
static void drop(struct nesting *nesting)
{
    struct nesting_frame *frame = &nesting->frames[--nesting->depth];
    if (frame->is_list)
        nesting->lists--;
    else if (frame->mark == '`' && frame->counted)
        nesting->commas--;
    else if (frame->counted)
        nesting->commas++;
    else if (is_feature(frame) && frame->objects > 0)
        nesting->features--;
}

/* An object has ended: so have the prefixes that waited for it. */
static void complete(struct nesting *nesting, struct nesting_step *step)
{
    bool loose = false;
    struct nesting_frame *frame = top(nesting);
    for (; frame && !frame->is_list; frame = top(nesting)) {
        if (is_feature(frame) && frame->objects == 0) {
            frame->objects = 1;
            nesting->features++;
            return;
        }
        loose = loose || is_feature(frame);
        drop(nesting);
    }
    step->complete = !frame;
    if (!frame)
        return;
    if (frame->objects < 2)
        frame->objects++;
    if (frame->dot == DOT_SEEN)
        frame->dot = loose ? DOT_LOOSE : DOT_OBJECT;
    else if (frame->dot == DOT_OBJECT && !loose && step->fault == TOKEN_FINE)
        step->fault = TOKEN_DOT_TOO_MUCH;
}

static void take_dot(struct nesting *nesting, struct nesting_step *step)
{
    struct nesting_frame *frame = top(nesting);
    if (frame && frame->mark == '(' && frame->objects > 0 &&
        frame->dot == NO_DOT) {
        frame->dot = DOT_SEEN;
        return;
    }
    if (step->fault == TOKEN_FINE)
        step->fault = TOKEN_DOT;
    if (!frame || !frame->is_list)
        complete(nesting, step);
}

static void take_close(struct nesting *nesting, struct nesting_step *step)
{
    struct nesting_frame *frame = top(nesting);
    if (frame && !frame->is_list) {
        step->fault = TOKEN_NOTHING;
        step->waiting = *frame;
    }
    for (; frame && !frame->is_list; frame = top(nesting))
        drop(nesting);
    if (!frame) {
        step->fault = TOKEN_EXTRA;
        return;
    }
    if (frame->dot == DOT_SEEN && step->fault == TOKEN_FINE)
        step->fault = TOKEN_DOT_NOTHING;
    step->closes = true;
    step->closed = *frame;
    drop(nesting);
    complete(nesting, step);
}

void nesting_release(struct nesting *nesting)
{
    free(nesting->frames);
    *nesting = (struct nesting){0};
}

enum status nesting_take(struct nesting *nesting, struct token token,
                         struct nesting_step *step)
{
    struct nesting_step done = {.fault = token.fault};
    enum status status = ST_OK;
    if (token.kind == TOKEN_OPEN || token.kind == TOKEN_PREFIX)
        status = push(nesting, token, &done.fault);
    else if (token.kind == TOKEN_CLOSE)
        take_close(nesting, &done);
    else if (token.mark == '.')
        take_dot(nesting, &done);
    else
        complete(nesting, &done);
    if (status == ST_OK)
        *step = done;
    return status;
}

const struct nesting_frame *nesting_list(const struct nesting *nesting)
{
    const struct nesting_frame *frame = top(nesting);
    return frame && frame->list > 0 ? &nesting->frames[frame->list - 1] : NULL;
}

bool nesting_waits(const struct nesting *nesting)
{
    const struct nesting_frame *frame = top(nesting);
    return frame && !frame->is_list;
}

void nesting_reset(struct nesting *nesting)
{
    *nesting =
        (struct nesting){.frames = nesting->frames, .room = nesting->room};
}

void nesting_close(struct nesting *nesting)
{
    struct nesting_step step = {.fault = TOKEN_FINE};
    if (nesting->lists > 0)
        take_close(nesting, &step);
}
