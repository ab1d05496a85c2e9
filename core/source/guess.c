/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guess.c: see guess.h. A line that is not indented deeper than an open list is
   a sign that the list should have been closed before. When a superfluous
   closing parenthesis follows in the same form, the last sign was wrong and is
   taken back. The parentheses that remain at the next form are missing. */
#include "source/guess.h"

#include <stdlib.h>

#include "source/datum.h"

/* Lines of one form that may be such signs: when there are more, its
   indentation means nothing. */
#define SIGNS 1000

struct search {
    struct str text;
    struct tokens tokens;
    struct nesting nesting;
    struct guess *guess;
    struct guess_fix signs[SIGNS]; /* of the form */
    size_t count;
    size_t missing;  /* lists of all signs */
    size_t line;     /* start of the last line */
    size_t flat;     /* start of a wrapper with its contents in column 0 */
    size_t outer;    /* that wrapper and the lists around it; 0: none */
    bool indented;   /* the form has an indented line */
    bool unreliable; /* more signs than SIGNS */
};

static void add_fix(struct guess *guess, size_t before, size_t lists)
{
    if (guess->count < LIMIT_SOURCE_PROBLEMS)
        guess->fixes[guess->count++] = (struct guess_fix){before, lists};
}

/* The form ends before the byte BEFORE; the outermost KEEP lists stay open. */
static void end_form(struct search *search, size_t before, size_t keep)
{
    bool by_line = search->indented && !search->unreliable;
    size_t open = search->nesting.lists - keep;
    for (size_t i = 0; by_line && i < search->count; i++)
        add_fix(search->guess, search->signs[i].before, search->signs[i].lists);
    if (!by_line)
        open += search->missing;
    if (open > 0)
        add_fix(search->guess, before, open);
    while (search->nesting.lists > keep) {
        nesting_close(&search->nesting);
        // once it is stopped, the text ends
        if (search->nesting.lists % 1024 == 1023)
            (void)strand_spend(search->tokens.strand, (size_t)16 * 1024);
    }
    search->count = 0;
    search->missing = 0;
    search->indented = false;
    search->unreliable = false;
}

/* Whether the innermost list is a wrapper such as progn whose contents, of
   which TOKEN is the first, begin in column 0. */
static bool is_flat(struct search *search, struct token token)
{
    const struct nesting_frame *list = nesting_list(&search->nesting);
    struct str text = search->text;
    if (!list || token.column > 0)
        return false;
    if (search->outer > 0 && search->flat == list->start)
        return true;
    if (search->line > list->start ||
        !datum_is_wrapper(datum_head(
            str_make(text.p + list->start, token.start - list->start))))
        return false;
    search->flat = list->start;
    search->outer = search->nesting.lists;
    return true;
}

/* TOKEN begins a line: closes the lists to which it does not belong. */
static void begin_line(struct search *search, struct token token)
{
    const struct nesting_frame *list = nesting_list(&search->nesting);
    size_t lists = 0;
    bool flat = is_flat(search, token);
    search->line = token.start;
    if (flat)
        return;
    if (guess_is_form(search->text, token)) {
        end_form(search, token.start, search->outer);
        return;
    }
    if (token.indent > 0)
        search->indented = true;
    // Labels and #+ may be indented in any way.
    if ((token.indent == 0 && token.kind == TOKEN_ATOM) ||
        (token.kind == TOKEN_PREFIX &&
         (token.mark == '+' || token.mark == '-')))
        return;
    for (; list && token.indent <= list->indent; lists++) {
        nesting_close(&search->nesting);
        list = nesting_list(&search->nesting);
    }
    if (lists == 0)
        return;
    search->missing += lists;
    if (search->count < SIGNS)
        search->signs[search->count++] = (struct guess_fix){token.start, lists};
    else
        search->unreliable = true;
}

/* There is a superfluous closing parenthesis. */
static void take_back(struct search *search)
{
    if (search->missing == 0)
        return;
    search->missing--;
    if (search->count > 0 && --search->signs[search->count - 1].lists == 0)
        search->count--;
}

static enum status search_text(struct search *search)
{
    struct token token = tokens_next(&search->tokens);
    for (; token.kind != TOKEN_END; token = tokens_next(&search->tokens)) {
        struct nesting_step step;
        if (token.first && token.kind != TOKEN_CLOSE)
            begin_line(search, token);
        enum status status = nesting_take(&search->nesting, token, &step);
        if (status != ST_OK)
            return status;
        if (step.fault == TOKEN_EXTRA)
            take_back(search);
        if (search->outer > search->nesting.lists)
            search->outer = 0;
    }
    end_form(search, search->text.n, 0);
    return ST_OK;
}

enum status guess_missing(struct strand *strand, struct str text,
                          const struct nesting_frame *from, struct guess *out)
{
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return ST_NOMEM;
    struct guess guess = {.count = 0};
    search->text = text;
    search->guess = &guess;
    search->line = from->start;
    tokens_resume(&search->tokens, text, from->start, from->line, from->column,
                  from->indent);
    search->tokens.strand = strand;
    enum status status = search_text(search);
    nesting_release(&search->nesting);
    free(search);
    if (status == ST_OK)
        *out = guess;
    return status;
}

bool guess_is_definition(struct str text, size_t start)
{
    struct tokens tokens;
    tokens_resume(&tokens, text, start + 1, 1, 0, 0);
    struct token token = tokens_next(&tokens);
    if (token.kind != TOKEN_ATOM || token.mark != TOKEN_WORD)
        return false;
    struct str name = token_split(tokens_text(&tokens, token)).name;
    return (name.n > 3 && token_same_name(str_make(name.p, 3), STR("def"))) ||
           token_same_name(name, STR("in-package"));
}

bool guess_is_form(struct str text, struct token token)
{
    if (token.kind != TOKEN_OPEN || token.column > 0)
        return false;
    size_t at = token.start;
    if (at > 0)
        at--; // the line break before it
    while (at > 0 && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t' ||
                      text.p[at - 1] == '\r'))
        at--;
    return at == 0 || text.p[at - 1] == '\n' ||
           guess_is_definition(text, token.start);
}

void guess_follow(struct guess_run *run, struct token token,
                  const struct nesting_step *step)
{
    if (step->closes)
        run->closed[run->count++ % GUESS_CLOSED] =
            (struct guess_closed){.token = token, .list = step->closed};
    else
        run->count = 0;
}

const struct guess_closed *guess_too_early(const struct guess_run *run,
                                           struct token token)
{
    size_t i = run->count > GUESS_CLOSED ? run->count - GUESS_CLOSED : 0;
    if (!token.first || token.kind == TOKEN_CLOSE)
        return NULL;
    // The outermost one must be to the left, too: its place was this line.
    if (run->count == 0 ||
        run->closed[(run->count - 1) % GUESS_CLOSED].list.indent >=
            token.indent)
        return NULL;
    while (run->closed[i % GUESS_CLOSED].list.indent >= token.indent)
        i++;
    return &run->closed[i % GUESS_CLOSED];
}
