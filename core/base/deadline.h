/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deadline.h: points in time, in milliseconds of the host's clock. A negative
   one never comes. */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#define DEADLINE_NEVER ((int64_t)-1)

static inline bool deadline_has_passed(int64_t deadline, int64_t now_ms)
{
    return deadline >= 0 && now_ms >= deadline;
}

/* The one that comes first; DEADLINE_NEVER, or another negative one, only when
   neither comes. */
static inline int64_t deadline_earlier(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

#endif
