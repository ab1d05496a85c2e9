/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_queue.c: see call_queue.h. */
#include "supervisor/call_queue.h"

void call_queue_release(struct call_queue *queue)
{
    struct call *call;

    while ((call = call_queue_take_first(queue)))
        call_free(call);
}

void call_queue_add(struct call_queue *queue, struct call *call)
{
    queue->frees += call->frees ? 1 : 0;
    if (queue->last)
        queue->last->next = call;
    else
        queue->first = call;
    queue->last = call;
}

struct call *call_queue_take_first(struct call_queue *queue)
{
    struct call *call = queue->first;

    if (!call)
        return NULL;
    queue->first = call->next;
    if (!queue->first)
        queue->last = NULL;
    if (call->sent)
        queue->sent--;
    queue->frees -= call->frees ? 1 : 0;
    call->next = NULL;
    return call;
}

void call_queue_withdraw(struct call_queue *queue, struct call *call)
{
    struct call *before = queue->first;

    if (before == call) {
        (void)call_queue_take_first(queue); // the caller has it
        return;
    }
    while (before->next != call)
        before = before->next;
    queue->frees -= call->frees ? 1 : 0;
    before->next = call->next;
    if (queue->last == call)
        queue->last = before;
    call->next = NULL;
}

struct call *call_queue_find(const struct call_queue *queue,
                             const struct front *front, uint64_t id)
{
    struct call *call = queue->first;

    while (call && (call->front != front || call->front_id != id))
        call = call->next;
    return call;
}

struct call *call_queue_unsent(const struct call_queue *queue)
{
    struct call *call = queue->first;

    while (call && call->sent)
        call = call->next;
    return call;
}

uint64_t call_queue_evaluation(const struct call_queue *queue,
                               const struct call *call, uint64_t last)
{
    uint64_t n = last + 1;

    for (const struct call *one = queue->first; one != call; one = one->next)
        n += one->reads || one->apart ? 0 : 1;
    return n;
}

void call_queue_unsend(struct call_queue *queue)
{
    queue->sent = 0;
    for (struct call *call = queue->first; call; call = call->next)
        call_unsend(call);
}
