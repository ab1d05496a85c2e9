/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outline.c: see outline.h. */
#include "source/outline.h"

#include "base/utf8.h"
#include "source/datum.h"
#include "source/guess.h"
#include "source/nesting.h"
#include "source/token.h"

/* Characters that are shown of a line. */
#define SHOWN_CHARS 100

struct scan {
    struct tokens tokens;
    struct nesting nesting;
    size_t transparent; /* outermost lists whose contents are shown, too */
    size_t first;
    size_t chars;
    struct outline *out;
};

/* Adds the form that TOKEN begins: its first line, as it is indented. */
static void add(struct scan *scan, struct token token)
{
    struct str text = scan->tokens.text;
    struct outline *out = scan->out;
    struct str line = str_make(text.p + token.start, text.n - token.start);
    const char *end = memchr(line.p, '\n', line.n);

    if (end)
        line.n = (size_t)(end - line.p);
    if (token.line < scan->first || out->next > 0)
        return;
    if (out->text.n >= scan->chars) {
        out->next = token.line;
        return;
    }
    struct str head = utf8_head(str_trim(line), SHOWN_CHARS);
    buf_printf(&out->text, "%u: ", (unsigned)token.line);
    for (size_t i = 0; i < 2 * scan->nesting.lists; i++)
        buf_byte(&out->text, ' ');
    utf8_append_visible(&out->text, head);
    buf_str(&out->text,
            head.n < str_trim(line).n ? STR("\xE2\x80\xA6\n") : STR("\n"));
    out->forms++;
}

/* TOKEN opens a list. Returns whether its contents are shown. */
static bool open_list(struct scan *scan, struct token token)
{
    struct str text = scan->tokens.text;
    const struct nesting *nesting = &scan->nesting;
    struct tokens inside = scan->tokens;

    // in broken code, what stands in column 0 is a new form
    if (token.first && token.column == 0 && nesting->lists > 0 &&
        guess_is_definition(text, token.start)) {
        nesting_reset(&scan->nesting);
        scan->transparent = 0;
    }
    if (nesting->lists > scan->transparent || token.mark != '(')
        return false;
    bool outermost = nesting->lists == 0;
    if (!outermost && !guess_is_definition(text, token.start))
        return false;
    add(scan, token);
    struct token operator= tokens_next(&inside);
    return operator.kind == TOKEN_ATOM && operator.mark == TOKEN_WORD &&
        datum_is_wrapper(tokens_text(&inside, operator));
}

enum status outline_make(struct strand *strand, struct str text, size_t first,
                         size_t chars, struct outline *out)
{
    struct scan scan = {.first = first, .chars = chars, .out = out};
    enum status status = ST_OK;

    *out = (struct outline){.text = BUF_EMPTY};
    tokens_init(&scan.tokens, text);
    scan.tokens.strand = strand;
    struct token token = tokens_next(&scan.tokens);
    while (status == ST_OK && token.kind != TOKEN_END) {
        struct nesting_step step;
        bool shown = token.kind == TOKEN_OPEN && open_list(&scan, token);

        status = nesting_take(&scan.nesting, token, &step);
        if (shown)
            scan.transparent = scan.nesting.lists;
        if (scan.transparent > scan.nesting.lists)
            scan.transparent = scan.nesting.lists;
        token = tokens_next(&scan.tokens);
    }
    nesting_release(&scan.nesting);
    if (status == ST_OK && buf_failed(&out->text))
        status = ST_NOMEM;
    if (status != ST_OK)
        buf_release(&out->text);
    return status;
}
