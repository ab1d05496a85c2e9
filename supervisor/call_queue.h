/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_queue.h: the calls of a session that have no answer yet, in their order.
   The first ones may have been sent to the image. */
#ifndef SUPERVISOR_CALL_QUEUE_H
#define SUPERVISOR_CALL_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "supervisor/call.h"

/* A zeroed struct is an empty queue. */
struct call_queue {
    struct call *first; /* owned, with those that follow it */
    struct call *last;
    size_t sent;  /* how many, from the first on, the image has been sent */
    size_t frees; /* how many want those before them to end */
};

/* Frees all calls without answering them. */
void call_queue_release(struct call_queue *queue);

/* Appends CALL, which the queue owns from now on. */
void call_queue_add(struct call_queue *queue, struct call *call);

/* Takes the first call, finished or not; NULL when there is none. */
struct call *call_queue_take_first(struct call_queue *queue);

/* Takes CALL, which is in the queue and has not been sent. */
void call_queue_withdraw(struct call_queue *queue, struct call *call);

/* The call that FRONT calls ID, or NULL. */
struct call *call_queue_find(const struct call_queue *queue,
                             const struct front *front, uint64_t id);

/* The first call that has not been sent, or NULL. */
struct call *call_queue_unsent(const struct call_queue *queue);

/* The number that CALL, which is in the queue, has or would have as an
   evaluation, when LAST is that of the last one answered. */
uint64_t call_queue_evaluation(const struct call_queue *queue,
                               const struct call *call, uint64_t last);

/* The image is gone: all calls can be sent to another. */
void call_queue_unsend(struct call_queue *queue);

#endif
