/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preview.c: see preview.h. */
#include "gate/preview.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

/* Characters of a text that are examined, so that a long one costs nothing:
   more than are shown, since masking makes it shorter. */
#define LOOKED_AT (4 * LIMIT_PREVIEW)

/* Characters of a word that could be a key. */
#define MASKED_WORD 20

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The characters of base 64, of hexadecimal numbers, and of similar codes. */
static bool is_of_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '+' || c == '/' || c == '=' ||
           c == '_' || c == '-';
}

/* Bytes of the word at the start of S; *KEY: it could be a key. */
static size_t word_at(struct str s, bool *key)
{
    bool letters = false;
    bool digits = false;
    size_t n = 0;

    for (; n < s.n && is_of_word(s.p[n]); n++) {
        letters = letters || is_letter(s.p[n]);
        digits = digits || is_digit(s.p[n]);
    }
    *key = n >= MASKED_WORD && letters && digits;
    return n;
}

/* Bytes up to the quote that ends the literal at the start of S; all of S when
   there is none. */
static size_t literal_at(struct str s)
{
    size_t n = 1;

    while (n < s.n && s.p[n] != '"')
        n += s.p[n] == '\\' ? 2 : 1;
    return n < s.n ? n + 1 : s.n;
}

/* Bytes at the start of S that are neither quote, nor word, nor white space. */
static size_t rest_at(struct str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '"' && !is_of_word(s.p[n]) &&
           !str_is_space(s.p[n]))
        n += s.p[n] == '\\' && n + 1 < s.n ? 2 : 1; // #\" is not a quote
    return n;
}

static void write_text(struct buf *out, struct str text)
{
    struct str s = utf8_head(text, LOOKED_AT);
    bool cut = s.n < text.n;

    while (s.n > 0) {
        bool key = false;
        size_t n = word_at(s, &key);

        if (cut && n == s.n)
            break; // its end is unknown
        if (key) {
            buf_str(out, STR("…"));
        } else if (n > 0) {
            buf_append(out, s.p, n);
        } else if (s.p[0] == '"') {
            n = literal_at(s);
            buf_str(out, n == 2 ? STR("\"\"") : STR("\"…\""));
        } else if (str_is_space(s.p[0])) {
            while (n < s.n && str_is_space(s.p[n]))
                n++;
            buf_byte(out, ' ');
        } else {
            n = rest_at(s);
            utf8_append_visible(out, str_make(s.p, n));
        }
        s = str_make(s.p + n, s.n - n);
    }
    if (cut)
        buf_str(out, STR("…"));
}

static void write_value(struct buf *out, enum schema_kind kind,
                        const struct schema_value *value)
{
    switch (kind) {
    case SCHEMA_STRING:
    case SCHEMA_CODE:
        write_text(out, value->string);
        break;
    case SCHEMA_CHOICE:
    case SCHEMA_NAME:
    case SCHEMA_PATH:
        utf8_append_visible(out, utf8_head(value->string, LIMIT_PREVIEW));
        break;
    case SCHEMA_INTEGER:
    case SCHEMA_SIZE:
        buf_int(out, value->integer);
        break;
    case SCHEMA_NUMBER:
        buf_printf(out, "%g", value->real);
        break;
    case SCHEMA_BOOLEAN:
        buf_str(out, value->boolean ? STR("true") : STR("false"));
        break;
    case SCHEMA_LIST:
        buf_printf(out, "%zu items", value->count);
        break;
    }
}

void preview_write(struct buf *out, const struct schema_field *fields,
                   const struct schema_value *values)
{
    size_t start = out->n;

    for (size_t i = 0; fields && fields[i].name; i++) {
        if (!values[i].given)
            continue;
        if (out->n > start)
            buf_str(out, STR(", "));
        buf_str(out, str_from(fields[i].name));
        buf_str(out, STR(": "));
        write_value(out, fields[i].kind, &values[i]);
    }
    if (buf_failed(out) || out->n == start)
        return;
    struct str all = str_make(out->p + start, out->n - start);
    struct str head = utf8_head(all, LIMIT_PREVIEW);
    if (head.n == all.n)
        return;
    buf_truncate(out, start + head.n);
    buf_str(out, STR("…"));
}
