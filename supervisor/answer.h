/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answer.h: composes the text that answers a call: its sections, cut to what a
   client shows (docs/image-protocol.md, "Output and marks"). */
#ifndef SUPERVISOR_ANSWER_H
#define SUPERVISOR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "supervisor/capture.h"
#include "supervisor/outputs.h"

/* The parts of one answer. Captures may be NULL. */
struct answer {
    const char *notice;      /* a sentence that comes first, or NULL */
    struct capture *earlier; /* output since the last answer */
    struct capture *output;  /* standard output of the call */
    struct capture *errors;  /* standard error of the call */
    struct str body;         /* the image's answer */
    const char *session;     /* whose answer it is */
    bool output_aside;       /* the outputs follow the body, and of each at most
                                LIMIT_OUTPUT_ASIDE characters are shown */
};

/* Appends the whole answer to OUT, about MAX_CHARS characters at most; what is
   longer loses its middle and goes to OUTPUTS. The captures are released. False
   when memory ran out: OUT is not the whole answer then. */
bool answer_compose(const struct answer *answer, size_t max_chars,
                    struct outputs *outputs, struct buf *out);

#endif
