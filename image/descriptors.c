/* SPDX-License-Identifier: GPL-3.0-or-later */
/* descriptors.c: see descriptors.h. */
#include "image/descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

ssize_t descriptors_send(int socket, void *data, size_t size, const int *fds,
                         size_t n)
{
    union {
        char bytes[CMSG_SPACE(DESCRIPTORS_MOST * sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part = {data, size};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;

    if (n > 0) {
        struct cmsghdr *cmsg = &extra.align; // the only one

        memset(&extra, 0, sizeof extra);
        header.msg_control = extra.bytes;
        header.msg_controllen = CMSG_SPACE(n * sizeof *fds);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(n * sizeof *fds);
        memcpy(CMSG_DATA(cmsg), fds, n * sizeof *fds);
    }
    do // nearly all have no descriptors, and the header takes time
        sent = n > 0 ? sendmsg(socket, &header, MSG_NOSIGNAL)
                     : send(socket, data, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}
