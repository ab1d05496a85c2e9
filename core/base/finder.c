/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finder.c: the algorithm of Knuth, Morris and Pratt (Fast Pattern Matching in
   Strings, SIAM Journal on Computing 1977). */
#include "base/finder.h"

#include <string.h>

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
        while (fits > 0 && part.p[i] != part.p[fits])
            fits = again[fits - 1];
        fits += part.p[i] == part.p[fits];
        again[i] = fits;
    }
    *finder = (struct finder){part, again};
    return ST_OK;
}

size_t finder_next(const struct finder *finder, struct str text, size_t from)
{
    struct str part = finder->part;
    size_t fits = 0;

    for (size_t i = from; i < text.n; i++) {
        if (fits == 0) { // in most places of most texts
            const char *first = memchr(text.p + i, part.p[0], text.n - i);

            if (!first)
                break;
            i = (size_t)(first - text.p);
        }
        while (fits > 0 && text.p[i] != part.p[fits])
            fits = finder->again[fits - 1];
        fits += text.p[i] == part.p[fits];
        if (fits == part.n)
            return i + 1 - part.n;
    }
    return FINDER_NONE;
}
