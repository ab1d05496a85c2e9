/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h: one Lisp session in the supervisor: its calls in order, its image,
   what it can go back to, and what its fronts must know of it. It knows which
   bytes of output belong to which call (docs/adr/0003): while a later call has
   been sent ahead, by the marks that the image writes between them, else by
   draining the pipes when the answer has come. It decides nothing:
   image_life.c, operation.c and others do. */
#ifndef SUPERVISOR_SESSION_H
#define SUPERVISOR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "supervisor/call.h"
#include "supervisor/call_queue.h"
#include "supervisor/capture.h"
#include "supervisor/image_process.h"
#include "supervisor/keeping.h"
#include "supervisor/notices.h"

/* What a session waits for besides its code (patience.h). */
enum awaited {
    AWAITED_NOTHING,
    AWAITED_COPY,    /* its image must make one for a call */
    AWAITED_LOAD,    /* its image loads ahead (preparing.h) */
    AWAITED_KEEPER,  /* it must end what an earlier image has left */
    AWAITED_OPENING, /* of its image */
    AWAITED_ROOM,    /* in the system, to open one */
};

struct patience {
    enum awaited what;
    uint64_t token; /* which one of its kind */
    int64_t since;
    int64_t look_at; /* when something is to be done about it */
    bool told;       /* it was told to continue */
};

struct session {
    struct session *next;
    struct session *next_named; /* with the same hash of the name */
    char name[LIMIT_SESSION_NAME + 1];
    bool closed;   /* forgotten as soon as it has no calls */
    bool replaced; /* it lost an image, and may have to wait for that */
    struct call_queue calls;
    struct image_process image;
    struct capture earlier; /* output that came while no call was running */
    size_t logged;          /* bytes of it that went to the log */
    int64_t look_at;        /* when its pipes are read next, which are not
                               watched until then; 0: they are */
    size_t room;            /* bytes that it may still make us hold (room.h) */
    size_t admitted;    /* bytes of the frame that is coming, once its head has
                           been accepted */
    size_t refused;     /* bytes of an answer still to come that are dropped */
    unsigned uncovered; /* zygote.uncovered when its image was forked, or when a
                           call was refused because of that */
    struct keeping keeping;
    struct notices notices;
    struct patience patience;
    bool awake;                 /* it is in the list of those with work */
    struct session *next_awake; /* in that list */
};

void session_init(struct session *session, const char *name);
void session_release(struct session *session);

/* Connects to a live image as image_process_connect and image_process_replace
   do. Calls already in the session are sent from the first on. */
void session_connect(struct session *session, const int fds[CONTROL_FDS]);
void session_replace_image(struct session *session, int socket, pid_t pid);

/* Closes the socket and forgets what was sent; calls, pipes and keeper stay. */
void session_disconnect(struct session *session);

/* Kills the image and disconnects, without a notice. The second one also ends
   everything that the session has started, and its checkpoints. */
void session_drop_image(struct session *session);
void session_end_image(struct session *session);

/* Puts calls into what is for the image, LIMIT_AHEAD at most, up to one that is
   the supervisor's own; session_flush sends them. ST_NOMEM: the image can no
   longer be served. */
enum status MUST_CHECK session_send(struct session *session);

/* Asks the image for a sleeping copy of it, or, if keeping.preparing says so,
   to load ahead what calls will need. */
void session_send_keep(struct session *session, uint64_t number);

/* Sends what is for the image, as far as its socket takes it. */
void session_flush(struct session *session);

/* Tells the image at once not to begin call ID, if it has not yet begun it. */
void session_send_stop(struct session *session, uint64_t id);

/* Sends LINE to the image for the code of call ID. */
void session_send_input(struct session *session, uint64_t id, struct str line);

/* Bytes that SESSION makes us hold: output, and answers that are incomplete or
   wait for their output. */
size_t session_held(const struct session *session);

/* Reads what has come from the image, a bounded part of it at a time; of a dead
   image, all that has come. ST_IO: end of file or error; ST_INVALID: it sent
   something other than an answer to a call; ST_LIMIT: it is sending a frame
   that is too large; ST_NOMEM. What was read before that stays. An answer for
   which there is no room is dropped, and one that says so replaces it. */
enum status MUST_CHECK session_read(struct session *session);

/* Reads once from pipe I, and returns how many bytes; output between two calls
   goes to LOG, too. */
size_t session_read_pipe(struct session *session, int i, const struct log *log);

/* Reads from both pipes what is in them at this moment, no more. */
void session_drain(struct session *session);

/* The same for a dead image. No more marks can come, so that what looks like
   the start of one is output. Also finds out whether the image had read all
   that was sent. */
void session_drain_dead(struct session *session);

/* Takes the first call when its answer and all its output have come, else
   NULL. The caller frees it. */
struct call *session_take_finished(struct session *session);

/* Takes the first call, finished or not; NULL when there is none. The caller
   frees it. */
struct call *session_take_first(struct session *session);

#endif
