/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supervisor.h: keeps the Lisp images: starts the zygote, has it fork a live
   image per session, passes calls on, bounds their output, stops what must
   stop, notices deaths and puts a fresh image in the place of a dead one.
   Calls come from its fronts (front.h); the host polls its descriptors. It
   links no Lisp. */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "image/sandbox.h"

struct supervisor;

struct supervisor_config {
    const char *image_path; /* ecl-mcp-image; absolute with a workspace */
    const char *workspace;  /* working directory of the images, or NULL */
    uint64_t heap;          /* bytes of Lisp heap; 0 = LIMIT_HEAP */
    struct sandbox sandbox; /* around the images */
    struct log log;
};

/* Starts the zygote and returns at once; NULL when memory runs out. The
   strings must outlive it. A zygote that cannot be started is reported in the
   answers of calls. This process becomes the one that adopts orphans. */
struct supervisor *supervisor_new(const struct supervisor_config *config,
                                  int64_t now_ms);

/* Ends the zygote and with it every image and every program they started, and
   frees the fronts that are open; waits for that, 3 seconds at most. */
void supervisor_free(struct supervisor *supervisor);

/* Descriptors to poll: fills at most MAX of FDS and returns their number.
   supervisor_run takes the same array back after poll(2), and does whatever
   is due; call it as well when the time of supervisor_deadline has come. */
size_t supervisor_fds(struct supervisor *supervisor, struct pollfd *fds,
                      size_t max);
void supervisor_run(struct supervisor *supervisor, const struct pollfd *fds,
                    size_t n, int64_t now_ms);

/* Number of descriptors that supervisor_fds would give. */
size_t supervisor_fd_count(const struct supervisor *supervisor);

/* The next time at which supervisor_run must be called, -1 when there is
   none. */
int64_t supervisor_deadline(const struct supervisor *supervisor);

/* To be called after SIGCHLD. */
void supervisor_reap(struct supervisor *supervisor, int64_t now_ms);

#endif
