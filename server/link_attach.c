/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_attach.c: see link_attach.h. */
#include "server/link_attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "server/address.h"

/* Bytes read at once. */
#define CHUNK (64u * 1024)

struct link_attach {
    struct link link;
    const char *path;
    const struct log *log;
    int fd;         /* -1: not connected */
    struct buf in;  /* frames from the supervisor */
    struct buf out; /* frames for it */
    size_t written; /* bytes of it that were written */
    bool lost;      /* take_loss has not said so yet */
    struct buf why; /* the answer of calls that wait */
    bool settled;   /* why holds for later calls, too */
    int64_t try_at; /* the socket is not tried again before */
    int64_t say_by; /* the supervisor must have spoken by then; or 0 */
};

static struct link_attach *link_attach_of(struct link *link)
{
    return (struct link_attach *)link;
}

/* The connection is over; WHY is for the calls that wait. */
static void lose(struct link_attach *attach, struct str why)
{
    if (attach->fd >= 0)
        (void)close(attach->fd); // loses what was not taken
    attach->fd = -1;
    buf_reset(&attach->out);
    attach->written = 0;
    attach->say_by = 0;
    buf_reset(&attach->why);
    buf_str(&attach->why, why);
    if (buf_failed(&attach->why))
        buf_reset(&attach->why);
    attach->lost = true;
}

/* Loses a connection over which no call was begun. */
static void refuse(struct link_attach *attach, const char *reason)
{
    struct buf text = BUF_EMPTY;

    buf_printf(&text,
               "[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\n"
               "The Lisp images of this server are reached through %s, which "
               "cannot be used: %s. The call did not run. Start the images "
               "with M-x ecl-mcp in Emacs, then call again.",
               attach->path, reason);
    log_line(attach->log, LOG_WARN, "attach: %s: %s", attach->path, reason);
    lose(attach, buf_view(&text));
    attach->settled = true;
    buf_release(&text);
}

/* Loses a connection over which calls may have been under way. */
static void break_off(struct link_attach *attach, const char *reason)
{
    struct buf text = BUF_EMPTY;

    buf_printf(&text,
               "[ERROR] ECL-MCP:CONNECTION-LOST\n"
               "The connection to the Lisp images (%s) was lost during this "
               "call: %s. Whether the call was done, in part or not at all, is "
               "unknown, and so is the state of the session. Check it before "
               "you call again. If the images are gone, M-x ecl-mcp in Emacs "
               "starts them.",
               attach->path, reason);
    log_line(attach->log, LOG_WARN, "attach: %s: connection lost: %s",
             attach->path, reason);
    lose(attach, buf_view(&text));
    attach->settled = false;
    buf_release(&text);
}

static void connect_to(struct link_attach *attach, int64_t now)
{
    pid_t pid;

    attach->try_at = now + LIMIT_ATTACH_MS;
    attach->fd = address_connect(attach->path);
    if (attach->fd < 0) {
        refuse(attach, errno == EAGAIN ? "it is busy" : strerror(errno));
        return;
    }
    if (!address_is_ours(attach->fd, &pid)) {
        refuse(attach, "it belongs to another user");
        return;
    }
    buf_reset(&attach->in);
    attach->say_by = now + LIMIT_HELLO_MS;
    log_line(attach->log, LOG_INFO, "attach: %s: connected to process %d",
             attach->path, (int)pid);
}

/* Reads what has arrived, up to the backlog; false when no more can come. */
static bool read_all(struct link_attach *attach)
{
    while (attach->in.n < LIMIT_OUTPUT_BACKLOG) {
        char *room = buf_reserve(&attach->in, CHUNK);

        if (!room)
            return false;
        ssize_t n = recv(attach->fd, room, CHUNK, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        if (n == 0)
            return false;
        attach->say_by = 0;
        attach->in.n += (size_t)n;
        if ((size_t)n < CHUNK)
            return true;
    }
    return true;
}

/* Writes what the socket takes. A connection that ended is noticed when it is
   read, after its last bytes. */
static void write_out(struct link_attach *attach)
{
    while (attach->written < attach->out.n) {
        ssize_t n = send(attach->fd, attach->out.p + attach->written,
                         attach->out.n - attach->written, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        attach->written += (size_t)n;
    }
    buf_trim(&attach->out, CHUNK);
    buf_reset(&attach->out);
    attach->written = 0;
}

static void begin(struct link *link, int64_t now_ms)
{
    (void)link;
    (void)now_ms; // the supervisor is another's
}

static enum status feed(struct link *link, const void *p, size_t n,
                        int64_t now_ms)
{
    struct link_attach *attach = link_attach_of(link);

    if (attach->fd < 0 && now_ms < attach->try_at) {
        if (!attach->settled)
            refuse(attach, "the connection was lost a moment ago");
        attach->lost = true;
        return ST_OK;
    }
    if (attach->fd < 0)
        connect_to(attach, now_ms);
    if (attach->fd < 0)
        return ST_OK;
    buf_append(&attach->out, p, n);
    if (buf_failed(&attach->out))
        break_off(attach, "out of memory");
    else
        write_out(attach);
    return ST_OK;
}

static bool is_busy(const struct link *link)
{
    (void)link;
    return false; // the other end takes it, or not
}

static struct buf *output(struct link *link)
{
    return &link_attach_of(link)->in;
}

static bool take_loss(struct link *link, struct str *why)
{
    struct link_attach *attach = link_attach_of(link);

    if (!attach->lost)
        return false;
    attach->lost = false;
    *why =
        attach->why.n > 0
            ? buf_view(&attach->why)
            : STR("The connection to the Lisp images was lost: out of memory.");
    return true;
}

static void drop(struct link *link, struct str why, int64_t now_ms)
{
    struct link_attach *attach = link_attach_of(link);

    buf_reset(&attach->in);
    lose(attach, why);
    attach->settled = true;
    attach->try_at = now_ms + LIMIT_ATTACH_MS;
}

static size_t fd_count(const struct link *link)
{
    (void)link;
    return 1;
}

static size_t fds_of(struct link *link, struct pollfd *fds, size_t max)
{
    const struct link_attach *attach = link_attach_of(link);
    short wanted = POLLIN;

    if (max == 0)
        return 0;
    if (attach->written < attach->out.n)
        wanted |= POLLOUT;
    fds[0] = (struct pollfd){attach->fd, wanted, 0};
    return 1;
}

static int epoll_of(const struct link *link)
{
    (void)link;
    return -1;
}

static int wait_for(struct link *link, int timeout_ms)
{
    (void)link;
    (void)timeout_ms;
    return -1; // is not called
}

static void run(struct link *link, const struct pollfd *fds, size_t n,
                int64_t now_ms)
{
    struct link_attach *attach = link_attach_of(link);

    if (attach->fd < 0 || n == 0 || fds[0].fd != attach->fd)
        return;
    if (fds[0].revents & POLLOUT)
        write_out(attach);
    if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) && !read_all(attach))
        break_off(attach, "the other end has closed it");
    else if (attach->say_by > 0 && now_ms >= attach->say_by)
        break_off(attach, "nobody answers there");
}

static int64_t deadline(const struct link *link)
{
    const struct link_attach *attach = (const struct link_attach *)link;

    return attach->say_by > 0 ? attach->say_by : -1;
}

static void reap(struct link *link, int64_t now_ms)
{
    (void)link;
    (void)now_ms; // an attached server has no children
}

static void release(struct link *link)
{
    struct link_attach *attach = link_attach_of(link);

    if (attach->fd >= 0)
        (void)close(attach->fd); // the supervisor stops what runs
    buf_release(&attach->in);
    buf_release(&attach->out);
    buf_release(&attach->why);
    free(attach);
}

static const struct link_kind KIND = {
    begin,  feed,     is_busy,  output, take_loss, drop, fd_count,
    fds_of, epoll_of, wait_for, run,    deadline,  reap, release,
};

struct link *link_attach_new(const char *path, const struct log *log)
{
    struct link_attach *attach = calloc(1, sizeof *attach);

    if (!attach)
        return NULL;
    attach->link.kind = &KIND;
    attach->path = path;
    attach->log = log;
    attach->fd = -1;
    return &attach->link;
}
