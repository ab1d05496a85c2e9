/* SPDX-License-Identifier: GPL-3.0-or-later */
/* control.c: see control.h. Knows sockets, nothing of Lisp. */
#include "image/control.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/descriptors.h"

_Static_assert((int)CONTROL_FDS <= (int)DESCRIPTORS_MOST,
               "they come in one message");

enum status control_send(int socket, const struct control_message *message,
                         const int fds[CONTROL_FDS])
{
    struct control_message copy = *message;
    ssize_t sent = descriptors_send(socket, &copy, sizeof copy, fds,
                                    fds ? CONTROL_FDS : 0);

    return sent == (ssize_t)sizeof copy ? ST_OK : ST_IO;
}

enum status control_send_temporary(int socket, const char *path)
{
    size_t n = strlen(path) + 1;

    return n <= SANDBOX_PATH &&
                   send(socket, path, n, MSG_NOSIGNAL) == (ssize_t)n
               ? ST_OK
               : ST_IO;
}

enum status control_await_temporary(int socket, char path[SANDBOX_PATH])
{
    struct pollfd fd = {socket, POLLIN, 0};
    ssize_t n;

    do {
        (void)poll(&fd, 1, -1); // the socket need not block
        n = recv(socket, path, SANDBOX_PATH, 0);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    return n > 0 && path[n - 1] == '\0' ? ST_OK : ST_IO;
}

/* Takes the descriptors out of HEADER; those beyond CONTROL_FDS cannot come,
   since the buffer has no room for them. */
static void take_fds(struct msghdr *header, int fds[CONTROL_FDS])
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(header); cmsg;
         cmsg = CMSG_NXTHDR(header, cmsg)) {
        size_t n;

        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
            continue;
        n = cmsg->cmsg_len - CMSG_LEN(0);
        if (n > CONTROL_FDS * sizeof(int))
            n = CONTROL_FDS * sizeof(int);
        memcpy(fds, CMSG_DATA(cmsg), n);
    }
}

enum status control_receive(int socket, struct control_message *message,
                            int fds[CONTROL_FDS])
{
    struct control_message got;
    struct iovec part = {&got, sizeof got};
    union {
        char bytes[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = sizeof extra.bytes};
    ssize_t n;

    for (int i = 0; i < CONTROL_FDS; i++)
        fds[i] = -1;
    do
        n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN ? ST_MISSING : ST_IO;
    if (n == 0)
        return ST_IO;
    take_fds(&header, fds);
    if (n != (ssize_t)sizeof got) {
        for (int i = 0; i < CONTROL_FDS; i++)
            if (fds[i] >= 0)
                (void)close(fds[i]); // they are not used
        return ST_INVALID;
    }
    *message = got;
    return ST_OK;
}

enum status control_await(int socket, struct control_message *message,
                          int fds[CONTROL_FDS])
{
    struct pollfd fd = {socket, POLLIN, 0};
    enum status status;

    do {
        (void)poll(&fd, 1, -1); // an error ends in the next round
        status = control_receive(socket, message, fds);
    } while (status == ST_MISSING);
    return status;
}
