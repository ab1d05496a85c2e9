/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edits.c: see edits.h. */
#include "tools/edits.h"

#include <stdlib.h>

#include "base/finder.h"
#include "base/limits.h"
#include "diff/nearest.h"

/* Lines that a message names. */
#define SHOWN_LINES 10

/* What is replaced by an edit, in bytes of the text. */
struct place {
    struct str new;
    size_t at;
    size_t end;
    size_t number; /* of the edit, from 0 */
};

/* The edits of one call in one file. */
struct edits {
    struct review *review;
    struct buf places; /* of struct place */
    size_t n;          /* of these */
    bool several;      /* edits in the call */
    struct tool_answer *answer;
};

static struct place *places_of(const struct edits *edits)
{
    return (struct place *)(void *)edits->places.p;
}

static enum status add(struct edits *edits, const struct edit *edit,
                       struct str new, size_t at, size_t end)
{
    const struct place place = {new, at, end, edit->number};

    buf_append(&edits->places, &place, sizeof place);
    edits->n++;
    return buf_failed(&edits->places) ? ST_NOMEM : ST_OK;
}

/* Answers that EDIT is impossible, and WHY. */
static enum status cannot_edit(const struct edits *edits,
                               const struct edit *edit, struct str why)
{
    struct review *review = edits->review;
    struct str which =
        edits->several
            ? arena_printf(&review->arena, "edit %zu: ", edit->number + 1)
            : STR("");

    return review_fail(&review->arena, edits->answer, "ERROR",
                       "%.*s: %.*s%.*s\nNothing was written, and the user was "
                       "not asked.",
                       STR_ARG(review->name), STR_ARG(which), STR_ARG(why));
}

/* OLD is not in the text: where is what was meant? */
static enum status explain_missing(const struct edits *edits,
                                   const struct edit *edit, struct str old)
{
    struct arena *arena = &edits->review->arena;
    struct nearest nearest;
    struct buf why = BUF_EMPTY;
    struct str text;

    if (!edits->review->base.exists && !edits->review->buffer)
        return cannot_edit(edits, edit,
                           STR("there is no such file, so no text in it can be "
                               "replaced."));
    buf_str(&why, edits->several
                      ? STR("the text to replace is not in the file as it is "
                            "now, before any edit. ")
                      : STR("the text to replace is not in the file. "));
    enum status status =
        nearest_find(arena, edits->review->before.text, old, &nearest);
    if (status == ST_OK)
        nearest_describe(&why, &nearest);
    if (status == ST_OK && edits->review->before.text.n > LIMIT_NEAREST)
        buf_printf(&why,
                   "Similar text is searched for in at most %u bytes, and the "
                   "file has %zu; read the part that you mean again.",
                   LIMIT_NEAREST, edits->review->before.text.n);
    else if (status == ST_OK && nearest.first == 0)
        buf_str(&why,
                STR("Nothing in the file resembles it; read the file again."));
    if (status != ST_OK) {
        buf_release(&why);
        return status;
    }
    status = arena_take(arena, &why, &text);
    return status == ST_OK ? cannot_edit(edits, edit, text) : status;
}

/* OLD is in the text more than once: in which lines? */
static enum status explain_several(const struct edits *edits,
                                   const struct edit *edit,
                                   const struct finder *finder)
{
    struct arena *arena = &edits->review->arena;
    struct str text = edits->review->before.text;
    struct buf why = BUF_EMPTY;
    struct str words;
    size_t line = 1;
    size_t from = 0;
    size_t at = 0;
    enum status status = finder_next(finder, text, 0, &at);

    buf_str(&why, STR("the text to replace occurs more than once, in lines"));
    for (size_t n = 0; status == ST_OK && at != FINDER_NONE; n++) {
        if (n == SHOWN_LINES) {
            buf_str(&why, STR(", \xE2\x80\xA6"));
            break;
        }
        for (; from < at; from++)
            line += text.p[from] == '\n';
        buf_printf(&why, "%s %zu", n > 0 ? "," : "", line);
        status = finder_next(finder, text, at + 1, &at);
    }
    buf_str(&why, STR("; give more of the lines around it, or all:true."));
    if (status == ST_OK)
        status = arena_take(arena, &why, &words);
    else
        buf_release(&why);
    return status == ST_OK ? cannot_edit(edits, edit, words) : status;
}

/* Adds all places where FINDER finds OLD, from AT on. */
static enum status add_all(struct edits *edits, const struct edit *edit,
                           struct str new, const struct finder *finder,
                           size_t at)
{
    struct str text = edits->review->before.text;
    enum status status = ST_OK;

    while (status == ST_OK && at != FINDER_NONE) {
        size_t end = at + finder->part.n;

        if (edits->n >= LIMIT_EDIT_PLACES)
            return cannot_edit(
                edits, edit,
                arena_printf(&edits->review->arena,
                             "more than %d places would be replaced, the "
                             "limit.",
                             LIMIT_EDIT_PLACES));
        status = add(edits, edit, new, at, end);
        if (status == ST_OK)
            status = finder_next(finder, text, end, &at);
    }
    return status;
}

/* Finds the place of EDIT, which replaces OLD by NEW. When that is impossible,
   the answer says why and its state changes. */
static enum status find_places(struct edits *edits, const struct edit *edit,
                               struct str old, struct str new)
{
    struct arena scratch = {.strand = edits->review->arena.strand};
    struct str text = edits->review->before.text;
    struct finder finder;
    size_t again = FINDER_NONE;
    size_t at = FINDER_NONE;
    enum status status = finder_init(&finder, &scratch, old);

    if (status == ST_OK)
        status = finder_next(&finder, text, 0, &at);
    if (status == ST_OK && at != FINDER_NONE && !edit->all)
        status = finder_next(&finder, text, at + 1, &again);
    if (status == ST_OK && at == FINDER_NONE)
        status = explain_missing(edits, edit, old);
    else if (status == ST_OK && edit->all)
        status = add_all(edits, edit, new, &finder, at);
    else if (status == ST_OK && again != FINDER_NONE)
        status = explain_several(edits, edit, &finder);
    else if (status == ST_OK)
        status = add(edits, edit, new, at, at + old.n);
    arena_release(&scratch);
    return status;
}

/* EDIT inserts NEW, whole lines, before its line. */
static enum status find_line(struct edits *edits, const struct edit *edit,
                             struct str new)
{
    struct arena *arena = &edits->review->arena;
    struct str text = edits->review->before.text;
    size_t line = 1;
    size_t at = 0;

    while (line < edit->line && at < text.n) {
        const char *feed = memchr(text.p + at, '\n', text.n - at);

        at = feed ? (size_t)(feed - text.p) + 1 : text.n;
        line++;
        if (line % 4096 == 0 && arena_spend(arena, 32u * 1024) != ST_OK)
            return ST_NOMEM;
    }
    if (line < edit->line)
        return cannot_edit(
            edits, edit,
            arena_printf(arena,
                         "there is no line %zu; the last is %zu, and a new "
                         "one is %zu.",
                         edit->line, line - 1, line));
    bool glued = at > 0 && text.p[at - 1] != '\n'; // the last has no end
    bool open = new.n == 0 || new.p[new.n - 1] != '\n';
    new = arena_printf(arena, "%s%.*s%s", glued ? "\n" : "", STR_ARG(new),
                       open && !glued ? "\n" : "");
    return new.n > 0 ? add(edits, edit, new, at, at) : ST_NOMEM;
}

static enum status find_edit(struct edits *edits, const struct edit *edit)
{
    struct review *review = edits->review;
    struct str old;
    struct str new;

    if (text_normalize(&review->arena, &review->before, edit->old, &old) !=
            ST_OK ||
        text_normalize(&review->arena, &review->before, edit->new, &new) !=
            ST_OK)
        return ST_NOMEM;
    if (edit->line > 0)
        return find_line(edits, edit, new);
    if (old.n > 0)
        return find_places(edits, edit, old, new);
    if (review->before.text.n > 0)
        return cannot_edit(
            edits, edit,
            STR("the text to replace is empty, but the file is not."));
    return add(edits, edit, new, 0, 0);
}

/* By their places; those with the same one by their numbers. */
static int by_place(const void *a, const void *b)
{
    const struct place *one = a;
    const struct place *other = b;

    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

/* Sorts the places; when two of them overlap, the answer says so. */
static enum status sort(const struct edits *edits)
{
    struct review *review = edits->review;
    struct place *all = places_of(edits);

    qsort(all, edits->n, sizeof *all, by_place);
    for (size_t i = 1; i < edits->n; i++) {
        const struct place *place = &all[i];

        if (place->at >= place[-1].end && place->end > place->at)
            continue;
        return review_fail(&review->arena, edits->answer, "ERROR",
                           "%.*s: edits %zu and %zu replace the same text; "
                           "make them one edit. Nothing was written, and the "
                           "user was not asked.",
                           STR_ARG(review->name), place[-1].number + 1,
                           place->number + 1);
    }
    return ST_OK;
}

/* *OUT is the text with all edits made. */
static enum status splice(const struct edits *edits, struct str *out)
{
    struct arena *arena = &edits->review->arena;
    struct str text = edits->review->before.text;
    const struct place *all = places_of(edits);
    struct buf buf = BUF_EMPTY;
    size_t bytes = text.n;
    size_t done = 0;
    enum status status = ST_OK;

    for (size_t i = 0; i < edits->n; i++)
        bytes += all[i].new.n;
    if (bytes > LIMIT_DIFF_TEXT)
        return review_fail_size(arena, edits->review, "ERROR", edits->answer);
    (void)buf_reserve_exact(&buf, bytes + 1); // buf_failed says so later
    for (size_t i = 0; i < edits->n && status == ST_OK; i++) {
        const struct place *place = &all[i];

        status = arena_append(arena, &buf,
                              str_make(text.p + done, place->at - done));
        if (status == ST_OK)
            status = arena_append(arena, &buf, place->new);
        done = place->end;
    }
    if (status == ST_OK)
        status =
            arena_append(arena, &buf, str_make(text.p + done, text.n - done));
    if (status == ST_OK)
        return arena_take(arena, &buf, out);
    buf_release(&buf);
    return status;
}

/* Whether N edits take no more work than one call may. */
static enum status check_size(struct review *review, size_t n,
                              struct tool_answer *answer)
{
    size_t bytes = review->before.text.n;

    if (n <= LIMIT_EDITS_BYTES / (bytes + 1))
        return ST_OK;
    return review_fail(&review->arena, answer, "ERROR",
                       "%.*s has %zu bytes, too many for %zu edits in one "
                       "call: bytes times edits may be at most %llu. Nothing "
                       "was written, and the user was not asked. Make at most "
                       "%llu edits in each call.",
                       STR_ARG(review->name), bytes, n, LIMIT_EDITS_BYTES,
                       LIMIT_EDITS_BYTES / (bytes + 1));
}

enum status edits_make(struct review *review, const struct edit *all, size_t n,
                       bool several, struct str *out,
                       struct tool_answer *answer)
{
    struct edits edits = {
        .review = review, .several = several, .answer = answer};
    enum status status = check_size(review, n, answer);

    for (size_t i = 0; i < n && status == ST_OK && answer->state == TOOL_ASKS;
         i++)
        status = find_edit(&edits, &all[i]);
    if (status == ST_OK && answer->state == TOOL_ASKS)
        status = sort(&edits);
    if (status == ST_OK && answer->state == TOOL_ASKS)
        status = splice(&edits, out);
    buf_release(&edits.places);
    return status;
}
