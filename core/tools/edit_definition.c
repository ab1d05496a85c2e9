/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edit_definition.c: changes one top-level form of a Lisp file, found by kind
   and name, and nothing else. */
#include "gate/review.h"
#include "gate/review_apply.h"
#include "source/definition.h"
#include "source/source.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { PATH, KIND, NAME, ACTION, CONTENT };

static const char *const actions[] = {"replace", "insert-before",
                                      "insert-after", "delete", NULL};

static const struct schema_field fields[] = {
    [PATH] = FIELD_PATH,
    [KIND] =
        {
            .name = "kind",
            .kind = SCHEMA_STRING,
            .required = true,
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
    {0},
};

/* CONTENT without line ends around it and blanks after it. */
static struct str trimmed(struct str content)
{
    while (content.n > 0 && (content.p[0] == '\n' || content.p[0] == '\r')) {
        content.p++;
        content.n--;
    }
    while (content.n > 0 && (content.p[content.n - 1] == '\n' ||
                             content.p[content.n - 1] == '\r' ||
                             content.p[content.n - 1] == ' '))
        content.n--;
    return content;
}

static void put_indent(struct buf *out, uint32_t column)
{
    for (uint32_t i = 0; i < column; i++)
        buf_byte(out, ' ');
}

/* Writes TEXT with MIDDLE instead of the bytes from FROM to TO. */
static void splice(struct buf *out, struct str text, size_t from, size_t to,
                   struct str middle)
{
    buf_append(out, text.p, from);
    buf_str(out, middle);
    buf_append(out, text.p + to, text.n - to);
}

/* Writes TEXT without FORM, its comment, and the empty lines after it. */
static void delete_form(struct buf *out, struct str text,
                        const struct definition *form)
{
    size_t from = form->comment;
    size_t to = form->tail;

    while (from > 0 && (text.p[from - 1] == ' ' || text.p[from - 1] == '\t'))
        from--;
    if (from == 0 || text.p[from - 1] == '\n')
        while (to < text.n && (text.p[to] == '\n' || text.p[to] == '\r'))
            to++;
    else
        from = form->comment; // something precedes it on its line
    splice(out, text, from, to, STR(""));
}

static void edit(struct buf *out, struct str text,
                 const struct definition *form, struct str action,
                 struct str content)
{
    if (str_eq(action, STR("replace"))) {
        splice(out, text, form->start, form->end, content);
    } else if (str_eq(action, STR("insert-before"))) {
        buf_append(out, text.p, form->comment);
        buf_str(out, content);
        buf_str(out, STR("\n\n"));
        put_indent(out, form->column);
        buf_append(out, text.p + form->comment, text.n - form->comment);
    } else if (str_eq(action, STR("insert-after"))) {
        buf_append(out, text.p, form->tail);
        buf_str(out, STR("\n\n"));
        put_indent(out, form->column);
        buf_str(out, content);
        buf_append(out, text.p + form->tail, text.n - form->tail);
    } else {
        delete_form(out, text, form);
    }
}

/* Proposes TEXT, unless Lisp could not read it, whatever the file was before.
 */
static enum status propose(struct review *review, struct str text,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    struct source_report report;
    enum status status = source_check(review->arena.strand, text, &report);

    if (status != ST_OK)
        return status;
    if (report.certain == 0)
        return review_propose(review, text, STR(""), true, question, answer);
    struct str why = source_describe(&review->arena, &report);
    if (why.n == 0)
        return ST_NOMEM;
    return review_fail(&review->arena, answer, "ERROR",
                       "%.*s would not be readable after this change. "
                       "Nothing was written, and the user was not asked.\n%.*s",
                       STR_ARG(review->name), STR_ARG(why));
}

static enum status prepare(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct str action =
        values[ACTION].given ? values[ACTION].string : STR("replace");
    bool deletes = str_eq(action, STR("delete"));
    struct str content = trimmed(values[CONTENT].string);
    struct review *review;
    struct definition form;
    struct str why;
    struct str text;

    if (!deletes && content.n == 0)
        return review_fail(request->arena, answer, "ERROR",
                           "argument content is missing: the new form. "
                           "Nothing was written.");
    enum status status = review_open(request, false, &review, answer);
    if (status != ST_OK || !review)
        return status;
    status =
        definition_find(&review->arena, review->before.text,
                        values[KIND].string, values[NAME].string, &form, &why);
    if (status == ST_NOMEM)
        return status;
    if (status != ST_OK)
        return review_fail(&review->arena, answer, "ERROR",
                           "%.*s: %.*s\nNothing was written, and the user was "
                           "not asked.",
                           STR_ARG(review->name), STR_ARG(why));
    if (text_normalize(&review->arena, &review->before, content, &content) !=
        ST_OK)
        return ST_NOMEM;
    struct buf out = BUF_EMPTY;
    edit(&out, review->before.text, &form, action, content);
    status = arena_take(&review->arena, &out, &text);
    return status == ST_OK ? propose(review, text, question, answer) : status;
}

const struct tool tool_edit_definition = {
    .name = "edit-definition",
    .title = "Edit definition",
    .description = "Replace or delete a top-level form of a Lisp file, or "
                   "insert forms next to it; the user reviews it.",
    .fields = fields,
    .level = TOOL_DANGEROUS,
    .destructive = true,
    .edits = true,
    .in_steps = true,
    .prepare = prepare,
    .handler = review_apply,
};
