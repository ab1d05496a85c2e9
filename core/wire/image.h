/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image.h: the Lisp images as the front sees them: calls go out as frames of
   wire.h, and each of them waits for its reply. */
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

/* A call that waits for its reply. It is part of a record of the caller, who
   sets the last two members and keeps the record where it is until image_next
   or image_take returns the call. */
struct image_call {
    uint64_t id;  /* on the wire; not the id that the client gave */
    size_t bytes; /* of its frame and of the record */
    struct image_call *next;
    size_t owner_bytes; /* of the record */
    void *owner;        /* the record */
};

#define IMAGE_BUCKETS 1024

struct image {
    const struct log *log; /* borrowed */
    struct buf out;        /* frames for the supervisor; the host drains it */
    size_t start;          /* offset in out of the frame being written, */
    size_t before;         /* or of the HELLO that goes before it */
    bool greeted;          /* the supervisor was sent its HELLO */
    int64_t known;         /* the supervisor that answered last; 0: none yet */

    struct str input;     /* bytes of image_feed that were not read yet */
    char head[WIRE_HEAD]; /* of a frame that came in pieces: */
    size_t head_n;        /* how many bytes of the head came, */
    struct buf body;      /* and the bytes of the body that came */
    bool taken;           /* the body was handed out: drop it next time */
    size_t lost;          /* bytes to skip: memory ran out for their frame */

    uint64_t last_id;
    size_t calls;     /* how many wait, */
    size_t bytes;     /* and the bytes of their frames and records */
    bool broken;      /* no supervisor can be reached, */
    struct str why;   /* for this reason, a sentence: constant, of the host, */
    struct buf fault; /* or in this buffer */
    struct image_call *buckets[IMAGE_BUCKETS]; /* by id */
};

/* What came for a call: its reply, or output while it runs. */
struct image_reply {
    struct image_call *call; /* waits no longer, unless it is running */
    bool running;            /* the text is output, the reply comes later */
    bool wants;              /* so is this: it waits for image_supply */
    bool error;
    bool missing;    /* see WIRE_MISSING */
    struct str text; /* valid until the next image_next or image_feed */
};

void image_init(struct image *image, const struct log *log);

/* Forgets the calls that wait: take them first, with image_take. Accepts a
   zeroed struct. */
void image_release(struct image *image);

/* A call, except for its arguments. */
struct image_task {
    struct str session;
    struct str operation;
    size_t max_output;  /* characters of the answer */
    int64_t timeout_ms; /* 0: none */
    bool progress;      /* send output while it runs */
    bool view;          /* see WIRE_VIEW */
    bool reads;         /* see WIRE_READS */
    bool supplies;      /* see WIRE_SUPPLIES */
};

/* Each begins a frame that image_send ends. The caller of image_begin_call
   appends the arguments to image->out with wire_put_…. PATTERN of at most
   LIMIT_REGEX bytes is empty when nothing is searched for. */
void image_begin_call(struct image *image, const struct image_task *task);
void image_begin_read(struct image *image, int64_t output, int64_t offset,
                      int64_t limit, struct str pattern);

/* Ends the frame that was begun and lets CALL wait for its reply. On failure
   the frame is taken back: ST_NOMEM; ST_LIMIT when LIMIT_PENDING_CALLS or
   LIMIT_PENDING_BYTES would be exceeded; ST_IO when image_fault says why. */
enum status MUST_CHECK image_send(struct image *image, struct image_call *call);

/* Asks the supervisor to stop CALL, whose reply still comes. */
void image_stop(struct image *image, const struct image_call *call);

/* Sends LINE, LIMIT_INPUT bytes at most, to the code of CALL; it is ignored
   unless that waits for one. */
void image_supply(struct image *image, const struct image_call *call,
                  struct str line);

/* Asks to stop the calls of all other fronts that share the images. Only the
   owner of the images can do that. */
void image_stop_others(struct image *image);

/* Asks the supervisor to answer every call within GRACE_MS and then to end. A
   supervisor that never got a frame gets none now. */
void image_finish(struct image *image, int64_t grace_ms);

/* Hands in bytes from the supervisor. They must stay valid until image_next
   returns false. */
void image_feed(struct image *image, struct str bytes);

/* Takes the next reply or output; false when there is none. When the bytes are
   not frames, or the supervisor speaks another version or refuses this front,
   every waiting call gets a reply that says so, as image_fault does then. */
bool image_next(struct image *image, struct image_reply *reply);

/* Why the supervisor cannot be reached; empty when it can. */
struct str image_fault(const struct image *image);

/* The supervisor is lost: drops the frames for it and from it, and lets
   image_next give every waiting call a reply that says WHY, which must stay
   valid until image_renew. */
void image_lose(struct image *image, struct str why);

/* From now on frames are for another supervisor, which is greeted first. To be
   called after image_lose, once image_next has returned false. */
void image_renew(struct image *image);

/* Takes any one of the waiting calls; NULL when there is none. */
struct image_call *image_take(struct image *image);

#endif
