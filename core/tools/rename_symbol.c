/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename_symbol.c: renames a symbol in the Lisp files of the workspace, in one
   review. What is not certain, and what comments and strings say, is listed. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "gate/changes.h"
#include "gate/place.h"
#include "source/rename.h"
#include "tools/edits.h"
#include "tools/fields.h"
#include "tools/lisp_files.h"
#include "tools/sets.h"

enum { SYMBOL, TO, PACKAGE, PATH };

static const struct schema_field fields[] = {
    [SYMBOL] =
        {
            .name = "symbol",
            .kind = SCHEMA_STRING,
            .required = true,
        },
    [TO] =
        {
            .name = "to",
            .kind = SCHEMA_STRING,
            .required = true,
        },
    [PACKAGE] = FIELD_PACKAGE,
    [PATH] =
        {
            .name = "path",
            .kind = SCHEMA_PATH,
            .fallback = "\".\"",
            .help = "Folder or file.",
        },
    {0},
};

/* A search through all files. */
struct search {
    const struct tool_request *request;
    struct arena *arena; /* of the files and facts */
    struct rename rename;
    struct lisp_file *files; /* that are looked through */
    struct str path;         /* the one of now */
    struct str text;         /* its text */
    size_t sure;             /* places in it */
    size_t sure_in_all;
    size_t paths; /* files with such places; with PATHS_OUT, they are kept */
    struct str *paths_out;
    size_t listed;
    size_t unlisted;
    struct rename_place last; /* that was listed, in this file */
    struct buf list;          /* of what is not touched */
};

/* The plan of a call: what is said besides the review. */
struct plan {
    struct tool_plan plan; /* first */
    struct arena arena;
    struct str note;
};

/* --- Searching ----------------------------------------------------------- */

static const char *words_for(enum rename_kind kind)
{
    switch (kind) {
    case RENAME_TAKEN:
        return "the new name is in use: ";
    case RENAME_UNSURE:
        return "not certain: ";
    case RENAME_OPTIONS:
        return "the initarg and accessors of a slot keep their names: ";
    case RENAME_MENTION:
        return "in a comment or string: ";
    case RENAME_SURE:
        break;
    }
    return "";
}

/* Lists the line around PLACE. */
static void list_place(struct search *s, const struct rename_place *place)
{
    size_t start = place->start;
    const char *feed = memchr(s->text.p + start, '\n', s->text.n - start);
    size_t end = feed ? (size_t)(feed - s->text.p) : s->text.n;

    if (place->line == s->last.line && place->kind == s->last.kind)
        return; // each line once
    s->last = *place;
    if (s->listed == LIMIT_RENAME_LISTED) {
        s->unlisted++;
        return;
    }
    s->listed++;
    while (start > 0 && s->text.p[start - 1] != '\n')
        start--;
    struct str line = str_trim(str_make(s->text.p + start, end - start));
    utf8_append_visible(&s->list, s->path);
    buf_printf(&s->list, ":%u: %s", (unsigned)place->line,
               words_for(place->kind));
    utf8_append_visible(&s->list, utf8_head(line, LIMIT_PREVIEW));
    buf_byte(&s->list, '\n');
}

static enum status take_place(void *context, const struct rename_place *place)
{
    struct search *s = context;

    if (place->kind == RENAME_SURE)
        s->sure++;
    else
        list_place(s, place);
    return ST_OK;
}

/* Finds the symbol in the file of S. */
static enum status look_through(struct search *s)
{
    struct arena arena = {.strand = s->arena->strand};

    s->sure = 0;
    s->last = (struct rename_place){.line = 0};
    enum status status =
        rename_scan(&s->rename, &arena, s->text, take_place, s);
    arena_release(&arena);
    s->sure_in_all += s->sure;
    if (status != ST_OK || s->sure == 0)
        return status;
    if (s->paths_out && s->paths <= LIMIT_CHANGES_FILES)
        s->paths_out[s->paths] = s->path;
    s->paths++;
    return ST_OK;
}

static enum status learn(void *context, struct str path, struct str text)
{
    struct search *s = context;

    (void)path;
    return rename_learn(&s->rename, text);
}

static enum status look(void *context, struct str path, struct str text)
{
    struct search *s = context;

    s->path = path;
    s->text = text;
    return lisp_files_are_named(s->request, path) ? look_through(s) : ST_OK;
}

/* Reads all files twice: what they say about packages, then where the symbol
   is. ANSWER says why that is not possible. */
static enum status search(struct search *s, struct tool_answer *answer)
{
    const struct tool_request *request = s->request;
    const struct schema_value *values = request->values;
    const char *fault = NULL;
    struct str why = STR("");
    enum status status = rename_init(
        &s->rename, s->arena, values[SYMBOL].string, values[TO].string, &fault);

    if (status == ST_INVALID)
        return review_fail(request->arena, answer, "ERROR",
                           "%s. Nothing was written.", fault);
    if (status == ST_OK)
        status = lisp_files_find(request, s->arena, &s->files, &why);
    if (status == ST_OK)
        status = lisp_files_read(request, s->arena, s->files, learn, s);
    if (status == ST_OK)
        status = rename_settle(&s->rename, values[PACKAGE].string, &why);
    if (status == ST_INVALID)
        return review_fail(request->arena, answer, "ERROR",
                           "%.*s: %.*s. Nothing was written.",
                           STR_ARG(values[SYMBOL].string), STR_ARG(why));
    if (status == ST_LIMIT)
        return review_fail(
            request->arena, answer, "ERROR",
            "There are too many Lisp files: at most %d of them, "
            "%u bytes, and %d facts about packages and structures. Nothing was "
            "written. Name a smaller folder.",
            LIMIT_RENAME_FILES, LIMIT_RENAME_BYTES, LIMIT_RENAME_FACTS);
    return status == ST_OK
               ? lisp_files_read(request, s->arena, s->files, look, s)
               : status;
}

/* Lists the files of which the user's editor has a text that is not known. */
static void list_unsaved(struct search *s)
{
    const struct tool_unsaved *unsaved = &s->request->call->unsaved;

    for (size_t i = 0; i < unsaved->count; i++) {
        const struct tool_unsaved_file *file = &unsaved->files[i];

        if (file->sent || !lisp_files_are_named(s->request, file->path))
            continue;
        utf8_append_visible(&s->list, file->path);
        buf_str(&s->list, STR(": its unsaved changes in the user's editor were "
                              "not searched\n"));
    }
    if (unsaved->more)
        buf_str(&s->list, STR("(the user's editor has more unsaved files; they "
                              "were not searched)\n"));
}

/* Lists the files whose text was not to be had; many are only counted. */
static void list_skipped(struct search *s)
{
    const struct lisp_file *file = s->files;

    for (; file; file = file->next) {
        if (!file->skipped || !lisp_files_are_named(s->request, file->path))
            continue;
        if (s->listed == LIMIT_RENAME_LISTED) {
            s->unlisted++;
            continue;
        }
        s->listed++;
        utf8_append_visible(&s->list, file->path);
        buf_printf(&s->list, ": not searched: %s\n", file->skipped);
    }
}

/* Moves the list of what is not touched into OUT. */
static enum status take_note(struct search *s, struct arena *arena,
                             struct str *out)
{
    struct buf note = BUF_EMPTY;

    list_skipped(s);
    list_unsaved(s);
    if (s->list.n > 0) {
        buf_str(&note, STR("Not touched:\n"));
        buf_str(&note, buf_view(&s->list));
        if (s->unlisted > 0)
            buf_printf(&note, "(and %zu more)\n", s->unlisted);
        buf_truncate(&note, note.n - 1);
    }
    note.failed = note.failed || buf_failed(&s->list);
    buf_release(&s->list);
    return arena_take(arena, &note, out);
}

/* Nothing is certain: what the list says is the answer. */
static enum status answer_nothing(struct search *s, struct str note,
                                  struct tool_answer *answer)
{
    answer->state = TOOL_ANSWERED;
    answer->text =
        arena_printf(s->request->arena,
                     "Nothing to rename: no file has %.*s::%.*s for "
                     "certain.%s%.*s",
                     STR_ARG(s->rename.package), STR_ARG(s->rename.name),
                     note.n > 0 ? "\n" : "", STR_ARG(note));
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

static enum status divide(const struct tool_request *request,
                          struct tool_answer *answer)
{
    struct search s = {.request = request, .arena = request->arena};
    struct str note;

    if (!tool_has_files(request, answer))
        return ST_OK;
    s.paths_out = arena_array(request->arena, LIMIT_CHANGES_FILES + 1,
                              sizeof *s.paths_out);
    enum status status = s.paths_out ? search(&s, answer) : ST_NOMEM;
    if (status == ST_OK)
        status = take_note(&s, request->arena, &note);
    else
        buf_release(&s.list);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    return s.paths == 0 ? answer_nothing(&s, note, answer)
                        : changes_divide(request, s.paths_out, s.paths, answer);
}

/* --- The review ---------------------------------------------------------- */

/* What replaces the old name in one text. */
struct renaming {
    struct arena *arena;
    struct str text;
    struct buf out;
    size_t done;
};

static enum status replace(void *context, const struct rename_place *place)
{
    struct renaming *r = context;
    enum status status = ST_OK;

    if (place->kind != RENAME_SURE)
        return ST_OK;
    status =
        arena_append(r->arena, &r->out,
                     str_make(r->text.p + r->done, place->start - r->done));
    buf_str(&r->out, place->text);
    r->done = place->end;
    return status;
}

/* *OUT is the text of REVIEW with the new name. */
static enum status rename_in(const struct search *s, struct review *review,
                             struct str *out)
{
    struct str text = review->before.text;
    struct renaming r = {&review->arena, text, BUF_EMPTY, 0};
    struct arena scratch = {.strand = review->arena.strand};
    enum status status = rename_scan(&s->rename, &scratch, text, replace, &r);

    arena_release(&scratch);
    if (status == ST_OK)
        status = arena_append(&review->arena, &r.out,
                              str_make(text.p + r.done, text.n - r.done));
    if (status == ST_OK)
        return arena_take(&review->arena, &r.out, out);
    buf_release(&r.out);
    return status;
}

static enum status prepare_part(const struct search *s, size_t i,
                                struct tool_answer *answer)
{
    struct review *review;
    struct str text;
    enum status status = changes_open(s->request, i, false, &review, answer);

    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    status = rename_in(s, review, &text);
    if (status == ST_OK && !review->buffer &&
        tool_find_unsaved(s->request->call, review->base.name))
        return review_fail(s->request->arena, answer, "ERROR",
                           "%.*s: the user has unsaved changes to it in the "
                           "editor. Nothing was written. The user has to save "
                           "it first.",
                           STR_ARG(review->name));
    if (status == ST_OK && review->buffer && str_eq(text, review->before.text))
        return review_fail(s->request->arena, answer, "ERROR",
                           "%.*s: its text in the user's editor no longer has "
                           "the symbol. Nothing was written. The user has to "
                           "save it first.",
                           STR_ARG(review->name));
    return status == ST_OK ? changes_compare(s->request, review, text, answer)
                           : status;
}

static void plan_free(struct tool_plan *plan)
{
    struct plan *own = (struct plan *)plan;

    arena_release(&own->arena);
    free(own);
}

static enum status make_plan(struct search *s, struct plan **out)
{
    struct tool_call *call = s->request->call;
    struct plan *plan = calloc(1, sizeof *plan);

    if (!plan)
        return ST_NOMEM;
    plan->plan = (struct tool_plan){plan_free, &plan->arena};
    plan->arena.strand = s->arena->strand;
    if (call->plan)
        call->plan->free(call->plan);
    call->plan = &plan->plan;
    *out = plan;
    return take_note(s, &plan->arena, &plan->note);
}

static enum status propose(struct search *s, struct tool_question *question,
                           struct tool_answer *answer)
{
    struct plan *plan;
    enum status status = make_plan(s, &plan);

    for (size_t i = 0; i < s->request->call->part_count && status == ST_OK &&
                       answer->state == TOOL_ASKS;
         i++) {
        status = prepare_part(s, i, answer);
        if (status == ST_OK)
            status = changes_forgive(s->request, i, answer);
    }
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    struct str reason = arena_printf(
        s->arena, "Rename %.*s::%.*s to %.*s", STR_ARG(s->rename.package),
        STR_ARG(s->rename.name), STR_ARG(s->rename.to));
    return changes_propose(s->request, reason, plan->note, question, answer);
}

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    struct search s = {.request = request, .arena = request->arena};
    enum status status = search(&s, answer);

    if (status == ST_OK && answer->state == TOOL_ASKS)
        status = propose(&s, question, answer);
    buf_release(&s.list);
    return status;
}

static enum status handle(const struct tool_request *request,
                          struct tool_answer *answer)
{
    const struct plan *plan = (const struct plan *)request->call->plan;

    return changes_apply_with(request, plan->note, answer);
}

const struct tool tool_rename_symbol = {
    .name = "rename-symbol",
    .title = "Rename symbol",
    .description = "Rename a symbol in all Lisp files, in one review; lists "
                   "comments and strings.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .edits = true,
    .in_steps = true,
    .divide = divide,
    .unsaved = lisp_files_ends,
    .prepare = prepare,
    .handler = handle,
};
