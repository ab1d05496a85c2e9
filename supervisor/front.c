/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.c: see front.h. */
#include "supervisor/front.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/version.h"
#include "supervisor/state.h"
#include "wire/wire.h"

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

void front_free(struct front *front)
{
    struct front **link = &front->supervisor->fronts;

    while (*link != front)
        link = &(*link)->next;
    *link = front->next;
    buf_release(&front->in);
    buf_release(&front->out);
    free(front);
}

struct buf *front_output(struct front *front)
{
    return &front->out;
}

bool front_is_greeted(const struct front *front)
{
    return front->greeted;
}

bool front_is_busy(const struct front *front)
{
    return front->reading || front->more;
}

/* --- Frames ------------------------------------------------------------- */

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

void front_pass(struct front *front, struct buf *frame)
{
    if (front->out.n > 0) {
        buf_str(&front->out, buf_view(frame));
        return;
    }
    buf_release(&front->out);
    front->out = *frame;
    *frame = BUF_EMPTY;
}

void front_tell(struct front *front, uint64_t id, struct str text)
{
    put_text(front, WIRE_OUTPUT, 0, id, text);
}

void front_want(struct front *front, uint64_t id)
{
    wire_end(&front->out, wire_begin(&front->out, WIRE_WANT, 0, id));
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

void front_welcome(struct front *front)
{
    put_welcome(&front->out, STR(""), front->supervisor->name);
}

/* --- Its calls ---------------------------------------------------------- */

bool front_is_full(const struct front *front, size_t n, struct buf *text)
{
    const struct supervisor *s = front->supervisor;
    bool own = front->calls >= LIMIT_PENDING_CALLS ||
               (front->calls > 0 && front->bytes + n > LIMIT_PENDING_BYTES);

    if (!own && s->calls < LIMIT_SHARED_CALLS &&
        (s->calls == 0 || s->bytes + n <= LIMIT_SHARED_BYTES))
        return false;
    buf_printf(text,
               "[ERROR] ECL-MCP:NOT-EVALUATED\nThe call did not run: too many "
               "calls %s are waiting; the limit is %d calls and %u bytes of "
               "arguments. Wait for answers, then try again.",
               own ? "of this server" : "of all who share the Lisp images",
               own ? LIMIT_PENDING_CALLS : LIMIT_SHARED_CALLS,
               own ? LIMIT_PENDING_BYTES : LIMIT_SHARED_BYTES);
    return true;
}

void front_add_call(struct front *front, struct call *call, uint64_t id)
{
    call->front = front;
    call->front_id = id;
    front->calls++;
    front->bytes += call->fields.n;
    front->supervisor->calls++;
    front->supervisor->bytes += call->fields.n;
}

void front_end_call(struct call *call)
{
    struct front *front = call->front;

    front->calls--;
    front->bytes -= call->fields.n;
    front->supervisor->calls--;
    front->supervisor->bytes -= call->fields.n;
    call->front = NULL;
}
