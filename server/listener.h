/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listener.h: a Unix socket through which processes of the same user become
   fronts of a supervisor (supervisor/front.h). */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "supervisor/supervisor.h"

struct listener;

/* Makes the socket PATH for this user alone, in a folder of this user alone; a
   missing folder is made, and a socket without a listener is replaced. NULL:
   appends to WHY what is wrong. PATH and LOG must outlive the listener. */
struct listener *listener_new(const char *path, const struct log *log,
                              struct buf *why);

/* Removes the socket and closes every connection. Accepts NULL, as do the
   functions below. */
void listener_free(struct listener *listener);

/* As supervisor_fd_count, supervisor_fds and supervisor_deadline. */
size_t listener_fd_count(const struct listener *listener);
size_t listener_fds(struct listener *listener, struct pollfd *fds, size_t max);
int64_t listener_deadline(const struct listener *listener);

/* Takes what has arrived. Call it before SUPERVISOR runs. */
void listener_read(struct listener *listener, struct supervisor *supervisor,
                   const struct pollfd *fds, size_t n, int64_t now_ms);

/* Passes on what there is for the fronts. Call it after the supervisor ran. */
void listener_write(struct listener *listener, int64_t now_ms);

#endif
