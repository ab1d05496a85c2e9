/* SPDX-License-Identifier: GPL-3.0-or-later */
/* propose_file_edit.c: replaces parts of a file; the user decides about each
   hunk. */
#include "base/limits.h"
#include "gate/review.h"
#include "gate/review_apply.h"
#include "tools/edits.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum {
    PATH,
    DESCRIPTION,
    ORIGINAL,
    MODIFIED,
    EVERYWHERE,
    LINE,
    EDITS,
    DRY_RUN
};
enum { OLD, NEW, OLD_EVERYWHERE, EDIT_FIELDS };

#define FIELD_ALL                                                              \
    {                                                                          \
        .name = "all", .kind = SCHEMA_BOOLEAN                                  \
    }

static const struct schema_field edit_fields[] = {
    [OLD] = {.name = "old",
             .alias = "original",
             .kind = SCHEMA_STRING,
             .required = true},
    [NEW] = {.name = "new",
             .alias = "modified",
             .kind = SCHEMA_STRING,
             .required = true},
    [OLD_EVERYWHERE] = FIELD_ALL,
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
            .help = "Its replacement.",
        },
    [EVERYWHERE] =
        {
            .name = "all",
            .kind = SCHEMA_BOOLEAN,
        },
    [LINE] =
        {
            .name = "line",
            .kind = SCHEMA_INTEGER,
            .min = 1,
            .max = INT32_MAX,
            .instead_of = "original",
            .help = "Insert modified before it.",
        },
    [EDITS] =
        {
            .name = "edits",
            .kind = SCHEMA_LIST,
            .instead_of = "original",
            .items = edit_fields,
            .help = "Several, in the file as it is.",
        },
    [DRY_RUN] = FIELD_DRY_RUN,
    {0},
};

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
    for (size_t i = 0; i < n; i++) {
        const struct schema_value *item =
            given ? &items[i * EDIT_FIELDS] : NULL;

        all[i] = (struct edit){
            .old = item ? item[OLD].string : values[ORIGINAL].string,
            .new = item ? item[NEW].string : values[MODIFIED].string,
            .all = item ? item[OLD_EVERYWHERE].boolean
                        : values[EVERYWHERE].boolean,
            .line = given ? 0 : (size_t)values[LINE].integer,
            .number = i};
    }
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

    if (!both && !values[EDITS].given &&
        !(values[LINE].given && values[MODIFIED].given))
        return review_fail(request->arena, answer, "ERROR",
                           "Say what to change: original and modified, line "
                           "and modified, or edits. Nothing was written.");
    // an edit of nothing makes a new file
    bool may_miss = both && values[ORIGINAL].string.n == 0;
    enum status status = review_open(request, may_miss, &review, answer);
    if (status != ST_OK || !review)
        return status;
    review->dry = values[DRY_RUN].boolean;
    return propose(request, review, question, answer);
}

const struct tool tool_propose_file_edit = {
    .name = "propose-file-edit",
    .title = "Propose file edit",
    .description = "Replace parts of a file; the user reviews each hunk.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .edits = true,
    .in_steps = true,
    .prepare = prepare,
    .handler = review_apply,
};
