/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.c: see capture.h. */
#include "supervisor/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "supervisor/terminal.h"

void capture_release(struct capture *capture)
{
    buf_release(&capture->head);
    free(capture->ring);
    memset(capture, 0, sizeof *capture);
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
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

/* Takes in BYTES, which are CHARS characters. */
static void add_chars(struct capture *capture, struct str bytes, size_t chars,
                      size_t *room)
{
    size_t n = capture->cut ? 0 : CAPTURE_HEAD - capture->head.n;

    capture->chars += chars;
    if (n > *room)
        n = *room;
    if (n > bytes.n)
        n = bytes.n;
    while (n > 0 && n < bytes.n && is_continuation(bytes.p[n]))
        n--; // the head ends with a character
    buf_append(&capture->head, bytes.p, n);
    if (!buf_failed(&capture->head))
        capture->head_chars +=
            n == bytes.n ? chars : utf8_starts(str_make(bytes.p, n));
    *room -= n;
    if (n == bytes.n)
        return;
    capture->cut = true;
    if (has_ring(capture, room)) // else they count as omitted
        add_to_ring(capture, str_make(bytes.p + n, bytes.n - n));
}

/* Takes in BYTES, valid UTF-8. */
static void add_valid(struct capture *capture, struct str bytes, size_t *room)
{
    // a CR whose LF comes later counts as a control
    capture->has_controls = capture->has_controls || !terminal_is_plain(bytes);
    add_chars(capture, bytes, utf8_starts(bytes), room);
}

/* The same with bytes that need not be valid. Most outputs are looked at once.
 */
static void add(struct capture *capture, struct str bytes, size_t *room)
{
    struct buf valid = BUF_EMPTY;

    if (terminal_is_plain_ascii(bytes)) {
        add_chars(capture, bytes, bytes.n, room);
        return;
    }
    if (utf8_is_valid(bytes)) {
        add_valid(capture, bytes, room);
        return;
    }
    utf8_append_valid(&valid, bytes);
    add_valid(capture, buf_view(&valid), room);
    capture->head.failed = capture->head.failed || buf_failed(&valid);
    buf_release(&valid);
}

/* Takes in the character that was begun, with what of it is at the start of
   BYTES; returns how many bytes those are. Nothing is taken in while it still
   lacks some. */
static size_t add_begun(struct capture *capture, struct str bytes, size_t *room)
{
    struct str begun = str_make(capture->begun, capture->begun_n);
    size_t n = 0;

    while (n < bytes.n && begun.n < 4 && is_continuation(bytes.p[n]) &&
           utf8_decode(begun, NULL) == 0)
        capture->begun[begun.n++] = bytes.p[n++];
    capture->begun_n = begun.n;
    if (n == bytes.n && begun.n < 4 && utf8_decode(begun, NULL) == 0)
        return n;
    capture->begun_n = 0;
    add(capture, begun, room);
    return n;
}

/* How many bytes at the end of BYTES may begin a character whose rest is still
   to come. */
static size_t begun_at_end(struct str bytes)
{
    for (size_t n = 1; n <= 3 && n <= bytes.n; n++) {
        unsigned char c = (unsigned char)bytes.p[bytes.n - n];
        size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

        if (!is_continuation((char)c))
            return c >= 0xc2 && c <= 0xf4 && length > n ? n : 0;
    }
    return 0;
}

void capture_add(struct capture *capture, struct str bytes, size_t *room)
{
    if (bytes.n > 0 && capture->begun_n > 0) {
        size_t n = add_begun(capture, bytes, room);

        bytes = str_make(bytes.p + n, bytes.n - n);
    }
    if (bytes.n == 0)
        return;
    size_t begun = begun_at_end(bytes);
    bytes.n -= begun;
    add(capture, bytes, room);
    memcpy(capture->begun, bytes.p + bytes.n, begun);
    capture->begun_n = begun;
}

size_t capture_held(const struct capture *capture)
{
    return capture->head.n + (capture->ring ? CAPTURE_TAIL : 0);
}

bool capture_is_empty(const struct capture *capture)
{
    return capture->head.n == 0 && !capture->cut && capture->begun_n == 0;
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
   is missing. Adds to *CHARS the characters of it and of the head, which OUT
   has. Returns how many characters of all were not appended. */
static int64_t append_tail(const struct capture *capture,
                           struct str parts[CAPTURE_PARTS], struct buf *out,
                           size_t *chars)
{
    uint64_t missing = capture->chars - capture->head_chars -
                       utf8_starts(parts[1]) - utf8_starts(parts[2]);
    size_t at = out->n;

    *chars += (size_t)(capture->chars - missing);
    if (missing > 0)
        buf_printf(out, "\n[… %llu characters are not kept …]\n",
                   (unsigned long long)missing);
    if (out->n > at) {
        size_t note = utf8_starts(str_make(out->p + at, out->n - at));

        missing -= note;
        *chars += note;
    }
    // the ring may begin in the middle of a character, and divide another one
    while (parts[1].n > 0 && is_continuation(*parts[1].p))
        parts[1] = str_make(parts[1].p + 1, parts[1].n - 1);
    buf_str(out, parts[1]);
    buf_str(out, parts[2]);
    at = out->n;
    utf8_append_valid(out, str_make(capture->begun, capture->begun_n));
    if (out->n > at)
        *chars += utf8_starts(str_make(out->p + at, out->n - at));
    return (int64_t)missing;
}

int64_t capture_text(const struct capture *capture, struct buf *out)
{
    struct str parts[CAPTURE_PARTS];
    size_t chars = 0;

    capture_parts(capture, parts);
    buf_str(out, parts[0]);
    return append_tail(capture, parts, out, &chars);
}

int64_t capture_take_text(struct capture *capture, struct buf *out,
                          size_t *chars)
{
    struct str parts[CAPTURE_PARTS];
    int64_t missing;

    capture_parts(capture, parts);
    if (out->n > 0 || buf_failed(out) || buf_failed(&capture->head)) {
        buf_str(out, parts[0]);
    } else {
        buf_release(out);
        *out = capture->head; // most of it need not be copied
        capture->head = BUF_EMPTY;
    }
    missing = append_tail(capture, parts, out, chars);
    capture_release(capture);
    return missing;
}
