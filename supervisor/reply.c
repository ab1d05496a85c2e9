/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reply.c: see state.h. */
#include "supervisor/state.h"
#include "wire/wire.h"

void reply_text(struct call *call, bool error, struct str text)
{
    if (call->front) {
        front_reply(call->front, call->front_id, error ? WIRE_ERROR : 0, text);
        front_note_end(call);
    }
    call_free(call);
}

/* What was printed during CALL is for the answer of the next one. */
static void leave_output(struct session *session, const struct call *call)
{
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        struct buf text = BUF_EMPTY;

        (void)capture_text(&call->captures[i], &text); // as far as it is kept
        capture_add(&session->earlier, buf_view(&text));
        buf_release(&text);
    }
}

/* Appends what FRONT does not know yet: that it has other images than before,
   and what has happened to the session. */
static void put_notice(struct session *session, struct front *front,
                       struct buf *out)
{
    if (front->lost_images)
        buf_str(out,
                STR("\nThe Lisp images that this server used before have "
                    "ended, and these are new: what was defined there is lost, "
                    "in every session."));
    front->lost_images = false;
    notices_read(&session->notices, front, out);
}

void reply_composed(struct supervisor *s, struct session *session,
                    struct call *call, bool error, struct str body)
{
    struct buf text = BUF_EMPTY;
    struct buf explained = BUF_EMPTY;
    struct buf notice = BUF_EMPTY;
    size_t empty;
    struct answer answer = {NULL,
                            &session->earlier,
                            &call->captures[CAPTURE_STDOUT],
                            &call->captures[CAPTURE_STDERR],
                            body,
                            session->name};

    if (call->view) {
        leave_output(session, call);
        reply_text(call, error, body);
        return;
    }
    if (!call->front) {
        call_free(call);
        return;
    }
    refusal_explain(s, call, error, body, &explained);
    if (explained.n > 0)
        answer.body = buf_view(&explained);
    buf_str(&notice, STR("[notice]"));
    empty = notice.n;
    put_notice(session, call->front, &notice);
    buf_byte(&notice, '\0');
    if (notice.n > empty + 1 && !buf_failed(&notice))
        answer.notice = notice.p;
    if (answer_compose(&answer, call->max_chars, &s->outputs, &text))
        reply_text(call, error, buf_view(&text));
    else
        reply_text(call, true, STR(REPLY_NO_MEMORY));
    buf_release(&text);
    buf_release(&explained);
    buf_release(&notice);
    capture_release(&session->earlier);
}

void reply_not_run(struct session *session, struct call *call, const char *why)
{
    struct buf text = BUF_EMPTY;

    call_queue_withdraw(&session->calls, call);
    buf_printf(&text,
               "[ERROR] ECL-MCP:NOT-EVALUATED\nThe call was not begun: %s.",
               why);
    reply_text(call, true, buf_view(&text));
    buf_release(&text);
}
