/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.h: memory with one lifetime, that of a request or a session. Single
   pieces are never freed. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *top; /* newest chunk, owned */
};

#define ARENA_EMPTY ((struct arena){NULL})

/* Frees everything taken from ARENA; it can be used again. Accepts a zeroed
   one. */
void arena_release(struct arena *arena);

/* N bytes aligned for any type, not cleared; NULL when memory ran out. */
void *arena_alloc(struct arena *arena, size_t n);

/* N elements of SIZE bytes, cleared; NULL when memory ran out or the product
   overflows. */
void *arena_array(struct arena *arena, size_t n, size_t size);

/* Copies S, followed by a NUL, into ARENA. *OUT is written on success
   only. */
enum status MUST_CHECK arena_str(struct arena *arena, struct str s,
                                 struct str *out);

/* Copies what BUF holds, followed by a NUL, into ARENA, and releases BUF in any
   case. ST_NOMEM also when an append to BUF was lost. *OUT is written on
   success only. */
enum status MUST_CHECK arena_take(struct arena *arena, struct buf *buf,
                                  struct str *out);

/* Formats into ARENA; a failed allocation gives the empty view. */
struct str arena_printf(struct arena *arena, const char *format, ...)
    PRINTF_LIKE(2, 3);

#endif
