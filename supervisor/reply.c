/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reply.c: see reply.h. */
#include "supervisor/reply.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "image/control.h"
#include "image/sandbox.h"
#include "supervisor/answer.h"
#include "supervisor/front.h"
#include "supervisor/state.h"
#include "wire/wire.h"

void reply_text(struct call *call, bool error, struct str text)
{
    if (call->front) {
        front_reply(call->front, call->front_id, error ? WIRE_ERROR : 0, text);
        front_end_call(call);
    }
    call_free(call);
}

/* Leaves what was printed during CALL to the next answer. */
static void leave_output(struct session *session, const struct call *call)
{
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        struct buf text = BUF_EMPTY;
        size_t room = LIMIT_OUTPUT_KEPT; // it is held already

        (void)capture_text(&call->captures[i], &text); // what it holds
        capture_add(&session->earlier, buf_view(&text), &room);
        buf_release(&text);
    }
}

/* Appends what FRONT does not know yet: that its images are new, and what has
   happened to the session. */
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

/* Appends which files have come that other programs rely on, and has them
   covered. */
static void put_new_files(struct supervisor *s, struct buf *out)
{
    if (protected_read(&s->protected, &s->config.sandbox, out))
        zygote_cover(&s->zygote);
}

/* Whether TEXT, an error, has to do with the sandbox. */
static bool shows_sandbox(const struct supervisor *s, struct str text)
{
    return sandbox_shows_refusal(text) ||
           sandbox_misses_temporary(&s->sandbox_state, text);
}

/* As much of the start and of the end of TEXT as is searched for a refusal: of
   more, nobody sees the middle. */
#define SEARCHED (64u * 1024)

static struct str start_of(struct str text)
{
    return str_make(text.p, text.n < SEARCHED ? text.n : SEARCHED);
}

static struct str end_of(struct str text)
{
    return text.n < SEARCHED ? str_make(text.p, 0)
                             : str_make(text.p + text.n - SEARCHED, SEARCHED);
}

/* Appends BODY and a section that explains the sandbox, when the system has
   refused something; else nothing. */
static void explain_refusal(const struct supervisor *s, const struct call *call,
                            bool error, struct str body, struct buf *out)
{
    struct str errors[CAPTURE_PARTS];
    bool refused = error && (shows_sandbox(s, start_of(body)) ||
                             shows_sandbox(s, end_of(body)));

    if (s->config.sandbox.mode == SANDBOX_OFF)
        return;
    capture_parts(&call->captures[CAPTURE_STDERR], errors);
    for (int i = 0; i < CAPTURE_PARTS; i++)
        refused = refused || shows_sandbox(s, start_of(errors[i])) ||
                  shows_sandbox(s, end_of(errors[i]));
    if (!refused)
        return;
    buf_str(out, body);
    buf_str(out, body.n > 0 ? STR("\n\n[sandbox]\n") : STR("[sandbox]\n"));
    sandbox_explain(&s->config.sandbox, &s->places, out);
    sandbox_explain_mounts(&s->config.sandbox, &s->sandbox_state, &s->places,
                           out);
    if (buf_failed(out))
        buf_reset(out); // the answer goes out without it
}

/* Appends to OUT, which is empty or has the body already, what was stopped for
   CALL; else nothing. */
static void add_freed(const struct call *call, struct str body, struct buf *out)
{
    if (call->freed.n == 0)
        return;
    if (out->n == 0)
        buf_str(out, body);
    buf_str(out, buf_view(&call->freed));
    if (buf_failed(out))
        buf_reset(out); // the answer goes out without it
}

/* Characters of the title of what an image puts aside. */
#define TITLE 100

/* Keeps what the image has put aside in its answer to CALL, and appends to OUT,
   which is empty or has the body already, where it can be read; else
   nothing. */
static void add_aside(struct supervisor *s, const struct session *session,
                      const struct call *call, struct str body, struct buf *out)
{
    struct buf kept = BUF_EMPTY;
    struct str title;
    size_t n = 0;

    utf8_append_valid(&kept, buf_view(&call->aside));
    title = buf_view(&kept);
    if (title.n == 0 || buf_failed(&kept)) {
        buf_release(&kept);
        return;
    }
    while (n < title.n && title.p[n] != '\n')
        n++;
    title = utf8_head(str_make(title.p, n), TITLE);
    if (out->n == 0)
        buf_str(out, body);
    buf_printf(out, "\n\n[%.*s; read-output id %llu]", STR_ARG(title),
               (unsigned long long)(s->outputs.last_id + 1));
    if (buf_failed(out))
        buf_reset(out); // the answer goes out without it
    outputs_add(&s->outputs, session->name, &kept);
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
                            session->name,
                            call->output_aside};

    if (call->view) {
        leave_output(session, call);
        reply_text(call, error, body);
        return;
    }
    if (!call->front) {
        call_free(call);
        return;
    }
    explain_refusal(s, call, error, body, &explained);
    add_freed(call, body, &explained);
    add_aside(s, session, call, body, &explained);
    if (explained.n > 0)
        answer.body = buf_view(&explained);
    buf_str(&notice, STR("[notice]"));
    empty = notice.n;
    put_notice(session, call->front, &notice);
    put_new_files(s, &notice);
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
               "[ERROR] ECL-MCP:NOT-EVALUATED\nThe call did not run: %s.", why);
    reply_text(call, true, buf_view(&text));
    buf_release(&text);
}
