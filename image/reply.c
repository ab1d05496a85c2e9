/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reply.c: see state.h. */
#include "state.h"
#include "wire.h"

void reply_text(struct call *call, bool error, struct str text)
{
    if (call->front) {
        front_reply(call->front, call->front_id, error ? WIRE_ERROR : 0, text);
        front_note_end(call);
    }
    call_free(call);
}

/* What was printed during CALL is for the answer of the next one. */
static void leave_output(struct channel *channel, const struct call *call)
{
    for (int i = 0; i < CHANNEL_PIPES; i++) {
        struct buf text = BUF_EMPTY;

        (void)capture_text(&call->captures[i], &text); // as far as it is kept
        capture_add(&channel->earlier, buf_view(&text));
        buf_release(&text);
    }
}

/* The first answer after other images says so. */
static void tell_bereft(struct channel *channel, struct front *front)
{
    struct buf *notice = &channel->notice;

    buf_str(notice, notice->n > 0 ? STR("\n") : STR("[notice]\n"));
    buf_str(notice,
            STR("The Lisp images that this server used before have ended, "
                "and these are new: what was defined there is lost, in every "
                "session."));
    front->bereft = false;
}

void reply_composed(struct supervisor *s, struct channel *channel,
                    struct call *call, bool error, struct str body)
{
    struct buf text = BUF_EMPTY;
    struct buf explained = BUF_EMPTY;
    struct answer answer = {NULL,
                            &channel->earlier,
                            &call->captures[CHANNEL_STDOUT],
                            &call->captures[CHANNEL_STDERR],
                            body,
                            channel->name};

    if (call->view) {
        leave_output(channel, call);
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
    if (call->front->bereft)
        tell_bereft(channel, call->front);
    if (channel->notice.n > 0) {
        buf_byte(&channel->notice, '\0');
        answer.notice = channel->notice.p;
    }
    if (answer_compose(&answer, call->max_chars, &s->kept, &text))
        reply_text(call, error, buf_view(&text));
    else
        reply_text(call, true, STR(REPLY_NO_MEMORY));
    buf_release(&text);
    buf_release(&explained);
    buf_reset(&channel->notice);
    capture_release(&channel->earlier);
}

void reply_not_run(struct channel *channel, struct call *call, const char *why)
{
    struct buf text = BUF_EMPTY;

    channel_withdraw(channel, call);
    buf_printf(&text,
               "[ERROR] ECL-MCP:NOT-EVALUATED\nThe call was not begun: %s.",
               why);
    reply_text(call, true, buf_view(&text));
    buf_release(&text);
}
