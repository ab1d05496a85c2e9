/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.c: a list of chunks; the newest is filled from its start. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strand.h"

struct arena_chunk {
    struct arena_chunk *below; /* owned */
    char *adopted;             /* storage of a buf, owned; or NULL */
    size_t used;               /* bytes of data handed out */
    size_t cap;                /* bytes of data */
    size_t taken;              /* bytes of ADOPTED */
    alignas(max_align_t) char data[];
};

/* Bytes of the first chunk: the tokens and texts of a usual message fit.
   Each further one is twice as large, up to LAST_CHUNK. */
#define FIRST_CHUNK (4u * 1024)
#define LAST_CHUNK (256u * 1024)

/* Bytes of a text from which on its storage is taken over, not copied, and
   bytes that are copied between two looks at the strand. */
#define ADOPTED 4096u
#define COPIED (256u * 1024)

void arena_release(struct arena *arena)
{
    struct arena_chunk *chunk = arena->top;
    while (chunk) {
        struct arena_chunk *below = chunk->below;
        free(chunk->adopted);
        free(chunk);
        chunk = below;
    }
    arena->top = NULL;
}

void arena_join(struct arena *to, struct arena *from)
{
    struct arena_chunk *last = from->top;

    if (!last)
        return;
    while (last->below)
        last = last->below;
    if (to->top) {
        last->below = to->top->below;
        to->top->below = from->top;
    } else {
        to->top = from->top;
    }
    from->top = NULL;
}

size_t arena_bytes(const struct arena *arena)
{
    size_t bytes = 0;

    for (const struct arena_chunk *c = arena->top; c; c = c->below)
        bytes += c->cap + c->taken;
    return bytes;
}

/* CLEARED: zero bytes from the system, which need not be written. */
static struct arena_chunk *chunk_new(size_t cap, bool cleared)
{
    if (cap > SIZE_MAX - sizeof(struct arena_chunk))
        return NULL;
    size_t bytes = sizeof(struct arena_chunk) + cap;
    struct arena_chunk *chunk = cleared ? calloc(1, bytes) : malloc(bytes);
    if (chunk) {
        chunk->used = 0;
        chunk->cap = cap;
        chunk->below = NULL;
        chunk->adopted = NULL;
        chunk->taken = 0;
    }
    return chunk;
}

/* Links CHUNK below the top chunk of ARENA, the rest of which stays in use. */
static void add_below(struct arena *arena, struct arena_chunk *chunk)
{
    struct arena_chunk *top = arena->top;

    chunk->below = top ? top->below : NULL;
    if (top)
        top->below = chunk;
    else
        arena->top = chunk;
}

/* A chunk with room for N bytes, linked into ARENA. */
static struct arena_chunk *add_chunk(struct arena *arena, size_t n,
                                     bool cleared)
{
    struct arena_chunk *top = arena->top;
    size_t cap = FIRST_CHUNK;
    if (top && top->cap >= FIRST_CHUNK)
        cap = top->cap < LAST_CHUNK / 2 ? top->cap * 2 : LAST_CHUNK;
    bool large = n > cap;
    struct arena_chunk *chunk = chunk_new(large ? n : cap, cleared);
    if (!chunk)
        return NULL;
    if (large) {
        add_below(arena, chunk);
    } else {
        chunk->below = top;
        arena->top = chunk;
    }
    return chunk;
}

/* *CLEARED, when it is true, says afterwards whether the bytes are zero. */
static void *take(struct arena *arena, size_t n, bool *cleared)
{
    const size_t unit = alignof(max_align_t);
    struct arena_chunk *chunk = arena->top;

    if (n > SIZE_MAX - unit || strand_is_stopped(arena->strand))
        return NULL;
    n = (n + unit - 1) / unit * unit;
    *cleared = *cleared && n > LAST_CHUNK;
    if (!chunk || n > chunk->cap - chunk->used)
        chunk = add_chunk(arena, n, *cleared);
    else
        *cleared = false;
    if (!chunk)
        return NULL;
    void *p = chunk->data + chunk->used;
    chunk->used += n;
    return p;
}

void *arena_alloc(struct arena *arena, size_t n)
{
    bool cleared = false;

    return take(arena, n, &cleared);
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
    bool cleared = true;

    if (size != 0 && n > SIZE_MAX / size)
        return NULL;
    void *p = take(arena, n * size, &cleared);
    if (p && !cleared)
        memset(p, 0, n * size);
    return p;
}

enum status arena_spend(const struct arena *arena, size_t work)
{
    return strand_spend(arena->strand, work) ? ST_OK : ST_NOMEM;
}

enum status arena_append(const struct arena *arena, struct buf *out,
                         struct str text)
{
    enum status status = ST_OK;

    while (text.n > 0 && status == ST_OK) {
        size_t n = text.n < COPIED ? text.n : COPIED;

        buf_append(out, text.p, n);
        text = str_make(text.p + n, text.n - n);
        status = arena_spend(arena, n / 8);
    }
    return status;
}

enum status arena_str(struct arena *arena, struct str s, struct str *out)
{
    char *p = s.n == SIZE_MAX ? NULL : arena_alloc(arena, s.n + 1);
    enum status status = p ? ST_OK : ST_NOMEM;

    for (size_t done = 0; status == ST_OK && done < s.n;) {
        size_t n = s.n - done < COPIED ? s.n - done : COPIED;

        memcpy(p + done, s.p + done, n);
        done += n;
        status = arena_spend(arena, n / 8);
    }
    if (status != ST_OK)
        return status;
    p[s.n] = '\0';
    *out = str_make(p, s.n);
    return ST_OK;
}

/* Takes over the storage of BUF, which has not failed. */
static enum status adopt(struct arena *arena, struct buf *buf, struct str *out)
{
    struct arena_chunk *chunk = chunk_new(0, false);

    (void)buf_reserve_exact(buf, 1); // else the next line says so
    if (!chunk || buf_failed(buf) || strand_is_stopped(arena->strand)) {
        free(chunk);
        return ST_NOMEM;
    }
    buf->p[buf->n] = '\0';
    *out = buf_view(buf);
    add_below(arena, chunk);
    chunk->adopted = buf->p - buf->head;
    chunk->taken = buf->n;
    *buf = BUF_EMPTY;
    return ST_OK;
}

enum status arena_take(struct arena *arena, struct buf *buf, struct str *out)
{
    enum status status = ST_NOMEM;

    if (!buf_failed(buf))
        status = buf->n < ADOPTED ? arena_str(arena, buf_view(buf), out)
                                  : adopt(arena, buf, out);
    buf_release(buf);
    return status;
}

struct str arena_printf(struct arena *arena, const char *format, ...)
{
    struct str out = {NULL, 0};
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        return out;
    char *p = arena_alloc(arena, (size_t)n + 1);
    if (!p)
        return out;
    va_start(args, format);
    n = vsnprintf(p, (size_t)n + 1, format, args);
    va_end(args);
    return n < 0 ? out : str_make(p, (size_t)n);
}
