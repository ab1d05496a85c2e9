/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.c: a list of chunks; the newest is filled from its start. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct arena_chunk {
    struct arena_chunk *below; /* owned */
    size_t used;               /* bytes of data handed out */
    size_t cap;                /* bytes of data */
    alignas(max_align_t) char data[];
};

/* Bytes of the first chunk: the tokens and texts of a usual message fit.
   Each further one is twice as large, up to LAST_CHUNK. */
#define FIRST_CHUNK (4u * 1024)
#define LAST_CHUNK (256u * 1024)

void arena_release(struct arena *arena)
{
    struct arena_chunk *chunk = arena->top;
    while (chunk) {
        struct arena_chunk *below = chunk->below;
        free(chunk);
        chunk = below;
    }
    arena->top = NULL;
}

static struct arena_chunk *chunk_new(size_t cap)
{
    if (cap > SIZE_MAX - sizeof(struct arena_chunk))
        return NULL;
    struct arena_chunk *chunk = malloc(sizeof *chunk + cap);
    if (chunk) {
        chunk->used = 0;
        chunk->cap = cap;
        chunk->below = NULL;
    }
    return chunk;
}

/* A chunk with room for N bytes, linked into ARENA. */
static struct arena_chunk *add_chunk(struct arena *arena, size_t n)
{
    struct arena_chunk *top = arena->top;
    size_t cap = FIRST_CHUNK;
    if (top)
        cap = top->cap < LAST_CHUNK / 2 ? top->cap * 2 : LAST_CHUNK;
    bool large = n > cap;
    struct arena_chunk *chunk = chunk_new(large ? n : cap);
    if (!chunk)
        return NULL;
    if (large && top) {
        // The rest of the top chunk stays in use.
        chunk->below = top->below;
        top->below = chunk;
    } else {
        chunk->below = top;
        arena->top = chunk;
    }
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t n)
{
    const size_t unit = alignof(max_align_t);
    if (n > SIZE_MAX - unit)
        return NULL;
    n = (n + unit - 1) / unit * unit;
    struct arena_chunk *chunk = arena->top;
    if (!chunk || n > chunk->cap - chunk->used)
        chunk = add_chunk(arena, n);
    if (!chunk)
        return NULL;
    void *p = chunk->data + chunk->used;
    chunk->used += n;
    return p;
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size)
        return NULL;
    void *p = arena_alloc(arena, n * size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

enum status arena_str(struct arena *arena, struct str s, struct str *out)
{
    char *p = s.n == SIZE_MAX ? NULL : arena_alloc(arena, s.n + 1);
    if (!p)
        return ST_NOMEM;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    *out = str_make(p, s.n);
    return ST_OK;
}

enum status arena_take(struct arena *arena, struct buf *buf, struct str *out)
{
    enum status status = ST_NOMEM;

    if (!buf_failed(buf))
        status = arena_str(arena, buf_view(buf), out);
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
