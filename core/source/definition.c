/* SPDX-License-Identifier: GPL-3.0-or-later */
/* definition.c: see definition.h. One walk over the text considers every form
   that is at the top level, or nearly so, and notes those that match, and those
   worth naming when none does. A text whose parentheses do not balance is
   walked again, and then each form in column 0 counts as a new one. */
#include "source/definition.h"

#include "base/buf.h"
#include "base/likeness.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "source/comment.h"
#include "source/datum.h"
#include "source/guess.h"
#include "source/nesting.h"
#include "source/query.h"
#include "source/token.h"

/* A form as it begins. */
struct form {
    struct definition place;
    struct str kind;
    struct str name;
    struct tokens rest; /* after the name */
};

/* Forms that are kept for a message, and the number of all of them. */
struct forms {
    struct form kept[LIMIT_SOURCE_CANDIDATES];
    size_t count;
};

/* The form with another name that is most like the one that is wanted. */
struct nearest {
    struct likeness likeness; /* to the name */
    struct form form;
    unsigned score; /* below NEAR: there is none */
};

struct walk {
    struct query query;
    struct tokens tokens;
    struct nesting nesting;
    bool resync;        /* a form in column 0 is a new one */
    size_t transparent; /* outermost lists whose contents are at the top
                           level */
    size_t last_end;    /* of the previous token */
    size_t gap;         /* of the token before the prefixes of this one */
    size_t next;        /* with RESYNC: forms that begin before it end here */
    struct forms found;
    struct forms other;     /* without a kind: those that do not look like
                               definitions */
    struct forms same_name; /* but of another kind, or with another rest */
    struct forms unlike;    /* with other names: of this kind, or any that look
                               like definitions */
    struct nearest nearest; /* among these */
};

/* How alike a name must be to be named (likeness.h), and how much of it is
   compared. */
#define NEAR 40
#define LONGEST 100

/* --- Walk ---------------------------------------------------------------- */

static void keep(struct forms *forms, const struct form *form)
{
    if (forms->count < LIMIT_SOURCE_CANDIDATES)
        forms->kept[forms->count] = *form;
    forms->count++;
}

/* Notes FORM, which has another name, if it is the most alike. */
static void compare(struct walk *walk, const struct form *form)
{
    struct nearest *nearest = &walk->nearest;
    struct str name =
        datum_is_list(form->name) ? datum_head(form->name) : form->name;
    unsigned score = likeness_to(&nearest->likeness, utf8_head(name, LONGEST));

    if (score <= nearest->score)
        return;
    nearest->score = score;
    nearest->form = *form;
}

/* Notes FORM, whose place is known except for its end, where it belongs. */
static void consider(struct walk *walk, const struct form *form)
{
    const struct query *query = &walk->query;
    bool defines = guess_is_definition(walk->tokens.text, form->place.start);
    bool kind = query->kind.n == 0 ? defines
                                   : datum_same_symbol(form->kind, query->kind);
    bool name = query_names(form->name, query->name);
    bool line = query->line == 0 || query->line == form->place.line;
    bool method = query_is_method(form->kind);
    bool rest = name && query_same_rest(form->rest, query->rest, method);
    bool wanted = query->kind.n > 0 && kind;
    if (kind && rest && line)
        keep(&walk->found, form);
    else if (query->kind.n == 0 && rest && line)
        keep(&walk->other, form);
    else if (name)
        keep(&walk->same_name, form);
    else if (wanted ||
             (defines && !datum_same_symbol(form->kind, STR("in-package")))) {
        keep(&walk->unlike, form);
        compare(walk, form);
    }
}

/* Whether what begins at AT is at the top level, apart from #+ and #-; *WHOLE
   is where the first of these begins, or AT. */
static bool at_top(const struct walk *walk, size_t at, size_t *whole)
{
    const struct nesting *nesting = &walk->nesting;
    if (nesting->lists > walk->transparent)
        return false;
    *whole = at;
    for (size_t i = nesting->depth; i-- > 0 && !nesting->frames[i].is_list;) {
        const struct nesting_frame *frame = &nesting->frames[i];
        if ((frame->mark != '+' && frame->mark != '-') || frame->objects == 0)
            return false;
        *whole = frame->start;
    }
    return true;
}

/* The text in which the form that begins at AT has to end. */
static struct str form_text(struct walk *walk, size_t at)
{
    struct str text = walk->tokens.text;
    if (!walk->resync)
        return text;
    while (walk->next <= at) {
        size_t from = walk->next;
        const char *line = memchr(text.p + from, '\n', text.n - from);
        while (line && line + 1 < text.p + text.n && line[1] != '(')
            line =
                memchr(line + 1, '\n', (size_t)(text.p + text.n - (line + 1)));
        walk->next = line && line + 1 < text.p + text.n
                         ? (size_t)(line + 1 - text.p)
                         : text.n;
    }
    return str_make(text.p, walk->next);
}

/* TOKEN opens a list: notes it when it is a definition. Returns whether its
   contents are at the top level, too. */
static bool open_form(struct walk *walk, struct token token)
{
    struct form form = {.place = {.start = token.start, .line = token.line}};
    if (token.mark != '(' || !at_top(walk, token.start, &form.place.whole))
        return false;
    form.rest = walk->tokens;
    form.rest.text = form_text(walk, token.start);
    struct token operator= tokens_next(&form.rest);
    if (operator.kind != TOKEN_ATOM || operator.mark != TOKEN_WORD)
        return false;
    form.kind = tokens_text(&form.rest, operator);
    if (datum_is_wrapper(form.kind))
        return true;
    form.name = datum_next(&form.rest);
    form.place.comment =
        comment_above(walk->tokens.text, walk->gap, form.place.whole);
    if (form.name.n > 0)
        consider(walk, &form);
    return false;
}

static void end_forms(struct forms *forms, size_t start, size_t end,
                      bool broken)
{
    size_t count = forms->count;
    if (count > LIMIT_SOURCE_CANDIDATES)
        count = LIMIT_SOURCE_CANDIDATES;
    for (size_t i = count; i-- > 0;) {
        struct definition *place = &forms->kept[i].place;
        if (place->start == start) {
            place->end = end;
            place->broken = broken;
        }
    }
}

/* Sets the end of the found form that begins at START, if there is one. */
static void end_form(struct walk *walk, size_t start, size_t end, bool broken)
{
    end_forms(&walk->found, start, end, broken);
    end_forms(&walk->other, start, end, broken);
}

/* Ends everything that is open, except the outermost LISTS. */
static void end_all(struct walk *walk, size_t lists)
{
    struct nesting *nesting = &walk->nesting;
    for (; nesting->lists > lists; nesting_close(nesting)) {
        // a stopped strand ends the text
        if (nesting->lists % 1024 == 0)
            (void)strand_spend(walk->tokens.strand, 32u * 1024);
        if (nesting->lists == walk->transparent + 1)
            end_form(walk, nesting_list(nesting)->start, walk->last_end, true);
    }
}

static enum status walk_text(struct walk *walk)
{
    struct token token = tokens_next(&walk->tokens);
    for (; token.kind != TOKEN_END; token = tokens_next(&walk->tokens)) {
        bool opens = token.kind == TOKEN_OPEN;
        struct nesting_step step;
        if (walk->resync && opens && token.first && token.column == 0)
            end_all(walk, walk->transparent);
        if (walk->nesting.lists == walk->transparent &&
            !nesting_waits(&walk->nesting))
            walk->gap = walk->last_end;
        bool transparent = opens && open_form(walk, token);
        enum status status = nesting_take(&walk->nesting, token, &step);
        if (status != ST_OK)
            return status;
        if (transparent)
            walk->transparent++;
        if (walk->transparent > walk->nesting.lists)
            walk->transparent = walk->nesting.lists;
        if (step.closes)
            end_form(walk, step.closed.start, token.end, false);
        walk->last_end = token.end;
    }
    return ST_OK;
}

/* Starts again at the beginning of the text. */
static void walk_again(struct walk *walk, bool resync)
{
    struct strand *strand = walk->tokens.strand;

    tokens_init(&walk->tokens, walk->tokens.text);
    walk->tokens.strand = strand;
    nesting_reset(&walk->nesting);
    walk->resync = resync;
    walk->transparent = 0;
    walk->last_end = 0;
    walk->gap = 0;
    walk->next = 0;
    walk->found.count = 0;
    walk->other.count = 0;
    walk->same_name.count = 0;
    walk->unlike.count = 0;
    walk->nearest.score = NEAR - 1;
}

/* --- Messages ------------------------------------------------------------ */

static void put_excerpt(struct buf *out, struct str s)
{
    struct str head = utf8_head(s, LIMIT_SOURCE_EXCERPT);
    utf8_append_visible(out, head);
    if (head.n < s.n)
        buf_str(out, STR("\xE2\x80\xA6"));
}

/* "area :around (circle t)": FORM's name and, for a method, what distinguishes
   it from others. */
static void put_name(struct buf *out, const struct form *form)
{
    struct tokens rest = form->rest;
    put_excerpt(out, form->name);
    if (!query_is_method(form->kind))
        return;
    struct str element = datum_next(&rest);
    for (; element.n > 0 && !datum_is_list(element);
         element = datum_next(&rest)) {
        buf_byte(out, ' ');
        put_excerpt(out, element);
    }
    struct datum_specialisers specialisers;
    datum_specialisers_init(&specialisers, element, true);
    const char *before = " (";
    struct str one = datum_specialiser(&specialisers);
    for (; one.n > 0; one = datum_specialiser(&specialisers)) {
        buf_str(out, str_from(before));
        put_excerpt(out, one);
        before = " ";
    }
    buf_str(out, str_from(*before == ' ' && before[1] == '(' ? " ()" : ")"));
}

/* "line 3: defmethod area (circle)" for each of FORMS. */
static void put_forms(struct buf *out, const struct forms *forms,
                      struct str text)
{
    for (size_t i = 0; i < forms->count && i < LIMIT_SOURCE_CANDIDATES; i++) {
        const struct form *form = &forms->kept[i];
        const struct definition *place = &form->place;
        buf_printf(out, "\n  line %u: ", (unsigned)place->line);
        put_excerpt(out, form->kind);
        buf_byte(out, ' ');
        put_name(out, form);
        if (place->whole < place->start) {
            buf_str(out, STR(", after "));
            put_excerpt(out, str_trim(str_make(text.p + place->whole,
                                               place->start - place->whole)));
        }
    }
    if (forms->count > LIMIT_SOURCE_CANDIDATES)
        buf_printf(out, "\n  and %zu more",
                   forms->count - LIMIT_SOURCE_CANDIDATES);
}

static void put_query(struct buf *out, const struct query *query)
{
    if (query->kind.n > 0) {
        buf_byte(out, '(');
        put_excerpt(out, query->kind);
        buf_byte(out, ' ');
    }
    put_excerpt(out, query->name);
    if (query->rest.n > 0) {
        buf_byte(out, ' ');
        put_excerpt(out, query->rest);
    }
    if (query->kind.n > 0)
        buf_str(out, STR(" \xE2\x80\xA6)"));
    if (query->line > 0)
        buf_printf(out, " in line %u", (unsigned)query->line);
}

static void put_missing(struct buf *out, const struct walk *walk)
{
    const struct form *nearest = &walk->nearest.form;
    buf_str(out, STR("There is no definition "));
    put_query(out, &walk->query);
    buf_byte(out, '.');
    if (walk->same_name.count > 0) {
        buf_str(out, STR(" Definitions with this name:"));
        put_forms(out, &walk->same_name, walk->tokens.text);
    } else if (walk->nearest.score >= NEAR) {
        buf_str(out, STR(" The nearest is "));
        put_excerpt(out, nearest->kind);
        buf_byte(out, ' ');
        put_name(out, nearest);
        buf_printf(out, " in line %u.", (unsigned)nearest->place.line);
    } else if (walk->unlike.count > 0) {
        buf_str(out, STR(" The file has:"));
        put_forms(out, &walk->unlike, walk->tokens.text);
    } else {
        buf_str(out, STR(" The file has no definitions."));
    }
}

static void put_ambiguous(struct buf *out, const struct walk *walk,
                          const struct forms *found)
{
    buf_printf(out, "%zu definitions match ", found->count);
    put_query(out, &walk->query);
    buf_printf(out,
               ". Add %s to the name, or @%u for the "
               "first of these lines:",
               walk->query.kind.n > 0 ? "qualifiers and specialisers"
                                      : "the kind, or specialisers",
               (unsigned)found->kept[0].place.line);
    put_forms(out, found, walk->tokens.text);
}

/* --- The result ---------------------------------------------------------- */

/* The result of a walk that reached the end of the text. */
static enum status judge(struct arena *arena, const struct walk *walk,
                         struct definition *out, struct str *why)
{
    struct buf message = BUF_EMPTY;
    enum status status = ST_OK;
    const struct forms *found = &walk->found;
    if (found->count == 0)
        found = &walk->other;
    if (found->count == 1) {
        struct str text = walk->tokens.text;
        *out = found->kept[0].place;
        out->tail = comment_after(text, out->end);
        size_t start = comment_line(text, 0, out->whole);
        out->column =
            (uint32_t)utf8_count(str_make(text.p + start, out->whole - start));
        return ST_OK;
    }
    if (found->count == 0) {
        status = ST_MISSING;
        put_missing(&message, walk);
    } else {
        status = ST_INVALID;
        put_ambiguous(&message, walk, found);
    }
    if (buf_failed(&message) ||
        arena_str(arena, buf_view(&message), why) != ST_OK)
        status = ST_NOMEM;
    buf_release(&message);
    return status;
}

/* Gives TEXT as the reason; returns STATUS. */
static enum status explain(struct arena *arena, struct str text,
                           enum status status, struct str *why)
{
    return arena_str(arena, text, why) == ST_OK ? status : ST_NOMEM;
}

enum status definition_find(struct arena *arena, struct str text,
                            struct str kind, struct str name,
                            struct definition *out, struct str *why)
{
    if (kind.n > LIMIT_SOURCE_NAME || name.n > LIMIT_SOURCE_NAME)
        return explain(arena,
                       arena_printf(arena,
                                    "kind and name of a definition have at "
                                    "most %d bytes.",
                                    LIMIT_SOURCE_NAME),
                       ST_LIMIT, why);
    struct query query = {.line = 0};
    enum status status = query_read(kind, name, &query);
    if (status == ST_INVALID)
        return explain(
            arena,
            STR("kind must be an operator such as defun, and name must be "
                "written as in the source, such as area, (setf area) or "
                "area :around (circle t)."),
            ST_INVALID, why);
    if (status != ST_OK)
        return status;

    struct walk *walk = arena_array(arena, 1, sizeof *walk);
    if (!walk)
        return ST_NOMEM;
    walk->query = query;
    likeness_init(&walk->nearest.likeness, utf8_head(query.name, LONGEST));
    walk->tokens.text = text;
    walk->tokens.strand = arena->strand;
    walk_again(walk, false);
    status = walk_text(walk);
    if (status == ST_OK && walk->nesting.lists > 0) {
        walk_again(walk, true);
        status = walk_text(walk);
        if (status == ST_OK)
            end_all(walk, 0);
    }
    nesting_release(&walk->nesting);
    if (status == ST_LIMIT)
        return explain(arena,
                       arena_printf(arena, "the text is nested deeper than %d.",
                                    LIMIT_SOURCE_DEPTH),
                       ST_LIMIT, why);
    return status == ST_OK ? judge(arena, walk, out, why) : status;
}
