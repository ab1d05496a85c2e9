/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finder.c: the algorithm of Crochemore and Perrin (Two-way string-matching,
   Journal of the ACM 1991). The part is cut in two so that its right half,
   compared from left to right, and then its left half, from right to left,
   never have to be looked at again more than once. It needs no table, which for
   a long part would be several times as long. */
#include "base/finder.h"

#include <string.h>

/* Bytes between two looks at the strand. */
#define PIECE (64u * 1024)

/* WORK comparisons, when they are many, and forgets them. False: the work is
   stopped. */
static bool spend(const struct finder *finder, size_t *work)
{
    size_t done = *work;

    if (done < PIECE)
        return true;
    *work = 0;
    return arena_spend(finder->arena, done) == ST_OK;
}

/* Where the greatest suffix of the part begins, with bytes in their order or,
   when BACKWARDS, in the opposite one. *PERIOD: of that suffix. */
static enum status greatest_suffix(const struct finder *finder, bool backwards,
                                   size_t *start, size_t *period)
{
    const unsigned char *p = (const unsigned char *)finder->part.p;
    size_t n = finder->part.n;
    size_t at = 0; // the best so far,
    size_t j = 0;  // and one that competes, after this byte
    size_t k = 1;
    size_t work = 0;

    *period = 1;
    while (j + k < n) {
        unsigned char a = p[at + k - 1];
        unsigned char b = p[j + k];

        if (a == b && k == *period) {
            j += *period;
            k = 1;
        } else if (a == b) {
            k++;
        } else if (backwards ? a < b : a > b) {
            j += k;
            k = 1;
            *period = j + 1 - at;
        } else {
            j++;
            at = j;
            k = 1;
            *period = 1;
        }
        work++;
        if (!spend(finder, &work))
            return ST_NOMEM;
    }
    *start = at;
    return ST_OK;
}

enum status finder_init(struct finder *finder, struct arena *arena,
                        struct str part)
{
    struct finder made = {.arena = arena, .part = part};
    size_t other = 0;
    size_t period = 0;
    enum status status;

    if (part.n == 0)
        return ST_LIMIT;
    status = greatest_suffix(&made, false, &made.cut, &made.period);
    if (status == ST_OK)
        status = greatest_suffix(&made, true, &other, &period);
    if (status != ST_OK)
        return status;
    if (other > made.cut) {
        made.cut = other;
        made.period = period;
    }
    made.repeats = made.cut + made.period <= part.n &&
                   memcmp(part.p, part.p + made.period, made.cut) == 0;
    if (!made.repeats)
        made.period =
            (made.cut > part.n - made.cut ? made.cut : part.n - made.cut) + 1;
    *finder = made;
    return ST_OK;
}

/* The next place from AT on where the first byte of the right half stands, in
   at most a piece; a place after that piece when it stands nowhere. */
static size_t skip(const struct finder *finder, struct str text, size_t at)
{
    struct str part = finder->part;
    size_t places = text.n - part.n + 1 - at;
    size_t n = places < PIECE ? places : PIECE;
    const char *from = text.p + at + finder->cut;
    const char *found = memchr(from, part.p[finder->cut], n);

    return at + (found ? (size_t)(found - from) : n);
}

enum status finder_next(const struct finder *finder, struct str text,
                        size_t from, size_t *at)
{
    struct str part = finder->part;
    size_t cut = finder->cut;
    size_t known = 0; // bytes at the start of the part that stand there
    size_t work = 0;

    *at = FINDER_NONE;
    while (from <= text.n && text.n - from >= part.n) {
        size_t before = from;
        size_t k;

        if (!spend(finder, &work))
            return ST_NOMEM;
        if (known == 0)
            from = skip(finder, text, from);
        work += (from - before) / 2 + 1;
        if (text.n - from < part.n)
            break;
        for (k = known > cut ? known : cut;
             k < part.n && part.p[k] == text.p[from + k]; k++)
            if (++work >= PIECE && !spend(finder, &work))
                return ST_NOMEM;
        if (k < part.n) {
            from += k - cut + 1;
            known = 0;
            continue;
        }
        for (k = cut; k > known && part.p[k - 1] == text.p[from + k - 1]; k--)
            if (++work >= PIECE && !spend(finder, &work))
                return ST_NOMEM;
        if (k <= known) {
            *at = from;
            return ST_OK;
        }
        from += finder->period;
        known = finder->repeats ? part.n - finder->period : 0;
    }
    return ST_OK;
}
