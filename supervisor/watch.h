/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h: descriptors that the system watches all the time, so that a session
   in which nothing happens costs nothing, and no wait begins with a list of
   them. */
#ifndef SUPERVISOR_WATCH_H
#define SUPERVISOR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct session;

/* One place for a descriptor. */
struct watch {
    int epoll;               /* borrowed; -1: nothing is watched */
    struct session *session; /* whose it is; NULL: of none */
    int fd;                  /* that is watched; -1: none */
    uint32_t events;         /* of epoll(7) */
    uint32_t found;          /* that have happened */
    bool failed;             /* the system does not watch it: watch_look asks */
};

/* Makes a descriptor for watches, or returns -1 with errno. */
int watch_open(void);

/* Makes WATCH one of SESSION, or of none if that is NULL, that has no
   descriptor. */
void watch_init(struct watch *watch, int epoll, struct session *session);

/* Has FD watched for EVENTS instead of what was watched here; -1: nothing.
   watch_drop comes before FD is closed: another may get its number. */
void watch_set(struct watch *watch, int fd, uint32_t events);
void watch_drop(struct watch *watch);

/* Adds to WATCH what has happened, if the system does not tell. */
void watch_look(struct watch *watch);

/* Waits TIMEOUT_MS at most, -1: for ever, until something happens. Notes in
   each watch of EPOLL what has, and calls WAKE with CONTEXT for its session.
   Returns what epoll_wait(2) does. */
int watch_take(int epoll, int timeout_ms,
               void (*wake)(void *context, struct session *session),
               void *context);

#endif
