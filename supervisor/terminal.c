/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal.c: see terminal.h. The sequences are those of ECMA-48: ESC and a
   letter, ESC [ with parameters, and strings from ESC ] and others to BEL or
   ESC \, each also with one control of two bytes (C1) instead of ESC. */
#include "supervisor/terminal.h"

#include <stddef.h>
#include <string.h>

#define ESC 0x1bu
#define BEL 0x07u
#define DEL 0x7fu

/* The byte of TEXT at I, or 0 past its end. */
static unsigned byte_at(struct str text, size_t i)
{
    return i < text.n ? (unsigned char)text.p[i] : 0;
}

/* The C1 control of TEXT at I as the letter that stands for it after ESC, or 0
   when there is none. */
static unsigned c1_at(struct str text, size_t i)
{
    unsigned second = byte_at(text, i + 1);

    return byte_at(text, i) == 0xc2u && second >= 0x80u && second <= 0x9fu
               ? second - 0x40u
               : 0;
}

/* Whether TEXT has a control at I that is not a tab or the end of a line. */
static bool is_control(struct str text, size_t i)
{
    unsigned byte = byte_at(text, i);

    if (byte == '\n' || byte == '\t' ||
        (byte == '\r' && byte_at(text, i + 1) == '\n'))
        return false;
    return byte < ' ' || byte == DEL || c1_at(text, i) != 0;
}

/* Bytes that are looked at together: compilers use the widest registers. */
#define BLOCK 64u

/* Whether none of the bytes of the block at P can be, or begin, a control. */
static bool is_plain_block(const char *p)
{
    unsigned char found = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        unsigned char byte = (unsigned char)p[i];

        found |=
            (unsigned char)((byte < ' ') & (byte != '\n') & (byte != '\t'));
        found |= (unsigned char)((byte == DEL) | (byte == 0xc2)); // before C1
    }
    return found == 0;
}

/* Where the first control of TEXT is at I or after it, or its end. */
static size_t next_control(struct str text, size_t i)
{
    while (i < text.n) {
        size_t end = i + BLOCK < text.n ? i + BLOCK : text.n;

        if (end == i + BLOCK && is_plain_block(text.p + i)) {
            i = end; // most of most texts
            continue;
        }
        for (; i < end; i++)
            if (is_control(text, i))
                return i;
    }
    return i;
}

bool terminal_is_plain(struct str text)
{
    return next_control(text, 0) == text.n;
}

/* Whether all bytes of the block at P are ASCII, and none is a control. */
static bool is_plain_ascii_block(const char *p)
{
    unsigned char found = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        unsigned char byte = (unsigned char)p[i];

        found |=
            (unsigned char)((byte < ' ') & (byte != '\n') & (byte != '\t'));
        found |= (unsigned char)(byte >= DEL);
    }
    return found == 0;
}

bool terminal_is_plain_ascii(struct str text)
{
    char rest[BLOCK];
    size_t i = 0;

    for (; i + BLOCK <= text.n; i += BLOCK)
        if (!is_plain_ascii_block(text.p + i))
            return false;
    if (i == text.n)
        return true;
    memset(rest, ' ', sizeof rest);
    memcpy(rest, text.p + i, text.n - i);
    return is_plain_ascii_block(rest);
}

/* Where the bytes from FIRST to LAST end that begin at I. */
static size_t skip(struct str text, size_t i, unsigned first, unsigned last)
{
    while (byte_at(text, i) >= first && byte_at(text, i) <= last)
        i++;
    return i;
}

/* Where the sequence ends whose kind is LETTER and which continues at I. A
   string that nothing ends does so before the next control. */
static size_t skip_sequence(struct str text, size_t i, unsigned letter)
{
    switch (letter) {
    case '[':
        i = skip(text, skip(text, i, 0x30u, 0x3fu), 0x20u, 0x2fu);
        return byte_at(text, i) >= 0x40u && byte_at(text, i) < DEL ? i + 1 : i;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        while (i < text.n && !is_control(text, i) && text.p[i] != '\n' &&
               text.p[i] != '\r')
            i++;
        if (byte_at(text, i) == BEL)
            return i + 1;
        if (c1_at(text, i) == '\\' ||
            (byte_at(text, i) == ESC && byte_at(text, i + 1) == '\\'))
            return i + 2;
        return i;
    default:
        return i;
    }
}

/* Where the terminal sequence of TEXT at I ends; I when there is none. */
static size_t sequence_end(struct str text, size_t i)
{
    unsigned letter = c1_at(text, i);
    size_t at = i + 1;

    if (letter)
        return skip_sequence(text, i + 2, letter);
    if (byte_at(text, i) != ESC)
        return i;
    at = skip(text, at, 0x20u, 0x2fu);
    letter = byte_at(text, at);
    if (letter < 0x30u || letter >= DEL)
        return i;
    return at > i + 1 ? at + 1 : skip_sequence(text, at + 1, letter);
}

/* Appends a short name of each control of TEXT from I on that no sequence
   begins with, as far as they follow each other; returns where that ends. */
static size_t append_names(struct buf *out, struct str text, size_t i)
{
    char names[256];
    size_t n = 0;

    for (; n < sizeof names && i < text.n && is_control(text, i) &&
           (byte_at(text, i) < ESC || sequence_end(text, i) == i);
         i++) {
        names[n++] = '^';
        names[n++] = (char)(byte_at(text, i) ^ 0x40u);
    }
    buf_append(out, names, n);
    return i;
}

void terminal_append(struct buf *out, struct str text)
{
    size_t i = 0;

    while (i < text.n) {
        size_t start = i;

        i = next_control(text, i);
        buf_append(out, text.p + start, i - start);
        start = i;
        i = i < text.n ? sequence_end(text, i) : i;
        if (i == start)
            i = append_names(out, text, i);
    }
}
