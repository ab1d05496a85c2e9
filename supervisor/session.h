/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h: the supervisor's end of one session: its calls in order, the
   socket to its live image, and the two pipes of the image's output. It knows
   which bytes of output belong to which call (docs/adr/0003): while a later
   call has been sent ahead, by the marks that the image writes between them,
   else by draining the pipes when the answer is there. X   supervisor.c does.
 */
#ifndef SUPERVISOR_SESSION_H
#define SUPERVISOR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "supervisor/call.h"
#include "supervisor/capture.h"
#include "supervisor/checkpoint.h"
#include "wire/wire.h"

/* A front that has called in the session, and the notice that it knows. */
struct told {
    struct told *next;
    const struct front *front;
    uint64_t notice;
};

struct session {
    struct session *next;
    char name[LIMIT_SESSION_NAME + 1];
    uint64_t serial;     /* of the live image, unique in the supervisor */
    uint64_t generation; /* of the zygote that forked it */
    pid_t pid;           /* 0 until the zygote said */
    int socket;          /* -1: no live image */
    int pipes[CAPTURE_PIPES];
    unsigned char key[WIRE_MARK_KEY];
    struct call *first; /* oldest call without an answer to the front */
    struct call *last;
    size_t calls;
    size_t call_bytes;
    size_t sent;    /* calls sent and not yet taken */
    struct buf in;  /* from the image, incomplete frame */
    struct buf out; /* to the image */
    size_t written; /* bytes of out that the socket has taken */
    char carry[CAPTURE_PIPES][WIRE_MARK]; /* perhaps the start of a mark */
    size_t carried[CAPTURE_PIPES];        /* bytes of it */
    struct capture earlier; /* output that came while no call was running */
    size_t logged;          /* bytes of it that went to the log */

    /* what a KEPT frame has brought; kept_socket is -1 when nothing came */
    bool kept;
    pid_t kept_pid;
    int kept_socket;

    /* what the session can go back to */
    struct checkpoints checkpoints;
    struct history history;
    bool changed;       /* since the newest checkpoint */
    uint64_t keeping;   /* number of the KEEP without KEPT, or 0 */
    int64_t keep_sent;  /* when it was sent */
    int64_t keep_at;    /* when the next one is due */
    int64_t rest_until; /* none before, so that calls come first */
    uint64_t keep_call; /* the call that wants it, or 0 */
    char keep_name[LIMIT_SESSION_NAME + 1];

    /* the supervisor's own notes */
    bool closed;      /* to be forgotten when it has no calls */
    bool dying;       /* the image is gone or must go; cause is awaited */
    bool unread;      /* it ended before it had read all that was sent */
    bool exited;      /* wait_status is known */
    bool killed;      /* by us, after it ignored an interrupt */
    bool crowded;     /* it had too many processes */
    bool garbled;     /* it sent what is no answer */
    int64_t watch_at; /* when they are counted next; -1: not */
    int wait_status;
    int64_t death_at; /* when waiting for the cause ends */
    int stop_stage;
    int64_t stop_at;   /* when the next stage begins */
    struct buf notice; /* what has happened to the session, for those who */
    uint64_t notices;  /* do not know of it: the newest of so many */
    struct told *told; /* who uses the session, owned */
    size_t poll_at;    /* index of its first pollfd, or SIZE_MAX */
};

void session_init(struct session *session, const char *name);
void session_release(struct session *session);

/* Connects to a live image. Takes over the descriptors, which are non-blocking
   and close on exec; PIPES NULL: the image writes to those that are there.
   Calls already in the session are sent from the first on. */
void session_connect(struct session *session, int socket,
                     const int pipes[CAPTURE_PIPES]);

/* Closes the socket and forgets what was sent; calls and pipes stay. */
void session_disconnect(struct session *session);

/* Appends CALL, which the session owns from now on. */
void session_add(struct session *session, struct call *call);

/* Sends what the window allows, up to a call that is the supervisor's own.
   ST_IO: the image is gone. ST_NOMEM: it cannot be served any more. */
enum status MUST_CHECK session_send(struct session *session);

/* Asks the image for a sleeping copy of it. */
void session_send_keep(struct session *session, uint64_t number);

/* Tells the image not to begin call ID, if it has not yet begun it. */
void session_send_stop(struct session *session, uint64_t id);

/* Reads what is there. ST_IO: end of file or error; ST_INVALID: what came is
   no answer to a call; ST_NOMEM. What was read before that is kept. */
enum status MUST_CHECK session_read(struct session *session);

/* Reads once from pipe I; output between two calls goes to LOG, too. */
void session_read_pipe(struct session *session, int i, const struct log *log);

/* Reads from both pipes what is in them at this moment, no more. */
void session_drain(struct session *session);

/* The same for an image that is dead: no mark comes any more, so that what
   looks like the start of one is output; and whether something was left unread
   is found out. */
void session_drain_dead(struct session *session);

/* Takes the first call when its answer and all its output are there, else
   NULL. The caller frees it. */
struct call *session_take_finished(struct session *session);

/* Takes the first call, finished or not, NULL when there is none. */
struct call *session_take_first(struct session *session);

/* Takes CALL, which is in the session and was not sent. */
void session_withdraw(struct session *session, struct call *call);

/* What FRONT, which calls, knows of the session; notes it when it is new. NULL
   without memory: it is told nothing. */
struct told *session_told(struct session *session, const struct front *front);

/* FRONT is gone. */
void session_forget(struct session *session, const struct front *front);

/* The call that FRONT calls ID, or NULL. */
struct call *session_find(struct session *session, const struct front *front,
                          uint64_t id);

#endif
