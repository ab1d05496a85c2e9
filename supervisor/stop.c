/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stop.c: ends calls that are not wanted any more, or run too long: first by a
   condition in the code that runs, then by a throw past its handlers, then past
   its cleanup forms, too, last by the end of the image (see state.h). */
#include <signal.h>

#include "base/limits.h"
#include "supervisor/state.h"

/* Milliseconds between the stages of a stop while everything is ending. */
#define LAST_STAGE_MS 200

enum stop_stage {
    STAGE_NONE,
    STAGE_ASKED,
    STAGE_FORCED,
    STAGE_BEYOND,
    STAGE_KILLED
};

static const char *const reasons[] = {
    [STOP_CANCELLED] = "it was cancelled",
    [STOP_TIME] = "its time limit was reached",
    [STOP_ENDING] = "the server is ending",
    [STOP_BY_USER] = "the user stopped it",
};

void stop_call(struct supervisor *s, struct channel *channel, struct call *call,
               enum stop_why why, int64_t now)
{
    if (!call->sent) {
        reply_not_run(channel, call, reasons[why]);
        return;
    }
    if (!call->stopping)
        call->why = why;
    call->stopping = true;
    channel_send_stop(channel, call->id);
    stop_tend(s, channel, now);
}

void stop_calls(struct supervisor *s, const struct front *front,
                enum stop_why why, int64_t now)
{
    struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next) {
        struct call *call = channel->first;

        while (call) {
            struct call *next = call->next;

            if (!call->stopping && (!front || call->front == front))
                stop_call(s, channel, call, why, now);
            call = next;
        }
    }
}

/* The clock of a call starts when nothing is before it any more. */
static void watch_time(struct call *call, int64_t now)
{
    if (call->started_at < 0)
        call->started_at = now;
    if (call->timeout_ms > 0 && !call->stopping &&
        now - call->started_at >= call->timeout_ms) {
        call->stopping = true;
        call->why = STOP_TIME;
    }
}

/* Interrupts the call that runs, if it is to stop. The signal carries the
   call's id, so that it never hits the call behind it, and the reason. */
void stop_tend(struct supervisor *s, struct channel *channel, int64_t now)
{
    struct call *call = channel->first;
    union sigval value;

    if (!call || !call->sent || call->replied || channel->dying)
        return;
    watch_time(call, now);
    if (!call->stopping || channel->pid <= 0 ||
        (channel->stop_stage != STAGE_NONE && now < channel->stop_at))
        return;
    channel->stop_stage++;
    channel->stop_at =
        now + (front_is_ending(s, call) ? LAST_STAGE_MS : LIMIT_INTERRUPT_MS);
    if (channel->stop_stage >= STAGE_KILLED) {
        channel->killed = true;
        life_lost(s, channel, now);
        return;
    }
    // an image that waits for a program may not hear the signal
    if (channel->stop_stage > STAGE_ASKED)
        watch_end_programs(channel, call);
    value.sival_int = CONTROL_SIGNAL_VALUE(call->id, call->why);
    // a lost image is noticed when it is read
    (void)sigqueue(channel->pid, SIGINT, value);
}

int64_t stop_deadline(const struct channel *channel)
{
    const struct call *call = channel->first;

    if (!call || !call->sent || call->replied || channel->dying)
        return -1;
    if (channel->stop_stage != STAGE_NONE)
        return channel->stop_at;
    if (call->timeout_ms > 0 && !call->stopping && call->started_at >= 0)
        return call->started_at + call->timeout_ms;
    return -1;
}
