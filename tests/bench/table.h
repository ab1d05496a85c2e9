/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h: the table that the bench prints: the measured value, the reference
   from the same run, their ratio, and the goal, if there is one. */
#ifndef TESTS_BENCH_TABLE_H
#define TESTS_BENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Sorts VALUES. */
double table_median(double *values, size_t n);

void table_head(void);

/* A RATIO of 0 and an empty GOAL are left out. */
void table_row(const char *what, const char *value, const char *reference,
               double ratio, const char *goal, bool met);

/* A row of two times in milliseconds and the largest ratio allowed; 0 is no
   goal. */
void table_times(const char *what, double ours, const char *name, double theirs,
                 double most);

/* A row of one value and the largest one allowed; 0 is no goal. */
void table_most(const char *what, double ours, const char *unit, double most);

/* The same with a time in milliseconds, exact to a microsecond. */
void table_time(const char *what, double ours, double most);

/* The same, with what it takes at least: the time of FLOOR for the same work
   without a server, or of the parts that it cannot do without. A goal that is
   missed because it is below that is not called missed. */
void table_floor(const char *what, double ours, double most, const char *floor,
                 double least);

#endif
