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

void stop_call(struct supervisor *s, struct session *session, struct call *call,
               enum stop_why why, int64_t now)
{
    if (!call->sent) {
        reply_not_run(session, call, reasons[why]);
        return;
    }
    if (!call->stopping)
        call->why = why;
    call->stopping = true;
    session_send_stop(session, call->id);
    stop_tend(s, session, now);
}

void stop_calls(struct supervisor *s, const struct front *front,
                enum stop_why why, int64_t now)
{
    struct session *session;

    for (session = s->sessions; session; session = session->next) {
        struct call *call = session->calls.first;

        while (call) {
            struct call *next = call->next;

            if (!call->stopping && (!front || call->front == front))
                stop_call(s, session, call, why, now);
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
void stop_tend(struct supervisor *s, struct session *session, int64_t now)
{
    struct call *call = session->calls.first;
    union sigval value;

    if (!call || !call->sent || call->replied || session->image.dying)
        return;
    watch_time(call, now);
    if (!call->stopping || session->image.pid <= 0 ||
        (session->image.stop.stage != STAGE_NONE &&
         now < session->image.stop.next_at))
        return;
    session->image.stop.stage++;
    session->image.stop.next_at =
        now + (front_is_ending(s, call) ? LAST_STAGE_MS : LIMIT_INTERRUPT_MS);
    if (session->image.stop.stage >= STAGE_KILLED) {
        session->image.death.killed = true;
        life_lost(s, session, now);
        return;
    }
    // an image that waits for a program may not hear the signal
    if (session->image.stop.stage > STAGE_ASKED)
        watch_end_programs(session, call);
    value.sival_int = CONTROL_SIGNAL_VALUE(call->id, call->why);
    // a lost image is noticed when it is read
    (void)sigqueue(session->image.pid, SIGINT, value);
}

int64_t stop_deadline(const struct session *session)
{
    const struct call *call = session->calls.first;

    if (!call || !call->sent || call->replied || session->image.dying)
        return -1;
    if (session->image.stop.stage != STAGE_NONE)
        return session->image.stop.next_at;
    if (call->timeout_ms > 0 && !call->stopping && call->started_at >= 0)
        return call->started_at + call->timeout_ms;
    return -1;
}
