/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stop.c: see stop.h. */
#include "supervisor/stop.h"

#include <signal.h>

#include "base/limits.h"
#include "supervisor/input.h"
#include "supervisor/operation.h"
#include "supervisor/process_limit.h"
#include "supervisor/reply.h"
#include "supervisor/state.h"

/* Milliseconds between the stages of a stop when the call has to end soon. */
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
    [STOP_FREED] = "its session was freed",
    [STOP_INPUT] = "nobody typed the line for which it waited",
};

void stop_call(struct session *session, struct call *call, enum stop_why why)
{
    bool restores = session->keeping.waking.checkpoint &&
                    session->keeping.waking.call == call->id;

    if (!call->sent && !restores) {
        reply_not_run(session, call, reasons[why]);
        return;
    }
    if (!call->stopping)
        call->why = why;
    call->stopping = true;
    if (call->sent)
        session_send_stop(session, call->id);
}

void stop_calls(struct supervisor *s, const struct front *front,
                enum stop_why why)
{
    for (struct session *session = s->sessions; session;
         session = session->next) {
        struct call *call = session->calls.first;

        while (call) {
            struct call *next = call->next;

            if (!call->stopping && (!front || call->front == front))
                stop_call(session, call, why);
            call = next;
        }
    }
}

void stop_unbegun(struct session *session)
{
    struct call *call = session->calls.first;

    while (call) {
        struct call *next = call->next;

        if (call->stopping && !call->ours)
            reply_not_run(session, call, reasons[call->why]);
        call = next;
    }
}

/* The call that the image runs, or NULL. */
static struct call *running(const struct session *session)
{
    struct call *call = session->calls.first;

    return call && call->sent && !call->replied && !session->image.dying ? call
                                                                         : NULL;
}

bool stop_was_forced(const struct session *session, const struct call *call)
{
    return call->stopping &&
           (call->why == STOP_TIME || call->why == STOP_INPUT) &&
           !call->error && session->image.stop.stage >= STAGE_FORCED;
}

struct call *stop_freeing(const struct session *session)
{
    struct call *call = session->calls.first;

    if (session->calls.frees == 0)
        return NULL;
    while (!call->frees)
        call = call->next;
    return call;
}

/* Whether a call waits for which CALL of SESSION must end. */
static bool is_in_the_way(const struct session *session,
                          const struct call *call)
{
    const struct call *freeing = stop_freeing(session);

    return freeing && freeing != call;
}

/* Stops CALL of SESSION, which has run long enough, for one that waits; notes
   it for the answer of that one. */
static void check_stuck(const struct session *session, struct call *call,
                        int64_t now)
{
    struct call *freeing = stop_freeing(session);
    int64_t ran = now - call->started_at;

    if (call->stopping || !is_in_the_way(session, call) || ran < LIMIT_STUCK_MS)
        return;
    call->stopping = true;
    call->why = STOP_FREED;
    buf_str(&freeing->freed, STR("\nStopped: "));
    history_line(call_subject(call), &freeing->freed);
    buf_printf(&freeing->freed, " (it had run for %lld s)",
               (long long)(ran / 1000));
}

/* Whether the time of CALL is up. That of the human for whose line it waits
   does not count, but has a limit of its own. */
static bool is_over(const struct call *call, int64_t now)
{
    int64_t deadline = input_deadline(call);

    if (deadline >= 0)
        return now >= deadline;
    return call->timeout_ms > 0 && now - call->started_at >= call->timeout_ms;
}

/* Starts the clock of CALL, which is the first; when its time is up, it is
   stopping. */
static void check_time(struct call *call, int64_t now)
{
    if (call->started_at < 0)
        call->started_at = now;
    if (!call->stopping && is_over(call, now)) {
        call->stopping = true;
        call->why = input_deadline(call) >= 0 ? STOP_INPUT : STOP_TIME;
    }
}

/* Interrupts CALL. The signal carries the call's id, so that it never hits the
   call that follows it, and the reason. */
static void interrupt(const struct image_process *image,
                      const struct call *call)
{
    union sigval value;

    value.sival_int = CONTROL_SIGNAL_VALUE(call->id, call->why);
    // a lost image is noticed when it is read
    (void)sigqueue(image->pid, SIGINT, value);
}

bool stop_tend(struct session *session, bool ending, int64_t now)
{
    struct image_process *image = &session->image;
    struct call *call = running(session);
    bool hurried;

    if (!call)
        return false;
    check_time(call, now);
    check_stuck(session, call, now);
    hurried = ending || call->why == STOP_FREED;
    if (!call->stopping || image->pid <= 0 ||
        (image->stop.stage != STAGE_NONE && now < image->stop.next_at))
        return false;
    image->stop.stage++;
    image->stop.next_at = now + (hurried ? LAST_STAGE_MS : LIMIT_INTERRUPT_MS);
    if (image->stop.stage >= STAGE_KILLED) {
        image->death.killed = true;
        return true;
    }
    interrupt(image, call);
    // an image that waits for a program may not hear the signal; after the end
    // of the program it might, or not
    if (image->stop.stage > STAGE_ASKED)
        process_limit_end_programs(session, call);
    return false;
}

int64_t stop_deadline(const struct session *session)
{
    const struct call *call = running(session);
    int64_t after = -1;

    if (!call)
        return -1;
    if (session->image.stop.stage != STAGE_NONE)
        return session->image.stop.next_at;
    if (call->stopping || call->started_at < 0)
        return -1;
    if (input_deadline(call) >= 0)
        after = input_deadline(call) - call->started_at;
    else if (call->timeout_ms > 0)
        after = call->timeout_ms;
    if (is_in_the_way(session, call) && (after < 0 || after > LIMIT_STUCK_MS))
        after = LIMIT_STUCK_MS;
    return after < 0 ? -1 : call->started_at + after;
}
