/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ending.c: see ending.h. */
#include "supervisor/ending.h"

#include <stddef.h>

#include "supervisor/stop.h"

static bool is_over(const struct ending *ending, int64_t now)
{
    return ending->wanted && now >= ending->at;
}

void ending_set(struct front *front, int64_t at)
{
    struct ending *ending =
        front->owner ? &front->supervisor->ending : &front->ending;

    if (!ending->wanted || at < ending->at)
        ending->at = at;
    ending->wanted = true;
}

bool ending_is_over(const struct front *front, int64_t now)
{
    return is_over(&front->supervisor->ending, now) ||
           is_over(&front->ending, now);
}

bool ending_concerns(const struct supervisor *s, const struct call *call)
{
    return s->ending.wanted ||
           (call && call->front && call->front->ending.wanted);
}

void ending_tend(struct supervisor *s, int64_t now)
{
    if (is_over(&s->ending, now))
        stop_calls(s, NULL, STOP_ENDING);
    for (const struct front *front = s->fronts; front; front = front->next)
        if (is_over(&front->ending, now))
            stop_calls(s, front, STOP_ENDING);
}

/* Whether a call of FRONT, or of any (NULL), is not stopping yet. */
static bool has_unstopped(const struct supervisor *s, const struct front *front)
{
    for (const struct session *session = s->sessions; session;
         session = session->next) {
        const struct call *call = session->calls.first;

        for (; call; call = call->next)
            if (!call->stopping && (!front || call->front == front))
                return true;
    }
    return false;
}

int64_t ending_deadline(const struct supervisor *s)
{
    int64_t deadline = -1;

    if (s->ending.wanted && has_unstopped(s, NULL))
        deadline = s->ending.at;
    for (const struct front *front = s->fronts; front; front = front->next)
        if (front->ending.wanted &&
            (deadline < 0 || front->ending.at < deadline) &&
            has_unstopped(s, front))
            deadline = front->ending.at;
    return deadline;
}
