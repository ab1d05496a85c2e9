/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zygote.h: the zygote process as the supervisor has it: started, listened to,
   started again when it dies, given up for a while when it cannot start. */
#ifndef SUPERVISOR_ZYGOTE_H
#define SUPERVISOR_ZYGOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "base/status.h"
#include "image/control.h"
#include "supervisor/watch.h"

struct zygote {
    const char *path;      /* of ecl-mcp-image, borrowed */
    const char *workspace; /* its working directory, borrowed, or NULL */
    const char *home;      /* that the system has for the user; "": none */
    const char *temporary; /* of the images, borrowed; "": there is none; NULL:
                              the zygote does not wait for it, or must yet */
    struct sandbox sandbox;
    const struct log *log; /* borrowed */
    pid_t pid;             /* 0 when there is no process */
    int control;           /* its socket; -1 when there is no process */
    struct watch watch;    /* of that; whoever has an epoll sets it */
    bool ready;            /* Lisp is booted */
    int64_t ready_by;      /* when it must be ready */
    unsigned covering;     /* times it was told to cover files and has not said
                              that it did */
    unsigned uncovered; /* how often it was lost because it did not: images that
                           were there then will never find the files covered */
    int64_t covered_by; /* when it must have said so; 0: zygote_tend decides */
    int failures;       /* starts in a row that did not get ready */
    int64_t retry_at;   /* after too many failures: no start before */
    char why[128];      /* of the last failure, for answers */
};

void zygote_init(struct zygote *zygote, const char *path, const char *workspace,
                 const struct sandbox *sandbox, const struct log *log);

/* Tells the process, which waits for that where the sandbox lets code write,
   and each that is started later, its temporary folder, as in struct zygote. */
void zygote_tell_temporary(struct zygote *zygote, const char *temporary);

/* Ends the process and waits for it, 3 seconds at most. Returns 0, or its
   number when it has not ended by then: it goes on if it still has others to
   end. */
pid_t zygote_release(struct zygote *zygote);

/* Starts the process unless it exists or it is too early to try again. */
void zygote_start(struct zygote *zygote, int64_t now_ms);

bool zygote_is_ready(const struct zygote *zygote);

/* Has the process, if there is one, cover the files that have come; one that is
   started later does that by itself. */
void zygote_cover(struct zygote *zygote);

/* Whether that is not done yet: no image may get a call, whose code must find
   those files covered. */
bool zygote_is_covering(const struct zygote *zygote);

/* Whether there is no process, and none will be started until zygote_start is
   called. */
bool zygote_is_down(const struct zygote *zygote);

/* Whether the process has ended, noticed yet or not. */
bool zygote_is_gone(const struct zygote *zygote);

/* The process is lost, and WHY. Starts a new one at once; when too many did not
   even get ready, leaves that to a later call. */
void zygote_lose(struct zygote *zygote, const char *why, int64_t now);

/* Receives one control message. ST_MISSING: none has come. ST_IO: the process
   was lost, and a new one started. */
enum status MUST_CHECK zygote_receive(struct zygote *zygote,
                                      struct control_message *message,
                                      int64_t now_ms);

/* Ends a zygote that is not ready, or has not covered files, in time. */
void zygote_tend(struct zygote *zygote, int64_t now_ms);

/* When zygote_tend must be called again; -1: not before something happens. */
int64_t zygote_deadline(const struct zygote *zygote);

/* wait(2) has reported that the process ended. */
void zygote_note_exit(struct zygote *zygote, int wait_status, int64_t now_ms);

#endif
