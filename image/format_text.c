/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format_text.c: see format_text.h. */
#include "image/format_text.h"

#include <stdint.h>
#include <string.h>

void format_begin_text(struct format_text *text)
{
    text->count = 0;
    text->length = 0;
    text->flushes = false;
    text->used = 0;
}

/* Adds PIECE, whose last character is LAST. */
static bool add(struct format_text *text, struct format_piece piece,
                ecl_character last)
{
    if (text->count == FORMAT_PIECES)
        return false;
    text->pieces[text->count++] = piece;
    text->length += piece.length;
    text->last = last;
    return true;
}

bool format_add_piece(struct format_text *text, const void *from,
                      unsigned char size, cl_index length)
{
    return length == 0 || add(text,
                              (struct format_piece){
                                  .from = from, .size = size, .length = length},
                              format_character(from, size, length - 1));
}

bool format_add_fill(struct format_text *text, ecl_character fill,
                     cl_index length)
{
    return length == 0 ||
           add(text, (struct format_piece){.fill = fill, .length = length},
               fill);
}

bool format_add_string(struct format_text *text, cl_object string)
{
    if (ecl_t_of(string) == t_base_string)
        return format_add_piece(text, string->base_string.self, 1,
                                string->base_string.fillp);
    return format_add_piece(text, string->string.self, sizeof(ecl_character),
                            string->string.fillp);
}

bool format_add_quoted(struct format_text *text, cl_object string)
{
    bool narrow = ecl_t_of(string) == t_base_string;
    unsigned char size = narrow ? 1 : sizeof(ecl_character);
    const char *from = narrow ? (const char *)string->base_string.self
                              : (const char *)string->string.self;
    cl_index end = string->base_string.fillp;
    cl_index start = 0;

    if (!format_add_fill(text, '"', 1))
        return false;
    for (cl_index i = 0; i < end; i++) {
        ecl_character c = format_character(from, size, i);

        if (c != '"' && c != '\\')
            continue;
        if (!format_add_piece(text, from + start * size, size, i - start) ||
            !format_add_fill(text, '\\', 1))
            return false;
        start = i;
    }
    return format_add_piece(text, from + start * size, size, end - start) &&
           format_add_fill(text, '"', 1);
}

bool format_add_fixnum(struct format_text *text, cl_fixnum number,
                       unsigned base, cl_index width, ecl_character pad)
{
    unsigned long rest =
        number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
    char digits[8 * sizeof number + 1];
    char *at = digits + sizeof digits;
    size_t length;

    do {
        *--at = "0123456789ABCDEF"[rest % base];
        rest /= base;
    } while (rest > 0);
    if (number < 0)
        *--at = '-';
    length = (size_t)(digits + sizeof digits - at);
    if (length > (size_t)(FORMAT_DIGITS - 1 - text->used) ||
        (width > length && !format_add_fill(text, pad, width - length)))
        return false;
    memcpy(text->digits + text->used, at, length);
    at = text->digits + text->used;
    text->used = (unsigned char)(text->used + length);
    return format_add_piece(text, at, 1, length);
}

bool format_add_flush(struct format_text *text)
{
    text->flushes = true;
    text->flushed = text->length;
    return true;
}

bool format_is_made_of(const struct format_text *text, const void *from,
                       size_t size)
{
    uintptr_t start = (uintptr_t)from;

    for (unsigned i = 0; i < text->count; i++) {
        const struct format_piece *piece = &text->pieces[i];
        uintptr_t at = (uintptr_t)piece->from;

        if (piece->size > 0 && at < start + size &&
            start < at + piece->length * piece->size)
            return true;
    }
    return false;
}

ecl_character format_copy(const struct format_text *text, ecl_character *to)
{
    ecl_character seen = 0;

    for (unsigned i = 0; i < text->count; i++) {
        const struct format_piece *piece = &text->pieces[i];
        cl_index length = piece->length;

        if (piece->size == 1) {
            const unsigned char *from = piece->from;

            for (cl_index j = 0; j < length; j++)
                seen |= to[j] = from[j];
        } else if (piece->size == 0) {
            for (cl_index j = 0; j < length; j++)
                to[j] = piece->fill;
            seen |= piece->fill;
        } else {
            const ecl_character *from = piece->from;

            for (cl_index j = 0; j < length; j++)
                seen |= to[j] = from[j];
        }
        to += length;
    }
    return seen;
}
