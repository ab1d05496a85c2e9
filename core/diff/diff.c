/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.c: turns lines that are not common into changes, and changes into
   hunks. */
#include "diff/diff.h"

#include <string.h>

#include "base/limits.h"
#include "diff/lines.h"
#include "diff/script.h"

/* --- Changes ------------------------------------------------------------- */

/* Two tables of marks, to be read side by side. */
struct marks {
    const bool *deleted;
    const bool *inserted;
    size_t old_lines;
    size_t new_lines;
};

/* The next change at or after the place (*X, *Y), which moves to its end; false
   when there is none. */
static bool next_change(const struct marks *marks, size_t *x, size_t *y,
                        struct diff_range *out)
{
    while (*x < marks->old_lines && *y < marks->new_lines &&
           !marks->deleted[*x] && !marks->inserted[*y]) {
        (*x)++;
        (*y)++;
    }
    *out = (struct diff_range){.old_start = *x, .new_start = *y};
    while (*x < marks->old_lines && marks->deleted[*x])
        (*x)++;
    while (*y < marks->new_lines && marks->inserted[*y])
        (*y)++;
    out->old_count = *x - out->old_start;
    out->new_count = *y - out->new_start;
    return out->old_count + out->new_count > 0;
}

static enum status list_changes(struct arena *arena, const struct marks *marks,
                                struct diff *diff)
{
    struct diff_range range;
    size_t n = 0;

    for (size_t x = 0, y = 0; next_change(marks, &x, &y, &range);)
        n++;
    if (arena_spend(arena, 2 * marks->old_lines) != ST_OK)
        return ST_NOMEM;
    diff->changes = arena_array(arena, n + 1, sizeof *diff->changes);
    if (!diff->changes)
        return ST_NOMEM;
    for (size_t x = 0, y = 0; next_change(marks, &x, &y, &range);)
        diff->changes[diff->change_count++] = range;
    return arena_spend(arena, 2 * marks->new_lines);
}

/* Where lines were only inserted, or only deleted, and the first of them equals
   the line after them, moves the change down by one, again and again: thus the
   end of a block is shown with the block, as in diff(1). */
static void slide(struct diff_range *change, const uint32_t *old_ids,
                  const uint32_t *new_ids, size_t old_end, size_t new_end)
{
    const uint32_t *ids = change->old_count > 0 ? old_ids : new_ids;
    size_t start =
        change->old_count > 0 ? change->old_start : change->new_start;
    size_t count = change->old_count + change->new_count;

    if (change->old_count > 0 && change->new_count > 0)
        return;
    while (change->old_start + change->old_count < old_end &&
           change->new_start + change->new_count < new_end &&
           ids[start] == ids[start + count]) {
        start++;
        change->old_start++;
        change->new_start++;
    }
}

/* Slides the changes, last first, and joins those that then touch. */
static void slide_changes(struct diff *diff, const uint32_t *old_ids,
                          const uint32_t *new_ids)
{
    struct diff_range *changes = diff->changes;
    size_t kept = diff->change_count;
    struct diff_range next = {.old_start = diff->before.n,
                              .new_start = diff->after.n};

    for (size_t i = diff->change_count; i-- > 0;) {
        struct diff_range change = changes[i];

        slide(&change, old_ids, new_ids, next.old_start, next.new_start);
        if (kept < diff->change_count &&
            change.old_start + change.old_count == next.old_start &&
            change.new_start + change.new_count == next.new_start) {
            change.old_count += next.old_count;
            change.new_count += next.new_count;
            kept++;
        }
        changes[--kept] = change;
        next = change;
    }
    diff->change_count -= kept;
    memmove(changes, changes + kept, diff->change_count * sizeof *changes);
}

/* --- Hunks --------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* HUNK has its changes; gives it its range, with context. */
static void finish_hunk(const struct diff *diff, struct diff_hunk *hunk)
{
    const struct diff_range *first = &diff->changes[hunk->first];
    const struct diff_range *last = first + hunk->count - 1;
    size_t before =
        least(DIFF_CONTEXT, least(first->old_start, first->new_start));
    size_t old_end = last->old_start + last->old_count;
    size_t new_end = last->new_start + last->new_count;
    size_t after = least(
        DIFF_CONTEXT, least(diff->before.n - old_end, diff->after.n - new_end));

    hunk->range.old_start = first->old_start - before;
    hunk->range.new_start = first->new_start - before;
    hunk->range.old_count = old_end + after - hunk->range.old_start;
    hunk->range.new_count = new_end + after - hunk->range.new_start;
}

/* Whether a hunk begins with change I. */
static bool begins_hunk(const struct diff *diff, size_t i)
{
    const struct diff_range *change = &diff->changes[i];

    return i == 0 ||
           change->old_start - (change[-1].old_start + change[-1].old_count) >
               2 * (size_t)DIFF_CONTEXT;
}

static enum status make_hunks(struct arena *arena, struct diff *diff)
{
    struct diff_hunk *hunk = NULL;
    size_t n = 0;

    for (size_t i = 0; i < diff->change_count; i++)
        n += begins_hunk(diff, i);
    diff->hunks = arena_array(arena, n + 1, sizeof *diff->hunks);
    if (!diff->hunks)
        return ST_NOMEM;
    for (size_t i = 0; i < diff->change_count; i++) {
        if (begins_hunk(diff, i)) {
            hunk = &diff->hunks[diff->hunk_count++];
            hunk->first = i;
        }
        hunk->count++;
    }
    for (size_t i = 0; i < diff->hunk_count; i++)
        finish_hunk(diff, &diff->hunks[i]);
    return ST_OK;
}

/* Finds the changes of DIFF, which has its lines. What they are found with
   lives in SCRATCH. */
static enum status find_changes(struct arena *arena, struct arena *scratch,
                                struct diff *diff)
{
    size_t old_lines = diff->before.n;
    size_t new_lines = diff->after.n;
    uint32_t *old_ids;
    uint32_t *new_ids;
    enum status status =
        lines_number(scratch, &diff->before, &diff->after, &old_ids, &new_ids);

    if (status != ST_OK)
        return status;
    struct script_side a = {old_ids, old_lines,
                            arena_array(scratch, old_lines + 1, sizeof(bool))};
    struct script_side b = {new_ids, new_lines,
                            arena_array(scratch, new_lines + 1, sizeof(bool))};
    if (!a.changed || !b.changed)
        return ST_NOMEM;
    status = script_mark(scratch, &a, &b, LIMIT_DIFF_STEPS, &diff->capped);
    struct marks marks = {a.changed, b.changed, a.n, b.n};
    if (status == ST_OK)
        status = list_changes(arena, &marks, diff);
    if (status == ST_OK)
        slide_changes(diff, old_ids, new_ids);
    return status == ST_OK ? arena_spend(arena, old_lines + new_lines) : status;
}

enum status diff_make(struct arena *arena, struct str before, struct str after,
                      struct diff *out)
{
    struct arena scratch = {.strand = arena->strand};
    struct diff diff = {.arena = arena};
    enum status status = lines_cut(arena, before, &diff.before);

    if (status == ST_OK)
        status = lines_cut(arena, after, &diff.after);
    if (status == ST_OK)
        status = find_changes(arena, &scratch, &diff);
    arena_release(&scratch);
    if (status == ST_OK)
        status = make_hunks(arena, &diff);
    if (status == ST_OK)
        *out = diff;
    return status;
}

/* --- Text ---------------------------------------------------------------- */

/* "12", "12,3", and "11,0" for no lines after the 11th. */
static void write_range(struct buf *out, char sign, size_t start, size_t count)
{
    buf_printf(out, "%c%zu", sign, count == 0 ? start : start + 1);
    if (count != 1)
        buf_printf(out, ",%zu", count);
}

/* Where the hunks are written. */
struct writing {
    struct buf *out;
    const struct diff *diff;
    size_t most; /* bytes of OUT, after which nothing follows */
};

static void write_lines(const struct writing *w, char mark,
                        const struct lines *text, size_t start, size_t count)
{
    struct buf *out = w->out;

    for (size_t i = start; i < start + count && out->n <= w->most; i++) {
        struct str line = lines_view(text, i, 1);
        size_t room = w->most - out->n;

        if (line.n > room) // a line may be as long as the text
            line.n = room + 1;
        buf_byte(out, mark);
        buf_str(out, line);
        if (line.p[line.n - 1] != '\n')
            buf_str(out, STR("\n\\ No newline at end of file\n"));
        // a stopped strand gets no more memory for what is done with it
        (void)!arena_spend(w->diff->arena, 16 + line.n / 8);
    }
}

void diff_write_hunk(struct buf *out, const struct diff *diff, size_t index,
                     size_t most)
{
    const struct writing w = {out, diff, most};
    const struct diff_hunk *hunk = &diff->hunks[index];
    size_t place = hunk->range.old_start;

    buf_str(out, STR("@@ "));
    write_range(out, '-', hunk->range.old_start, hunk->range.old_count);
    buf_byte(out, ' ');
    write_range(out, '+', hunk->range.new_start, hunk->range.new_count);
    buf_str(out, STR(" @@\n"));
    for (size_t i = hunk->first;
         i < hunk->first + hunk->count && out->n <= most; i++) {
        const struct diff_range *change = &diff->changes[i];

        write_lines(&w, ' ', &diff->before, place, change->old_start - place);
        write_lines(&w, '-', &diff->before, change->old_start,
                    change->old_count);
        write_lines(&w, '+', &diff->after, change->new_start,
                    change->new_count);
        place = change->old_start + change->old_count;
    }
    write_lines(&w, ' ', &diff->before, place,
                hunk->range.old_start + hunk->range.old_count - place);
}

void diff_write(struct buf *out, const struct diff *diff, struct str name,
                size_t most)
{
    if (diff->hunk_count == 0)
        return;
    buf_printf(out, "--- a/%.*s\n+++ b/%.*s\n", STR_ARG(name), STR_ARG(name));
    for (size_t i = 0; i < diff->hunk_count && out->n <= most; i++)
        diff_write_hunk(out, diff, i, most);
}
