/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.c: with integers only, since printf writes the decimal point of the
   locale. */
#include "base/units.h"

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

/* Floor of A / B, for positive B. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

const char *units_moment(int64_t ms, char out[UNITS_TEXT])
{
    int64_t minutes = floor_div(ms, 60000);
    int64_t day = floor_div(minutes, 24 * 60);
    int minute = (int)(minutes - day * 24 * 60);
    // years start in March, so that the leap day is the last one
    int64_t days = day + 719468; // since the first of March of the year 0
    int64_t era = floor_div(days, 146097); // of 400 years
    int64_t of_era = days - era * 146097;
    int64_t year =
        (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; // 0 is March
    int64_t of_month = of_year - (153 * month + 2) / 5 + 1;

    year += era * 400 + (month >= 10);
    month = month < 10 ? month + 3 : month - 9;
    if (year < 0 || year > 9999)
        (void)snprintf(out, UNITS_TEXT, "-");
    else
        (void)snprintf(out, UNITS_TEXT, "%04d-%02d-%02d %02d:%02d", (int)year,
                       (int)month, (int)of_month, minute / 60, minute % 60);
    return out;
}
