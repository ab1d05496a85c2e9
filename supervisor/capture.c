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

/* A character is counted at its first byte, so that a sequence may be split
   between two additions. */
static uint64_t count_chars(struct str bytes)
{
    uint64_t n = 0;

    for (size_t i = 0; i < bytes.n; i++)
        n += ((unsigned char)bytes.p[i] & 0xc0u) != 0x80u;
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

int64_t capture_text(const struct capture *capture, struct buf *out)
{
    struct str head = buf_view(&capture->head);
    struct str older = {NULL, 0}; // the two halves of the ring
    struct str newer = {NULL, 0};
    uint64_t missing;
    size_t at;

    if (capture->ring && capture->beyond <= CAPTURE_TAIL) {
        newer = str_make(capture->ring, (size_t)capture->beyond);
    } else if (capture->ring) {
        newer = str_make(capture->ring, capture->ring_at);
        older = str_make(capture->ring + capture->ring_at,
                         CAPTURE_TAIL - capture->ring_at);
    }
    missing = capture->chars - count_chars(head) - count_chars(older) -
              count_chars(newer);
    utf8_append_valid(out, head);
    at = out->n;
    if (missing > 0)
        buf_printf(out, "\n[… %llu characters are not kept …]\n",
                   (unsigned long long)missing);
    if (out->n > at)
        missing -= count_chars(str_make(out->p + at, out->n - at));
    utf8_append_valid(out, older);
    utf8_append_valid(out, newer);
    return (int64_t)missing;
}
