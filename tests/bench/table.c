/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c: see table.h. */
#include "bench/table.h"

#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return (*x > *y) - (*x < *y);
}

double table_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

void table_head(void)
{
    printf("%-44s %14s %22s %7s  %s\n", "measured", "value", "reference",
           "ratio", "goal");
}

static void row(const char *what, const char *value, const char *reference,
                double ratio, const char *goal, const char *verdict)
{
    char text[32] = "";

    if (ratio > 0)
        (void)snprintf(text, sizeof text, "%.2f", ratio);
    printf("%-44s %14s %22s %7s  %-14s %s\n", what, value, reference, text,
           goal, *goal == '\0' ? "" : verdict);
}

void table_row(const char *what, const char *value, const char *reference,
               double ratio, const char *goal, bool met)
{
    row(what, value, reference, ratio, goal, met ? "met" : "MISSED");
}

/* A row of two times and the largest ratio allowed. */
void table_times(const char *what, double ours, const char *name, double theirs,
                 double most)
{
    char value[32];
    char reference[64];
    char goal[32];

    (void)snprintf(value, sizeof value, "%.3f ms", ours);
    (void)snprintf(reference, sizeof reference, "%s %.3f ms", name, theirs);
    (void)snprintf(goal, sizeof goal, "ratio <= %g", most);
    table_row(what, value, reference, ours / theirs, most > 0 ? goal : "",
              ours / theirs <= most);
}

void table_most(const char *what, double ours, const char *unit, double most)
{
    char value[32];
    char goal[32];

    (void)snprintf(value, sizeof value, "%.1f %s", ours, unit);
    (void)snprintf(goal, sizeof goal, "<= %.0f %s", most, unit);
    table_row(what, value, "", 0, most > 0 ? goal : "", ours <= most);
}

void table_time(const char *what, double ours, double most)
{
    char value[32];
    char goal[32];

    (void)snprintf(value, sizeof value, "%.3f ms", ours);
    (void)snprintf(goal, sizeof goal, "<= %g ms", most);
    table_row(what, value, "", 0, most > 0 ? goal : "", ours <= most);
}

void table_floor(const char *what, double ours, double most, const char *floor,
                 double least)
{
    char value[32];
    char reference[64];
    char goal[32];

    (void)snprintf(value, sizeof value, "%.3f ms", ours);
    (void)snprintf(reference, sizeof reference, "floor: %s %.3f ms", floor,
                   least);
    (void)snprintf(goal, sizeof goal, "<= %g ms", most);
    row(what, value, reference, ours / least, goal,
        ours <= most   ? "met"
        : least > most ? "below the floor"
                       : "MISSED");
}
