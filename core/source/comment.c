/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comment.c: see comment.h. */
#include "source/comment.h"

/* White space within a line. */
static bool is_blank(char c)
{
    return c != '\n' && str_is_space(c);
}

size_t comment_line(struct str text, size_t from, size_t at)
{
    while (at > from && text.p[at - 1] != '\n')
        at--;
    return at;
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.n && is_blank(text.p[at]))
        at++;
    return at;
}

/* Whether the line that begins at START is a comment about the form below it:
   not the title of a section, nor a line of settings for an editor. */
static bool is_comment_line(struct str text, size_t start)
{
    size_t at = skip_blanks(text, start);
    struct str line = str_make(text.p + at, text.n - at);
    const char *end = memchr(line.p, '\n', line.n);
    if (end)
        line.n = (size_t)(end - line.p);
    if (!str_starts(line, STR(";")) || str_starts(line, STR(";;;;")))
        return false;
    for (size_t i = 0; i + 3 <= line.n; i++)
        if (str_starts(str_make(line.p + i, line.n - i), STR("-*-")))
            return false;
    return true;
}

size_t comment_above(struct str text, size_t from, size_t at)
{
    // A comment between bars may contain what looks like a comment line.
    for (size_t i = at; i >= from + 2; i--)
        if (text.p[i - 2] == '|' && text.p[i - 1] == '#') {
            from = i;
            break;
        }
    // The line in which FROM is does not belong to a comment above.
    while (from > 0 && from < at && text.p[from - 1] != '\n')
        from++;
    size_t start = comment_line(text, from, at);
    size_t comment = at;
    if (skip_blanks(text, start) != at)
        return at;
    while (start > from) {
        start = comment_line(text, from, start - 1);
        if (!is_comment_line(text, start))
            break;
        comment = skip_blanks(text, start);
    }
    return comment;
}

size_t comment_after(struct str text, size_t end)
{
    size_t at = skip_blanks(text, end);
    if (at == text.n || text.p[at] != ';')
        return end;
    while (at < text.n && text.p[at] != '\n')
        at++;
    return text.p[at - 1] == '\r' ? at - 1 : at;
}
