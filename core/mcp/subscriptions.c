/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subscriptions.c: see subscriptions.h. */
#include "mcp/subscriptions.h"

#define SUBSCRIPTION MCP_NAMESPACE "subscriptionId"

static void drop(struct subscriptions *subscriptions, size_t i)
{
    buf_release(&subscriptions->streams[i].id);
    subscriptions->count--;
    for (; i < subscriptions->count; i++)
        subscriptions->streams[i] = subscriptions->streams[i + 1];
    subscriptions->streams[i] = (struct subscriptions_stream){.id = BUF_EMPTY};
}

void subscriptions_release(struct subscriptions *subscriptions)
{
    while (subscriptions->count > 0)
        drop(subscriptions, 0);
}

/* Writes the member of _meta that names the stream of a message. */
static void write_stream(struct jsonw *w,
                         const struct subscriptions_stream *stream)
{
    jsonw_name(w, SUBSCRIPTION);
    jsonw_raw(w, buf_view(&stream->id));
}

static enum status acknowledge(const struct subscriptions_stream *stream,
                               struct buf *output)
{
    struct rpc_reply note;
    struct jsonw *w = &note.json;

    rpc_begin_notification(&note, output,
                           "notifications/subscriptions/acknowledged");
    jsonw_object(w);
    jsonw_name(w, "_meta");
    jsonw_object(w);
    write_stream(w, stream);
    jsonw_end_object(w);
    jsonw_name(w, "notifications");
    jsonw_object(w);
    if (stream->tools)
        jsonw_member_bool(w, "toolsListChanged", true);
    jsonw_end_object(w);
    jsonw_end_object(w);
    return rpc_end_notification(&note);
}

enum status subscriptions_open(struct subscriptions *subscriptions,
                               const struct rpc_to *to, struct json filter)
{
    struct subscriptions_stream *stream =
        &subscriptions->streams[subscriptions->count];

    if (subscriptions->count == LIMIT_SUBSCRIPTIONS)
        return ST_LIMIT;
    subscriptions->count++;
    buf_str(&stream->id, to->id);
    stream->tools =
        json_type(json_get(filter, "toolsListChanged")) == JSON_TRUE;
    if (!buf_failed(&stream->id) && acknowledge(stream, to->output) == ST_OK)
        return ST_OK;
    drop(subscriptions, subscriptions->count - 1);
    return ST_NOMEM;
}

void subscriptions_cancel(struct subscriptions *subscriptions, struct str id)
{
    for (size_t i = subscriptions->count; i-- > 0;)
        if (str_eq(buf_view(&subscriptions->streams[i].id), id))
            drop(subscriptions, i);
}

/* STREAM is NULL for a client that has none, of the era of initialize. */
static enum status tell(const struct subscriptions_stream *stream,
                        struct buf *output)
{
    struct rpc_reply note;
    struct jsonw *w = &note.json;

    rpc_begin_notification(&note, output, "notifications/tools/list_changed");
    jsonw_object(w);
    if (stream) {
        jsonw_name(w, "_meta");
        jsonw_object(w);
        write_stream(w, stream);
        jsonw_end_object(w);
    }
    jsonw_end_object(w);
    return rpc_end_notification(&note);
}

enum status subscriptions_tell(const struct subscriptions *subscriptions,
                               struct buf *output)
{
    enum status status = ST_OK;

    if (subscriptions->legacy)
        status = tell(NULL, output);
    for (size_t i = 0; i < subscriptions->count; i++)
        if (subscriptions->streams[i].tools &&
            tell(&subscriptions->streams[i], output) != ST_OK)
            status = ST_NOMEM;
    return status;
}

static enum status answer(const struct subscriptions_stream *stream,
                          struct buf *output)
{
    const struct rpc_to to = {.output = output, .id = buf_view(&stream->id)};
    struct rpc_reply reply;
    struct jsonw *w = &reply.json;

    rpc_begin_result(&reply, &to);
    jsonw_object(w);
    jsonw_member(w, "resultType", STR("complete"));
    jsonw_name(w, "_meta");
    jsonw_object(w);
    write_stream(w, stream);
    jsonw_name(w, MCP_NAMESPACE "serverInfo");
    result_write_server(w, MCP_2026_07_28);
    jsonw_end_object(w);
    jsonw_end_object(w);
    return rpc_end(&reply);
}

enum status subscriptions_finish(struct subscriptions *subscriptions,
                                 struct buf *output)
{
    enum status status = ST_OK;

    for (size_t i = 0; i < subscriptions->count; i++)
        if (answer(&subscriptions->streams[i], output) != ST_OK)
            status = ST_NOMEM;
    subscriptions_release(subscriptions);
    return status;
}
