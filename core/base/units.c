/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.c: integers only, since printf writes decimal points as the locale has
   them. */
#include "units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *units_size(uint64_t bytes, char out[UNITS_TEXT])
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes > 0 && bytes % 1024 == 0 &&
           unit + 1 < sizeof names / sizeof *names) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(out, UNITS_TEXT, "%" PRIu64 " %s", bytes, names[unit]);
    return out;
}

const char *units_time(int64_t ms, char out[UNITS_TEXT])
{
    char fraction[8];
    (void)snprintf(fraction, sizeof fraction, ".%03d", (int)(ms % 1000));
    size_t n = strlen(fraction);
    while (n > 0 && (fraction[n - 1] == '0' || fraction[n - 1] == '.'))
        n--;
    (void)snprintf(out, UNITS_TEXT, "%" PRId64 "%.*s s", ms / 1000, (int)n,
                   fraction);
    return out;
}
