/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_search.c: finds the lines of a long output that match. Knows nothing
   of how outputs are kept. */
#include "supervisor/output_search.h"

#include <string.h>

#include "base/finder.h"
#include "base/limits.h"
#include "base/regex.h"
#include "base/utf8.h"

/* Work that each line is, besides that of its bytes. */
#define LINE 16

/* Bytes that are looked at between two looks at the strand. */
#define PIECE ((size_t)256 * 1024)

/* A line, or a part of one that is longer than LIMIT_OUTPUT_SEARCH_LINE. */
struct line {
    struct str text;
    size_t number;
    size_t offset; /* in characters */
};

struct search {
    struct regex regex;
    struct finder finder; /* of what all matches have; its part may be empty */
    size_t hit;           /* where that is next, or FINDER_NONE */
    struct str text;
    size_t at;        /* the byte that is searched next */
    struct line line; /* the one that begins there */
    struct line last; /* the one before it */
    bool shown_last;
    bool shown; /* something, so that what follows it is shown, too */
    size_t matches;
    struct buf *out;
};

static void show_around(struct search *search, const struct line *line)
{
    buf_printf(search->out, "%zu  ", line->number);
    utf8_append_around(search->out, line->text, 0);
    buf_byte(search->out, '\n');
}

static void show_match(struct search *search, size_t at)
{
    if (search->matches > 0 && !search->shown_last)
        buf_str(search->out, STR("--\n"));
    if (search->last.text.p && !search->shown_last)
        show_around(search, &search->last);
    buf_printf(search->out, "%zu: offset %zu: ", search->line.number,
               search->line.offset);
    utf8_append_around(search->out, search->line.text, at);
    buf_byte(search->out, '\n');
    search->matches++;
}

/* Reads the line at search->at into search->line, without its end, and returns
   the bytes up to the next one. */
static size_t take_line(struct search *search)
{
    struct str rest =
        str_make(search->text.p + search->at, search->text.n - search->at);
    bool long_line = rest.n > LIMIT_OUTPUT_SEARCH_LINE;
    size_t room = long_line ? LIMIT_OUTPUT_SEARCH_LINE : rest.n;
    const char *feed = memchr(rest.p, '\n', room);

    if (!feed && long_line)
        while (room > LIMIT_OUTPUT_SEARCH_LINE - 4 &&
               ((unsigned char)rest.p[room] & 0xc0) == 0x80)
            room--; // the middle of a character
    search->line.text = str_make(rest.p, feed ? (size_t)(feed - rest.p) : room);
    return search->line.text.n + (feed ? 1 : 0);
}

/* Whether the line matches, and where. */
static enum status check_line(struct search *search, const struct arena *arena,
                              bool *matches, size_t *at)
{
    enum status status = ST_OK;

    *matches = false;
    if (search->finder.part.n > 0) {
        if (search->hit != FINDER_NONE && search->hit < search->at)
            status = finder_next(&search->finder, search->text, search->at,
                                 &search->hit);
        if (status != ST_OK || search->hit == FINDER_NONE ||
            search->hit >= search->at + search->line.text.n)
            return status;
    }
    return regex_search(&search->regex, arena, search->line.text, matches, at);
}

/* Searches from search->at on until the end or a limit. */
static enum status search_lines(struct search *search,
                                const struct arena *arena, size_t limit)
{
    size_t start = search->out->n;

    while (search->at < search->text.n &&
           search->matches < LIMIT_SEARCH_MATCHES &&
           search->regex.work < LIMIT_OUTPUT_SEARCH_WORK &&
           search->out->n - start < limit) {
        size_t bytes = take_line(search);
        bool matches;
        size_t at = 0;
        enum status status = check_line(search, arena, &matches, &at);

        if (status != ST_OK)
            return status;
        bool after = search->shown;
        if (matches)
            show_match(search, at);
        else if (after)
            show_around(search, &search->line);
        search->shown = matches;
        search->shown_last = matches || after;
        search->last = search->line;
        search->line.offset +=
            utf8_starts(str_make(search->text.p + search->at, bytes));
        search->line.number += bytes > search->line.text.n;
        search->at += bytes;
        if (arena_spend(arena, LINE + bytes / 8) != ST_OK)
            return ST_NOMEM;
    }
    return ST_OK;
}

static enum status prepare(struct search *search, struct arena *arena,
                           struct str pattern, struct buf *out)
{
    struct str why;
    enum status status = regex_init(&search->regex, arena, pattern, &why);

    if (status == ST_INVALID)
        buf_printf(out, "argument pattern is not a regular expression: %.*s",
                   STR_ARG(why));
    else if (status == ST_OK && search->regex.literal.n > 0)
        status = finder_init(&search->finder, arena, search->regex.literal);
    if (status == ST_OK && search->finder.part.n > 0)
        status = finder_next(&search->finder, search->text, search->at,
                             &search->hit);
    return status;
}

/* Moves the start of SEARCH to the character OFFSET. *TOTAL: characters of the
   whole text. */
static enum status go_to(struct search *search, const struct arena *arena,
                         size_t offset, size_t *total)
{
    struct str text = search->text;
    size_t left = offset;
    bool found = false;

    search->line.offset = offset;
    search->line.number = 1;
    *total = 0;
    for (size_t done = 0; done < text.n;) {
        size_t n = text.n - done < PIECE ? text.n - done : PIECE;
        struct str piece = str_make(text.p + done, n);
        size_t chars = utf8_starts(piece);
        // the rest of a character that the piece before began goes with that
        struct str before =
            found ? str_make(piece.p, 0) : utf8_valid_head(piece, left);

        for (size_t i = 0; i < before.n; i++)
            search->line.number += before.p[i] == '\n';
        search->at += before.n;
        found = found || before.n < n;
        left -= left < chars ? left : chars;
        *total += chars;
        done += n;
        if (arena_spend(arena, n / 4) != ST_OK)
            return ST_NOMEM;
    }
    return ST_OK;
}

enum status output_search(struct arena *arena, struct str text, size_t offset,
                          size_t limit, struct str pattern, struct buf *out)
{
    struct search search = {.text = text, .out = out};
    size_t total = 0;
    enum status status = go_to(&search, arena, offset, &total);

    if (status == ST_OK)
        status = prepare(&search, arena, pattern, out);
    if (status == ST_OK)
        status = search_lines(&search, arena, limit);
    if (status != ST_OK)
        return status;
    buf_printf(out, "[%zu match%s in characters %zu to %zu of %zu",
               search.matches, search.matches == 1 ? "" : "es", offset,
               search.line.offset, total);
    if (search.at < text.n)
        buf_printf(out, "; offset %zu continues", search.line.offset);
    buf_byte(out, ']');
    return ST_OK;
}
