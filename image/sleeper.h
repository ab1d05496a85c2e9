/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sleeper.h: checkpoints as the live image makes them: copies of its process
   that sleep until the supervisor wakes or drops them (docs/adr/0004). */
#ifndef IMAGE_SLEEPER_H
#define IMAGE_SLEEPER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "image/connection.h"

/* Sleeping copies that one image may have: more than the supervisor uses. */
#define SLEEPER_MAX 64

/* The copies of one image. A zeroed struct has none. */
struct sleepers {
    pid_t pids[SLEEPER_MAX];
    size_t n;
};

/* Makes a sleeping copy of this process and answers KEEP number ID. Returns in
   this process, and again in the copy when that is woken: it is the live image
   then, with a socket of its own and no copies. */
void sleeper_leave(struct sleepers *sleepers, struct connection *connection,
                   uint64_t id);

#endif
