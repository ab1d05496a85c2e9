/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call.h: one call of a front while it waits for its answer: what was asked,
   how far it has got, and what it has printed. */
#ifndef SUPERVISOR_CALL_H
#define SUPERVISOR_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "image/control.h"
#include "supervisor/capture.h"

struct front;
struct operation;

/* What progress.c notes about a call. */
struct call_progress {
    bool wanted;                    /* the front wants output early */
    int64_t reported_at;            /* when it last got some */
    size_t reported[CAPTURE_PIPES]; /* bytes that it has got */
    int64_t printed_at;             /* when the call last printed */
    size_t printed[CAPTURE_PIPES];  /* bytes until then */
};

/* What input.c notes about a call whose code reads from its human. */
struct call_input {
    bool supplied; /* its front answers a WANT */
    bool wanted;   /* the code waits for a line, */
    bool told;     /* and the front knows */
    int64_t since; /* when it was told */
};

struct call {
    struct call *next;
    uint64_t id;         /* unique in the supervisor */
    struct front *front; /* whose call it is; NULL when that is gone */
    uint64_t front_id;   /* its number there */
    size_t max_chars;    /* of its answer */
    int64_t timeout_ms;  /* 0: none */
    struct buf fields;   /* operation and arguments as wire fields */
    const struct operation *operation; /* never NULL once it is in a session */
    bool ours;          /* the supervisor does it, not an image */
    bool output_aside;  /* what it prints follows its answer (answer.h) */
    bool apart;         /* it is no evaluation that can be undone */
    bool adopts;        /* with its answer a new image may come */
    bool frees;         /* those before it must end soon; see operation.h */
    bool view;          /* its answer is what the image says, and no more */
    bool reads;         /* it changes nothing that a checkpoint would keep */
    bool sent;          /* to the image that is connected now */
    bool heard;         /* an image has said something while it ran */
    bool retried;       /* an image ended before it had read the call */
    bool stopping;      /* somebody asked for its end, or its time is up */
    enum stop_why why;  /* when it is stopping */
    int64_t started_at; /* when it came first in its session; -1: not yet */
    struct call_progress progress;
    struct call_input input;
    bool replied; /* text and error are the image's answer */
    bool error;
    bool marked[CAPTURE_PIPES]; /* its output has ended in that pipe */
    struct buf text;
    struct buf aside;    /* what the image keeps for read-output: its first line
                            is its title */
    struct buf freed;    /* which calls were stopped for it, for its answer */
    bool freed_by_death; /* and the image with them */
    struct capture captures[CAPTURE_PIPES];
};

/* A call of OPERATION with ARGUMENTS, wire fields already, that may take
   TIMEOUT_MS (0: no limit); NULL when memory runs out. */
struct call *call_new(uint64_t id, int64_t timeout_ms, struct str operation,
                      struct str arguments);

/* The same, when OPERATION and ARGUMENTS stand in FRAME, behind room for the
   rest: takes FRAME over, and leaves it empty. */
struct call *call_take(uint64_t id, int64_t timeout_ms, struct str operation,
                       struct str arguments, struct buf *frame);

void call_free(struct call *call);

/* Views of its parts. */
struct str call_operation(const struct call *call);
struct str call_arguments(const struct call *call);

/* The code of an evaluation, or the name of another operation. */
struct str call_subject(const struct call *call);

/* The image that CALL was sent to is gone: CALL can be sent to another. What it
   has printed stays. */
void call_unsend(struct call *call);

#endif
