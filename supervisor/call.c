/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call.c: see call.h. */
#include "supervisor/call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "wire/wire.h"

/* A call without its arguments, or NULL. */
static struct call *begin(uint64_t id, int64_t timeout_ms, struct str operation)
{
    struct call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->id = id;
    call->timeout_ms = timeout_ms;
    call->started_at = -1;
    wire_put_int(&call->fields, timeout_ms);
    wire_put_string(&call->fields, operation);
    return call;
}

/* CALL, or NULL when memory has run out for its fields. */
static struct call *complete(struct call *call)
{
    if (call && buf_failed(&call->fields)) {
        call_free(call);
        return NULL;
    }
    return call;
}

struct call *call_new(uint64_t id, int64_t timeout_ms, struct str operation,
                      struct str arguments)
{
    struct call *call = begin(id, timeout_ms, operation);

    if (call)
        buf_str(&call->fields, arguments);
    return complete(call);
}

struct call *call_take(uint64_t id, int64_t timeout_ms, struct str operation,
                       struct str arguments, struct buf *frame)
{
    struct call *call = complete(begin(id, timeout_ms, operation));
    size_t before = (size_t)(arguments.p - frame->p);

    if (!call)
        return NULL;
    assert(call->fields.n <= before);
    // what comes before the arguments is no longer needed
    before -= call->fields.n;
    memcpy(frame->p + before, call->fields.p, call->fields.n);
    buf_release(&call->fields);
    buf_truncate(frame, (size_t)(arguments.p - frame->p) + arguments.n);
    buf_consume(frame, before);
    call->fields = *frame;
    *frame = BUF_EMPTY;
    return call;
}

void call_free(struct call *call)
{
    if (!call)
        return;
    buf_release(&call->fields);
    buf_release(&call->text);
    buf_release(&call->aside);
    buf_release(&call->freed);
    for (int i = 0; i < CAPTURE_PIPES; i++)
        capture_release(&call->captures[i]);
    free(call);
}

/* Splits the fields of CALL into *OPERATION and *ARGUMENTS. */
static void split(const struct call *call, struct str *operation,
                  struct str *arguments)
{
    int64_t timeout_ms;

    *arguments = buf_view(&call->fields);
    *operation = (struct str){NULL, 0};
    if (wire_take_int(arguments, &timeout_ms) != ST_OK ||
        wire_take_string(arguments, operation) != ST_OK)
        arguments->n = 0; // not as call_new has made it
}

struct str call_operation(const struct call *call)
{
    struct str operation;
    struct str arguments;

    split(call, &operation, &arguments);
    return operation;
}

struct str call_arguments(const struct call *call)
{
    struct str operation;
    struct str arguments;

    split(call, &operation, &arguments);
    return arguments;
}

struct str call_subject(const struct call *call)
{
    struct str body = call_arguments(call);
    struct str name;
    struct wire_field value;

    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK)
        if (value.type == WIRE_STRING && str_eq(name, STR("code")))
            return value.string;
    return call_operation(call);
}

void call_unsend(struct call *call)
{
    call->sent = false;
    call->started_at = -1;
    for (int i = 0; i < CAPTURE_PIPES; i++)
        call->marked[i] = false;
}
