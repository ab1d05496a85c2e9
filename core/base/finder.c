/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finder.c: the algorithm of Knuth, Morris and Pratt (Fast Pattern Matching in
   Strings, SIAM Journal on Computing 1977). */
#include "base/finder.h"

#include <string.h>

/* Bytes between two looks at the strand. */
#define PIECE (256u * 1024)

/* How much of PART, which begins with it, still fits when FITS bytes of it did
   and C follows. */
static uint32_t fit(struct str part, const uint32_t *again, uint32_t fits,
                    char c)
{
    while (fits > 0 && c != part.p[fits])
        fits = again[fits - 1];
    return fits + (c == part.p[fits]);
}

enum status finder_init(struct finder *finder, struct arena *arena,
                        struct str part)
{
    uint32_t fits = 0;

    if (part.n == 0 || part.n > UINT32_MAX)
        return ST_LIMIT;
    uint32_t *again = arena_alloc(arena, part.n * sizeof *again);
    if (!again)
        return ST_NOMEM;
    again[0] = 0;
    for (size_t i = 1; i < part.n; i++) {
        if (i % PIECE == 0 && arena_spend(arena, PIECE) != ST_OK)
            return ST_NOMEM;
        fits = fit(part, again, fits, part.p[i]);
        again[i] = fits;
    }
    *finder = (struct finder){arena, part, again};
    return arena_spend(arena, part.n % PIECE);
}

/* Looks for PART up to the byte END of TEXT, *FITS bytes of which it begins
   with just before FROM. */
static size_t find(const struct finder *finder, struct str text, size_t from,
                   size_t end, uint32_t *fits)
{
    struct str part = finder->part;

    for (size_t i = from; i < end; i++) {
        if (*fits == 0) { // in most places of most texts
            const char *first = memchr(text.p + i, part.p[0], end - i);

            if (!first)
                break;
            i = (size_t)(first - text.p);
        }
        *fits = fit(part, finder->again, *fits, text.p[i]);
        if (*fits == part.n)
            return i + 1 - part.n;
    }
    return FINDER_NONE;
}

enum status finder_next(const struct finder *finder, struct str text,
                        size_t from, size_t *at)
{
    uint32_t fits = 0;
    enum status status = ST_OK;

    *at = FINDER_NONE;
    while (status == ST_OK && *at == FINDER_NONE && from < text.n) {
        size_t n = text.n - from < PIECE ? text.n - from : PIECE;

        *at = find(finder, text, from, from + n, &fits);
        from += n;
        status = arena_spend(finder->arena, n / 2);
    }
    return status;
}
