/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.h: UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing
   above U+10FFFF. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Bytes of the valid sequence at the start of S (1 to 4), or 0 when there is
   none. *CODE is the code point, written on success only; may be NULL. */
size_t utf8_decode(struct str s, uint32_t *code);

/* Writes CODE (a valid scalar value) to OUT, which has room for 4 bytes;
   returns the number written. */
size_t utf8_encode(uint32_t code, char *out);

bool utf8_is_valid(struct str s);

/* Bytes at the start of S that are printable ASCII, but neither quote nor
   backslash: most texts consist of them, and no format has to escape them. */
size_t utf8_plain_run(struct str s);

/* The number of characters in S; every byte that does not start a valid
   sequence counts as one. */
size_t utf8_count(struct str s);

/* How many characters begin in S: their number when S is valid, and very fast
   to find. Of a sequence that is divided among several texts, only one has the
   start. */
size_t utf8_starts(struct str s);

/* The first CHARS characters of S, which is valid: much faster. */
struct str utf8_valid_head(struct str s, size_t chars);

/* The first CHARS characters of S, and the last CHARS, as views. */
struct str utf8_head(struct str s, size_t chars);
struct str utf8_tail(struct str s, size_t chars);

/* Appends S, with U+FFFD instead of every invalid byte. */
void utf8_append_valid(struct buf *buf, struct str s);

/* Appends S, with visible escapes (\n, \t, \x1b, \u202e) instead of invalid
   bytes and of characters that a reader would not see: controls, those of bidi
   included, and characters without a width. */
void utf8_append_visible(struct buf *buf, struct str s);

/* Characters of a long line that utf8_append_around appends, and of them
   before the match. */
#define UTF8_AROUND_CHARS 200
#define UTF8_AROUND_BEFORE 60

/* Appends LINE so that it can be seen, without a newline; of a long one the
   part around its byte AT, where what was searched for begins, between
   ellipses. */
void utf8_append_around(struct buf *buf, struct str line, size_t at);

#endif
