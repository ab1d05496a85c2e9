/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_process.c: see image_process.h. */
#include "supervisor/image_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/closing.h"

/* Bytes received at once, and bytes of storage that an idle buffer keeps. */
#define CHUNK (64u * 1024)

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // nothing is buffered in it
    *fd = -1;
}

static void close_socket(int *fd)
{
    if (*fd >= 0)
        closing_socket(*fd);
    *fd = -1;
}

/* Where the descriptors of the pipes are in enum control_fd. */
static const int PIPES[CAPTURE_PIPES] = {
    [CAPTURE_STDOUT] = CONTROL_STDOUT, [CAPTURE_STDERR] = CONTROL_STDERR};

/* Forgets what is known of the process. */
static void forget_process(struct image_process *image)
{
    image->pid = 0;
    image->written = 0;
    for (int i = 0; i < CAPTURE_PIPES; i++)
        image->output.carried[i] = 0;
    image->stop = (struct image_stop){0, 0};
    image->count_at = -1;
    image->dying = false;
    image->unsettled = false;
    memset(&image->death, 0, sizeof image->death);
    memset(&image->native, 0, sizeof image->native);
}

void image_process_init(struct image_process *image)
{
    memset(image, 0, sizeof *image);
    for (int i = 0; i < CONTROL_FDS; i++)
        watch_init(&image->watches[i], -1, NULL);
    image->socket = -1;
    image->came = -1;
    image->keeper = -1;
    for (int i = 0; i < CAPTURE_PIPES; i++)
        image->output.pipes[i] = -1;
    forget_process(image);
}

void image_process_release(struct image_process *image)
{
    image_process_disconnect(image);
    image_process_end_family(image);
    for (int i = 0; i < CAPTURE_PIPES; i++)
        image_process_close_pipe(image, i);
    buf_release(&image->in);
    buf_release(&image->out);
}

void image_process_connect(struct image_process *image,
                           const int fds[CONTROL_FDS])
{
    image_process_end_family(image);
    image->socket = fds[CONTROL_SOCKET];
    image->keeper = fds[CONTROL_KEEPER];
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        image_process_close_pipe(image, i);
        image->output.pipes[i] = fds[PIPES[i]];
    }
}

void image_process_replace(struct image_process *image, int socket, pid_t pid)
{
    image->socket = socket;
    image->pid = pid;
}

void image_process_disconnect(struct image_process *image)
{
    watch_drop(&image->watches[CONTROL_SOCKET]);
    close_socket(&image->socket);
    close_socket(&image->came);
    buf_release(&image->in);
    buf_release(&image->out);
    forget_process(image);
}

enum status image_process_take_native(struct image_process *image,
                                      struct str body)
{
    struct image_native native = {.known = true};
    int64_t obstacle;

    if (wire_take_int(&body, &native.functions) != ST_OK ||
        wire_take_int(&body, &native.waiting) != ST_OK ||
        wire_take_int(&body, &obstacle) != ST_OK || body.n > 0 ||
        native.functions < 0 || native.waiting < 0 || obstacle < 0 ||
        obstacle >= NATIVE_OBSTACLES)
        return ST_INVALID;
    native.obstacle = (enum native_obstacle)obstacle;
    image->native = native;
    return ST_OK;
}

void image_process_end_family(struct image_process *image)
{
    watch_drop(&image->watches[CONTROL_KEEPER]);
    close_fd(&image->keeper); // by this it knows
    if (image->keeper_pid > 0)
        (void)kill(image->keeper_pid, SIGCONT); // somebody may have stopped it
    image->keeper_pid = 0;
}

void image_process_close_pipe(struct image_process *image, int i)
{
    watch_drop(&image->watches[PIPES[i]]);
    close_fd(&image->output.pipes[i]);
}

void image_process_kill(const struct image_process *image)
{
    if (image->pid > 0 && !image->death.exited)
        (void)kill(image->pid, SIGKILL); // it may be gone already
}

enum status image_process_write(struct image_process *image)
{
    while (image->written < image->out.n) {
        ssize_t n =
            send(image->socket, image->out.p + image->written,
                 image->out.n - image->written, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return ST_OK;
        if (n < 0) {
            image->death.unread = true;
            return ST_IO;
        }
        image->written += (size_t)n;
    }
    buf_trim(&image->out, CHUNK);
    image->written = 0;
    return ST_OK;
}

/* Room for all that can come along: 253 descriptors, the sender's numbers, its
   label, which has a page at most, and a descriptor of its process. The kernel
   closes descriptors without room, and whoever receives waits for that. */
#define CONTROL_BYTES (8u * 1024)

/* A descriptor of the sender's process came along. Not every header has it. */
#ifndef SCM_PIDFD
#define SCM_PIDFD 4
#endif

/* Whether FD is a connected stream, the only thing that images send: a copy of
   theirs is at its other end. A connected one can never listen. */
static bool is_stream(int fd)
{
    int domain = 0;
    int type = 0;
    struct sockaddr_storage peer;
    socklen_t domain_n = sizeof domain;
    socklen_t type_n = sizeof type;
    socklen_t peer_n = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_n) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_n) == 0 &&
           domain == AF_UNIX && type == SOCK_STREAM &&
           getpeername(fd, (struct sockaddr *)&peer, &peer_n) == 0;
}

/* How many descriptors are in CMSG. */
static size_t count_descriptors(const struct cmsghdr *cmsg)
{
    if (cmsg->cmsg_level != SOL_SOCKET ||
        (cmsg->cmsg_type != SCM_RIGHTS && cmsg->cmsg_type != SCM_PIDFD))
        return 0;
    return (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
}

/* Descriptor I of CMSG. */
static int descriptor(const struct cmsghdr *cmsg, size_t i)
{
    int fd;

    memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof fd, sizeof fd);
    return fd;
}

/* Takes the descriptors of HEADER: a stream that came without anything else
   becomes *FD, unless there is one. ST_INVALID: something else came along, all
   of which is closed. That none came because we have too many open is no fault
   of the image. */
static enum status take_descriptors(struct msghdr *header, int *fd)
{
    struct cmsghdr *first = CMSG_FIRSTHDR(header);

    if (!first)
        return ST_OK;
    if (*fd < 0 && !(header->msg_flags & MSG_CTRUNC) &&
        !CMSG_NXTHDR(header, first) && first->cmsg_type == SCM_RIGHTS &&
        count_descriptors(first) == 1 && is_stream(descriptor(first, 0))) {
        *fd = descriptor(first, 0);
        return ST_OK;
    }
    for (struct cmsghdr *cmsg = first; cmsg; cmsg = CMSG_NXTHDR(header, cmsg))
        for (size_t i = 0; i < count_descriptors(cmsg); i++)
            if (descriptor(cmsg, i) >= 0) // else it was gone
                closing_any(descriptor(cmsg, i));
    return ST_INVALID;
}

ssize_t image_process_take(int socket, void *room, size_t n, int *fd,
                           enum status *status)
{
    union {
        char bytes[CONTROL_BYTES];
        struct cmsghdr align;
    } extra;
    struct iovec part = {room, n};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t got;

    do {
        header.msg_control = extra.bytes;
        header.msg_controllen = sizeof extra.bytes;
        // who shares the socket of a copy can make it a blocking one
        got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    *status = got >= 0 ? take_descriptors(&header, fd) : ST_OK;
    return got;
}

/* Bytes that the frame in IN lacks, or its head. */
static size_t missing(const struct image_process *image)
{
    struct wire_head head;

    if (wire_head(buf_view(&image->in), &head) != ST_OK)
        return image->in.n < WIRE_HEAD ? WIRE_HEAD - image->in.n : CHUNK;
    return WIRE_HEAD + head.size - image->in.n;
}

enum status image_process_receive(struct image_process *image, bool *more)
{
    size_t most = image->came >= 0 ? missing(image) : CHUNK;
    char *room = buf_reserve(&image->in, CHUNK);
    enum status status;
    ssize_t n;

    if (!room)
        return ST_NOMEM;
    n = image_process_take(image->socket, room, most, &image->came, &status);
    if (n < 0 && errno == EAGAIN)
        return ST_MISSING;
    if (n < 0 && errno == ECONNRESET)
        image->death.unread = true;
    if (n <= 0)
        return ST_IO;
    image->in.n += (size_t)n;
    *more = (size_t)n == most;
    return status;
}

bool image_process_has_descriptor(const struct image_process *image,
                                  struct str body)
{
    return image->came >= 0 && body.p + body.n == image->in.p + image->in.n;
}

enum status image_process_check_descriptor(const struct image_process *image)
{
    struct wire_head head;

    if (image->came < 0)
        return ST_OK;
    if (wire_head(buf_view(&image->in), &head) != ST_OK)
        return image->in.n > 0 ? ST_OK : ST_INVALID; // its kind is to come
    return head.kind == WIRE_KEPT || head.kind == WIRE_OUTCOME ? ST_OK
                                                               : ST_INVALID;
}
