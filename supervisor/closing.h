/* SPDX-License-Identifier: GPL-3.0-or-later */
/* closing.h: closes what an image can have put something into. Whoever closes
   the last descriptor of a file, a shared memory or a set of watched
   descriptors does the work of its end, which takes seconds if it is large. It
   must not be the loop, and closing a socket closes all descriptors that wait
   in it. */
#ifndef SUPERVISOR_CLOSING_H
#define SUPERVISOR_CLOSING_H

/* Closes FD, of which nothing is known, without waiting for it. */
void closing_any(int fd);

/* Closes FD, a connected Unix socket, without waiting for what is in it: who
   has the other end finds that at once. */
void closing_socket(int fd);

#endif
