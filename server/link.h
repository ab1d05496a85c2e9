/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link.h: the way to the Lisp images as the loop sees it: frames (wire/wire.h)
   go in and come out, whoever keeps the images. There are two kinds:
   link_own.h, a supervisor in this process, and link_attach.h, a socket to one
   elsewhere. */
#ifndef SERVER_LINK_H
#define SERVER_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct link;

/* What a kind does; the functions below explain it. */
struct link_kind {
    void (*begin)(struct link *link, int64_t now_ms);
    enum status (*feed)(struct link *link, const void *p, size_t n,
                        int64_t now_ms);
    bool (*is_busy)(const struct link *link);
    struct buf *(*output)(struct link *link);
    bool (*take_loss)(struct link *link, struct str *why);
    void (*drop)(struct link *link, struct str why, int64_t now_ms);
    size_t (*fd_count)(const struct link *link);
    size_t (*fds)(struct link *link, struct pollfd *fds, size_t max);
    int (*epoll)(const struct link *link);
    int (*wait)(struct link *link, int timeout_ms);
    void (*run)(struct link *link, const struct pollfd *fds, size_t n,
                int64_t now_ms);
    int64_t (*deadline)(const struct link *link);
    void (*reap)(struct link *link, int64_t now_ms);
    void (*free)(struct link *link);
};

/* The first member of the struct of each kind. */
struct link {
    const struct link_kind *kind;
};

/* Starts what can wait until the client has its first answer. May be called
   again, and left out until there is a call. */
static inline void link_begin(struct link *link, int64_t now_ms)
{
    link->kind->begin(link, now_ms);
}

/* Passes frames to the supervisor. ST_INVALID: these are not frames. ST_NOMEM:
   some are lost. Nothing more can be fed after either. */
static inline enum status MUST_CHECK link_feed(struct link *link, const void *p,
                                               size_t n, int64_t now_ms)
{
    return link->kind->feed(link, p, n, now_ms);
}

/* Whether more was fed than is done at once: what follows can wait. */
static inline bool link_is_busy(const struct link *link)
{
    return link->kind->is_busy(link);
}

/* Frames from the supervisor; the caller consumes what it passes on. */
static inline struct buf *link_output(struct link *link)
{
    return link->kind->output(link);
}

/* Whether the supervisor was lost or could not be reached since the last call
   of this function. *WHY, valid until the next call of a function here, is for
   the calls that wait. What is fed afterwards goes to another supervisor. */
static inline bool link_take_loss(struct link *link, struct str *why)
{
    return link->kind->take_loss(link, why);
}

/* Gives this supervisor up, if there can be another one: what came out cannot
   be used, as WHY says. */
static inline void link_drop(struct link *link, struct str why, int64_t now_ms)
{
    link->kind->drop(link, why, now_ms);
}

/* Descriptors to poll: fills at most MAX of FDS and returns their number, which
   is link_fd_count when there is room. Give the same array to link_run after
   poll(2), and when the time of link_deadline (-1: never) has come: it does
   whatever is due. */
static inline size_t link_fd_count(const struct link *link)
{
    return link->kind->fd_count(link);
}

static inline size_t link_fds(struct link *link, struct pollfd *fds, size_t max)
{
    return link->kind->fds(link, fds, max);
}

/* After link_fds: where the link waits for nothing but watches (watch.h) of one
   epoll, that. Then watches of the caller can be there, and link_wait is enough
   in the place of poll(2): it waits for all of them, TIMEOUT_MS at most, and
   returns what epoll_wait(2) does; link_run gets no descriptors then. -1: it
   waits for others, too. */
static inline int link_epoll(const struct link *link)
{
    return link->kind->epoll(link);
}

static inline int link_wait(struct link *link, int timeout_ms)
{
    return link->kind->wait(link, timeout_ms);
}

static inline void link_run(struct link *link, const struct pollfd *fds,
                            size_t n, int64_t now_ms)
{
    link->kind->run(link, fds, n, now_ms);
}

static inline int64_t link_deadline(const struct link *link)
{
    return link->kind->deadline(link);
}

/* Call it after SIGCHLD. */
static inline void link_reap(struct link *link, int64_t now_ms)
{
    link->kind->reap(link, now_ms);
}

/* Accepts NULL. */
static inline void link_free(struct link *link)
{
    if (link)
        link->kind->free(link);
}

#endif
