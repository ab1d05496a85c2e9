/* SPDX-License-Identifier: GPL-3.0-or-later */
/* propose_changes.c: edits of several files, new ones and deletions among them;
   the user reviews them as one. */
#include "base/limits.h"
#include "gate/changes.h"
#include "tools/edits.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { EDITS, DESCRIPTION };
enum { PATH, OLD, NEW, DELETE, EDIT_FIELDS };

static const struct schema_field edit_fields[] = {
    [PATH] = FIELD_PATH,
    [OLD] =
        {
            .name = "old",
            .alias = "original",
            .kind = SCHEMA_STRING,
            .help = "Occurs once; none for a new file.",
        },
    [NEW] =
        {
            .name = "new",
            .alias = "modified",
            .kind = SCHEMA_STRING,
        },
    [DELETE] =
        {
            .name = "delete",
            .kind = SCHEMA_BOOLEAN,
        },
    [EDIT_FIELDS] = {0},
};

static const struct schema_field fields[] = {
    [EDITS] =
        {
            .name = "edits",
            .kind = SCHEMA_LIST,
            .required = true,
            .items = edit_fields,
        },
    [DESCRIPTION] =
        {
            .name = "description",
            .kind = SCHEMA_STRING,
            .help = "The user reads it.",
        },
    {0},
};

/* The Ith edit of the call. */
static const struct schema_value *edit_at(const struct tool_request *request,
                                          size_t i)
{
    return request->values[EDITS].items + i * EDIT_FIELDS;
}

static size_t count(const struct tool_request *request)
{
    return request->values[EDITS].count;
}

/* Whether edit I makes sense by itself; else ANSWER says why not. */
static enum status check(const struct tool_request *request, size_t i,
                         struct tool_answer *answer)
{
    const struct schema_value *edit = edit_at(request, i);
    const char *why = NULL;

    if (edit[DELETE].boolean && (edit[OLD].given || edit[NEW].given))
        why = "delete excludes old and new";
    else if (!edit[DELETE].boolean && !edit[NEW].given)
        why = "say what replaces old: new, which may be empty; or delete";
    if (!why)
        return ST_OK;
    return review_fail(request->arena, answer, "ERROR",
                       "edit %zu: %s. Nothing was written, and the user was "
                       "not asked.",
                       i + 1, why);
}

/* Collects the paths of the edits, each once. */
static enum status divide(const struct tool_request *request,
                          struct tool_answer *answer)
{
    size_t edits = count(request);
    struct str *paths = arena_array(request->arena, edits + 1, sizeof *paths);
    size_t n = 0;

    if (!paths)
        return ST_NOMEM;
    for (size_t i = 0; i < edits; i++) {
        struct str path = edit_at(request, i)[PATH].string;
        size_t k = 0;

        if (check(request, i, answer) != ST_OK)
            return ST_NOMEM;
        if (answer->state != TOOL_ASKS)
            return ST_OK;
        while (k < n && !str_eq(paths[k], path))
            k++;
        paths[k] = path;
        n += k == n;
    }
    return changes_divide(request, paths, n, answer);
}

/* Several edits of a file that goes make no sense. */
static enum status check_alone(const struct tool_request *request, size_t n,
                               struct str path, struct tool_answer *answer)
{
    if (n == 1)
        return ST_OK;
    return review_fail(request->arena, answer, "ERROR",
                       "%.*s: it is deleted, so it has no other edits. Nothing "
                       "was written, and the user was not asked.",
                       STR_ARG(path));
}

/* Collects the edits of part I; *REMOVES: it goes. *N: how many there are. */
static enum status collect(const struct tool_request *request, size_t part,
                           struct edit *all, size_t *n, bool *removes)
{
    struct str path = buf_view(&request->call->parts[part].place.path);

    *n = 0;
    *removes = false;
    for (size_t i = 0; i < count(request); i++) {
        const struct schema_value *edit = edit_at(request, i);

        if (!str_eq(edit[PATH].string, path))
            continue;
        *removes = *removes || edit[DELETE].boolean;
        all[(*n)++] = (struct edit){
            .old = edit[OLD].string, .new = edit[NEW].string, .number = i};
    }
    return arena_spend(request->arena, 16 * count(request));
}

static enum status prepare_part(const struct tool_request *request, size_t i,
                                struct edit *all, struct tool_answer *answer)
{
    struct review *review;
    struct str text;
    size_t n;
    bool removes;
    enum status status = collect(request, i, all, &n, &removes);

    if (status == ST_OK && removes)
        status = check_alone(
            request, n, buf_view(&request->call->parts[i].place.path), answer);
    if (status == ST_OK && answer->state == TOOL_ASKS)
        status = changes_open(request, i, removes, &review, answer);
    if (status != ST_OK || answer->state != TOOL_ASKS || removes)
        return status;
    status = edits_make(review, all, n, count(request) > 1, &text, answer);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    return changes_compare(request, review, text, answer);
}

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    struct edit *all = arena_array(request->arena, count(request), sizeof *all);
    enum status status = all ? ST_OK : ST_NOMEM;

    for (size_t i = 0; i < request->call->part_count && status == ST_OK &&
                       answer->state == TOOL_ASKS;
         i++) {
        status = prepare_part(request, i, all, answer);
        if (status == ST_OK)
            status = changes_forgive(request, i, answer);
    }
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    return changes_propose(request, request->values[DESCRIPTION].string,
                           STR(""), question, answer);
}

const struct tool tool_propose_changes = {
    .name = "propose-changes",
    .title = "Propose changes",
    .description = "Edit, create or delete several files in one review.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .edits = true,
    .in_steps = true,
    .divide = divide,
    .prepare = prepare,
    .handler = changes_apply,
};
