/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format_text.h: a text as a list of pieces that are where they are, until its
   length is known. For format.c. */
#ifndef IMAGE_FORMAT_TEXT_H
#define IMAGE_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <ecl/ecl.h>

enum {
    FORMAT_PIECES = 48, /* of a text */
    FORMAT_DIGITS = 256 /* of all its numbers */
};

/* Part of a text: characters in units of SIZE bytes, or, when that is 0, FILL
   again and again. */
struct format_piece {
    const void *from;
    cl_index length;
    ecl_character fill;
    unsigned char size;
};

struct format_text {
    struct format_piece pieces[FORMAT_PIECES];
    unsigned count;
    cl_index length;
    cl_index flushed;   /* characters before the last flush, if it FLUSHES */
    ecl_character last; /* if there is any */
    bool flushes;
    unsigned char used; /* digits */
    char digits[FORMAT_DIGITS];
};

static inline ecl_character format_character(const void *from,
                                             unsigned char size, cl_index i)
{
    return size == 1 ? ((const unsigned char *)from)[i]
                     : (ecl_character)((const ecl_character *)from)[i];
}

static inline bool format_is_string(cl_object x)
{
    return ecl_t_of(x) == t_base_string || ecl_t_of(x) == t_string;
}

/* An empty text. */
void format_begin_text(struct format_text *text);

/* These add something to the text, and are false when they cannot. */
bool format_add_piece(struct format_text *text, const void *from,
                      unsigned char size, cl_index length);
bool format_add_fill(struct format_text *text, ecl_character fill,
                     cl_index length);
bool format_add_string(struct format_text *text, cl_object string);

/* STRING as it is read. */
bool format_add_quoted(struct format_text *text, cl_object string);

/* NUMBER in BASE, after as many PAD as make it WIDTH characters. */
bool format_add_fixnum(struct format_text *text, cl_fixnum number,
                       unsigned base, cl_index width, ecl_character pad);

bool format_add_flush(struct format_text *text);

/* Whether some of it is among the SIZE bytes at FROM. */
bool format_is_made_of(const struct format_text *text, const void *from,
                       size_t size);

/* Copies the text. Returns characters that have a bit set if any of it has. */
ecl_character format_copy(const struct format_text *text, ecl_character *to);

#endif
