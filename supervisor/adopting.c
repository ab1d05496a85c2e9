/* SPDX-License-Identifier: GPL-3.0-or-later */
/* adopting.c: see adopting.h. */
#include "supervisor/adopting.h"

#include "supervisor/reply.h"
#include "supervisor/restore.h"

#define FAILED                                                                 \
    "[ERROR] ECL-MCP:NOT-ADOPTED\nThe outcome could not be adopted: its "      \
    "process has ended. The session is unchanged."

/* CALL fails. */
static void fail(struct call *call)
{
    buf_reset(&call->text);
    buf_str(&call->text, STR(FAILED));
    call->error = true;
}

bool adopting_begin(struct supervisor *s, struct session *session, int64_t now)
{
    struct frozen_errors *errors = &session->keeping.frozen;
    struct call *call = session->calls.first;
    struct checkpoint *checkpoint;
    uint64_t evaluation;

    if (!call || !call->replied || !call->adopts)
        return false;
    if (restore_is_waking(session))
        return true;
    if (errors->outcome.socket < 0)
        return false;
    evaluation = frozen_errors_evaluation(errors, errors->outcome.number,
                                          session->keeping.history.last);
    checkpoint =
        call->error ? NULL : restore_take_outcome(s, session, evaluation);
    frozen_errors_drop_outcome(errors);
    if (!checkpoint && !call->error)
        fail(call);
    if (checkpoint)
        restore_begin(s, session, checkpoint, call->id, now);
    return checkpoint;
}

/* Says where the session is now, and what was lost. */
static void describe(const struct session *session,
                     const struct checkpoint *checkpoint, struct buf *text)
{
    uint64_t last = session->keeping.history.last;

    buf_printf(text, "\n; Adopted: session %s continues from here, as ",
               session->name);
    history_describe(&session->keeping.history, checkpoint->evaluation, text);
    if (checkpoint->evaluation < last) {
        buf_str(text, STR("\nAnswered since, but lost:"));
        history_list(&session->keeping.history, checkpoint->evaluation + 1,
                     last, text);
    }
    buf_str(text, STR(RESTORE_LIMITS));
}

void adopting_take_woken(struct supervisor *s, struct session *session,
                         struct checkpoint *checkpoint, bool awake, int64_t now)
{
    struct buf text = BUF_EMPTY;
    struct call *call;

    session_drain(session); // what the copy has printed
    call = session_take_first(session);
    if (awake) {
        buf_str(&text, buf_view(&call->text));
        describe(session, checkpoint, &text);
        session_drop_image(session);
        restore_become(s, session, checkpoint, now);
        notices_tell(&session->notices, call->front,
                     "invoke-restart with adopt", buf_view(&text));
    } else {
        buf_str(&text, STR(FAILED));
    }
    reply_composed(s, session, call, !awake, buf_view(&text));
    buf_release(&text);
}
