/* SPDX-License-Identifier: GPL-3.0-or-later */
/* closing.h: closes what an image can have put something into. Whoever closes
   the last descriptor of a file, a shared memory or a set of watched
   descriptors does the work of its end, which takes seconds if it is large. It
   must not be the loop, and closing a socket closes all descriptors that wait
   in it.

   One thread closes one descriptor after the other. What waits for it still
   counts against the descriptors of the server: at most 253 for each image that
   is ended because it sent them. So while more than LIMIT_CLOSING wait, no
   image is opened, none that died is replaced, by a checkpoint or else, and a
   checkpoint that was restored, or an outcome that was adopted, gets no calls.
   When the pipe to the thread is full or there can be no thread, the caller
   closes. SIGPIPE must be ignored. */
#ifndef SUPERVISOR_CLOSING_H
#define SUPERVISOR_CLOSING_H

#include <stdbool.h>

/* Closes FD, of which nothing is known, without waiting for it: its number may
   be in use for a while yet. */
void closing_any(int fd);

/* Closes FD, a Unix socket to which evaluated code has had access, in the same
   way, but who has the other end finds that at once. What waits in it cannot be
   told: a message whose urgent byte was read counts as none, and can still
   carry descriptors. */
void closing_socket(int fd);

/* Whether more than LIMIT_CLOSING descriptors wait. */
bool closing_is_full(void);

#endif
