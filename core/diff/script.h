/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.h: which elements of two sequences are not common to both. */
#ifndef DIFF_SCRIPT_H
#define DIFF_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* A sequence; equal elements have equal numbers. */
struct script_side {
    const uint32_t *ids;
    size_t n;
    bool *changed; /* one for each element, false at first; set here */
};

/* Marks what has to be deleted from A and inserted from B: as little as
   possible, unless finding it takes more than STEPS comparisons, and then more
   than LIMIT_DIFF_COST edits from either end; then *CAPPED is true. ST_NOMEM:
   the marks mean nothing. */
enum status MUST_CHECK script_mark(struct arena *arena,
                                   const struct script_side *a,
                                   const struct script_side *b, int64_t steps,
                                   bool *capped);

#endif
