/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frozen.h: errors as the live image keeps them (docs/adr/0021): copies of its
   process that sleep where an error was signalled, with the whole stack. Who
   has the socket of one asks it over a link; it then makes a copy of itself,
   which does what is asked, answers over the link, and ends with it. Knows
   nothing of Lisp. */
#ifndef IMAGE_FROZEN_H
#define IMAGE_FROZEN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "image/connection.h"
#include "image/sleeper.h"

/* A frozen error, as seen by the image that can ask it. */
struct frozen_error {
    uint64_t number; /* unique in the session; 0: there is none */
    pid_t pid;
    int socket; /* it ends when nobody has this any longer; -1: none */
};

/* What a copy answers. */
struct frozen_answer {
    bool failed;
    struct str text;
    struct str aside;           /* for read-output; may be empty */
    struct frozen_error frozen; /* the next error, in which it ended */
    pid_t outcome; /* a process that sleeps at the outcome, to be adopted; 0:
                      none */
    int socket;    /* that wakes it */
    int ended; /* ST_IO: the signal that has ended the copy, or -1 - the status
                  with which it has exited; 0: neither is known */
};

/* The link on which an answer comes, as far as it has come. */
struct frozen_link {
    int fd; /* -1: there is none */
    struct buf in;
    int fds[2]; /* that have come, in order */
    size_t fd_n;
};

struct frozen {
    uint64_t *last; /* the number of the newest error; one for all processes of
                       the session */
    int link;       /* in a copy that works: where it answers; else -1 */
    struct frozen_error last_frozen; /* in such a copy: the error that it ended
                                        in, if any */
    bool adopted;           /* in such a copy: it has become the live image */
    struct sleepers copies; /* frozen errors, as children */
    pid_t copier;           /* of this process */
    bool noting;            /* a thread is changing them */
    struct frozen_link asked;
};

/* False when there is no memory for it. */
bool frozen_begin(struct frozen *frozen);

/* Which process this is, after frozen_make. */
enum frozen_side {
    FROZEN_FAILED, /* the same; there is no copy */
    FROZEN_LEFT,   /* the same */
    FROZEN_WORKS   /* a copy, which somebody asks */
};

/* Leaves a copy of this process asleep as *ERROR, without the descriptor LOCK,
   unless that is -1: nobody may wait for it. Returns here, and again in each
   copy that is to work; *ERROR is then what it is a copy of. */
enum frozen_side frozen_make(struct frozen *frozen,
                             struct connection *connection, int lock,
                             struct frozen_error *error);

/* In a checkpoint: sleeps until the supervisor says something, and meanwhile
   makes copies that work for those who ask over CONNECTION->asker, which it
   closes. SIGNALS are those that such a copy blocks. True in such a copy, whose
   connection leads nowhere. */
bool frozen_await(struct frozen *frozen, struct connection *connection,
                  const sigset_t *signals);

/* In a copy that works: waits for what is asked. ST_IO: nobody asks any longer,
   or for more than LIMIT_FRAME. */
enum status MUST_CHECK frozen_request(struct frozen *frozen, struct buf *text);

/* In a copy that works: ANSWER is what it has found. Ends the process; but with
   ADOPT it leaves one asleep, in which this function returns when it is woken:
   that is the live image then. */
void frozen_finish(struct frozen *frozen, struct connection *connection,
                   struct sleepers *sleepers,
                   const struct frozen_answer *answer, bool adopt);

/* Asks the error behind SOCKET for TEXT. The answer comes over frozen->asked.
   ST_IO: the error is gone. */
enum status MUST_CHECK frozen_ask(struct frozen *frozen, int socket,
                                  struct str text);

/* Takes the answer, without waiting. *ANSWER has views of frozen->asked, and
   owns its descriptors. ST_MISSING: it is not complete. ST_IO: the copy has
   ended without an answer; ANSWER->ended says how. */
enum status MUST_CHECK frozen_take(struct frozen *frozen,
                                   struct frozen_answer *answer);

/* Whoever is asked is no longer waited for: it ends. */
void frozen_hang_up(struct frozen *frozen);

/* The error behind SOCKET, which is closed, ends, whoever else has it. */
void frozen_end(int socket);

#endif
