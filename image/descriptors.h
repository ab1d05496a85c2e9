/* SPDX-License-Identifier: GPL-3.0-or-later */
/* descriptors.h: sends bytes through a socket, with descriptors. */
#ifndef IMAGE_DESCRIPTORS_H
#define IMAGE_DESCRIPTORS_H

#include <stddef.h>
#include <sys/types.h>

/* Descriptors of one message, at most. */
enum { DESCRIPTORS_MOST = 8 };

/* Sends SIZE bytes of DATA through SOCKET in one message, with the N
   descriptors FDS. Returns what sendmsg(2) does, or send(2) if N is 0; a signal
   does not interrupt it. */
ssize_t descriptors_send(int socket, void *data, size_t size, const int *fds,
                         size_t n);

#endif
