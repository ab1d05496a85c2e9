/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apply.c: puts hunks of a diff into the text from which they were made, or
   into a later version of it. */
#include <string.h>

#include "base/limits.h"
#include "diff/diff.h"
#include "diff/lines.h"

static bool is_chosen(const bool *chosen, size_t i)
{
    return !chosen || chosen[i];
}

struct str diff_old_lines(const struct diff *diff, size_t index)
{
    const struct diff_range *range = &diff->hunks[index].range;

    return lines_view(&diff->before, range->old_start, range->old_count);
}

struct str diff_new_lines(const struct diff *diff, size_t index)
{
    const struct diff_range *range = &diff->hunks[index].range;

    if (diff->edits && diff->edits[index].given)
        return diff->edits[index].text;
    return lines_view(&diff->after, range->new_start, range->new_count);
}

enum status diff_apply(struct arena *arena, const struct diff *diff,
                       const bool *chosen, struct str *out)
{
    struct buf text = BUF_EMPTY;
    size_t place = 0;

    for (size_t i = 0; i < diff->hunk_count; i++) {
        const struct diff_range *range = &diff->hunks[i].range;

        if (!is_chosen(chosen, i))
            continue;
        buf_str(&text,
                lines_view(&diff->before, place, range->old_start - place));
        buf_str(&text, diff_new_lines(diff, i));
        place = range->old_start + range->old_count;
    }
    buf_str(&text, lines_view(&diff->before, place, diff->before.n - place));
    return arena_take(arena, &text, out);
}

/* Whether TEXT has the COUNT lines OLD from line PLACE on. */
static bool stands_at(const struct lines *text, size_t place, size_t count,
                      struct str old)
{
    return place + count <= text->n &&
           str_eq(lines_view(text, place, count), old);
}

/* The only place between FROM and TO where TEXT has the lines OLD; false when
   there is none, or more than one. */
static bool find_only(const struct lines *text, size_t from, size_t to,
                      size_t count, struct str old, size_t *place)
{
    bool found = false;

    for (size_t i = from; i <= to && i + count <= text->n; i++)
        if (stands_at(text, i, count, old)) {
            if (found)
                return false;
            *place = i;
            found = true;
        }
    return found;
}

static bool ends_line(const struct diff *diff, size_t index)
{
    struct str text = diff_new_lines(diff, index);

    return text.n == 0 || text.p[text.n - 1] == '\n';
}

/* Where hunk INDEX belongs in CURRENT, at line LEAST or later. */
static bool find_place(const struct diff *diff, size_t index,
                       const struct lines *current, size_t least, size_t *place)
{
    size_t count = diff->hunks[index].range.old_count;
    size_t start = diff->hunks[index].range.old_start;
    struct str old = diff_old_lines(diff, index);
    size_t from = start > LIMIT_DIFF_DRIFT ? start - LIMIT_DIFF_DRIFT : 0;

    if (count == 0) { // the text was empty
        *place = 0;
        return current->n == 0;
    }
    // lines that occurred more than once there could be confused
    size_t to = start + LIMIT_DIFF_DRIFT;
    size_t was;
    if (!find_only(&diff->before, from, to, count, old, &was) ||
        !find_only(current, from, to, count, old, place) || *place < least)
        return false;
    // a last line without a line feed must stay the last one
    return ends_line(diff, index) || *place + count == current->n;
}

enum status diff_apply_to(struct arena *arena, const struct diff *diff,
                          const bool *chosen, struct str current,
                          enum diff_outcome *outcomes, struct str *out)
{
    struct buf text = BUF_EMPTY;
    struct lines lines;
    size_t done = 0; // lines of CURRENT
    size_t place = 0;
    enum status status = lines_cut(arena, current, &lines);

    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < diff->hunk_count; i++) {
        outcomes[i] = DIFF_SKIPPED;
        if (!is_chosen(chosen, i))
            continue;
        outcomes[i] = DIFF_STALE;
        if (!find_place(diff, i, &lines, done, &place))
            continue;
        outcomes[i] = DIFF_APPLIED;
        buf_str(&text, lines_view(&lines, done, place - done));
        buf_str(&text, diff_new_lines(diff, i));
        done = place + diff->hunks[i].range.old_count;
    }
    buf_str(&text, lines_view(&lines, done, lines.n - done));
    return arena_take(arena, &text, out);
}
