/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_own.c: see link_own.h. */
#include "server/link_own.h"

#include <stdlib.h>

#include "base/deadline.h"
#include "supervisor/front.h"
#include "supervisor/intake.h"

struct link_own {
    struct link link;
    struct supervisor *supervisor;
    struct front *front; /* of this process */
    struct listener *listener;
    size_t split; /* index of the first descriptor of the listener */
};

static struct link_own *link_own_of(struct link *link)
{
    return (struct link_own *)link;
}

static void begin(struct link *link, int64_t now_ms)
{
    supervisor_begin(link_own_of(link)->supervisor, now_ms);
}

static enum status feed(struct link *link, const void *p, size_t n,
                        int64_t now_ms)
{
    return intake_feed(link_own_of(link)->front, p, n, now_ms);
}

static bool is_busy(const struct link *link)
{
    return front_is_busy(((const struct link_own *)link)->front);
}

static struct buf *output(struct link *link)
{
    return front_output(link_own_of(link)->front);
}

static bool take_loss(struct link *link, struct str *why)
{
    (void)link;
    (void)why;
    return false; // the supervisor lives as long as this process
}

static void drop(struct link *link, struct str why, int64_t now_ms)
{
    (void)link;
    (void)why;
    (void)now_ms; // there is no other supervisor
}

static size_t fd_count(const struct link *link)
{
    const struct link_own *own = (const struct link_own *)link;

    return supervisor_fd_count(own->supervisor) +
           listener_fd_count(own->listener);
}

static size_t fds_of(struct link *link, struct pollfd *fds, size_t max)
{
    struct link_own *own = link_own_of(link);

    own->split = supervisor_fds(own->supervisor, fds, max);
    return own->split +
           listener_fds(own->listener, fds + own->split, max - own->split);
}

static int epoll_of(const struct link *link)
{
    const struct link_own *own = (const struct link_own *)link;

    return own->listener ? -1 : supervisor_epoll(own->supervisor);
}

static int wait_for(struct link *link, int timeout_ms)
{
    return supervisor_wait(link_own_of(link)->supervisor, timeout_ms);
}

static void run(struct link *link, const struct pollfd *fds, size_t n,
                int64_t now_ms)
{
    struct link_own *own = link_own_of(link);
    size_t split = n < own->split ? n : own->split;

    listener_read(own->listener, own->supervisor, fds + split, n - split,
                  now_ms);
    supervisor_run(own->supervisor, fds, split, now_ms);
    listener_write(own->listener, now_ms);
}

static int64_t deadline(const struct link *link)
{
    const struct link_own *own = (const struct link_own *)link;

    return deadline_earlier(supervisor_deadline(own->supervisor),
                            listener_deadline(own->listener));
}

static void reap(struct link *link, int64_t now_ms)
{
    supervisor_reap(link_own_of(link)->supervisor, now_ms);
}

static void release(struct link *link)
{
    struct link_own *own = link_own_of(link);

    listener_free(own->listener); // nobody connects while images end
    supervisor_free(own->supervisor);
    free(link);
}

static const struct link_kind KIND = {
    begin,  feed,     is_busy,  output, take_loss, drop, fd_count,
    fds_of, epoll_of, wait_for, run,    deadline,  reap, release,
};

struct link *link_own_new(const struct supervisor_config *config,
                          struct listener *listener, int64_t now_ms)
{
    struct link_own *own = calloc(1, sizeof *own);

    if (!own) {
        listener_free(listener);
        return NULL;
    }
    own->link.kind = &KIND;
    own->listener = listener;
    own->supervisor = supervisor_new(config, now_ms);
    if (own->supervisor)
        own->front = front_open(own->supervisor, true);
    if (own->front)
        return &own->link;
    release(&own->link);
    return NULL;
}
