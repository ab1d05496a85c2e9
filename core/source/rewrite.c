/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rewrite.c: see rewrite.h. */
#include "source/rewrite.h"

#include "base/buf.h"
#include "source/comment.h"
#include "source/datum.h"
#include "source/source.h"
#include "source/token.h"

/* The parts of new content, each perhaps empty. */
struct parts {
    struct str comment; /* above, without the line break after it */
    struct str guard;   /* #+ and #- with their conditions, and what is between
                           them and the form */
    struct str forms;   /* the rest */
    bool has_tail;      /* it ends in a comment */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_blank_line(struct str text, size_t start)
{
    while (start < text.n && (is_blank(text.p[start]) || text.p[start] == '\r'))
        start++;
    return start == text.n || text.p[start] == '\n';
}

/* --- Indentation --------------------------------------------------------- */

/* The blanks at START, a line of TEXT. */
static struct str blanks_at(struct str text, size_t start)
{
    size_t end = start;

    while (end < text.n && is_blank(text.p[end]))
        end++;
    return str_make(text.p + start, end - start);
}

/* TEXT without empty lines around it and blanks after it. */
static struct str without_ends(struct str text)
{
    while (text.n > 0 && str_is_space(text.p[text.n - 1]))
        text.n--;
    for (size_t i = 0; i < text.n && str_is_space(text.p[i]); i++)
        if (text.p[i] == '\n') {
            text = str_make(text.p + i + 1, text.n - i - 1);
            i = (size_t)-1;
        }
    return text;
}

/* Where the next line of TEXT after AT begins that is not inside a token, such
   as a string, and not empty; TEXT.n: there is none. TOKENS and TOKEN are where
   they were the last time. */
static size_t next_line(struct tokens *tokens, struct token *token, size_t at)
{
    struct str text = tokens->text;

    for (;;) {
        const char *feed = memchr(text.p + at, '\n', text.n - at);

        if (!feed)
            return text.n;
        at = (size_t)(feed - text.p) + 1;
        while (token->kind != TOKEN_END && token->end <= at)
            *token = tokens_next(tokens);
        if (!is_blank_line(text, at) && (token->start >= at))
            return at;
    }
}

/* The least indentation of the lines of TEXT but the first; SIZE_MAX: it has
   one line. */
static size_t least_indent(struct str text, struct strand *strand)
{
    struct tokens tokens;
    size_t least = SIZE_MAX;

    tokens_init(&tokens, text);
    tokens.strand = strand;
    struct token token = tokens_next(&tokens);
    for (size_t at = next_line(&tokens, &token, 0); at < text.n;
         at = next_line(&tokens, &token, at)) {
        size_t n = blanks_at(text, at).n;

        least = n < least ? n : least;
    }
    return least;
}

/* Appends CONTENT with its first line as it is and without blanks before it,
   and the others moved from the column of that line to INDENT: unless they are
   there already. */
static void put_indented(struct buf *out, struct str content, struct str indent,
                         struct strand *strand)
{
    size_t own = blanks_at(content, 0).n;
    size_t least = least_indent(content, strand);
    struct tokens tokens;
    size_t from = own;

    // the body of what starts in column 0 is never so far to the right
    if (own == 0 && least != SIZE_MAX && indent.n > 0 && least >= indent.n + 2)
        indent = STR("");
    if (own > least)
        own = least; // it is indented in no usual way
    tokens_init(&tokens, content);
    tokens.strand = strand;
    struct token token = tokens_next(&tokens);
    for (size_t at = next_line(&tokens, &token, 0); at < content.n;
         at = next_line(&tokens, &token, at)) {
        buf_append(out, content.p + from, at - from);
        buf_str(out, indent);
        from = at + own;
    }
    buf_append(out, content.p + from, content.n - from);
}

/* --- Parts --------------------------------------------------------------- */

static struct parts take_apart(struct str content, struct strand *strand)
{
    struct parts parts = {.forms = content};
    struct tokens tokens;

    tokens_init(&tokens, content);
    tokens.strand = strand;
    struct token token = tokens_next(&tokens);
    if (token.kind == TOKEN_END) {
        parts.comment = content;
        parts.forms = STR("");
        return parts;
    }
    size_t start = token.start;
    size_t form = start;
    while (token.kind == TOKEN_PREFIX &&
           (token.mark == '+' || token.mark == '-')) {
        (void)datum_next(&tokens); // its condition
        token = tokens_next(&tokens);
        form = token.start;
    }
    parts.comment = str_trim(str_make(content.p, start));
    parts.guard = str_make(content.p + start, form - start);
    parts.forms = str_make(content.p + form, content.n - form);
    size_t last = token.end;
    for (; token.kind != TOKEN_END; token = tokens_next(&tokens))
        last = token.end;
    parts.has_tail =
        str_trim(str_make(content.p + last, content.n - last)).n > 0;
    return parts;
}

/* Whether CONTENT needs a line break before what follows at AT in TEXT: it ends
   in a comment, or in what may be a part of a word. */
static bool needs_break(struct str content, bool has_tail, struct str text,
                        size_t at)
{
    if (is_blank_line(text, at))
        return false;
    return has_tail || (content.n > 0 && content.p[content.n - 1] != ')' &&
                        !str_is_space(text.p[at]) && text.p[at] != ')');
}

/* --- Actions ------------------------------------------------------------- */

static struct str slice(struct str text, size_t from, size_t to)
{
    return str_make(text.p + from, to - from);
}

/* What is done, and on what. */
struct job {
    struct arena *arena;
    struct str text;
    const struct definition *form;
    struct str content;
    struct str indent; /* of the form */
    struct buf *out;
};

/* Appends the content, indented, then the text from REST on. */
static void put_content(const struct job *job, bool has_tail, size_t rest)
{
    put_indented(job->out, job->content, job->indent, job->arena->strand);
    if (needs_break(job->content, has_tail, job->text, rest)) {
        buf_byte(job->out, '\n');
        buf_str(job->out, job->indent);
    }
    buf_str(job->out, slice(job->text, rest, job->text.n));
}

/* The comment that CONTENT brings, the guard of FORM, and the forms of
   CONTENT. */
static enum status merge(struct arena *arena, struct str content,
                         const struct parts *parts, struct str guard,
                         struct str *out)
{
    struct str blanks = blanks_at(content, 0);
    struct str words = str_trim(guard);
    struct buf merged = BUF_EMPTY;

    buf_str(&merged, blanks);
    buf_str(&merged, parts->comment);
    buf_byte(&merged, '\n');
    buf_str(&merged, blanks);
    buf_str(&merged, words);
    if (memchr(words.p + words.n, '\n', guard.n - words.n)) {
        buf_byte(&merged, '\n');
        buf_str(&merged, blanks);
    } else {
        buf_byte(&merged, ' ');
    }
    buf_str(&merged, parts->forms);
    return arena_take(arena, &merged, out);
}

/* The parts that the content brings, and those of the form that it does not. */
static enum status replace(struct job *job)
{
    const struct definition *form = job->form;
    struct parts parts = take_apart(job->content, job->arena->strand);
    bool guarded = form->whole < form->start;
    enum status status = ST_OK;

    if (parts.forms.n == 0) { // comments only: nothing is left to guard
        buf_str(job->out, slice(job->text, 0, form->comment));
        put_content(job, true, form->tail);
        return ST_OK;
    }
    if (guarded && parts.comment.n > 0 && parts.guard.n == 0)
        status =
            merge(job->arena, job->content, &parts,
                  slice(job->text, form->whole, form->start), &job->content);
    if (status != ST_OK)
        return status;
    size_t from = form->start;
    if (parts.comment.n > 0)
        from = form->comment;
    else if (parts.guard.n > 0)
        from = form->whole;
    buf_str(job->out, slice(job->text, 0, from));
    put_content(job, parts.has_tail, parts.has_tail ? form->tail : form->end);
    return ST_OK;
}

/* Without FORM, what belongs to it, and the empty lines after it. */
static void delete_form(struct buf *out, struct str text,
                        const struct definition *form)
{
    size_t from = form->comment;
    size_t to = form->tail;

    while (from > 0 && is_blank(text.p[from - 1]))
        from--;
    if (from == 0 || text.p[from - 1] == '\n')
        while (to < text.n && (text.p[to] == '\n' || text.p[to] == '\r'))
            to++;
    else
        from = form->comment; // something precedes it on its line
    buf_str(out, slice(text, 0, from));
    buf_str(out, slice(text, to, text.n));
}

static void insert_before(const struct job *job)
{
    size_t at = job->form->comment;

    buf_str(job->out, slice(job->text, 0, at));
    put_indented(job->out, job->content, job->indent, job->arena->strand);
    buf_str(job->out, STR("\n\n"));
    buf_str(job->out, job->indent);
    buf_str(job->out, slice(job->text, at, job->text.n));
}

static void insert_after(const struct job *job)
{
    size_t at = job->form->tail;

    buf_str(job->out, slice(job->text, 0, at));
    buf_str(job->out, STR("\n\n"));
    buf_str(job->out, job->indent);
    put_content(job, take_apart(job->content, job->arena->strand).has_tail, at);
}

/* How the line in which FORM begins is indented: as it is written, or, when
   something precedes FORM, by as many blanks. */
static enum status indent_of(struct arena *arena, struct str text,
                             const struct definition *form, struct str *out)
{
    size_t start = comment_line(text, 0, form->whole);
    struct str blanks = blanks_at(text, start);
    struct buf spaces = BUF_EMPTY;

    *out = blanks;
    if (start + blanks.n == form->whole)
        return ST_OK;
    for (uint32_t i = 0; i < form->column; i++)
        buf_byte(&spaces, ' ');
    return arena_take(arena, &spaces, out);
}

/* ST_INVALID: CONTENT is not a row of whole forms. */
static enum status check(struct arena *arena, struct str content,
                         struct str *why)
{
    struct source_report report;
    enum status status = source_check(arena->strand, content, &report);

    if (status != ST_OK || report.certain == 0)
        return status;
    *why = source_describe(arena, &report);
    return why->n > 0 ? ST_INVALID : ST_NOMEM;
}

enum status rewrite_make(struct arena *arena, const struct rewrite *rewrite,
                         struct str *out, struct str *why)
{
    struct buf buf = BUF_EMPTY;
    struct job job = {.arena = arena,
                      .text = rewrite->text,
                      .form = rewrite->form,
                      .content = without_ends(rewrite->content),
                      .out = &buf};
    enum status status = ST_OK;

    if (rewrite->action != REWRITE_DELETE)
        status = check(arena, job.content, why);
    if (status == ST_OK)
        status = indent_of(arena, job.text, job.form, &job.indent);
    if (status != ST_OK)
        return status;
    switch (rewrite->action) {
    case REWRITE_REPLACE:
        status = replace(&job);
        break;
    case REWRITE_BEFORE:
        insert_before(&job);
        break;
    case REWRITE_AFTER:
        insert_after(&job);
        break;
    case REWRITE_DELETE:
        delete_form(&buf, job.text, job.form);
        break;
    }
    if (status == ST_OK)
        return arena_take(arena, &buf, out);
    buf_release(&buf);
    return status;
}
