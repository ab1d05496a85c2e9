/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.c: see front.h and state.h. Makes calls of frames, and frames of
   answers. */
#include "supervisor/front.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/version.h"
#include "supervisor/state.h"
#include "wire/wire.h"

/* Storage that an idle buffer keeps: what common calls need. */
#define KEPT (64u * 1024)

/* Bytes of the body of a HELLO: room for any name of a version. */
#define HELLO_BYTES 200

/* The same of a frame of a few numbers. */
#define NUMBERS_BYTES 64

/* ---- frames for the front */

static void put_text(struct front *front, enum wire_kind kind, unsigned flags,
                     uint64_t id, struct str text)
{
    size_t start = wire_begin(&front->out, kind, flags, id);

    wire_put_string(&front->out, text);
    wire_end(&front->out, start);
}

void front_reply(struct front *front, uint64_t id, unsigned flags,
                 struct str text)
{
    put_text(front, WIRE_REPLY, flags, id, text);
}

void front_tell(struct front *front, uint64_t id, struct str text)
{
    put_text(front, WIRE_OUTPUT, 0, id, text);
}

static void put_welcome(struct buf *out, struct str refusal, int64_t name)
{
    size_t start = wire_begin(out, WIRE_WELCOME, 0, 0);

    wire_put_int(out, WIRE_VERSION);
    wire_put_string(out, STR(ECL_MCP_VERSION));
    wire_put_string(out, refusal);
    wire_put_int(out, name);
    wire_end(out, start);
}

void front_put_refusal(struct buf *out, struct str why)
{
    put_welcome(out, why, 0);
}

struct buf *front_output(struct front *front)
{
    return &front->out;
}

bool front_is_greeted(const struct front *front)
{
    return front->greeted;
}

/* ---- calls */

static void note_begin(struct front *front, struct call *call, uint64_t id)
{
    call->front = front;
    call->front_id = id;
    front->calls++;
    front->bytes += call->fields.n;
    front->supervisor->calls++;
    front->supervisor->bytes += call->fields.n;
}

void front_note_end(struct call *call)
{
    struct front *front = call->front;

    front->calls--;
    front->bytes -= call->fields.n;
    front->supervisor->calls--;
    front->supervisor->bytes -= call->fields.n;
    call->front = NULL;
}

/* Whether there is no room for a call of N bytes more; appends to TEXT what is
   said then. One call alone may be as large as the message that brought it. */
static bool is_full(const struct front *front, size_t n, struct buf *text)
{
    const struct supervisor *s = front->supervisor;
    bool own = front->calls >= LIMIT_PENDING_CALLS ||
               (front->calls > 0 && front->bytes + n > LIMIT_PENDING_BYTES);

    if (!own && s->calls < LIMIT_SHARED_CALLS &&
        (s->calls == 0 || s->bytes + n <= LIMIT_SHARED_BYTES))
        return false;
    buf_printf(
        text,
        "[ERROR] ECL-MCP:NOT-EVALUATED\nThe call was not begun: too many "
        "calls %s are waiting; the limit is %d calls and %u bytes of "
        "arguments. Wait for answers, then try again.",
        own ? "of this server" : "of all who share the Lisp images",
        own ? LIMIT_PENDING_CALLS : LIMIT_SHARED_CALLS,
        own ? LIMIT_PENDING_BYTES : LIMIT_SHARED_BYTES);
    return true;
}

/* Takes the limits that are for the image out of a call on its way there. */
static void note_limits(struct supervisor *s, const struct call *call)
{
    struct str body = call_arguments(call);
    struct str name;
    struct wire_field value;

    if (!str_eq(call_operation(call), STR("configure-limits")))
        return;
    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK)
        if (value.type == WIRE_INT && str_eq(name, STR("memory")) &&
            value.integer > 0)
            s->config.heap = (uint64_t)value.integer; // of later sessions
}

static bool is_over(const struct ending *ending, int64_t now)
{
    return ending->wanted && now >= ending->at;
}

static void queue_call(struct front *front, struct channel *channel,
                       struct call *call, int64_t now)
{
    struct supervisor *s = front->supervisor;

    note_limits(s, call);
    channel->closed = false;
    channel_add(channel, call);
    if (is_over(&s->ending, now) || is_over(&front->ending, now))
        stop_call(s, channel, call, STOP_ENDING, now);
    else
        life_serve(s, channel, now);
}

/* Answers a call that waits for nothing, or whose session has to be there and
   is not; else false. The session main is always there: it opens by itself. */
static bool take_view(struct front *front, struct wire_head head,
                      struct str session, struct str operation, struct str body)
{
    const struct supervisor *s = front->supervisor;
    struct buf text = BUF_EMPTY;
    bool missing = false;

    if (operation_is_immediate(operation)) {
        missing = !operation_show(s, session, operation, body, &text);
    } else if ((head.flags & WIRE_VIEW) && !operation_find(s, session) &&
               !str_eq(session, STR(STATE_MAIN))) {
        operation_miss(session, &text);
        missing = true;
    } else {
        return false;
    }
    front_reply(front, head.id, missing ? WIRE_MISSING : 0, buf_view(&text));
    buf_release(&text);
    return true;
}

static enum status take_call(struct front *front, struct wire_head head,
                             struct str body, int64_t now)
{
    struct supervisor *s = front->supervisor;
    struct str name;
    struct str operation;
    int64_t max_chars;
    int64_t timeout_ms;
    struct buf text = BUF_EMPTY;
    struct channel *channel;
    struct call *call = NULL;

    if (wire_take_string(&body, &name) != ST_OK ||
        wire_take_string(&body, &operation) != ST_OK ||
        wire_take_int(&body, &max_chars) != ST_OK ||
        wire_take_int(&body, &timeout_ms) != ST_OK)
        return ST_INVALID;
    if (take_view(front, head, name, operation, body))
        return ST_OK;
    channel = is_full(front, body.n, &text)
                  ? NULL
                  : supervisor_session(s, name, &text);
    if (channel)
        call = call_new(++s->call_ids, timeout_ms, operation, body);
    if (!call) {
        front_reply(front, head.id, WIRE_ERROR,
                    text.n > 0 ? buf_view(&text) : STR(REPLY_NO_MEMORY));
        buf_release(&text);
        return ST_OK;
    }
    note_begin(front, call, head.id);
    (void)channel_told(channel, front); // from now on it is told
    call->max_chars = max_chars > 0 ? (size_t)max_chars : LIMIT_OUTPUT;
    call->ours = operation_is_ours(operation);
    call->view = (head.flags & WIRE_VIEW) != 0;
    call->reads = (head.flags & WIRE_READS) != 0;
    call->progress = (head.flags & WIRE_PROGRESS) != 0;
    queue_call(front, channel, call, now);
    return ST_OK;
}

/* Stops the call ID of FRONT; from an owner, 0 stops those of all others. */
static void take_stop(struct front *front, uint64_t id, int64_t now)
{
    struct supervisor *s = front->supervisor;
    struct front *other;
    struct channel *channel;

    for (other = id == 0 && front->owner ? s->fronts : NULL; other;
         other = other->next)
        if (other != front)
            stop_calls(s, other, STOP_BY_USER, now);
    for (channel = s->channels; channel; channel = channel->next) {
        struct call *call = channel_find(channel, front, id);

        if (call) {
            stop_call(s, channel, call, STOP_CANCELLED, now);
            life_serve(s, channel, now);
            return;
        }
    }
}

static enum status take_read(struct front *front, uint64_t id, struct str body)
{
    int64_t output;
    int64_t offset;
    int64_t limit;
    struct buf text = BUF_EMPTY;
    bool found;

    if (wire_take_int(&body, &output) != ST_OK ||
        wire_take_int(&body, &offset) != ST_OK ||
        wire_take_int(&body, &limit) != ST_OK || offset < 0 || limit < 0)
        return ST_INVALID;
    found = kept_read(&front->supervisor->kept, (uint64_t)output,
                      (uint64_t)offset, (uint64_t)limit, &text);
    (void)found; // a look-up that misses is no error: the text says so
    front_reply(front, id, 0, buf_view(&text));
    buf_release(&text);
    return ST_OK;
}

/* ---- beginning and end */

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
    front->bereft = known != 0 && known != front->supervisor->name;
    put_welcome(&front->out, STR(""), front->supervisor->name);
    return ST_OK;
}

static enum status take_finish(struct front *front, struct str body,
                               int64_t now)
{
    struct ending *ending =
        front->owner ? &front->supervisor->ending : &front->ending;
    int64_t grace;

    if (wire_take_int(&body, &grace) != ST_OK || grace < 0)
        return ST_INVALID;
    if (!ending->wanted || now + grace < ending->at)
        ending->at = now + grace;
    ending->wanted = true;
    return ST_OK;
}

void front_tend(struct supervisor *s, int64_t now)
{
    const struct front *front;

    if (is_over(&s->ending, now))
        stop_calls(s, NULL, STOP_ENDING, now);
    for (front = s->fronts; front; front = front->next)
        if (is_over(&front->ending, now))
            stop_calls(s, front, STOP_ENDING, now);
}

/* Whether a call of FRONT, or of all (NULL), was not told to stop yet. */
static bool has_unstopped(const struct supervisor *s, const struct front *front)
{
    const struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next) {
        const struct call *call = channel->first;

        for (; call; call = call->next)
            if (!call->stopping && (!front || call->front == front))
                return true;
    }
    return false;
}

int64_t front_deadline(const struct supervisor *s)
{
    const struct front *front;
    int64_t deadline = -1;

    if (s->ending.wanted && has_unstopped(s, NULL))
        deadline = s->ending.at;
    for (front = s->fronts; front; front = front->next)
        if (front->ending.wanted &&
            (deadline < 0 || front->ending.at < deadline) &&
            has_unstopped(s, front))
            deadline = front->ending.at;
    return deadline;
}

bool front_is_ending(const struct supervisor *s, const struct call *call)
{
    return s->ending.wanted || (call->front && call->front->ending.wanted);
}

struct front *front_open(struct supervisor *supervisor, bool owner)
{
    struct front *front = calloc(1, sizeof *front);

    if (!front)
        return NULL;
    front->supervisor = supervisor;
    front->owner = owner;
    front->next = supervisor->fronts;
    supervisor->fronts = front;
    return front;
}

static void release(struct front *front)
{
    buf_release(&front->in);
    buf_release(&front->out);
    free(front);
}

void front_release_all(struct supervisor *s)
{
    struct front *front;

    while ((front = s->fronts)) {
        s->fronts = front->next;
        release(front);
    }
}

void front_close(struct front *front, int64_t now_ms)
{
    struct supervisor *s;
    struct front **link;
    struct channel *channel;

    if (!front)
        return;
    s = front->supervisor;
    stop_calls(s, front, STOP_CANCELLED, now_ms);
    for (channel = s->channels; channel; channel = channel->next) {
        struct call *call = channel->first;

        for (; call; call = call->next)
            if (call->front == front)
                front_note_end(call);
        channel_forget(channel, front);
        life_serve(s, channel, now_ms); // what was behind them
    }
    for (link = &s->fronts; *link != front;)
        link = &(*link)->next;
    *link = front->next;
    release(front);
}

/* ---- frames from the front */

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
        return take_read(front, head.id, body);
    case WIRE_FINISH:
        return take_finish(front, body, now);
    default:
        return ST_INVALID;
    }
}

/* Bytes of the largest body of such a frame; -1 when no front sends it. */
static int64_t largest_body(unsigned kind)
{
    switch (kind) {
    case WIRE_HELLO:
        return HELLO_BYTES;
    case WIRE_CALL:
        return LIMIT_FRAME;
    case WIRE_STOP:
    case WIRE_READ:
    case WIRE_FINISH:
        return NUMBERS_BYTES;
    default:
        return -1;
    }
}

/* Whether REST begins with what cannot be a frame of FRONT: nobody waits for
   the rest of that. */
static bool is_wrong(const struct front *front, struct str rest)
{
    struct wire_head head;
    enum status status = wire_head(rest, &head);

    if (status != ST_OK)
        return status == ST_LIMIT;
    return (int64_t)head.size > largest_body(head.kind) ||
           (head.kind == WIRE_HELLO) == front->greeted;
}

/* Whether FRONT has to read its answers before more is done for it. An owner's
   host passes them on at once. */
static bool is_behind(const struct front *front)
{
    return !front->owner && front->out.n >= LIMIT_OUTPUT_BACKLOG;
}

enum status front_feed(struct front *front, const void *p, size_t n,
                       int64_t now_ms)
{
    enum status status = ST_OK;
    size_t used = 0;

    buf_append(&front->in, p, n);
    if (buf_failed(&front->in))
        return ST_NOMEM;
    while (status == ST_OK && used < front->in.n && !is_behind(front)) {
        struct wire_head head;
        struct str body;
        struct str rest = str_make(front->in.p + used, front->in.n - used);

        if (is_wrong(front, rest))
            return ST_INVALID;
        status = wire_frame(rest, &head, &body);
        if (status != ST_OK)
            break;
        used += WIRE_HEAD + head.size;
        status = take_frame(front, head, body, now_ms);
    }
    buf_consume(&front->in, used);
    if (front->in.n == 0)
        buf_trim(&front->in, KEPT);
    return status == ST_MISSING ? ST_OK : status;
}
