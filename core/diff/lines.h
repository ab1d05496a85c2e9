/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines.h: texts cut into lines, and a number for all lines that are equal. */
#ifndef DIFF_LINES_H
#define DIFF_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* A text and where its lines start. */
struct lines {
    struct str text;  /* borrowed */
    uint32_t *starts; /* of each line, and the end: N + 1 offsets */
    size_t n;
};

/* Cuts TEXT, which is borrowed; the table lives in ARENA. ST_LIMIT: it is
   longer than LIMIT_DIFF_TEXT or has more than LIMIT_DIFF_LINES lines. */
enum status MUST_CHECK lines_cut(struct arena *arena, struct str text,
                                 struct lines *out);

/* COUNT lines from START on, as they are in the text. */
struct str lines_view(const struct lines *text, size_t start, size_t count);

/* Numbers the lines of BEFORE and AFTER: different lines get different numbers,
   from 0 on, and equal ones the same, unless the text is made to spoil hash
   tables. The two tables live in ARENA. */
enum status MUST_CHECK lines_number(struct arena *arena,
                                    const struct lines *before,
                                    const struct lines *after,
                                    uint32_t **before_ids,
                                    uint32_t **after_ids);

#endif
