/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ring.h: log lines of the core, kept until Emacs Lisp asks for them. */
#ifndef MODULE_RING_H
#define MODULE_RING_H

#include <stddef.h>

#include "base/limits.h"
#include "base/log.h"

struct ring_line {
    enum log_level level;
    size_t n;
    char *p; /* owned */
};

struct ring {
    struct ring_line lines[LIMIT_LOG_KEPT];
    size_t first; /* the oldest */
    size_t count;
    size_t lost; /* lines that had no room, or no memory */
};

/* Line INDEX, the oldest is 0; below ring->count. */
const struct ring_line *ring_at(const struct ring *ring, size_t index);

/* Forgets all. Accepts a zeroed one. */
void ring_clear(struct ring *ring);

/* A sink of log.h, with a ring as its context. */
void ring_sink(void *context, enum log_level level, struct str line);

#endif
