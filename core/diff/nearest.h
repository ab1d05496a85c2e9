/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nearest.h: where in a text a part of it was probably meant that it does not
   have, and how the two differ there. Only for messages: nothing is changed at
   a place that was guessed. */
#ifndef DIFF_NEAREST_H
#define DIFF_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct nearest {
    size_t first; /* line of the text, from 1; 0: no place is near */
    size_t last;
    bool folds;       /* only white space, case, kinds of quotes and dashes, and
                         accents differ, or how they are composed */
    size_t line;      /* of the text: the first that differs */
    struct str text;  /* from where they differ to the end of that line; or,
                         unless FOLDS, the whole line */
    struct str part;  /* the same of the part */
    struct str whole; /* that line of the text */
};

/* Finds the place in TEXT that is most like PART; *OUT has views of both. A
   text above LIMIT_NEAREST is not searched. ST_NOMEM. */
enum status MUST_CHECK nearest_find(const struct arena *arena, struct str text,
                                    struct str part, struct nearest *out);

/* Appends NEAREST in words: sentences, and the line that differs. */
void nearest_describe(struct buf *out, const struct nearest *nearest);

#endif
