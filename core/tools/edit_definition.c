/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_definition.c: changes one top-level form of a Lisp file, found by kind
   and name, and nothing else. */
#include "gate/review.h"
#include "gate/review_apply.h"
#include "source/definition.h"
#include "source/rewrite.h"
#include "source/source.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { PATH, KIND, NAME, ACTION, CONTENT, DRY_RUN };

static const char *const actions[] = {
    [REWRITE_REPLACE] = "replace",    [REWRITE_BEFORE] = "insert-before",
    [REWRITE_AFTER] = "insert-after", [REWRITE_DELETE] = "delete",
    [REWRITE_DELETE + 1] = NULL,
};

static const struct schema_field fields[] = {
    [PATH] = FIELD_PATH,
    [KIND] =
        {
            .name = "kind",
            .kind = SCHEMA_STRING,
            .help = "Operator, such as defun.",
        },
    [NAME] =
        {
            .name = "name",
            .kind = SCHEMA_STRING,
            .required = true,
            .help = "As written; a method with specialisers: area (circle).",
        },
    [ACTION] =
        {
            .name = "action",
            .kind = SCHEMA_CHOICE,
            .choices = actions,
            .fallback = "\"replace\"",
        },
    [CONTENT] =
        {
            .name = "content",
            .kind = SCHEMA_STRING,
            .help = "New form(s).",
        },
    [DRY_RUN] = FIELD_DRY_RUN,
    {0},
};

static enum rewrite_action action_of(const struct schema_value *value)
{
    size_t i = 0;

    while (value->given && !str_eq(value->string, str_from(actions[i])))
        i++;
    return (enum rewrite_action)i;
}

static enum status fail(struct review *review, struct tool_answer *answer,
                        const char *what, struct str why)
{
    return review_fail(&review->arena, answer, "ERROR",
                       "%.*s%s%.*s\nNothing was written, and the user was not "
                       "asked.",
                       STR_ARG(review->name), what, STR_ARG(why));
}

/* Proposes TEXT, unless that would make the file less readable. */
static enum status propose(struct review *review, struct str text,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    struct strand *strand = review->arena.strand;
    struct source_report before = {.certain = 0};
    struct source_report after;
    enum status status = source_check(strand, text, &after);

    if (status == ST_OK && after.certain > 0)
        status = source_check(strand, review->before.text, &before);
    if (status != ST_OK)
        return status;
    if (after.certain <= before.certain)
        return review_propose(review, text, STR(""), true, question, answer);
    struct str why = source_describe(&review->arena, &after);
    if (why.n == 0)
        return ST_NOMEM;
    return fail(review, answer, " would not be readable after this change.\n",
                why);
}

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    enum rewrite_action action = action_of(&values[ACTION]);
    struct review *review;
    struct definition form;
    struct str content;
    struct str text;
    struct str why;

    if (action != REWRITE_DELETE && str_trim(values[CONTENT].string).n == 0)
        return review_fail(request->arena, answer, "ERROR",
                           "argument content is missing: the new form. "
                           "Nothing was written.");
    enum status status = review_open(request, false, &review, answer);
    if (status != ST_OK || !review)
        return status;
    review->dry = values[DRY_RUN].boolean;
    struct arena *arena = &review->arena;
    struct str before = review->before.text;
    status = definition_find(arena, before, values[KIND].string,
                             values[NAME].string, &form, &why);
    if (status == ST_NOMEM)
        return status;
    if (status != ST_OK)
        return fail(review, answer, ": ", why);
    status = text_normalize(arena, &review->before, values[CONTENT].string,
                            &content);
    const struct rewrite rewrite = {before, &form, action, content};
    if (status == ST_OK)
        status = rewrite_make(arena, &rewrite, &text, &why);
    if (status == ST_INVALID)
        return fail(review, answer,
                    ": content must consist of whole forms. In content: ", why);
    return status == ST_OK ? propose(review, text, question, answer) : status;
}

const struct tool tool_edit_definition = {
    .name = "edit-definition",
    .title = "Edit definition",
    .description = "Replace or delete a top-level form of a Lisp file, or "
                   "insert beside it; the user reviews it.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .edits = true,
    .in_steps = true,
    .prepare = prepare,
    .handler = review_apply,
};
