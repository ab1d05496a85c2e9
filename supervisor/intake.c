/* SPDX-License-Identifier: GPL-3.0-or-later */
/* intake.c: see intake.h. Makes calls of frames. */
#include "supervisor/intake.h"

#include "base/limits.h"
#include "supervisor/begin.h"
#include "supervisor/ending.h"
#include "supervisor/front.h"
#include "supervisor/image_life.h"
#include "supervisor/input.h"
#include "supervisor/operation.h"
#include "supervisor/reading.h"
#include "supervisor/reply.h"
#include "supervisor/state.h"
#include "supervisor/stop.h"
#include "wire/wire.h"

/* Bytes of storage that an idle buffer keeps: enough for common calls. */
#define IDLE_BYTES (64u * 1024)

/* Bytes of the body of a HELLO: room for the name of any version. */
#define HELLO_BYTES 200

/* Work (strand.h) of each frame besides that of its bytes, and of each byte of
   an answer that is composed at once: with 256 sessions, such a byte takes a
   tenth of a microsecond. */
#define FRAME_WORK (2u * 1024)
#define ANSWER_WORK 16

/* The same for a frame of a few numbers. */
#define NUMBERS_BYTES 64

/* Serves every session, after calls have been stopped. */
static void serve_all(struct supervisor *s, int64_t now)
{
    for (struct session *session = s->sessions; session;
         session = session->next)
        image_life_serve(s, session, now);
}

/* --- Calls -------------------------------------------------------------- */

/* What the body of a CALL says. */
struct request {
    struct str session;
    struct str operation;
    int64_t max_chars;
    int64_t timeout_ms;
    struct str arguments;
};

static enum status read_request(struct str body, struct request *request)
{
    if (wire_take_string(&body, &request->session) != ST_OK ||
        wire_take_string(&body, &request->operation) != ST_OK ||
        wire_take_int(&body, &request->max_chars) != ST_OK ||
        wire_take_int(&body, &request->timeout_ms) != ST_OK)
        return ST_INVALID;
    request->arguments = body;
    return ST_OK;
}

/* Answers a call that waits for nothing, or one whose session must be open but
   is not; false for any other call. The session main always counts as open: it
   opens by itself. */
static bool answer_at_once(struct front *front, struct wire_head head,
                           const struct operation *operation,
                           const struct request *request)
{
    const struct supervisor *s = front->supervisor;
    struct buf text = BUF_EMPTY;
    struct str kept = {NULL, 0};
    bool found = false;

    if (operation->by == OPERATION_AT_ONCE)
        found = operation->show(s, request->session, request->arguments, &kept,
                                &text);
    else if ((head.flags & WIRE_VIEW) &&
             !state_find_session(s, request->session) &&
             !str_eq(request->session, STR(STATE_MAIN)))
        operation_miss(request->session, &text);
    else
        return false;
    if (found && kept.p)
        reading_show(front, head.id, kept);
    else
        front_reply(front, head.id, found ? 0 : WIRE_MISSING, buf_view(&text));
    buf_release(&text);
    return true;
}

/* Makes a call of REQUEST, and finds its session. REQUEST may be gone then.
   NULL: TEXT says why, or is empty when memory ran out. */
static struct call *make_call(struct front *front,
                              const struct request *request,
                              struct session **session, struct buf *text)
{
    struct supervisor *s = front->supervisor;

    if (front_is_full(front, request->arguments.n, text))
        return NULL;
    *session = state_use_session(s, request->session, text);
    if (!*session)
        return NULL;
    // a long frame that came alone is not copied
    if (request->arguments.n > IDLE_BYTES &&
        request->arguments.p + request->arguments.n ==
            front->in.p + front->in.n)
        return call_take(++s->call_ids, request->timeout_ms, request->operation,
                         request->arguments, &front->in);
    return call_new(++s->call_ids, request->timeout_ms, request->operation,
                    request->arguments);
}

static void queue_call(struct front *front, struct session *session,
                       struct call *call, int64_t now)
{
    struct supervisor *s = front->supervisor;

    if (call->operation->note_call)
        call->operation->note_call(s, call);
    session->closed = false;
    call_queue_add(&session->calls, call);
    if (ending_is_over(front, now))
        stop_call(session, call, STOP_ENDING);
    else
        image_life_serve(s, session, now);
}

static enum status take_call(struct front *front, struct wire_head head,
                             struct str body, int64_t now)
{
    const struct operation *operation;
    struct request request;
    struct session *session = NULL;
    struct buf text = BUF_EMPTY;
    struct call *call;

    if (read_request(body, &request) != ST_OK)
        return ST_INVALID;
    begin(front->supervisor, now);
    operation = operation_find(request.operation);
    if (answer_at_once(front, head, operation, &request))
        return ST_OK;
    call = make_call(front, &request, &session, &text);
    if (!call) {
        front_reply(front, head.id, WIRE_ERROR,
                    text.n > 0 ? buf_view(&text) : STR(REPLY_NO_MEMORY));
        buf_release(&text);
        return ST_OK;
    }
    front_add_call(front, call, head.id);
    notices_join(&session->notices, front);
    call->max_chars =
        request.max_chars > 0 ? (size_t)request.max_chars : LIMIT_OUTPUT;
    call->operation = operation;
    call->output_aside = operation->output_aside;
    call->apart = operation->apart;
    call->adopts = operation->adopts;
    call->frees = operation->frees;
    call->ours = operation->by == OPERATION_IN_ORDER;
    call->view = (head.flags & WIRE_VIEW) != 0;
    call->reads = (head.flags & WIRE_READS) != 0;
    call->progress.wanted = (head.flags & WIRE_PROGRESS) != 0;
    call->input.supplied = (head.flags & WIRE_SUPPLIES) != 0;
    queue_call(front, session, call, now);
    return ST_OK;
}

/* Stops call ID of FRONT; 0 from an owner stops the calls of all others. */
static void take_stop(struct front *front, uint64_t id, int64_t now)
{
    struct supervisor *s = front->supervisor;

    if (id == 0 && front->owner) {
        for (struct front *other = s->fronts; other; other = other->next)
            if (other != front)
                stop_calls(s, other, STOP_BY_USER);
        serve_all(s, now);
    }
    for (struct session *session = s->sessions; session;
         session = session->next) {
        struct call *call = call_queue_find(&session->calls, front, id);

        if (call) {
            stop_call(session, call, STOP_CANCELLED);
            image_life_serve(s, session, now);
            return;
        }
    }
}

static enum status take_input(struct front *front, uint64_t id, struct str body,
                              int64_t now)
{
    struct session *session = front->supervisor->sessions;
    struct str line;

    if (wire_take_string(&body, &line) != ST_OK || body.n > 0)
        return ST_INVALID;
    for (; session; session = session->next) {
        struct call *call = call_queue_find(&session->calls, front, id);

        if (call)
            input_take(session, call, line, now);
    }
    return ST_OK; // a late line finds nobody
}

/* --- Beginning and end -------------------------------------------------- */

static enum status take_hello(struct front *front, struct str body)
{
    int64_t version;
    struct str program;
    int64_t known;

    if (wire_take_int(&body, &version) != ST_OK ||
        wire_take_string(&body, &program) != ST_OK)
        return ST_INVALID;
    front->greeted = true;
    if (version != WIRE_VERSION) {
        front_put_refusal(&front->out, STR("it speaks another version"));
        return ST_INVALID;
    }
    if (wire_take_int(&body, &known) != ST_OK)
        return ST_INVALID;
    front->lost_images = known != 0 && known != front->supervisor->name;
    front_welcome(front);
    return ST_OK;
}

static enum status take_finish(struct front *front, struct str body,
                               int64_t now)
{
    int64_t grace;

    if (wire_take_int(&body, &grace) != ST_OK || grace < 0)
        return ST_INVALID;
    ending_set(front, now + grace);
    return ST_OK;
}

void intake_close(struct front *front, int64_t now_ms)
{
    struct supervisor *s;

    if (!front)
        return;
    s = front->supervisor;
    stop_calls(s, front, STOP_CANCELLED);
    serve_all(s, now_ms); // which interrupts those that run
    for (struct session *session = s->sessions; session;
         session = session->next) {
        struct call *call = session->calls.first;

        for (; call; call = call->next)
            if (call->front == front)
                front_end_call(call);
        notices_leave(&session->notices, front);
    }
    reading_end(front);
    front_free(front);
}

/* --- Frames from the front ---------------------------------------------- */

static enum status take_frame(struct front *front, struct wire_head head,
                              struct str body, int64_t now)
{
    switch (head.kind) {
    case WIRE_HELLO:
        return take_hello(front, body);
    case WIRE_CALL:
        return take_call(front, head, body, now);
    case WIRE_STOP:
        take_stop(front, head.id, now);
        return ST_OK;
    case WIRE_READ:
        return reading_begin(front, head.id, body);
    case WIRE_INPUT:
        return take_input(front, head.id, body, now);
    case WIRE_FINISH:
        return take_finish(front, body, now);
    default:
        return ST_INVALID;
    }
}

/* Bytes of the largest body that a frame of KIND may have; -1 when fronts do
   not send it. */
static int64_t largest_body(unsigned kind)
{
    switch (kind) {
    case WIRE_HELLO:
        return HELLO_BYTES;
    case WIRE_CALL:
        return LIMIT_FRAME;
    case WIRE_READ:
        return NUMBERS_BYTES + WIRE_STRING_BYTES + LIMIT_REGEX;
    case WIRE_INPUT:
        return WIRE_STRING_BYTES + LIMIT_INPUT;
    case WIRE_STOP:
    case WIRE_FINISH:
        return NUMBERS_BYTES;
    default:
        return -1;
    }
}

/* Whether the start of REST cannot be that of a frame of FRONT: there is no
   point in waiting for the rest. */
static bool is_wrong(const struct front *front, struct str rest)
{
    struct wire_head head;
    enum status status = wire_head(rest, &head);

    if (status != ST_OK)
        return status == ST_LIMIT;
    return (int64_t)head.size > largest_body(head.kind) ||
           (head.kind == WIRE_HELLO) == front->greeted;
}

/* Whether FRONT has to read its answers before more is done for it. The host of
   an owner passes them on at once. */
static bool is_behind(const struct front *front)
{
    return !front->owner && front->out.n >= LIMIT_OUTPUT_BACKLOG;
}

/* The same for each front in one turn: together they have a step, which others
   may use up whose last frames took long. */
static size_t share(const struct supervisor *s)
{
    const struct front *front = s->fronts;
    size_t n = 1;

    for (; front && front->next; front = front->next)
        n++;
    return LIMIT_STEP / n;
}

/* Whether FRONT has done enough in this turn. */
static bool has_its_share(const struct front *front, size_t share)
{
    return front->spent >= share || front->supervisor->spent >= LIMIT_STEP;
}

/* Does what a frame says, and notes how much work that was. */
static enum status do_frame(struct front *front, struct wire_head head,
                            struct str body, int64_t now)
{
    size_t before = front->out.n;
    enum status status = take_frame(front, head, body, now);
    size_t work = FRAME_WORK + head.size;

    if (front->out.n > before)
        work += (front->out.n - before) * ANSWER_WORK;
    front->spent += work;
    front->supervisor->spent += work;
    return status;
}

enum status intake_feed(struct front *front, const void *p, size_t n,
                        int64_t now_ms)
{
    enum status status = ST_OK;
    size_t part = share(front->supervisor);
    size_t used = 0;

    front->more = false;
    buf_append(&front->in, p, n);
    if (buf_failed(&front->in))
        return ST_NOMEM;
    if (front->wrong)
        return ST_INVALID;
    while (status == ST_OK && used < front->in.n && !is_behind(front) &&
           !front->reading && !has_its_share(front, part)) {
        struct wire_head head;
        struct str body;
        struct str rest = str_make(front->in.p + used, front->in.n - used);

        status =
            is_wrong(front, rest) ? ST_INVALID : wire_frame(rest, &head, &body);
        if (status != ST_OK)
            break;
        used += WIRE_HEAD + head.size;
        status = do_frame(front, head, body, now_ms);
    }
    buf_consume(&front->in, used);
    if (front->in.n == 0)
        buf_trim(&front->in, IDLE_BYTES);
    if (status == ST_MISSING)
        status = ST_OK;
    front->wrong = status != ST_OK; // nothing behind it is looked at
    front->more =
        status == ST_OK && front->in.n > 0 && has_its_share(front, part);
    return status;
}

void intake_go_on(struct front *front, int64_t now_ms)
{
    if (front->more && intake_feed(front, "", 0, now_ms) != ST_OK)
        front->wrong = true; // the host hears of it when it feeds again
}
