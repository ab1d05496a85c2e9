/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.h: output of evaluated code, bounded while it arrives. It holds the
   first CAPTURE_HEAD bytes and the last CAPTURE_TAIL; what comes between is
   counted and dropped. */
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
    struct buf head;
    char *ring;      /* CAPTURE_TAIL bytes, once the head is full */
    size_t ring_at;  /* where the next byte goes */
    uint64_t beyond; /* bytes that came once the head was full */
    uint64_t chars;  /* characters of everything that came */
};

/* A zeroed struct is an empty capture. */
void capture_release(struct capture *capture);

void capture_add(struct capture *capture, struct str bytes);

bool capture_is_empty(const struct capture *capture);

/* Appends to OUT what CAPTURE holds, as valid UTF-8, with a line where the
   middle is missing. Returns how many characters that came were not
   appended. */
int64_t capture_text(const struct capture *capture, struct buf *out);

#endif
