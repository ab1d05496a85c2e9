/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input.c: see input.h. */
#include "supervisor/input.h"

#include "base/limits.h"
#include "supervisor/front.h"
#include "supervisor/progress.h"

void input_tend(struct session *session, int64_t now)
{
    struct call *call = session->calls.first;

    if (!call || !call->input.wanted || call->input.told || call->replied ||
        call->stopping || !call->front)
        return;
    session_drain(session); // what was printed before comes before
    progress_flush(session, now);
    call->input.told = true;
    call->input.since = now;
    front_want(call->front, call->front_id);
}

void input_take(struct session *session, struct call *call, struct str line,
                int64_t now)
{
    if (!call->input.told || call->replied || call->stopping)
        return;
    call->started_at += now - call->input.since; // the human's time
    call->input.wanted = false;
    call->input.told = false;
    session_send_input(session, call->id, line);
}

int64_t input_deadline(const struct call *call)
{
    _Static_assert(LIMIT_INPUT_MS == 600000, "lisp/guard.lisp names 600 s");
    return call->input.told ? call->input.since + LIMIT_INPUT_MS : -1;
}
