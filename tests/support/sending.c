/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sending.c: see sending.h. */
#include "support/sending.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

bool sending_descriptors(int socket, struct str bytes, const int *fds, size_t n,
                         int flags)
{
    union {
        char bytes[CMSG_SPACE(SENDING_MOST * sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part = {(void *)(uintptr_t)bytes.p, bytes.n};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = CMSG_SPACE(n * sizeof(int))};
    struct cmsghdr *cmsg;

    memset(&extra, 0, sizeof extra);
    cmsg = CMSG_FIRSTHDR(&header);
    if (!cmsg) // never: there is room
        return false;
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(cmsg), fds, n * sizeof(int));
    return sendmsg(socket, &header, flags | MSG_NOSIGNAL) == (ssize_t)bytes.n;
}
