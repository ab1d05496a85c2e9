/* SPDX-License-Identifier: GPL-3.0-or-later */
/* propose_file_edit.c: replaces parts of a file; the user decides about each
   hunk. */
#include <stdlib.h>

#include "base/finder.h"
#include "base/limits.h"
#include "gate/review.h"
#include "gate/review_apply.h"
#include "tools/edits.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { PATH, DESCRIPTION, ORIGINAL, MODIFIED, EDITS };
enum { OLD, NEW, EDIT_FIELDS };

static const struct schema_field edit_fields[] = {
    [OLD] = {.name = "old",
             .alias = "original",
             .kind = SCHEMA_STRING,
             .required = true},
    [NEW] = {.name = "new",
             .alias = "modified",
             .kind = SCHEMA_STRING,
             .required = true},
    [EDIT_FIELDS] = {0},
};

static const struct schema_field fields[] = {
    [PATH] = FIELD_PATH,
    [DESCRIPTION] =
        {
            .name = "description",
            .kind = SCHEMA_STRING,
            .help = "Purpose; the user reads it.",
        },
    [ORIGINAL] =
        {
            .name = "original",
            .kind = SCHEMA_STRING,
            .help = "Whole text, or a part that occurs once.",
        },
    [MODIFIED] =
        {
            .name = "modified",
            .kind = SCHEMA_STRING,
            .help = "Replacement for original.",
        },
    [EDITS] =
        {
            .name = "edits",
            .kind = SCHEMA_LIST,
            .instead_of = "original",
            .items = edit_fields,
            .help = "Several, in the file as it is.",
        },
    {0},
};

/* The edits of one call in one file. */
struct edits {
    struct review *review;
    struct edit *all;
    size_t n;
    bool several; /* in the call */
    struct tool_answer *answer;
};

/* Finds PART, which is not empty, in TEXT. *COUNT: how often it occurs, 0, 1,
   or 2 for more. */
static enum status find_part(const struct arena *work, struct str text,
                             struct str part, size_t *at, int *count)
{
    struct arena arena = {.strand = work->strand};
    struct finder finder;
    size_t again = FINDER_NONE;
    enum status status = finder_init(&finder, &arena, part);

    if (status == ST_OK)
        status = finder_next(&finder, text, 0, at);
    if (status == ST_OK && *at != FINDER_NONE)
        status = finder_next(&finder, text, *at + 1, &again);
    arena_release(&arena);
    *count = (*at != FINDER_NONE) + (again != FINDER_NONE);
    return status;
}

/* Answers that edit I is impossible, and WHY. */
static enum status cannot_edit(const struct edits *edits, size_t i,
                               const char *why)
{
    struct review *review = edits->review;
    struct str which =
        edits->several ? arena_printf(&review->arena,
                                      "edit %zu: ", edits->all[i].number + 1)
                       : STR("");

    return review_fail(&review->arena, edits->answer, "ERROR",
                       "%.*s: %.*s%s. Nothing was written, and the user was "
                       "not asked.",
                       STR_ARG(review->name), STR_ARG(which), why);
}

/* Finds the place of edit I. When that is impossible, the answer says why and
   its state changes. */
static enum status find_place(const struct edits *edits, size_t i)
{
    struct review *review = edits->review;
    struct str text = review->before.text;
    struct edit *edit = &edits->all[i];
    struct str old;
    int found = 1;

    if (text_normalize(&review->arena, &review->before, edit->old, &old) !=
            ST_OK ||
        text_normalize(&review->arena, &review->before, edit->new,
                       &edit->new) != ST_OK)
        return ST_NOMEM;
    if (old.n == 0 && text.n > 0)
        return cannot_edit(edits, i,
                           "the text to replace is empty, but the file is not");
    if (old.n > 0 &&
        find_part(&review->arena, text, old, &edit->at, &found) != ST_OK)
        return ST_NOMEM;
    edit->end = edit->at + old.n;
    if (found == 0)
        return cannot_edit(edits, i,
                           edits->several
                               ? "the text to replace is not in the file as it "
                                 "is now, before any edit; read it again with "
                                 "read-file and copy it exactly"
                               : "the text to replace is not in the file; read "
                                 "it again with read-file and copy it exactly");
    if (found > 1)
        return cannot_edit(edits, i,
                           "the text to replace occurs more than once; give "
                           "more of the lines around it");
    return ST_OK;
}

/* By their places; those with the same one by their numbers. */
static int by_place(const void *a, const void *b)
{
    const struct edit *one = a;
    const struct edit *other = b;

    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

/* Sorts the edits; when two of them overlap, the answer says so. */
static enum status sort(const struct edits *edits)
{
    struct review *review = edits->review;

    qsort(edits->all, edits->n, sizeof *edits->all, by_place);
    for (size_t i = 1; i < edits->n; i++) {
        const struct edit *edit = &edits->all[i];

        if (edit->at >= edit[-1].end && edit->end > edit->at)
            continue;
        return review_fail(&review->arena, edits->answer, "ERROR",
                           "%.*s: edits %zu and %zu replace the same text; "
                           "make them one edit. Nothing was written, and the "
                           "user was not asked.",
                           STR_ARG(review->name), edit[-1].number + 1,
                           edit->number + 1);
    }
    return ST_OK;
}

/* *OUT is the text with all edits made. */
static enum status splice(const struct edits *edits, struct str *out)
{
    struct arena *arena = &edits->review->arena;
    struct str text = edits->review->before.text;
    struct buf buf = BUF_EMPTY;
    size_t bytes = text.n;
    size_t done = 0;
    enum status status = ST_OK;

    for (size_t i = 0; i < edits->n; i++)
        bytes += edits->all[i].new.n;
    (void)buf_reserve_exact(&buf, bytes + 1); // buf_failed says so later
    for (size_t i = 0; i < edits->n && status == ST_OK; i++) {
        const struct edit *edit = &edits->all[i];

        status =
            arena_append(arena, &buf, str_make(text.p + done, edit->at - done));
        if (status == ST_OK)
            status = arena_append(arena, &buf, edit->new);
        done = edit->end;
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

enum status edits_make(struct review *review, struct edit *all, size_t n,
                       bool several, struct str *out,
                       struct tool_answer *answer)
{
    const struct edits edits = {review, all, n, several, answer};
    enum status status = check_size(review, n, answer);

    for (size_t i = 0; i < n && status == ST_OK && answer->state == TOOL_ASKS;
         i++)
        status = find_place(&edits, i);
    if (status == ST_OK && answer->state == TOOL_ASKS)
        status = sort(&edits);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    return splice(&edits, out);
}

static enum status propose(const struct tool_request *request,
                           struct review *review,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    const struct schema_value *items = values[EDITS].items;
    bool given = values[EDITS].given;
    size_t n = given ? values[EDITS].count : 1;
    struct edit *all = arena_array(request->arena, n, sizeof *all);
    struct str text;

    if (!all)
        return ST_NOMEM;
    for (size_t i = 0; i < n; i++)
        all[i] =
            (struct edit){.old = given ? items[i * EDIT_FIELDS + OLD].string
                                       : values[ORIGINAL].string,
                          .new = given ? items[i * EDIT_FIELDS + NEW].string
                                       : values[MODIFIED].string,
                          .number = i};
    enum status status = edits_make(review, all, n, n > 1, &text, answer);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    return review_propose(review, text, values[DESCRIPTION].string, true,
                          question, answer);
}

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct review *review;
    bool both = values[ORIGINAL].given && values[MODIFIED].given;

    if (!both && !values[EDITS].given)
        return review_fail(request->arena, answer, "ERROR",
                           "Say what to change: original and modified, or "
                           "edits. Nothing was written.");
    // an edit of nothing makes a new file
    bool may_miss = both && values[ORIGINAL].string.n == 0;
    enum status status = review_open(request, may_miss, &review, answer);
    if (status != ST_OK || !review)
        return status;
    return propose(request, review, question, answer);
}

const struct tool tool_propose_file_edit = {
    .name = "propose-file-edit",
    .title = "Propose file edit",
    .description = "Replace parts of a file; the user reviews each hunk.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .in_steps = true,
    .prepare = prepare,
    .handler = review_apply,
};
