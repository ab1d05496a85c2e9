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
static void leave_output(struct channel *channel, const struct call *call)
{
    for (int i = 0; i < CHANNEL_PIPES; i++) {
        struct buf text = BUF_EMPTY;

        (void)capture_text(&call->captures[i], &text); // as far as it is kept
        capture_add(&channel->earlier, buf_view(&text));
        buf_release(&text);
    }
}

void reply_note(struct channel *channel, const struct front *knows,
                struct str text)
{
    struct told *told = knows ? channel_told(channel, knows) : NULL;

    channel->notices++;
    buf_reset(&channel->notice);
    buf_str(&channel->notice, text);
    if (told)
        told->notice = channel->notices;
}

/* Appends what FRONT does not know yet: that it has other images than before,
   and what has happened to the session. */
static void put_notice(struct channel *channel, struct front *front,
                       struct buf *out)
{
    struct told *told = channel_told(channel, front);

    if (front->bereft)
        buf_str(out,
                STR("\nThe Lisp images that this server used before have "
                    "ended, and these are new: what was defined there is lost, "
                    "in every session."));
    front->bereft = false;
    if (!told || told->notice == channel->notices)
        return;
    if (told->notice + 1 < channel->notices)
        buf_printf(out,
                   "\nSince the last answer this has happened %llu times; "
                   "the last time:",
                   (unsigned long long)(channel->notices - told->notice));
    buf_printf(out, "\n%.*s", STR_ARG(buf_view(&channel->notice)));
    told->notice = channel->notices;
}

void reply_composed(struct supervisor *s, struct channel *channel,
                    struct call *call, bool error, struct str body)
{
    struct buf text = BUF_EMPTY;
    struct buf explained = BUF_EMPTY;
    struct buf notice = BUF_EMPTY;
    size_t empty;
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
    buf_str(&notice, STR("[notice]"));
    empty = notice.n;
    put_notice(channel, call->front, &notice);
    buf_byte(&notice, '\0');
    if (notice.n > empty + 1 && !buf_failed(&notice))
        answer.notice = notice.p;
    if (answer_compose(&answer, call->max_chars, &s->kept, &text))
        reply_text(call, error, buf_view(&text));
    else
        reply_text(call, true, STR(REPLY_NO_MEMORY));
    buf_release(&text);
    buf_release(&explained);
    buf_release(&notice);
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
