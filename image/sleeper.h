/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sleeper.h: checkpoints as the live image makes them: copies of its process
   that sleep until the supervisor wakes or drops them (docs/adr/0004). */
#ifndef IMAGE_SLEEPER_H
#define IMAGE_SLEEPER_H

#include <stdbool.h>
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

/* Waits for those of SLEEPERS, children of this process, that have ended. */
void sleepers_reap(struct sleepers *sleepers);

/* What a copy does before it sleeps, when the original no longer waits for it,
   until there is something to read from the socket that wakes it. */
typedef void sleeper_guest(const struct connection *connection);

/* Makes a sleeping copy of this process, which calls GUEST, unless that is
   NULL: *PID, which *SOCKET wakes; 0 and -1 when there is none. True in the
   copy when it is woken: it is the live image then, with a socket of its own
   and no copies. */
bool sleeper_make(struct sleepers *sleepers, struct connection *connection,
                  sleeper_guest *guest, pid_t *pid, int *socket);

/* Does the same, and answers KEEP number ID. True in this process if there is a
   copy; false in the copy when it is woken. */
bool sleeper_leave(struct sleepers *sleepers, struct connection *connection,
                   uint64_t id, sleeper_guest *guest);

#endif
