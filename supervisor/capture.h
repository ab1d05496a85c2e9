/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.h: output of evaluated code, bounded while it arrives. It holds the
   first CAPTURE_HEAD bytes and the last CAPTURE_TAIL; what comes between is
   counted and dropped. It is made valid UTF-8, counted, and searched for
   terminal controls while it arrives, so that nothing long is left to do when
   the answer is due. */
#ifndef SUPERVISOR_CAPTURE_H
#define SUPERVISOR_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

#define CAPTURE_TAIL (1024u * 1024)
#define CAPTURE_HEAD (LIMIT_OUTPUT_KEPT - CAPTURE_TAIL)

/* The pipes of an image, by the output that they carry. */
enum { CAPTURE_STDOUT, CAPTURE_STDERR, CAPTURE_PIPES };

struct capture {
    struct buf head;     /* valid UTF-8 */
    uint64_t head_chars; /* its characters */
    bool cut;            /* nothing more goes into the head */
    char *ring;          /* CAPTURE_TAIL bytes, once the head is cut or full */
    size_t ring_at;      /* where the next byte goes */
    uint64_t beyond;     /* bytes that went into the ring */
    uint64_t chars;      /* characters of everything that came */
    bool has_controls;   /* something came that terminal.h may not call plain */
    char begun[4];       /* the bytes of a character that lacks some; */
    size_t begun_n;      /* their number, which CHARS does not have */
};

/* A zeroed struct is an empty capture. */
void capture_release(struct capture *capture);

/* Takes BYTES in, and what that costs from *ROOM, the bytes that may still be
   held. Without room it only counts them. */
void capture_add(struct capture *capture, struct str bytes, size_t *room);

/* Bytes that CAPTURE holds. */
size_t capture_held(const struct capture *capture);

bool capture_is_empty(const struct capture *capture);

/* Appends to OUT what CAPTURE holds, as valid UTF-8, with a line where the
   middle is missing. Returns how many characters that came were not
   appended. */
int64_t capture_text(const struct capture *capture, struct buf *out);

/* The same, and releases CAPTURE, whose storage OUT takes over if it can. Adds
   to *CHARS how many characters were appended. */
int64_t capture_take_text(struct capture *capture, struct buf *out,
                          size_t *chars);

/* Views of what CAPTURE holds, in order; something may be missing after the
   first. */
enum { CAPTURE_PARTS = 3 };
void capture_parts(const struct capture *capture,
                   struct str parts[CAPTURE_PARTS]);

#endif
