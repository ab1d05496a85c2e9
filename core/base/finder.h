/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finder.h: finds a text in another one, in a time that depends on their
   lengths alone, whatever they contain. */
#ifndef BASE_FINDER_H
#define BASE_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

struct finder {
    const struct arena *arena;
    struct str part; /* borrowed */
    size_t cut;      /* where its right half begins */
    size_t period;   /* how far to go on after its left half did not fit */
    bool repeats;    /* the part repeats after PERIOD bytes */
};

/* Not found. */
#define FINDER_NONE SIZE_MAX

/* PART has a byte at least. ST_NOMEM: the work is stopped. */
enum status MUST_CHECK finder_init(struct finder *finder, struct arena *arena,
                                   struct str part);

/* *AT is where PART first occurs in TEXT, from the byte FROM on, or
   FINDER_NONE. ST_NOMEM: the work is stopped (arena_spend). */
enum status MUST_CHECK finder_next(const struct finder *finder, struct str text,
                                   size_t from, size_t *at);

#endif
