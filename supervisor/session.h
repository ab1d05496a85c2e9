/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h: the supervisor's end of one session: its calls in order, the
   socket to its live image, and the two pipes of the image's output. It knows
   which bytes of output belong to which call (docs/adr/0003): while a later
   call has been sent ahead, by the marks that the image writes between them,
   else by draining the pipes when the answer is there. It decides nothing;
   supervisor.c does. */
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
#include "image/control.h"
#include "supervisor/capture.h"
#include "supervisor/checkpoint.h"
#include "wire/wire.h"

enum { CHANNEL_STDOUT, CHANNEL_STDERR, CHANNEL_PIPES };

struct front;

/* A front that has called in the session, and the notice that it knows. */
struct told {
    struct told *next;
    const struct front *front;
    uint64_t notice;
};

struct call {
    struct call *next;
    uint64_t id;         /* unique in the supervisor */
    struct front *front; /* whose call it is; NULL when that is gone */
    uint64_t front_id;   /* its number there */
    size_t max_chars;    /* of its answer */
    int64_t timeout_ms;  /* 0: none */
    struct buf fields;   /* operation and arguments as wire fields */
    bool ours;           /* the supervisor does it, no image */
    bool sent;           /* to the image that is connected now */
    bool retried;        /* an image ended before it had read the call */
    bool stopping;       /* somebody asked for its end */
    enum stop_why why;   /* when it is stopping */
    int64_t started_at;  /* when nothing was before it any more; -1: not yet */
    bool view;           /* its answer is what the image says, and no more */
    bool reads;          /* changes nothing that a checkpoint would keep */
    bool progress;       /* its output is told while it runs */
    int64_t told_at;     /* when that was done last */
    size_t told[CHANNEL_PIPES]; /* bytes of it */
    int64_t grown_at;           /* when it printed last */
    size_t seen[CHANNEL_PIPES]; /* bytes until then */
    bool replied;               /* text and error are the image's answer */
    bool error;
    bool marked[CHANNEL_PIPES]; /* its output has ended in that pipe */
    struct buf text;
    struct capture captures[CHANNEL_PIPES];
};

/* A call of OPERATION with ARGUMENTS, wire fields already, that may take
   TIMEOUT_MS (0: no limit); NULL when memory runs out. */
struct call *call_new(uint64_t id, int64_t timeout_ms, struct str operation,
                      struct str arguments);

/* Views of its parts. */
struct str call_operation(const struct call *call);
struct str call_arguments(const struct call *call);
void call_free(struct call *call);

struct channel {
    struct channel *next;
    char name[LIMIT_SESSION_NAME + 1];
    uint64_t serial;     /* of the live image, unique in the supervisor */
    uint64_t generation; /* of the zygote that forked it */
    pid_t pid;           /* 0 until the zygote said */
    int socket;          /* -1: no live image */
    int pipes[CHANNEL_PIPES];
    unsigned char key[WIRE_MARK_KEY];
    struct call *first; /* oldest call without an answer to the front */
    struct call *last;
    size_t calls;
    size_t call_bytes;
    size_t sent;    /* calls sent and not yet taken */
    struct buf in;  /* from the image, incomplete frame */
    struct buf out; /* to the image */
    size_t written; /* bytes of out that the socket has taken */
    char carry[CHANNEL_PIPES][WIRE_MARK]; /* perhaps the start of a mark */
    size_t carried[CHANNEL_PIPES];        /* bytes of it */
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

void channel_init(struct channel *channel, const char *name);
void channel_release(struct channel *channel);

/* Connects to a live image. Takes over the descriptors, which are non-blocking
   and close on exec; PIPES NULL: the image writes to those that are there.
   Calls already in the channel are sent from the first on. */
void channel_connect(struct channel *channel, int socket,
                     const int pipes[CHANNEL_PIPES]);

/* Closes the socket and forgets what was sent; calls and pipes stay. */
void channel_disconnect(struct channel *channel);

/* Appends CALL, which the channel owns from now on. */
void channel_add(struct channel *channel, struct call *call);

/* Sends what the window allows, up to a call that is the supervisor's own.
   ST_IO: the image is gone. ST_NOMEM: it cannot be served any more. */
enum status MUST_CHECK channel_send(struct channel *channel);

/* Asks the image for a sleeping copy of it. */
void channel_send_keep(struct channel *channel, uint64_t number);

/* Tells the image not to begin call ID, if it has not yet begun it. */
void channel_send_stop(struct channel *channel, uint64_t id);

/* Reads what is there. ST_IO: end of file or error; ST_INVALID: what came is
   no answer to a call; ST_NOMEM. What was read before that is kept. */
enum status MUST_CHECK channel_read(struct channel *channel);

/* Reads once from pipe I; output between two calls goes to LOG, too. */
void channel_read_pipe(struct channel *channel, int i, const struct log *log);

/* Reads from both pipes what is in them at this moment, no more. */
void channel_drain(struct channel *channel);

/* The same for an image that is dead: no mark comes any more, so that what
   looks like the start of one is output; and whether something was left unread
   is found out. */
void channel_drain_dead(struct channel *channel);

/* Takes the first call when its answer and all its output are there, else
   NULL. The caller frees it. */
struct call *channel_take_finished(struct channel *channel);

/* Takes the first call, finished or not, NULL when there is none. */
struct call *channel_take_first(struct channel *channel);

/* Takes CALL, which is in the channel and was not sent. */
void channel_withdraw(struct channel *channel, struct call *call);

/* What FRONT, which calls, knows of the session; notes it when it is new. NULL
   without memory: it is told nothing. */
struct told *channel_told(struct channel *channel, const struct front *front);

/* FRONT is gone. */
void channel_forget(struct channel *channel, const struct front *front);

/* The call that FRONT calls ID, or NULL. */
struct call *channel_find(struct channel *channel, const struct front *front,
                          uint64_t id);

#endif
