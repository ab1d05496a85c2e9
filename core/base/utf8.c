/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.c: UTF-8 as RFC 3629 has it. */
#include "base/utf8.h"

#define EACH_BYTE(b) ((uint64_t)(b)*0x0101010101010101)

/* Bytes of ASCII at the start of S. Takes eight at a time, for texts are mostly
   ASCII. */
static size_t ascii_run(struct str s)
{
    size_t i = 0;
    uint64_t word;
    for (; i + sizeof word <= s.n; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        if (word & EACH_BYTE(0x80))
            break;
    }
    while (i < s.n && (unsigned char)s.p[i] < 0x80)
        i++;
    return i;
}

/* Nonzero when a byte of WORD, all of them ASCII, is below B. */
static uint64_t has_below(uint64_t word, unsigned char b)
{
    return (word - EACH_BYTE(b)) & ~word & EACH_BYTE(0x80);
}

static uint64_t has_byte(uint64_t word, unsigned char b)
{
    return has_below(word ^ EACH_BYTE(b), 1);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

size_t utf8_plain_run(struct str s)
{
    size_t i = 0;
    uint64_t word;
    for (; i + sizeof word <= s.n; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        if ((word & EACH_BYTE(0x80)) | has_below(word, 0x20) |
            has_byte(word, 0x7f) | has_byte(word, '"') | has_byte(word, '\\'))
            break;
    }
    while (i < s.n && is_plain((unsigned char)s.p[i]))
        i++;
    return i;
}

static struct str after(struct str s, size_t n)
{
    return n == 0 ? s : str_make(s.p + n, s.n - n);
}

size_t utf8_decode(struct str s, uint32_t *code)
{
    if (s.n == 0)
        return 0;
    const unsigned char *p = (const unsigned char *)s.p;
    uint32_t c = p[0];
    size_t length = 1;
    uint32_t least = 0; // smallest code that needs this length
    if (c >= 0xf0) {
        length = c < 0xf8 ? 4 : 0;
        least = 0x10000;
        c &= 0x07;
    } else if (c >= 0xe0) {
        length = 3;
        least = 0x800;
        c &= 0x0f;
    } else if (c >= 0xc0) {
        length = 2;
        least = 0x80;
        c &= 0x1f;
    } else if (c >= 0x80) {
        length = 0;
    }
    if (length == 0 || length > s.n)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    if (code)
        *code = c;
    return length;
}

size_t utf8_encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Bytes at the start of S that are valid. */
static size_t valid_run(struct str s)
{
    size_t i = 0;
    for (;;) {
        i += ascii_run(after(s, i));
        size_t length = utf8_decode(after(s, i), NULL);
        if (length == 0)
            return i;
        i += length;
    }
}

bool utf8_is_valid(struct str s)
{
    return valid_run(s) == s.n;
}

/* Bytes of the character at the start of S, which is not empty. */
static size_t step(struct str s)
{
    size_t length = utf8_decode(s, NULL);
    return length == 0 ? 1 : length;
}

/* Bytes of the character at the end of S, which is not empty. No valid
   sequence contains the start of another one, so this agrees with step. */
static size_t step_back(struct str s)
{
    for (size_t length = 1; length <= 4 && length <= s.n; length++)
        if (utf8_decode(after(s, s.n - length), NULL) == length)
            return length;
    return 1;
}

size_t utf8_count(struct str s)
{
    size_t count = 0;
    while (s.n > 0) {
        size_t n = ascii_run(s);
        count += n;
        s = after(s, n);
        for (; s.n > 0 && (unsigned char)*s.p >= 0x80; count++)
            s = after(s, step(s));
    }
    return count;
}

struct str utf8_head(struct str s, size_t chars)
{
    size_t n = 0;
    for (; chars > 0 && n < s.n; chars--)
        n += step(after(s, n));
    return str_make(s.p, n);
}

struct str utf8_tail(struct str s, size_t chars)
{
    size_t n = s.n;
    for (; chars > 0 && n > 0; chars--)
        n -= step_back(str_make(s.p, n));
    return after(s, n);
}

void utf8_append_valid(struct buf *buf, struct str s)
{
    while (s.n > 0) {
        size_t n = valid_run(s);
        buf_append(buf, s.p, n);
        s = after(s, n);
        if (s.n > 0) {
            buf_str(buf, STR("\xef\xbf\xbd"));
            s = after(s, 1);
        }
    }
}

/* Characters that a terminal acts on, or shows as nothing: all that Unicode
   calls Default_Ignorable_Code_Point (DerivedCoreProperties.txt), and a few
   more. */
static bool is_invisible(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},       // C0
        {0x7f, 0x9f},       // DEL, C1
        {0xad, 0xad},       // soft hyphen
        {0x34f, 0x34f},     // combining grapheme joiner
        {0x61c, 0x61c},     // Arabic letter mark
        {0x115f, 0x1160},   // Hangul fillers
        {0x17b4, 0x17b5},   // Khmer vowels that are not shown
        {0x180b, 0x180f},   // Mongolian selectors, vowel separator
        {0x200b, 0x200f},   // zero width; left-to-right, right-to-left mark
        {0x2028, 0x202e},   // line, paragraph separator; bidi embeddings
        {0x2060, 0x206f},   // joiner, invisible operators; bidi isolates
        {0x2800, 0x2800},   // Braille pattern without dots
        {0x3164, 0x3164},   // Hangul filler
        {0xfe00, 0xfe0f},   // variation selectors
        {0xfeff, 0xfeff},   // byte order mark
        {0xffa0, 0xffa0},   // halfwidth Hangul filler
        {0xfff0, 0xfffb},   // reserved; annotations
        {0x13430, 0x1343f}, // formats of hieroglyphs
        {0x1bca0, 0x1bca3}, // formats of shorthand
        {0x1d159, 0x1d159}, // musical notehead that is not shown
        {0x1d173, 0x1d17a}, // formats of music
        {0xe0000, 0xe0fff}, // tags, more variation selectors
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

static void append_escape(struct buf *buf, uint32_t code)
{
    switch (code) {
    case '\n':
        buf_str(buf, STR("\\n"));
        break;
    case '\r':
        buf_str(buf, STR("\\r"));
        break;
    case '\t':
        buf_str(buf, STR("\\t"));
        break;
    default:
        if (code < 0x80)
            buf_printf(buf, "\\x%02x", (unsigned)code);
        else
            buf_printf(buf, code > 0xffff ? "\\U%08x" : "\\u%04x",
                       (unsigned)code);
    }
}

void utf8_append_visible(struct buf *buf, struct str s)
{
    size_t plain = 0; // bytes at the start of s that need no escape
    while ((plain += utf8_plain_run(after(s, plain))) < s.n) {
        uint32_t code;
        size_t length = utf8_decode(after(s, plain), &code);
        if (length > 0 && !is_invisible(code)) {
            plain += length;
            continue;
        }
        buf_append(buf, s.p, plain);
        s = after(s, plain);
        plain = 0;
        if (length > 0) {
            append_escape(buf, code);
        } else {
            buf_printf(buf, "\\x%02x", (unsigned)(unsigned char)*s.p);
            length = 1;
        }
        s = after(s, length);
    }
    buf_append(buf, s.p, plain);
}
