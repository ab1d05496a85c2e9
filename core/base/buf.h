/* SPDX-License-Identifier: GPL-3.0-or-later */
/* buf.h: growable bytes. Appending never fails at the call: when memory runs
   out, the buffer keeps what it has, ignores further appends, and buf_failed
   says so, which the owner checks once, at the end. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

struct buf {
    char *p;     /* owned; NULL until something is appended */
    size_t n;    /* bytes in use */
    size_t cap;  /* bytes allocated, from p on */
    size_t head; /* bytes of the storage before p, left by buf_consume */
    bool failed; /* an append was lost when memory ran out */
};

#define BUF_EMPTY ((struct buf){NULL, 0, 0, 0, false})

/* Frees the storage and makes BUF a valid empty buffer. Accepts a zeroed
   one. */
void buf_release(struct buf *buf);

/* Empties BUF and clears its failure; keeps the storage. */
void buf_reset(struct buf *buf);

/* Empties BUF and gives storage above KEEP bytes back to the system. */
void buf_trim(struct buf *buf, size_t keep);

/* Makes room for N more bytes and returns where they go, or NULL when memory
   runs out, and BUF has then failed. The caller adds to buf->n. */
char *buf_reserve(struct buf *buf, size_t n);

/* The same without room to spare, for a buffer whose final size is known. */
char *buf_reserve_exact(struct buf *buf, size_t n);

void buf_append(struct buf *buf, const void *p, size_t n);
void buf_str(struct buf *buf, struct str s);
void buf_byte(struct buf *buf, char c);
void buf_int(struct buf *buf, int64_t n); /* in decimal */
void buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *buf, const char *format, va_list args)
    PRINTF_LIKE(2, 0);

/* Removes the first N bytes (at most all of them), without moving the rest. */
void buf_consume(struct buf *buf, size_t n);

/* Cuts BUF back to its first N bytes; does not clear a failure. */
void buf_truncate(struct buf *buf, size_t n);

/* Whether an append was lost since init or reset. */
bool buf_failed(const struct buf *buf);

/* The contents as a view, valid until the next change. */
struct str buf_view(const struct buf *buf);

#endif
