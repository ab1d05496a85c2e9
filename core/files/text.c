/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c: see text.h. */
#include "files/text.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

#define BOM STR("\xef\xbb\xbf")

static enum text_ends find_ends(struct str bytes)
{
    size_t feeds = 0;
    size_t pairs = 0;

    for (size_t i = 0; i < bytes.n; i++) {
        if (bytes.p[i] != '\n')
            continue;
        feeds++;
        pairs += i > 0 && bytes.p[i - 1] == '\r';
    }
    if (pairs == 0)
        return TEXT_LF;
    return pairs == feeds ? TEXT_CRLF : TEXT_MIXED;
}

static enum status without_returns(struct arena *arena, struct str text,
                                   struct str *out)
{
    struct buf plain = BUF_EMPTY;

    (void)buf_reserve(&plain, text.n);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '\r' || i + 1 == text.n || text.p[i + 1] != '\n')
            buf_byte(&plain, text.p[i]);
    return arena_take(arena, &plain, out);
}

static enum status from_latin1(struct arena *arena, struct str bytes,
                               struct str *out)
{
    struct buf text = BUF_EMPTY;
    char code[4];

    for (size_t i = 0; i < bytes.n; i++)
        buf_append(&text, code, utf8_encode((unsigned char)bytes.p[i], code));
    return arena_take(arena, &text, out);
}

enum status text_normalize(struct arena *arena, const struct text *form,
                           struct str text, struct str *out)
{
    if (form->ends == TEXT_CRLF)
        return without_returns(arena, text, out);
    *out = text;
    return ST_OK;
}

enum status text_decode(struct arena *arena, struct str bytes, struct text *out)
{
    struct text text = {.text = bytes, .ends = find_ends(bytes)};
    enum status status = ST_OK;

    if (bytes.n > 0 && memchr(bytes.p, '\0', bytes.n))
        return ST_INVALID;
    if (str_starts(bytes, BOM)) {
        text.text = str_make(bytes.p + BOM.n, bytes.n - BOM.n);
        text.coding = TEXT_UTF8_BOM;
    }
    if (!utf8_is_valid(text.text)) {
        text.coding = TEXT_LATIN1; // then a BOM is three characters, too
        status = from_latin1(arena, bytes, &text.text);
    }
    if (status == ST_OK)
        status = text_normalize(arena, &text, text.text, &text.text);
    if (status == ST_OK)
        *out = text;
    return status;
}

static enum status cannot_encode(struct arena *arena, struct str text,
                                 size_t at, struct str character,
                                 struct str *problem)
{
    size_t line = 1;

    for (size_t i = 0; i < at; i++)
        line += text.p[i] == '\n';
    *problem = arena_printf(
        arena, "the file is in Latin-1, which has no character %.*s (line %zu)",
        STR_ARG(character), line);
    return problem->n > 0 ? ST_INVALID : ST_NOMEM;
}

enum status text_encode(struct arena *arena, const struct text *form,
                        struct str text, struct str *out, struct str *problem)
{
    struct buf bytes = BUF_EMPTY;
    struct str rest = text;

    if (form->coding == TEXT_UTF8 && form->ends != TEXT_CRLF) {
        *out = text;
        return ST_OK;
    }
    (void)buf_reserve(&bytes, text.n + BOM.n);
    if (form->coding == TEXT_UTF8_BOM)
        buf_str(&bytes, BOM);
    while (rest.n > 0) {
        uint32_t code = 0;
        size_t n = utf8_decode(rest, &code);

        if (n == 0) { // impossible in a text from JSON, but nothing is lost
            code = (unsigned char)rest.p[0];
            n = 1;
        }
        if (code > 0xff && form->coding == TEXT_LATIN1) {
            buf_release(&bytes);
            return cannot_encode(arena, text, text.n - rest.n,
                                 str_make(rest.p, n), problem);
        }
        if (code == '\n' && form->ends == TEXT_CRLF)
            buf_byte(&bytes, '\r');
        if (form->coding == TEXT_LATIN1)
            buf_byte(&bytes, (char)code);
        else
            buf_append(&bytes, rest.p, n);
        rest = str_make(rest.p + n, rest.n - n);
    }
    return arena_take(arena, &bytes, out);
}

struct str text_describe(struct arena *arena, const struct text *text)
{
    static const char *const codings[] = {
        [TEXT_UTF8] = "",
        [TEXT_UTF8_BOM] = ", with BOM",
        [TEXT_LATIN1] = ", Latin-1",
    };
    static const char *const ends[] = {
        [TEXT_LF] = "",
        [TEXT_CRLF] = ", CR LF line ends",
        [TEXT_MIXED] = ", mixed line ends",
    };

    return arena_printf(arena, "%s%s", codings[text->coding], ends[text->ends]);
}
