/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foldname.c: see foldname.h. Of Unicode's full case folding, only what folds
   to ASCII matters: names of secrets are ASCII. */
#include "files/foldname.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* Characters beyond ASCII that fold to ASCII. None gets longer by it. */
static const struct {
    uint32_t code;
    const char *folded;
} folds[] = {
    {0x00df, "ss"},  {0x017f, "s"},  {0x1e9e, "ss"}, {0x212a, "k"},
    {0xfb00, "ff"},  {0xfb01, "fi"}, {0xfb02, "fl"}, {0xfb03, "ffi"},
    {0xfb04, "ffl"}, {0xfb05, "st"}, {0xfb06, "st"},
};

/* Ranges of characters that are ignored: Unicode's Default_Ignorable_Code_Point
   (DerivedCoreProperties.txt, 15.1). */
static const struct {
    uint32_t first;
    uint32_t last;
} ignored[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},
    {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x202a, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},   {0xfff0, 0xfff8},   {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_ignored(uint32_t code)
{
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if (code >= ignored[i].first && code <= ignored[i].last)
            return true;
    return false;
}

static const char *fold_of(uint32_t code)
{
    for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++)
        if (code == folds[i].code)
            return folds[i].folded;
    return NULL;
}

/* Takes dots and spaces off the end of the name that starts at START in the N
   bytes of OUT, unless it has nothing else. Returns the new N. */
static size_t trim_name(const char *out, size_t start, size_t n)
{
    size_t end = n;

    while (end > start && (out[end - 1] == '.' || out[end - 1] == ' '))
        end--;
    return end > start ? end : n;
}

/* Folds the character beyond ASCII at the start of REST to the end of OUT,
   which has *N bytes. Returns its length. */
static size_t fold_foreign(struct str rest, char *out, size_t *n)
{
    uint32_t code = 0;
    size_t used = utf8_decode(rest, &code);
    const char *folded = fold_of(code);

    if (used == 0) { // no UTF-8
        out[(*n)++] = rest.p[0];
        return 1;
    }
    for (const char *p = folded; p && *p != '\0'; p++)
        out[(*n)++] = *p;
    if (!folded && !is_ignored(code)) {
        memcpy(out + *n, rest.p, used);
        *n += used;
    }
    return used;
}

struct str foldname(struct str path, char out[FOLDNAME_PATH])
{
    struct str rest = path;
    size_t start = 0; // of the last name
    size_t n = 0;

    if (path.n > FOLDNAME_PATH)
        return path;
    while (rest.n > 0) {
        uint32_t code = (unsigned char)rest.p[0];
        size_t used = 1;

        if (code >= 'A' && code <= 'Z') {
            out[n++] = (char)(code - 'A' + 'a');
        } else if (code == '/') {
            n = trim_name(out, start, n);
            out[n++] = '/';
            start = n;
        } else if (code < 0x80) {
            out[n++] = rest.p[0];
        } else {
            used = fold_foreign(rest, out, &n);
        }
        rest = str_make(rest.p + used, rest.n - used);
    }
    return str_make(out, trim_name(out, start, n));
}
