/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.h: what is different between two texts, line by line, and hunks of it
   that can be shown, chosen and applied one by one. A line is the bytes up to
   and including a line feed; the last one may lack it. */
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

/* Lines of the text before, and what stands in their place in the one after;
   counted from 0. */
struct diff_range {
    size_t old_start;
    size_t old_count;
    size_t new_start;
    size_t new_count;
};

/* Changes that lie close together, with the lines around them. */
struct diff_hunk {
    struct diff_range range;
    size_t first; /* of its changes */
    size_t count;
};

/* Other lines in the place of those that a hunk makes. */
struct diff_edit {
    bool given;
    struct str text; /* borrowed; ends with a line end, or is empty, but where
                        the hunk's own lines have none at their end, either */
};

struct diff {
    struct lines before;
    struct lines after;
    struct diff_range *changes; /* in order; no two touch */
    size_t change_count;
    struct diff_hunk *hunks;
    size_t hunk_count;
    const struct diff_edit *edits; /* set by who applies hunks: one for each, or
                                      NULL: as the text after has them */
    bool capped; /* it is right, but a shorter one may exist */
};

/* Compares BEFORE with AFTER, which are borrowed; everything else lives in
   ARENA. As few lines as possible are changed, unless that takes more than
   LIMIT_DIFF_STEPS. ST_LIMIT: a text is longer than LIMIT_DIFF_TEXT or
   has more than LIMIT_DIFF_LINES lines. */
enum status MUST_CHECK diff_make(struct arena *arena, struct str before,
                                 struct str after, struct diff *out);

/* Writes the whole in the unified format of diff(1), files being named a/NAME
   and b/NAME; nothing when the texts are equal. */
void diff_write(struct buf *out, const struct diff *diff, struct str name);

/* Writes hunk INDEX (from 0) alone, without the names of the files. */
void diff_write_hunk(struct buf *out, const struct diff *diff, size_t index);

/* The lines that hunk INDEX is about, as they stand in the text before, and
   those that stand in their place when it is applied. */
struct str diff_old_lines(const struct diff *diff, size_t index);
struct str diff_new_lines(const struct diff *diff, size_t index);

/* The text before with the hunks that CHOSEN (one for each; NULL: all) has
   true, in ARENA. */
enum status MUST_CHECK diff_apply(struct arena *arena, const struct diff *diff,
                                  const bool *chosen, struct str *out);

enum diff_outcome {
    DIFF_SKIPPED, /* was not chosen */
    DIFF_APPLIED,
    DIFF_STALE /* the lines it replaces are not there any more */
};

/* The same for CURRENT, a later version of the text before. A hunk is applied
   where its lines, those around it included, stand once and only once, in both
   texts, within
   LIMIT_DIFF_DRIFT lines of their old place; elsewhere it is stale. OUTCOMES
   has room for all hunks. */
enum status MUST_CHECK diff_apply_to(struct arena *arena,
                                     const struct diff *diff,
                                     const bool *chosen, struct str current,
                                     enum diff_outcome *outcomes,
                                     struct str *out);

#endif
