/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ring.c: see ring.h. */
#include "module/ring.h"

#include <stdlib.h>
#include <string.h>

const struct ring_line *ring_at(const struct ring *ring, size_t index)
{
    return &ring->lines[(ring->first + index) % LIMIT_LOG_KEPT];
}

static void drop_first(struct ring *ring)
{
    free(ring->lines[ring->first].p);
    ring->lines[ring->first].p = NULL;
    ring->first = (ring->first + 1) % LIMIT_LOG_KEPT;
    ring->count--;
}

void ring_clear(struct ring *ring)
{
    while (ring->count > 0)
        drop_first(ring);
    ring->first = 0;
    ring->lost = 0;
}

void ring_sink(void *context, enum log_level level, struct str line)
{
    struct ring *ring = context;
    char *p = malloc(line.n + 1);

    if (!p) {
        ring->lost++;
        return;
    }
    if (ring->count == LIMIT_LOG_KEPT) {
        drop_first(ring);
        ring->lost++;
    }
    if (line.n > 0)
        memcpy(p, line.p, line.n);
    ring->lines[(ring->first + ring->count) % LIMIT_LOG_KEPT] =
        (struct ring_line){level, line.n, p};
    ring->count++;
}
