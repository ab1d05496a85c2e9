/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rpc.c: see rpc.h. A message is written whole or not at all. */
#include "json/rpc.h"

#include <stdlib.h>

static bool invalid(struct rpc_message *message, enum rpc_code code,
                    const char *fault)
{
    message->kind = RPC_INVALID;
    message->code = code;
    message->fault = fault;
    return false;
}

/* A message without an id is a notification. */
static bool read_id(struct json value, struct rpc_message *message)
{
    struct json id = json_get(value, "id");

    switch (json_type(id)) {
    case JSON_ABSENT:
        message->kind = RPC_NOTIFICATION;
        return true;
    case JSON_NUMBER:
    case JSON_STRING:
        message->kind = RPC_REQUEST;
        message->id = json_raw(id);
        return true;
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return invalid(message, RPC_INVALID_REQUEST,
                   "field id must be a string or a number");
}

static bool is_response(struct json value)
{
    return json_is_absent(json_get(value, "method")) &&
           (!json_is_absent(json_get(value, "result")) ||
            !json_is_absent(json_get(value, "error")));
}

static bool check_jsonrpc(struct json value, struct rpc_message *message)
{
    struct json jsonrpc = json_get(value, "jsonrpc");

    if (json_is_absent(jsonrpc))
        return invalid(message, RPC_INVALID_REQUEST,
                       "missing required field: jsonrpc");
    if (!json_is_string(jsonrpc, "2.0"))
        return invalid(message, RPC_INVALID_REQUEST,
                       "field jsonrpc must be \"2.0\"");
    return true;
}

static bool check_method(struct json method, struct rpc_message *message)
{
    if (json_is_absent(method))
        return invalid(message, RPC_INVALID_REQUEST,
                       "missing required field: method");
    if (json_type(method) != JSON_STRING)
        return invalid(message, RPC_INVALID_REQUEST,
                       "field method must be a string");
    return true;
}

/* JSON-RPC allows objects and arrays here, MCP objects only. A null, which some
   clients write instead of leaving params out, counts as absent. */
static bool check_params(struct json params, struct rpc_message *message)
{
    enum json_type type = json_type(params);

    if (type == JSON_OBJECT) {
        message->params = params;
        return true;
    }
    if (type == JSON_ABSENT || type == JSON_NULL ||
        message->kind == RPC_NOTIFICATION)
        return true;
    return invalid(
        message, type == JSON_ARRAY ? RPC_INVALID_PARAMS : RPC_INVALID_REQUEST,
        "field params must be an object");
}

enum status rpc_read(struct arena *arena, struct json value,
                     struct rpc_message *message)
{
    struct json method = json_get(value, "method");

    *message = (struct rpc_message){.id = RPC_NO_ID};
    if (json_type(value) != JSON_OBJECT) {
        invalid(message, RPC_INVALID_REQUEST, "a message must be an object");
        return ST_OK;
    }
    if (is_response(value)) {
        message->kind = RPC_RESPONSE;
        if (!json_is_absent(json_get(value, "id")))
            message->id = json_raw(json_get(value, "id"));
        message->result = json_get(value, "result");
        message->error = json_get(value, "error");
        return ST_OK;
    }
    if (!read_id(value, message) || !check_jsonrpc(value, message) ||
        !check_method(method, message) ||
        !check_params(json_get(value, "params"), message))
        return ST_OK;
    return json_string(arena, method, &message->method);
}

const char *rpc_code_text(enum rpc_code code)
{
    switch (code) {
    case RPC_PARSE_ERROR:
        return "Parse error";
    case RPC_INVALID_REQUEST:
        return "Invalid Request";
    case RPC_METHOD_NOT_FOUND:
        return "Method not found";
    case RPC_INVALID_PARAMS:
        return "Invalid params";
    case RPC_NO_RESOURCE:
        return "Resource not found";
    case RPC_MISSING_CAPABILITY:
        return "Missing required client capability";
    case RPC_UNSUPPORTED_VERSION:
        return "Unsupported protocol version";
    case RPC_INTERNAL_ERROR:
        break;
    }
    return "Internal error";
}

static struct buf *out_of(const struct rpc_to *to)
{
    return to->batch ? &to->batch->replies : to->output;
}

static void take_back(struct buf *out, size_t start)
{
    buf_truncate(out, start);
    out->failed = false; // nothing of the message is left
}

/* Ends the line and reserves the spare room. False: memory ran out, and the
   line is gone. */
static bool end_line(struct buf *out, size_t start)
{
    buf_byte(out, '\n');
    if (buf_reserve(out, RPC_SPARE) != NULL && !buf_failed(out))
        return true;
    take_back(out, start);
    return false;
}

/* Writes an error, whole or not at all, without asking for memory. Null
   replaces an id that does not fit. */
static enum status error_in_spare(struct buf *out, struct str id)
{
    const struct str head = STR("{\"jsonrpc\":\"2.0\",\"id\":");
    const struct str tail =
        STR(",\"error\":{\"code\":-32603,\"message\":\"Internal error: out of "
            "memory\",\"data\":\"Out of memory\"}}\n");
    size_t room = out->cap - out->n;

    if (room < head.n + id.n + tail.n)
        id = RPC_NO_ID;
    if (room < head.n + id.n + tail.n)
        return ST_NOMEM;
    buf_str(out, head);
    buf_str(out, id);
    buf_str(out, tail);
    return ST_OK;
}

struct rpc_batch *rpc_batch_new(void)
{
    struct rpc_batch *batch = calloc(1, sizeof *batch);

    if (batch)
        batch->waiting = 1; // while it is read
    return batch;
}

void rpc_batch_wait(struct rpc_batch *batch)
{
    batch->waiting++;
}

static enum status write_batch(const struct rpc_batch *batch,
                               struct buf *output)
{
    size_t start = output->n;

    if (!batch->lost && batch->replies.n == 0)
        return ST_OK;
    if (!batch->lost) {
        struct jsonw w;

        jsonw_init(&w, output);
        jsonw_array(&w);
        jsonw_raw(&w, buf_view(&batch->replies));
        jsonw_end_array(&w);
        if (end_line(output, start))
            return ST_OK;
    }
    return error_in_spare(output, RPC_NO_ID);
}

enum status rpc_batch_done(struct rpc_batch *batch, struct buf *output)
{
    enum status status = ST_OK;

    if (--batch->waiting > 0)
        return ST_OK;
    if (output)
        status = write_batch(batch, output);
    buf_release(&batch->replies);
    free(batch);
    return status;
}

static void begin(struct rpc_reply *reply, const struct rpc_to *to)
{
    struct buf *out = out_of(to);

    reply->to = *to;
    reply->start = out->n;
    if (to->batch && out->n > 0)
        buf_byte(out, ',');
    jsonw_init(&reply->json, out);
    jsonw_object(&reply->json);
    jsonw_member(&reply->json, "jsonrpc", STR("2.0"));
    jsonw_name(&reply->json, "id");
    jsonw_raw(&reply->json, to->id);
}

void rpc_begin_result(struct rpc_reply *reply, const struct rpc_to *to)
{
    reply->error = false;
    begin(reply, to);
    jsonw_name(&reply->json, "result");
}

void rpc_begin_error(struct rpc_reply *reply, const struct rpc_to *to,
                     enum rpc_code code, struct str message)
{
    reply->error = true;
    begin(reply, to);
    jsonw_name(&reply->json, "error");
    jsonw_object(&reply->json);
    jsonw_member_int(&reply->json, "code", code);
    jsonw_member(&reply->json, "message", message);
}

enum status rpc_end(struct rpc_reply *reply)
{
    struct buf *out = out_of(&reply->to);

    if (reply->error)
        jsonw_end_object(&reply->json);
    jsonw_end_object(&reply->json);
    if (reply->to.batch) {
        if (buf_failed(out)) {
            take_back(out, reply->start);
            reply->to.batch->lost = true;
        }
        return ST_OK;
    }
    if (end_line(out, reply->start))
        return ST_OK;
    return error_in_spare(out, reply->to.id);
}

/* Begins a request with ID or, when ID is empty, a notification. */
static void begin_own(struct rpc_reply *message, struct buf *output,
                      struct str id, const char *method)
{
    *message = (struct rpc_reply){.to.output = output, .start = output->n};
    jsonw_init(&message->json, output);
    jsonw_object(&message->json);
    jsonw_member(&message->json, "jsonrpc", STR("2.0"));
    if (id.n > 0) {
        jsonw_name(&message->json, "id");
        jsonw_raw(&message->json, id);
    }
    jsonw_member(&message->json, "method", str_from(method));
    jsonw_name(&message->json, "params");
}

void rpc_begin_notification(struct rpc_reply *note, struct buf *output,
                            const char *method)
{
    begin_own(note, output, STR(""), method);
}

void rpc_begin_request(struct rpc_reply *request, struct buf *output,
                       struct str id, const char *method)
{
    begin_own(request, output, id, method);
}

enum status rpc_end_notification(struct rpc_reply *note)
{
    jsonw_end_object(&note->json);
    return end_line(note->to.output, note->start) ? ST_OK : ST_NOMEM;
}

/* DETAIL with a capital letter; empty when memory ran out. */
static struct str sentence(struct arena *arena, struct str detail)
{
    char *p = arena_alloc(arena, detail.n);

    if (!p || detail.n == 0)
        return STR("");
    memcpy(p, detail.p, detail.n);
    if (p[0] >= 'a' && p[0] <= 'z')
        p[0] = (char)(p[0] - 'a' + 'A');
    return str_make(p, detail.n);
}

enum status rpc_error(const struct rpc_to *to, enum rpc_code code,
                      struct str detail)
{
    struct arena arena = ARENA_EMPTY;
    struct rpc_reply reply;
    const char *text = rpc_code_text(code);
    struct str message = str_from(text);
    struct str data = sentence(&arena, detail);
    if (data.n > 0)
        message = arena_printf(&arena, "%s: %.*s", text, STR_ARG(detail));

    rpc_begin_error(&reply, to, code, message.n > 0 ? message : str_from(text));
    if (data.n > 0)
        jsonw_member(&reply.json, "data", data);
    arena_release(&arena);
    return rpc_end(&reply);
}

void rpc_check_sent(const struct log *log, enum status status)
{
    if (status != ST_OK)
        log_line(log, LOG_ERROR, "rpc: answer lost: out of memory");
}
