/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.h: sizes and times in words. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>

/* Room for any of these texts, with the NUL at its end. */
#define UNITS_TEXT 40

/* Writes BYTES to OUT and returns it: "1 GiB", "1536 MiB", "1000 bytes". The
   unit is the largest one that gives a whole number. */
const char *units_size(uint64_t bytes, char out[UNITS_TEXT]);

/* Writes MS, which is not negative, to OUT and returns it: "30 s", "1.5 s",
   "0.001 s". */
const char *units_time(int64_t ms, char out[UNITS_TEXT]);

/* The moment MS milliseconds after the start of 1970, to the minute and in UTC,
   as "2026-01-31 12:00"; "-" outside the years 0 to 9999. Writes to OUT and
   returns it. */
const char *units_moment(int64_t ms, char out[UNITS_TEXT]);

#endif
