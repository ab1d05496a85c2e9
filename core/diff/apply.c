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
    const struct lines *before = &diff->before;
    struct buf text = BUF_EMPTY;
    size_t place = 0;
    enum status status = ST_OK;

    for (size_t i = 0; i < diff->hunk_count && status == ST_OK; i++) {
        const struct diff_range *range = &diff->hunks[i].range;

        if (!is_chosen(chosen, i))
            continue;
        status = arena_append(
            arena, &text, lines_view(before, place, range->old_start - place));
        if (status == ST_OK)
            status = arena_append(arena, &text, diff_new_lines(diff, i));
        place = range->old_start + range->old_count;
    }
    if (status == ST_OK)
        status = arena_append(arena, &text,
                              lines_view(before, place, before->n - place));
    if (status == ST_OK)
        return arena_take(arena, &text, out);
    buf_release(&text);
    return status;
}

/* Bytes that are compared between two looks at the strand. */
#define PIECE (64u * 1024)

/* Bytes of the first piece of a comparison, which most often ends there; each
   later one has twice as many. */
#define FIRST_PIECE 64u

/* The search for the places of hunks in a later version of the text. */
struct placing {
    const struct arena *arena;
    size_t left; /* bytes that may still be compared */
    bool over;   /* they do not suffice: nothing else is found */
};

/* Whether TEXT has the COUNT lines OLD from line PLACE on. */
static bool stands_at(struct placing *p, const struct lines *text, size_t place,
                      size_t count, struct str old)
{
    struct str lines;
    size_t most = FIRST_PIECE;

    if (place + count > text->n)
        return false;
    lines = lines_view(text, place, count);
    if (lines.n != old.n)
        return false;
    while (old.n > 0 && !p->over) {
        size_t n = old.n < most ? old.n : most;

        p->over = n > p->left || arena_spend(p->arena, n / 8) != ST_OK;
        p->left -= p->over ? 0 : n;
        if (p->over || memcmp(lines.p, old.p, n) != 0)
            return false;
        lines.p += n;
        old = str_make(old.p + n, old.n - n);
        most = most < PIECE ? 2 * most : PIECE;
    }
    return old.n == 0;
}

/* Lines, and between which places they are looked for. */
struct sought {
    struct str lines;
    size_t count;
    size_t from;
    size_t to;
};

/* The only place where TEXT has what is SOUGHT; false when there is none, or
   more than one. */
static bool find_only(struct placing *p, const struct lines *text,
                      const struct sought *sought, size_t *place)
{
    size_t count = sought->count;
    bool found = false;

    for (size_t i = sought->from; i <= sought->to && i + count <= text->n; i++)
        if (stands_at(p, text, i, count, sought->lines)) {
            if (found)
                return false;
            *place = i;
            found = true;
        }
    if (arena_spend(p->arena, 4 * (sought->to - sought->from)) != ST_OK)
        p->over = true;
    return found && !p->over;
}

static bool ends_line(const struct diff *diff, size_t index)
{
    struct str text = diff_new_lines(diff, index);

    return text.n == 0 || text.p[text.n - 1] == '\n';
}

/* Where hunk INDEX belongs in CURRENT, at line LEAST or later. */
static bool find_place(struct placing *p, const struct diff *diff, size_t index,
                       const struct lines *current, size_t least, size_t *place)
{
    size_t count = diff->hunks[index].range.old_count;
    size_t start = diff->hunks[index].range.old_start;
    const struct sought sought = {
        .lines = diff_old_lines(diff, index),
        .count = count,
        .from = start > LIMIT_DIFF_DRIFT ? start - LIMIT_DIFF_DRIFT : 0,
        .to = start + LIMIT_DIFF_DRIFT};
    size_t was;

    if (count == 0) { // the text was empty
        *place = 0;
        return current->n == 0;
    }
    // lines that occurred more than once there could be confused
    if (!find_only(p, &diff->before, &sought, &was) ||
        !find_only(p, current, &sought, place) || *place < least)
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
    struct placing placing = {arena, LIMIT_DIFF_COMPARED, false};
    size_t done = 0; // lines of CURRENT
    size_t place = 0;
    enum status status = lines_cut(arena, current, &lines);

    if (status != ST_OK)
        return status;
    for (size_t i = 0; i < diff->hunk_count && status == ST_OK; i++) {
        outcomes[i] = DIFF_SKIPPED;
        if (!is_chosen(chosen, i))
            continue;
        outcomes[i] = DIFF_STALE;
        if (!find_place(&placing, diff, i, &lines, done, &place))
            continue;
        outcomes[i] = DIFF_APPLIED;
        status =
            arena_append(arena, &text, lines_view(&lines, done, place - done));
        if (status == ST_OK)
            status = arena_append(arena, &text, diff_new_lines(diff, i));
        done = place + diff->hunks[i].range.old_count;
    }
    if (status == ST_OK)
        status = arena_append(arena, &text,
                              lines_view(&lines, done, lines.n - done));
    if (status == ST_OK)
        return arena_take(arena, &text, out);
    buf_release(&text);
    return status;
}
