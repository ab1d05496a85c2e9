/* SPDX-License-Identifier: GPL-3.0-or-later */
/* propose_file_edit.c: replaces parts of a file; the user decides about each
   hunk. */
#include "base/finder.h"
#include "gate/review.h"
#include "gate/review_apply.h"
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
            .help = "Several such replacements.",
        },
    {0},
};

/* Finds PART, which is not empty, in TEXT. *COUNT: how often it occurs, 0, 1,
   or 2 for more. */
static enum status find_part(struct arena *arena, struct str text,
                             struct str part, size_t *at, int *count)
{
    struct finder finder;
    enum status status = finder_init(&finder, arena, part);

    if (status != ST_OK)
        return status;
    *at = finder_next(&finder, text, 0);
    *count = *at != FINDER_NONE;
    if (*count > 0 && finder_next(&finder, text, *at + 1) != FINDER_NONE)
        *count = 2;
    return ST_OK;
}

/* Answers that edit I of N is impossible, and WHY. */
static enum status cannot_edit(struct review *review, size_t i, size_t n,
                               const char *why, struct tool_answer *answer)
{
    struct str which =
        n > 1 ? arena_printf(&review->arena, "edit %zu: ", i + 1) : STR("");

    return review_fail(&review->arena, answer, "ERROR",
                       "%.*s: %.*s%s. Nothing was written, and the user was "
                       "not asked.",
                       STR_ARG(review->name), STR_ARG(which), why);
}

/* Makes edit I of N in *TEXT. When that is impossible, ANSWER says why and its
   state changes. */
static enum status replace(struct review *review, const struct str edit[2],
                           size_t i, size_t n, struct str *text,
                           struct tool_answer *answer)
{
    struct arena *arena = &review->arena;
    struct str old;
    struct str new;
    size_t at = 0;
    int found = 1;

    if (text_normalize(arena, &review->before, edit[OLD], &old) != ST_OK ||
        text_normalize(arena, &review->before, edit[NEW], &new) != ST_OK)
        return ST_NOMEM;
    if (old.n == 0 && text->n > 0)
        return cannot_edit(review, i, n,
                           "the text to replace is empty, but the file is not",
                           answer);
    if (old.n > 0 && find_part(arena, *text, old, &at, &found) != ST_OK)
        return ST_NOMEM;
    if (found == 0)
        return cannot_edit(review, i, n,
                           "the text to replace is not in the file; read it "
                           "again with read-file and copy it exactly",
                           answer);
    if (found > 1)
        return cannot_edit(review, i, n,
                           "the text to replace occurs more than once; give "
                           "more of the lines around it",
                           answer);
    struct buf out = BUF_EMPTY;
    buf_append(&out, text->p, at);
    buf_str(&out, new);
    buf_append(&out, text->p + at + old.n, text->n - at - old.n);
    return arena_take(arena, &out, text);
}

static enum status propose(const struct tool_request *request,
                           struct review *review,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    const struct schema_value *edits = values[EDITS].items;
    size_t n = values[EDITS].given ? values[EDITS].count : 1;
    struct str text = review->before.text;

    for (size_t i = 0; i < n; i++) {
        struct str edit[EDIT_FIELDS] = {values[ORIGINAL].string,
                                        values[MODIFIED].string};

        if (values[EDITS].given) {
            edit[OLD] = edits[i * EDIT_FIELDS + OLD].string;
            edit[NEW] = edits[i * EDIT_FIELDS + NEW].string;
        }
        enum status status = replace(review, edit, i, n, &text, answer);
        if (status != ST_OK || answer->state != TOOL_ASKS)
            return status;
    }
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
    .prepare = prepare,
    .handler = review_apply,
};
