/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jsonw.c: see jsonw.h. */
#include "json/jsonw.h"

#include <string.h>

#include "base/strand.h"
#include "base/utf8.h"

/* Bytes that are written between two looks at the strand. */
#define PIECE (64u * 1024)

/* Appends TEXT, piece by piece. Once the strand is stopped, nobody reads what
   is written. */
static void append(struct buf *out, struct str text)
{
    while (text.n > PIECE) {
        buf_append(out, text.p, PIECE);
        text = str_make(text.p + PIECE, text.n - PIECE);
        if (!strand_pause(PIECE / 4))
            return;
    }
    buf_str(out, text);
}

void jsonw_init(struct jsonw *w, struct buf *out)
{
    w->out = out;
    w->comma = false;
}

/* Writes the comma before a name or a value, when one is due. */
static void separate(struct jsonw *w)
{
    if (w->comma)
        buf_byte(w->out, ',');
    w->comma = true;
}

static void open_container(struct jsonw *w, char bracket)
{
    separate(w);
    buf_byte(w->out, bracket);
    w->comma = false;
}

static void close_container(struct jsonw *w, char bracket)
{
    buf_byte(w->out, bracket);
    w->comma = true;
}

void jsonw_object(struct jsonw *w)
{
    open_container(w, '{');
}

void jsonw_end_object(struct jsonw *w)
{
    close_container(w, '}');
}

void jsonw_array(struct jsonw *w)
{
    open_container(w, '[');
}

void jsonw_end_array(struct jsonw *w)
{
    close_container(w, ']');
}

/* Writes the character CODE as an escape. */
static void append_escape(struct buf *out, uint32_t code)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *pair = letters; *pair != '\0'; pair += 2) {
        if ((uint32_t)*pair == code) {
            buf_byte(out, '\\');
            buf_byte(out, pair[1]);
            return;
        }
    }
    static const char hex[] = "0123456789abcdef";
    const char escape[] = {'\\',
                           'u',
                           hex[code >> 12 & 15],
                           hex[code >> 8 & 15],
                           hex[code >> 4 & 15],
                           hex[code & 15]};
    buf_append(out, escape, sizeof escape);
}

static bool needs_escape(uint32_t code)
{
    return code < 0x20 || code == '"' || code == '\\' || code == 0x7f ||
           code == 0x2028 || code == 0x2029;
}

/* How many bytes at the start of S need no escape. */
static size_t copied_run(struct str s)
{
    size_t n = 0;
    for (;;) {
        n += utf8_plain_run(str_make(s.p + n, s.n - n));
        uint32_t code;
        size_t length = utf8_decode(str_make(s.p + n, s.n - n), &code);
        if (length == 0 || needs_escape(code))
            return n;
        n += length;
    }
}

static void append_escaped(struct buf *out, struct str s)
{
    while (s.n > 0) {
        size_t n = copied_run(s);
        buf_append(out, s.p, n);
        s = str_make(s.p + n, s.n - n);
        if (s.n == 0)
            break;
        uint32_t code;
        size_t length = utf8_decode(s, &code);
        if (length > 0) {
            append_escape(out, code);
        } else {
            buf_str(out, STR("\xef\xbf\xbd"));
            length = 1;
        }
        s = str_make(s.p + length, s.n - length);
    }
}

/* Appends S, of which no byte needs an escape, as a string. */
static void append_plain(struct buf *out, struct str s)
{
    char *to = buf_reserve(out, s.n + 2);

    if (!to)
        return;
    to[0] = '"';
    if (s.n > 0)
        memcpy(to + 1, s.p, s.n);
    to[s.n + 1] = '"';
    out->n += s.n + 2;
}

/* Like append, with escapes. */
static void append_string(struct buf *out, struct str s)
{
    if (s.n <= PIECE && utf8_plain_run(s) == s.n) {
        append_plain(out, s); // nearly all
        return;
    }
    buf_byte(out, '"');
    while (s.n > PIECE) {
        size_t n = PIECE;
        size_t before = out->n;

        while (n > PIECE - 3 && (s.p[n] & 0xc0) == 0x80)
            n--; // a character is in one piece
        append_escaped(out, str_make(s.p, n));
        s = str_make(s.p + n, s.n - n);
        if (!strand_pause(out->n - before))
            return;
    }
    append_escaped(out, s);
    buf_byte(out, '"');
}

void jsonw_plain_name(struct jsonw *w, struct str name)
{
    char *start = buf_reserve(w->out, name.n + sizeof ",\"\":" - 1);
    char *to = start;

    if (!to)
        return;
    if (w->comma)
        *to++ = ',';
    *to++ = '"';
    memcpy(to, name.p, name.n);
    to += name.n;
    *to++ = '"';
    *to++ = ':';
    w->out->n += (size_t)(to - start);
    w->comma = false;
}

void jsonw_any_name(struct jsonw *w, const char *name)
{
    separate(w);
    append_string(w->out, str_from(name));
    buf_byte(w->out, ':');
    w->comma = false;
}

void jsonw_string(struct jsonw *w, struct str s)
{
    separate(w);
    append_string(w->out, s);
}

void jsonw_raw(struct jsonw *w, struct str json)
{
    separate(w);
    append(w->out, json);
}

void jsonw_digest(struct jsonw *w, const unsigned char digest[DIGEST_SIZE])
{
    separate(w);
    buf_byte(w->out, '"');
    digest_write(w->out, digest);
    buf_byte(w->out, '"');
}

void jsonw_int(struct jsonw *w, int64_t n)
{
    separate(w);
    buf_int(w->out, n);
}

void jsonw_bool(struct jsonw *w, bool b)
{
    jsonw_raw(w, b ? STR("true") : STR("false"));
}

void jsonw_null(struct jsonw *w)
{
    jsonw_raw(w, STR("null"));
}
