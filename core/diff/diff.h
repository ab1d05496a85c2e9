/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.h: the differences between two texts, line by line, and hunks of them
   that can be shown, chosen and applied one by one. A line is the bytes up to
   and including a line feed, which the last line may lack. */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "diff/lines.h"

/* Unchanged lines around a hunk. */
#define DIFF_CONTEXT 3

/* Lines of the text before, and the lines that replace them in the text after;
   counted from 0. */
struct diff_range {
    size_t old_start;
    size_t old_count;
    size_t new_start;
    size_t new_count;
};

/* Changes that are close together, with the lines around them. */
struct diff_hunk {
    struct diff_range range;
    size_t first; /* of its changes */
    size_t count;
};

/* Lines that replace the new lines of a hunk. */
struct diff_edit {
    bool given;
    struct str text; /* borrowed; ends with a line end, unless it is empty or
                        the hunk's own lines lack one at their end */
};

struct diff {
    const struct arena *arena; /* of what follows */
    struct lines before;
    struct lines after;
    struct diff_range *changes; /* in order; no two touch */
    size_t change_count;
    struct diff_hunk *hunks;
    size_t hunk_count;
    const struct diff_edit *edits; /* one for each hunk, set by the caller that
                                      applies them; NULL: there are none */
    bool capped; /* the diff is right, but there may be a shorter one */
};

/* Compares BEFORE with AFTER, which are borrowed; everything else lives in
   ARENA. The fewest possible lines are changed, unless finding them takes more
   than LIMIT_DIFF_STEPS. ST_LIMIT: a text is longer than LIMIT_DIFF_TEXT or has
   more than LIMIT_DIFF_LINES lines. */
enum status MUST_CHECK diff_make(struct arena *arena, struct str before,
                                 struct str after, struct diff *out);

/* Writes all hunks in the unified format of diff(1), for files named a/NAME and
   b/NAME; nothing when the texts are equal. Once OUT has more than MOST bytes,
   the rest is left out. */
void diff_write(struct buf *out, const struct diff *diff, struct str name,
                size_t most);

/* Writes hunk INDEX (from 0) alone, without the names of the files. */
void diff_write_hunk(struct buf *out, const struct diff *diff, size_t index,
                     size_t most);

/* The lines of hunk INDEX as they are in the text before, and the lines that
   replace them when it is applied. */
struct str diff_old_lines(const struct diff *diff, size_t index);
struct str diff_new_lines(const struct diff *diff, size_t index);

/* *OUT is the text before with the hunks for which CHOSEN has true (one for
   each hunk; NULL: all), in ARENA. */
enum status MUST_CHECK diff_apply(struct arena *arena, const struct diff *diff,
                                  const bool *chosen, struct str *out);

enum diff_outcome {
    DIFF_SKIPPED, /* it was not chosen */
    DIFF_APPLIED,
    DIFF_STALE /* the lines that it replaces are no longer there */
};

/* The same for CURRENT, a later version of the text before. A hunk is applied
   where its old lines, context included, occur exactly once in each of the two
   texts within LIMIT_DIFF_DRIFT lines of their old place; otherwise it is
   stale. OUTCOMES has room for all hunks. */
enum status MUST_CHECK diff_apply_to(struct arena *arena,
                                     const struct diff *diff,
                                     const bool *chosen, struct str current,
                                     enum diff_outcome *outcomes,
                                     struct str *out);

#endif
