/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finder.c: the algorithm of Knuth, Morris and Pratt (Fast Pattern Matching in
   Strings, SIAM Journal on Computing 1977). */
#include "base/finder.h"

#include <string.h>

/* Bytes between two looks at the strand. */
#define PIECE (64u * 1024)

/* Moves *FITS, how many bytes of PART fit, on by the byte C. A long part may
   fall back for long, so this is done in steps. */
static enum status fit(const struct finder *finder, uint32_t *fits, char c)
{
    struct str part = finder->part;

    for (size_t n = 1; *fits > 0 && c != part.p[*fits]; n++) {
        *fits = finder->again[*fits - 1];
        if (n % PIECE == 0 && arena_spend(finder->arena, PIECE / 2) != ST_OK)
            return ST_NOMEM;
    }
    *fits += c == part.p[*fits];
    return ST_OK;
}

enum status finder_init(struct finder *finder, struct arena *arena,
                        struct str part)
{
    uint32_t fits = 0;
    enum status status = ST_OK;

    if (part.n == 0 || part.n > UINT32_MAX)
        return ST_LIMIT;
    uint32_t *again = arena_alloc(arena, part.n * sizeof *again);
    if (!again)
        return ST_NOMEM;
    *finder = (struct finder){arena, part, again};
    again[0] = 0;
    for (size_t i = 1; i < part.n && status == ST_OK; i++) {
        if (i % PIECE == 0)
            status = arena_spend(arena, PIECE);
        if (status == ST_OK)
            status = fit(finder, &fits, part.p[i]);
        again[i] = fits;
    }
    return status;
}

/* Looks for PART up to the byte END of TEXT, *FITS bytes of which it begins
   with just before FROM. */
static enum status find(const struct finder *finder, struct str text,
                        size_t from, size_t end, uint32_t *fits, size_t *at)
{
    struct str part = finder->part;

    for (size_t i = from; i < end; i++) {
        if (*fits == 0) { // in most places of most texts
            const char *first = memchr(text.p + i, part.p[0], end - i);

            if (!first)
                break;
            i = (size_t)(first - text.p);
        }
        if (fit(finder, fits, text.p[i]) != ST_OK)
            return ST_NOMEM;
        if (*fits == part.n) {
            *at = i + 1 - part.n;
            break;
        }
    }
    return ST_OK;
}

enum status finder_next(const struct finder *finder, struct str text,
                        size_t from, size_t *at)
{
    uint32_t fits = 0;
    enum status status = ST_OK;

    *at = FINDER_NONE;
    while (status == ST_OK && *at == FINDER_NONE && from < text.n) {
        size_t n = text.n - from < PIECE ? text.n - from : PIECE;

        status = find(finder, text, from, from + n, &fits, at);
        from += n;
        if (status == ST_OK)
            status = arena_spend(finder->arena, n / 2);
    }
    return status;
}
