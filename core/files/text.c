/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c: see text.h. */
#include "files/text.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

#define BOM STR("\xef\xbb\xbf")

/* Bytes between two looks at the strand. */
#define PIECE (64u * 1024)

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static enum status find_ends(const struct arena *arena, struct str bytes,
                             enum text_ends *out)
{
    size_t feeds = 0;
    size_t pairs = 0;

    for (size_t done = 0; done < bytes.n;) {
        size_t end = done + least(bytes.n - done, PIECE);

        for (size_t i = done; i < end; i++) {
            if (bytes.p[i] != '\n')
                continue;
            feeds++;
            pairs += i > 0 && bytes.p[i - 1] == '\r';
        }
        if (arena_spend(arena, (end - done) / 2) != ST_OK)
            return ST_NOMEM;
        done = end;
    }
    *out = TEXT_MIXED;
    if (pairs == 0)
        *out = TEXT_LF;
    else if (pairs == feeds)
        *out = TEXT_CRLF;
    return ST_OK;
}

/* *FOUND: whether TEXT has BYTE. */
static enum status find_byte(const struct arena *arena, struct str text,
                             char byte, bool *found)
{
    *found = false;
    while (text.n > 0 && !*found) {
        size_t n = least(text.n, PIECE);

        *found = memchr(text.p, byte, n);
        text = str_make(text.p + n, text.n - n);
        if (arena_spend(arena, n / 8) != ST_OK)
            return ST_NOMEM;
    }
    return ST_OK;
}

/* ST_INVALID: TEXT is not UTF-8. */
static enum status check_utf8(const struct arena *arena, struct str text)
{
    while (text.n > 0) {
        size_t n = least(text.n, PIECE);

        // a character is in one piece, if it is one
        for (int i = 0; i < 3 && n < text.n && (text.p[n] & 0xc0) == 0x80; i++)
            n--;
        if (!utf8_is_valid(str_make(text.p, n)))
            return ST_INVALID;
        if (arena_spend(arena, n / 2) != ST_OK)
            return ST_NOMEM;
        text = str_make(text.p + n, text.n - n);
    }
    return ST_OK;
}

/* Appends the bytes of TEXT, but for the CR of each CR LF. */
static void put_without_returns(struct buf *out, struct str text)
{
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '\n' || i == from || text.p[i - 1] != '\r')
            continue;
        buf_append(out, text.p + from, i - 1 - from);
        from = i;
    }
    buf_append(out, text.p + from, text.n - from);
}

static enum status without_returns(struct arena *arena, struct str text,
                                   struct str *out)
{
    struct buf plain = BUF_EMPTY;
    enum status status = ST_OK;

    (void)buf_reserve_exact(&plain, text.n + 1); // arena_take says so
    while (text.n > 0 && status == ST_OK) {
        size_t n = least(text.n, PIECE);

        n += n < text.n && text.p[n] == '\n';
        put_without_returns(&plain, str_make(text.p, n));
        text = str_make(text.p + n, text.n - n);
        status = arena_spend(arena, 2 * n);
    }
    if (status == ST_OK)
        return arena_take(arena, &plain, out);
    buf_release(&plain);
    return status;
}

/* *OUT is how many bytes of BYTES have two in UTF-8. */
static enum status count_high(const struct arena *arena, struct str bytes,
                              size_t *out)
{
    enum status status = ST_OK;

    *out = 0;
    while (bytes.n > 0 && status == ST_OK) {
        size_t n = least(bytes.n, PIECE);

        for (size_t i = 0; i < n; i++)
            *out += (bytes.p[i] & 0x80) != 0;
        bytes = str_make(bytes.p + n, bytes.n - n);
        status = arena_spend(arena, n / 2);
    }
    return status;
}

/* Whether the byte at I is the CR of a CR LF. */
static bool is_return(struct str bytes, size_t i)
{
    return bytes.p[i] == '\r' && i + 1 < bytes.n && bytes.p[i + 1] == '\n';
}

/* STRIP: without the CR of each CR LF. */
static enum status from_latin1(struct arena *arena, struct str bytes,
                               bool strip, struct str *out)
{
    struct buf text = BUF_EMPTY;
    size_t high = 0;
    enum status status = count_high(arena, bytes, &high);

    (void)buf_reserve_exact(&text, bytes.n + high + 1);
    if (buf_failed(&text))
        status = ST_NOMEM;
    for (size_t done = 0; done < bytes.n && status == ST_OK;) {
        size_t end = done + least(bytes.n - done, PIECE);

        for (; done < end; done++)
            if (!strip || !is_return(bytes, done))
                text.n +=
                    utf8_encode((unsigned char)bytes.p[done], text.p + text.n);
        status = arena_spend(arena, 2 * PIECE);
    }
    if (status == ST_OK)
        return arena_take(arena, &text, out);
    buf_release(&text);
    return status;
}

enum status text_normalize(struct arena *arena, const struct text *form,
                           struct str text, struct str *out)
{
    bool strip = form->ends == TEXT_CRLF;
    enum status status = ST_OK;

    if (form->ends == TEXT_LF)
        status = find_byte(arena, text, '\r', &strip);
    if (status == ST_OK && form->ends == TEXT_LF && strip)
        status = find_byte(arena, form->text, '\n', &strip);
    if (status == ST_OK && strip)
        return without_returns(arena, text, out);
    *out = text;
    return status;
}

enum status text_detect(const struct arena *arena, struct str bytes,
                        struct text *out)
{
    struct text text = {.text = bytes};
    bool nul = false;
    enum status status = find_ends(arena, bytes, &text.ends);

    if (status == ST_OK)
        status = find_byte(arena, bytes, '\0', &nul);
    if (nul)
        return ST_INVALID;
    if (status == ST_OK && str_starts(bytes, BOM)) {
        text.text = str_make(bytes.p + BOM.n, bytes.n - BOM.n);
        text.coding = TEXT_UTF8_BOM;
    }
    if (status == ST_OK)
        status = check_utf8(arena, text.text);
    if (status == ST_INVALID) { // then a BOM is three characters, too
        text = (struct text){bytes, TEXT_LATIN1, text.ends};
        status = ST_OK;
    }
    if (status == ST_OK)
        *out = text;
    return status;
}

enum status text_convert(struct arena *arena, const struct text *form,
                         struct str bytes, struct str *out)
{
    bool strip = form->ends == TEXT_CRLF;

    if (form->coding == TEXT_LATIN1)
        return from_latin1(arena, bytes, strip, out);
    if (strip)
        return without_returns(arena, bytes, out);
    *out = bytes;
    return ST_OK;
}

enum status text_decode(struct arena *arena, struct str bytes, size_t max,
                        struct text *out)
{
    struct text text;
    size_t high = 0;
    enum status status = text_detect(arena, bytes, &text);

    if (status == ST_OK && text.coding == TEXT_LATIN1)
        status = count_high(arena, bytes, &high);
    if (status == ST_OK && bytes.n + high > max)
        status = ST_LIMIT;
    if (status == ST_OK)
        status = text_convert(arena, &text, text.text, &text.text);
    if (status == ST_OK)
        *out = text;
    return status;
}

static enum status cannot_encode(struct arena *arena, struct str text,
                                 size_t at, struct str *problem)
{
    struct str rest = str_make(text.p + at, text.n - at);
    struct str character = str_make(rest.p, utf8_decode(rest, NULL));
    size_t line = 1;

    for (size_t i = 0; i < at; i++)
        line += text.p[i] == '\n';
    *problem = arena_printf(
        arena, "the file is in Latin-1, which has no character %.*s (line %zu)",
        STR_ARG(character), line);
    return problem->n > 0 ? ST_INVALID : ST_NOMEM;
}

/* Appends TEXT in FORM. *DONE: how much of it, all but the first character that
   the coding lacks. */
static void encode(struct buf *out, const struct text *form, struct str text,
                   size_t *done)
{
    bool latin1 = form->coding == TEXT_LATIN1;

    for (*done = 0; *done < text.n;) {
        struct str rest = str_make(text.p + *done, text.n - *done);
        uint32_t code = (unsigned char)rest.p[0];
        size_t n = code < 0x80 ? 1 : utf8_decode(rest, &code);

        if (n == 0) // impossible in a text from JSON, but nothing is lost
            n = 1;
        if (code > 0xff && latin1)
            return;
        if (code == '\n' && form->ends == TEXT_CRLF)
            buf_byte(out, '\r');
        if (latin1)
            buf_byte(out, (char)code);
        else
            buf_append(out, rest.p, n);
        *done += n;
    }
}

enum status text_encode(struct arena *arena, const struct text *form,
                        struct str text, struct str *out, struct str *problem)
{
    struct buf bytes = BUF_EMPTY;
    enum status status = ST_OK;
    size_t done = 0;

    if (form->coding == TEXT_UTF8 && form->ends != TEXT_CRLF) {
        *out = text;
        return ST_OK;
    }
    (void)buf_reserve_exact(&bytes, text.n + BOM.n + 1); // arena_take says so
    if (form->coding == TEXT_UTF8_BOM)
        buf_str(&bytes, BOM);
    while (done < text.n && status == ST_OK) {
        size_t end = done + least(text.n - done, PIECE);
        size_t some = 0;

        while (end < text.n && (text.p[end] & 0xc0) == 0x80)
            end++; // a character is in one piece
        encode(&bytes, form, str_make(text.p + done, end - done), &some);
        done += some;
        status = done < end ? ST_INVALID : arena_spend(arena, 4 * some);
    }
    if (status == ST_OK)
        return arena_take(arena, &bytes, out);
    buf_release(&bytes);
    return status == ST_INVALID ? cannot_encode(arena, text, done, problem)
                                : status;
}

enum status text_check(struct arena *arena, const struct text *form,
                       struct str text, struct str *problem)
{
    enum status status = ST_OK;

    if (form->coding != TEXT_LATIN1)
        return ST_OK;
    for (size_t done = 0; done < text.n && status == ST_OK;) {
        size_t end = done + least(text.n - done, PIECE);

        // a character above U+00FF begins with a byte above 0xC3
        while (done < end && (unsigned char)text.p[done] <= 0xc3)
            done++;
        if (done < end)
            return cannot_encode(arena, text, done, problem);
        status = arena_spend(arena, PIECE / 2);
    }
    return status;
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
