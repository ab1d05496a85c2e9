/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sending.h: sends descriptors through a socket, as evaluated code can. */
#ifndef TESTS_SUPPORT_SENDING_H
#define TESTS_SUPPORT_SENDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* As many descriptors as one message can have. */
#define SENDING_MOST 253

/* Sends BYTES with the first N of FDS through SOCKET; FLAGS are those of
   sendmsg(2). The caller still has the descriptors. False: not all was sent. */
bool sending_descriptors(int socket, struct str bytes, const int *fds, size_t n,
                         int flags);

#endif
