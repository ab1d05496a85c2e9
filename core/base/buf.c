/* SPDX-License-Identifier: GPL-3.0-or-later */
/* buf.c: growable bytes. */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_CAP 256

/* Digits of the largest integer. */
#define INT64_DIGITS 19

void buf_release(struct buf *buf)
{
    if (buf->p)
        free(buf->p - buf->head);
    *buf = BUF_EMPTY;
}

/* Takes back the room in front, moving what is in use. */
static void close_head(struct buf *buf)
{
    if (buf->head == 0)
        return;
    assert(buf->p);
    char *storage = buf->p - buf->head;
    memmove(storage, buf->p, buf->n);
    buf->p = storage;
    buf->cap += buf->head;
    buf->head = 0;
}

void buf_truncate(struct buf *buf, size_t n)
{
    if (n < buf->n)
        buf->n = n;
    if (buf->n == 0)
        close_head(buf);
}

void buf_reset(struct buf *buf)
{
    buf_truncate(buf, 0);
    buf->failed = false;
}

void buf_trim(struct buf *buf, size_t keep)
{
    if (buf->head + buf->cap > keep)
        buf_release(buf);
    else
        buf_reset(buf);
}

/* Gives BUF room for NEED bytes; when that takes an allocation, for WANTED. */
static bool grow(struct buf *buf, size_t need, size_t wanted)
{
    // A head as large as the contents pays for moving them; a smaller one
    // would let a queue of small pieces move all of them again and again.
    if (buf->head >= buf->n)
        close_head(buf);
    if (buf->p && need <= buf->cap)
        return true;
    if (wanted > SIZE_MAX - buf->head)
        return false;
    char *storage = buf->p ? buf->p - buf->head : NULL;
    char *p = realloc(storage, buf->head + wanted);
    if (!p)
        return false;
    buf->p = p + buf->head;
    buf->cap = wanted;
    return true;
}

static char *reserve(struct buf *buf, size_t n, size_t at_least)
{
    if (buf->failed)
        return NULL;
    if (buf->p && n <= buf->cap - buf->n)
        return buf->p + buf->n;
    size_t need = buf->n + n;
    size_t wanted = need > at_least ? need : at_least;
    if (n > SIZE_MAX - buf->n || !grow(buf, need, wanted)) {
        buf->failed = true;
        return NULL;
    }
    return buf->p + buf->n;
}

char *buf_reserve(struct buf *buf, size_t n)
{
    size_t twice = buf->cap * 2; // no object takes more than half of memory
    return reserve(buf, n, twice > FIRST_CAP ? twice : FIRST_CAP);
}

char *buf_reserve_exact(struct buf *buf, size_t n)
{
    close_head(buf);
    return reserve(buf, n, 1);
}

void buf_append(struct buf *buf, const void *p, size_t n)
{
    if (n == 0)
        return;
    // there is room nearly always
    char *to = buf->p && !buf->failed && n <= buf->cap - buf->n
                   ? buf->p + buf->n
                   : buf_reserve(buf, n);
    if (to) {
        memcpy(to, p, n);
        buf->n += n;
    }
}

void buf_str(struct buf *buf, struct str s)
{
    buf_append(buf, s.p, s.n);
}

void buf_byte(struct buf *buf, char c)
{
    if (buf->n < buf->cap && !buf->failed)
        buf->p[buf->n++] = c; // there is room nearly always
    else
        buf_append(buf, &c, 1);
}

void buf_int(struct buf *buf, int64_t n)
{
    char text[INT64_DIGITS + 1];
    size_t at = sizeof text;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do
        text[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (n < 0)
        text[--at] = '-';
    buf_append(buf, text + at, sizeof text - at);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    // A guess that fits most texts; vsnprintf says how much it needs.
    size_t room = 128;
    for (;;) {
        char *to = buf_reserve(buf, room);
        if (!to)
            return;
        va_list once;
        va_copy(once, args);
        int n = vsnprintf(to, room, format, once);
        va_end(once);
        if (n < 0) {
            buf->failed = true;
            return;
        }
        if ((size_t)n < room) {
            buf->n += (size_t)n;
            return;
        }
        room = (size_t)n + 1;
    }
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

void buf_consume(struct buf *buf, size_t n)
{
    if (n >= buf->n) {
        buf_truncate(buf, 0);
        return;
    }
    buf->p += n;
    buf->n -= n;
    buf->cap -= n;
    buf->head += n;
}

bool buf_failed(const struct buf *buf)
{
    return buf->failed;
}

struct str buf_view(const struct buf *buf)
{
    return str_make(buf->p, buf->n);
}
