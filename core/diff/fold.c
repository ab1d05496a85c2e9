/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.c: see fold.h. */
#include "diff/fold.h"

#include <stdint.h>

#include "base/utf8.h"

/* The letters from U+00C0 to U+017F without their accents; * stands for those
   that are not one letter with an accent. */
static const char letters[] = "aaaaaa*ceeeeiiii*nooooo**uuuuy**"
                              "aaaaaa*ceeeeiiii*nooooo**uuuuy*y"
                              "aaaaaaccccccccdd**eeeeeeeeeegggg"
                              "gggghh**iiiiiiiii***jjkk*lllllll"
                              "l**nnnnnnn**oooooo**rrrrrrssssss"
                              "sstttt**uuuuuuuuuuuuwwyyyzzzzzz*";

/* What stands for a character in comparisons; 0: nothing. */
static uint32_t fold_code(uint32_t code)
{
    if (code >= 0xFF01 && code <= 0xFF5E) // of full width
        code -= 0xFEE0;
    if (code >= 'A' && code <= 'Z')
        return code - 'A' + 'a';
    if (code <= ' ' || code == 0x7F)
        return 0;
    if (code == '"' || code == '`')
        return '\'';
    if (code < 0x80)
        return code;
    if (code == 0xA0 || code == 0xAD || (code >= 0x300 && code <= 0x36F) ||
        code == 0x1680 || code == 0x202F || code == 0x205F || code == 0x2060 ||
        code == 0x3000 || code == 0xFEFF || (code >= 0x2000 && code <= 0x200F))
        return 0; // white space, marks, without a width
    if (code == 0xB4 || code == 0xAB || code == 0xBB ||
        (code >= 0x2018 && code <= 0x201F) ||
        (code >= 0x2032 && code <= 0x2036))
        return '\'';
    if ((code >= 0x2010 && code <= 0x2015) || code == 0x2212)
        return '-';
    if (code >= 0xC0 && code <= 0x17F && letters[code - 0xC0] != '*')
        return (unsigned char)letters[code - 0xC0];
    return code;
}

int fold_next(struct fold *fold, size_t *start)
{
    while (fold->at < fold->text.n) {
        struct str rest =
            str_make(fold->text.p + fold->at, fold->text.n - fold->at);
        uint32_t code = (unsigned char)rest.p[0];
        size_t n = code < 0x80 ? 1 : utf8_decode(rest, &code);

        *start = fold->at;
        fold->at += n > 0 ? n : 1;
        code = fold_code(code);
        if (code > 0xFF)
            code = 0x80 | ((code ^ (code >> 7) ^ (code >> 14)) & 0x7F);
        if (code != 0)
            return (int)code;
    }
    return -1;
}
