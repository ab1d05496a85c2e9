/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.c: see capture.h. */
#include "supervisor/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void capture_release(struct capture *capture)
{
    buf_release(&capture->head);
    free(capture->ring);
    memset(capture, 0, sizeof *capture);
}

/* How many of the 8 bytes of WORD continue a character. */
static unsigned continuations(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101;

    return (unsigned)(((word >> 7 & ~(word >> 6) & ones) * ones) >> 56);
}

/* A character is counted at its first byte, so that a sequence may be split
   between two additions. Takes eight bytes at a time. */
static uint64_t count_chars(struct str bytes)
{
    uint64_t n = bytes.n;
    uint64_t word;
    size_t i = 0;

    for (; i + sizeof word <= bytes.n; i += sizeof word) {
        memcpy(&word, bytes.p + i, sizeof word);
        n -= continuations(word);
    }
    for (; i < bytes.n; i++)
        n -= ((unsigned char)bytes.p[i] & 0xc0u) == 0x80u;
    return n;
}

/* Whether CAPTURE has a ring, made if there is ROOM and memory for it. */
static bool has_ring(struct capture *capture, size_t *room)
{
    if (!capture->ring && *room >= CAPTURE_TAIL) {
        capture->ring = malloc(CAPTURE_TAIL);
        if (capture->ring)
            *room -= CAPTURE_TAIL;
    }
    return capture->ring;
}

static void add_to_ring(struct capture *capture, struct str bytes)
{
    size_t room;

    capture->beyond += bytes.n;
    if (bytes.n > CAPTURE_TAIL) {
        bytes.p += bytes.n - CAPTURE_TAIL;
        bytes.n = CAPTURE_TAIL;
    }
    room = CAPTURE_TAIL - capture->ring_at;
    if (room > bytes.n)
        room = bytes.n;
    memcpy(capture->ring + capture->ring_at, bytes.p, room);
    memcpy(capture->ring, bytes.p + room, bytes.n - room);
    capture->ring_at = (capture->ring_at + bytes.n) % CAPTURE_TAIL;
}

void capture_add(struct capture *capture, struct str bytes, size_t *room)
{
    size_t n = capture->cut ? 0 : CAPTURE_HEAD - capture->head.n;

    if (bytes.n == 0)
        return;
    capture->chars += count_chars(bytes);
    if (n > *room)
        n = *room;
    if (n > bytes.n)
        n = bytes.n;
    buf_append(&capture->head, bytes.p, n);
    *room -= n;
    if (n == bytes.n)
        return;
    capture->cut = true;
    if (has_ring(capture, room)) // else they count as omitted
        add_to_ring(capture, str_make(bytes.p + n, bytes.n - n));
}

size_t capture_held(const struct capture *capture)
{
    return capture->head.n + (capture->ring ? CAPTURE_TAIL : 0);
}

bool capture_is_empty(const struct capture *capture)
{
    return capture->head.n == 0 && !capture->cut;
}

void capture_parts(const struct capture *capture,
                   struct str parts[CAPTURE_PARTS])
{
    parts[0] = buf_view(&capture->head);
    parts[1] = parts[2] = str_make(NULL, 0); // the two halves of the ring
    if (capture->ring && capture->beyond <= CAPTURE_TAIL) {
        parts[2] = str_make(capture->ring, (size_t)capture->beyond);
    } else if (capture->ring) {
        parts[1] = str_make(capture->ring + capture->ring_at,
                            CAPTURE_TAIL - capture->ring_at);
        parts[2] = str_make(capture->ring, capture->ring_at);
    }
}

/* Appends to OUT what follows the head, with a line before it when something
   is missing. Returns how many characters of all were not appended. */
static int64_t append_tail(const struct capture *capture,
                           const struct str parts[CAPTURE_PARTS],
                           struct buf *out)
{
    uint64_t missing = capture->chars;
    size_t at = out->n;

    for (int i = 0; i < CAPTURE_PARTS; i++)
        missing -= count_chars(parts[i]);
    if (missing > 0)
        buf_printf(out, "\n[… %llu characters are not kept …]\n",
                   (unsigned long long)missing);
    if (out->n > at)
        missing -= count_chars(str_make(out->p + at, out->n - at));
    for (int i = 1; i < CAPTURE_PARTS; i++)
        utf8_append_valid(out, parts[i]);
    return (int64_t)missing;
}

int64_t capture_text(const struct capture *capture, struct buf *out)
{
    struct str parts[CAPTURE_PARTS];

    capture_parts(capture, parts);
    utf8_append_valid(out, parts[0]);
    return append_tail(capture, parts, out);
}

int64_t capture_take_text(struct capture *capture, struct buf *out)
{
    struct str parts[CAPTURE_PARTS];
    int64_t missing;

    capture_parts(capture, parts);
    if (out->n > 0 || buf_failed(out) || buf_failed(&capture->head) ||
        !utf8_is_valid(parts[0])) {
        missing = capture_text(capture, out);
    } else {
        buf_release(out);
        *out = capture->head; // most of it need not be copied
        capture->head = BUF_EMPTY;
        missing = append_tail(capture, parts, out);
    }
    capture_release(capture);
    return missing;
}
