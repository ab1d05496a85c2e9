/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image.h: the Lisp images as the front sees them: calls go out as frames, and
   each of them waits for its reply. Which frames: wire.h. */
#ifndef WIRE_IMAGE_H
#define WIRE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "wire/wire.h"

/* A call that waits for its reply. It is part of a record of the caller's,
   which stays where it is until the call comes back from image_next or
   image_take. */
struct image_call {
    uint64_t id;        /* on the wire; ours alone, never a client's */
    size_t bytes;       /* of its frame and of the record */
    size_t owner_bytes; /* of the record, set by the caller */
    struct image_call *next;
    void *owner; /* the caller's record */
};

#define IMAGE_BUCKETS 1024

struct image {
    const struct log *log; /* borrowed */
    struct buf out;        /* frames for the supervisor; the host drains it */
    size_t start;          /* of the frame being written to out, */
    size_t before;         /* and of what goes with it: perhaps a HELLO */
    bool greeted;          /* the supervisor has got its HELLO */
    int64_t known;         /* which one has answered last; 0: none */

    struct str input;     /* bytes of image_feed that were not looked at yet */
    char head[WIRE_HEAD]; /* of a frame that did not come in one piece, */
    size_t head_n;        /* as much of it as came, */
    struct buf body;      /* and what came of its body */
    bool taken;           /* body was handed out and goes next time */
    size_t lost; /* bytes still to come of a frame without memory for it */

    uint64_t last_id;
    size_t calls; /* waiting, and the bytes of their frames */
    size_t bytes;
    bool broken;      /* the supervisor cannot be talked to any more: */
    struct str why;   /* as a sentence: a constant, the host's, or in */
    struct buf fault; /* this one */
    struct image_call *buckets[IMAGE_BUCKETS]; /* by id */
};

/* What came for a call. */
struct image_reply {
    struct image_call *call; /* no longer waiting, unless it runs: */
    bool running;            /* the text is output, the reply comes later */
    bool error;
    bool missing;    /* what a view was to show is not there */
    struct str text; /* valid until the next image_next or image_feed */
};

void image_init(struct image *image, const struct log *log);

/* Waiting calls are forgotten: take them first. */
void image_release(struct image *image);

/* What a call is about, but for its arguments. */
struct image_task {
    struct str session;
    struct str operation;
    size_t max_output;  /* characters of the answer */
    int64_t timeout_ms; /* 0: none */
    bool progress;      /* its output is wanted while it runs */
    bool view;          /* opens no session; see WIRE_VIEW */
    bool reads;         /* changes nothing; see WIRE_READS */
};

/* Start a frame. The caller of image_begin_call appends the arguments to
   image->out with wire_put…; image_send ends the frame. */
void image_begin_call(struct image *image, const struct image_task *task);
void image_begin_read(struct image *image, int64_t output, int64_t offset,
                      int64_t limit);

/* Ends the frame that was begun and lets CALL, whose owner is set, wait for
   its reply. On failure the frame is taken back: ST_NOMEM; ST_LIMIT when
   LIMIT_PENDING_CALLS or LIMIT_PENDING_BYTES are in use; ST_IO when the
   supervisor cannot be talked to any more. */
enum status MUST_CHECK image_send(struct image *image, struct image_call *call);

/* Asks to stop CALL. Its reply comes nevertheless. */
void image_stop(struct image *image, const struct image_call *call);

/* Asks to stop the calls of all others that share the images, which only their
   owner can. */
void image_stop_others(struct image *image);

/* Asks to answer every call within GRACE_MS and to end then; says nothing to
   a supervisor that was never asked for anything. */
void image_finish(struct image *image, int64_t grace_ms);

/* Hands in bytes from the supervisor, which must stay valid until image_next
   has returned false. */
void image_feed(struct image *image, struct str bytes);

/* Takes the next reply or output; false when there is none. When the bytes make
   no sense, or the supervisor speaks another version or refuses this front,
   image_fault says so, and so does the reply that every waiting call gets. */
bool image_next(struct image *image, struct image_reply *reply);

/* Why the supervisor cannot be talked to any more, empty when it can. */
struct str image_fault(const struct image *image);

/* The supervisor is lost: drops what was to be sent to it and what came from
   it, and gives every waiting call, by image_next, a reply that says WHY, which
   must stay valid until image_renew. */
void image_lose(struct image *image, struct str why);

/* What is sent from now on is for another supervisor. To be called after
   image_lose, when image_next has returned false. */
void image_renew(struct image *image);

/* Takes any waiting call; NULL when there is none. */
struct image_call *image_take(struct image *image);

#endif
