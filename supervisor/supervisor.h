/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supervisor.h: keeps the Lisp images: starts the zygote, has it fork a live
   image per session, passes calls on, bounds their output, stops what must
   stop, notices deaths and replaces dead images. Calls come from its fronts
   (front.h, intake.h); the host polls its descriptors. It links no Lisp. */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/config.h"

struct supervisor;

/* NULL when memory runs out. From now on this process adopts its orphaned
   descendants. */
struct supervisor *supervisor_new(const struct supervisor_config *config,
                                  int64_t now_ms);

/* Starts the zygote, unless the first call has, and returns within a few
   milliseconds. A zygote that cannot be started is reported in the answers of
   calls. */
void supervisor_begin(struct supervisor *supervisor, int64_t now_ms);

/* Ends the zygote, and with it every image and every program they started, and
   waits for that, 3 seconds at most. Frees the fronts that are still open. */
void supervisor_free(struct supervisor *supervisor);

/* Sends to the images what is for them: each is woken when all else is done
   that it would compete with. Fills FDS with at most MAX descriptors to poll
   and returns their number. supervisor_run takes the same array back after
   poll(2), and does whatever is due; it must also be called at the time of
   supervisor_deadline. */
size_t supervisor_fds(struct supervisor *supervisor, struct pollfd *fds,
                      size_t max);
void supervisor_run(struct supervisor *supervisor, const struct pollfd *fds,
                    size_t n, int64_t now_ms);

/* In the place of poll(2), after supervisor_fds: waits for what that would
   give, and for watches of the caller, of no session, on supervisor_epoll.
   Returns what epoll_wait(2) does; then supervisor_run needs no descriptors. */
int supervisor_wait(struct supervisor *supervisor, int timeout_ms);
int supervisor_epoll(const struct supervisor *supervisor);

/* How many descriptors supervisor_fds would give. */
size_t supervisor_fd_count(const struct supervisor *supervisor);

/* The next time at which supervisor_run must be called, -1 when there is
   none. */
int64_t supervisor_deadline(const struct supervisor *supervisor);

/* Must be called after SIGCHLD. */
void supervisor_reap(struct supervisor *supervisor, int64_t now_ms);

#endif
