/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answer.h: the text that answers a call: its sections, cut to what a client
   shows, and the store of what was cut (evaluate-lisp contract, "Result
   Formatting"). */
#ifndef SUPERVISOR_ANSWER_H
#define SUPERVISOR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"
#include "supervisor/capture.h"

/* Texts that were too long for their answer, by number, oldest first. Bounded
   by LIMIT_OUTPUTS and LIMIT_OUTPUTS_BYTES. */
struct kept {
    struct kept_text {
        uint64_t id;
        char session[LIMIT_SESSION_NAME + 1]; /* that printed it */
        struct buf text;
    } texts[LIMIT_OUTPUTS];
    size_t n;
    size_t bytes;
    uint64_t last_id;
};

/* A zeroed struct is an empty store. */
void kept_release(struct kept *kept);

/* Appends to OUT the characters of text ID from OFFSET on, at most LIMIT of
   them, and a last line saying which part of how many it is. An unknown ID or
   an OFFSET behind the end gives a text that says so; false only then. */
bool kept_read(const struct kept *kept, uint64_t id, uint64_t offset,
               uint64_t limit, struct buf *out);

/* Appends to OUT the whole text ID of SESSION; false, and a sentence that says
   so, when there is none. */
bool kept_show(const struct kept *kept, uint64_t id, struct str session,
               struct buf *out);

/* The parts of one answer. Captures may be NULL. */
struct answer {
    const char *notice;            /* a sentence that comes first, or NULL */
    const struct capture *earlier; /* output since the last answer */
    const struct capture *output;  /* standard output of the call */
    const struct capture *errors;  /* standard error of the call */
    struct str body;               /* what the image said */
    const char *session;           /* whose answer it is */
};

/* Appends the whole answer to OUT, about MAX_CHARS characters at most; what is
   longer loses its middle and goes to KEPT. False when memory ran out: OUT is
   not the whole answer then. */
bool answer_compose(const struct answer *answer, size_t max_chars,
                    struct kept *kept, struct buf *out);

#endif
