/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.h: memory with one lifetime, that of a request or a session. Single
   pieces are never freed. Work that is done in steps (strand.h) finds its
   strand in the arena that it takes memory from. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct arena_chunk;
struct strand;

struct arena {
    struct arena_chunk *top; /* newest chunk, owned */
    struct strand *strand;   /* in which it is used; borrowed, or NULL. Once
                                that is stopped, memory has run out. */
};

#define ARENA_EMPTY ((struct arena){NULL, NULL})

/* Frees everything taken from ARENA; it can be used again. Accepts a zeroed
   one. */
void arena_release(struct arena *arena);

/* Everything in FROM, which is empty then, lives in TO from now on. */
void arena_join(struct arena *to, struct arena *from);

/* Bytes that ARENA takes, about. */
size_t arena_bytes(const struct arena *arena);

/* N bytes aligned for any type, not cleared; NULL when memory ran out. */
void *arena_alloc(struct arena *arena, size_t n);

/* N elements of SIZE bytes, cleared; NULL when memory ran out or the product
   overflows. */
void *arena_array(struct arena *arena, size_t n, size_t size);

/* Copies S, followed by a NUL, into ARENA. *OUT is written on success
   only. */
enum status MUST_CHECK arena_str(struct arena *arena, struct str s,
                                 struct str *out);

/* Gives ARENA what BUF holds, followed by a NUL, and releases BUF in any case.
   Nothing is copied, unless it is short. ST_NOMEM also when an append to BUF
   was lost. *OUT is written on success only. */
enum status MUST_CHECK arena_take(struct arena *arena, struct buf *buf,
                                  struct str *out);

/* WORK more has been done, as strand_spend says. ST_NOMEM: the work is stopped,
   and must come to its end. */
enum status MUST_CHECK arena_spend(const struct arena *arena, size_t work);

/* Appends TEXT to OUT in steps. ST_NOMEM: the work is stopped. */
enum status MUST_CHECK arena_append(const struct arena *arena, struct buf *out,
                                    struct str text);

/* Formats into ARENA; a failed allocation gives the empty view. */
struct str arena_printf(struct arena *arena, const char *format, ...)
    PRINTF_LIKE(2, 3);

#endif
