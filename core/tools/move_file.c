/* SPDX-License-Identifier: GPL-3.0-or-later */
/* move_file.c: renames a file, never over another one. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "gate/changes.h"
#include "gate/place.h"
#include "tools/fields.h"
#include "tools/mentions.h"
#include "tools/sets.h"

enum { PATH, TO };
enum { OLD, NEW, PARTS };

static const struct schema_field fields[] = {
    [PATH] = FIELD_PATH,
    [TO] =
        {
            .name = "to",
            .kind = SCHEMA_STRING,
            .required = true,
        },
    {0},
};

/* The plan: the file as the user was asked about it. */
struct move {
    struct tool_plan plan; /* first */
    struct arena arena;
    struct files_content old;
};

static enum status divide(const struct tool_request *request,
                          struct tool_answer *answer)
{
    const struct str paths[PARTS] = {[OLD] = request->values[PATH].string,
                                     [NEW] = request->values[TO].string};

    return changes_divide(request, paths, PARTS, answer);
}

/* Reads the file of part I. */
static enum files_result read_part(const struct tool_request *request, size_t i,
                                   struct arena *arena,
                                   struct files_content *out,
                                   struct str *problem)
{
    struct tool_request part = *request;

    part.call = &request->call->parts[i];
    return place_read(&part, arena, LIMIT_FILE, out, problem);
}

static void move_free(struct tool_plan *plan)
{
    struct move *move = (struct move *)plan;

    arena_release(&move->arena);
    free(move);
}

static enum status make_plan(const struct tool_request *request,
                             struct move **out)
{
    struct move *move = calloc(1, sizeof *move);

    if (!move)
        return ST_NOMEM;
    move->plan = (struct tool_plan){move_free, &move->arena};
    move->arena.strand = request->arena->strand;
    if (request->call->plan)
        request->call->plan->free(request->call->plan);
    request->call->plan = &move->plan;
    *out = move;
    return ST_OK;
}

/* Whether the new name is free; else ANSWER says so. */
static enum status check_free(const struct tool_request *request,
                              struct arena *arena, struct tool_answer *answer)
{
    struct files_content there;
    struct str problem = STR("");
    enum files_result result = read_part(request, NEW, arena, &there, &problem);

    if (result == FILES_MISSING && there.name.n > 0)
        return ST_OK;
    if (result == FILES_OK)
        return review_fail(
            request->arena, answer, "ERROR",
            "%.*s exists, and a move never replaces a file. "
            "Nothing was moved.",
            STR_ARG(buf_view(&request->call->parts[NEW].place.path)));
    return review_fail_files(request->arena, result, problem, answer);
}

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    struct tool_call *parts = request->call->parts;
    struct move *move;
    struct str problem = STR("");
    enum status status = ST_OK;

    for (size_t i = 0;
         i < PARTS && status == ST_OK && answer->state == TOOL_ASKS; i++)
        status = changes_check_saved(request, &parts[i], answer);
    if (status == ST_OK && answer->state == TOOL_ASKS)
        status = make_plan(request, &move);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    enum files_result result =
        read_part(request, OLD, &move->arena, &move->old, &problem);
    if (result != FILES_OK)
        return review_fail_files(request->arena, result, problem, answer);
    status = check_free(request, &move->arena, answer);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    buf_str(&question->message, STR("Move "));
    utf8_append_visible(&question->message, buf_view(&parts[OLD].place.name));
    buf_str(&question->message, STR("\n  to "));
    utf8_append_visible(&question->message, buf_view(&parts[NEW].place.name));
    buf_printf(&question->message, "\n(%zu bytes)", move->old.bytes.n);
    buf_append(&question->substance, move->old.hash, FILES_HASH);
    return ST_OK;
}

/* For the log. */
static void note_move(const struct tool_request *request,
                      const unsigned char hash[FILES_HASH])
{
    struct tool_change *old = &request->call->parts[OLD].change;
    struct tool_change *new = &request->call->parts[NEW].change;

    old->made = true;
    new->made = true;
    digest_write(&old->before, hash);
    digest_write(&new->after, hash);
    if (buf_failed(&old->before))
        buf_reset(&old->before);
    if (buf_failed(&new->after))
        buf_reset(&new->after);
}

static enum status handle(const struct tool_request *request,
                          struct tool_answer *answer)
{
    const struct move *move = (const struct move *)request->call->plan;
    const struct files *files = request->files;
    struct tool_call *parts = request->call->parts;
    const struct files_place to = place_view(&parts[NEW]);
    struct str problem = STR("");
    struct str note;
    struct buf out = BUF_EMPTY;

    if (mentions_find(request, &parts[OLD], &note) != ST_OK)
        return ST_NOMEM;
    enum files_result result =
        files->move(files->context, request->arena, &move->old, &to, &problem);
    if (result != FILES_OK)
        return review_fail_files(request->arena, result, problem, answer);
    note_move(request, move->old.hash);
    if (!seen_differs(request->seen, move->old.name, move->old.hash))
        seen_note(request->seen, to.name, move->old.hash);
    buf_str(&out, STR("APPLIED: "));
    utf8_append_visible(&out, move->old.name);
    buf_str(&out, STR(" is now "));
    utf8_append_visible(&out, to.name);
    buf_printf(&out, "%s%.*s", note.n > 0 ? "\n" : "", STR_ARG(note));
    answer->state = TOOL_ANSWERED;
    return arena_take(request->arena, &out, &answer->text);
}

const struct tool tool_move_file = {
    .name = "move-file",
    .title = "Move file",
    .description = "Rename a file; the user approves.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .edits = true,
    .in_steps = true,
    .divide = divide,
    .prepare = prepare,
    .handler = handle,
};
