/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c: see watch.h. */
#include "supervisor/watch.h"

#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>

/* Descriptors that are told of at once; the others follow in the next turn. */
#define EVENTS 64

int watch_open(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

void watch_init(struct watch *watch, int epoll, struct session *session)
{
    *watch = (struct watch){.epoll = epoll, .session = session, .fd = -1};
}

void watch_drop(struct watch *watch)
{
    if (watch->fd >= 0 && !watch->failed)
        (void)epoll_ctl(watch->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->fd = -1;
    watch->events = 0;
    watch->found = 0;
    watch->failed = false;
}

void watch_set(struct watch *watch, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    bool known = watch->fd == fd && !watch->failed;

    if (watch->epoll < 0 || (known && watch->events == events))
        return;
    if (watch->fd != fd)
        watch_drop(watch);
    if (fd < 0)
        return;
    watch->fd = fd;
    watch->events = events;
    watch->failed =
        epoll_ctl(watch->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd,
                  &event) < 0;
}

void watch_look(struct watch *watch)
{
    struct pollfd fd = {watch->fd, (short)watch->events, 0};

    if (watch->failed && poll(&fd, 1, 0) == 1)
        watch->found |= (unsigned short)fd.revents;
}

int watch_take(int epoll, int timeout_ms,
               void (*wake)(void *context, struct session *session),
               void *context)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(epoll, events, EVENTS, timeout_ms);

    for (int i = 0; i < n; i++) {
        struct watch *watch = events[i].data.ptr;

        watch->found |= events[i].events;
        if (watch->session)
            wake(context, watch->session);
    }
    return n;
}
