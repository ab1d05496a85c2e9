/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.c: see request.h. */
#include "mcp/request.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/utf8.h"

/* Milliseconds for which a client may keep what describes the server. The list
   of tools changes when an editor comes or goes; clients that subscribed hear
   of it, others keep the list, some of them longer than the server lives. */
#define TTL_MS (5 * 60 * 1000)

#define QUOTED_CHARS 100

void request_check_sent(const struct request *r, enum status status)
{
    rpc_check_sent(r->mcp->config.log, status);
}

void request_fail(const struct request *r, enum rpc_code code,
                  const char *format, ...)
{
    struct buf detail = BUF_EMPTY;
    va_list args;
    va_start(args, format);
    buf_vprintf(&detail, format, args);
    va_end(args);
    request_check_sent(r, rpc_error(&r->to, code, buf_view(&detail)));
    buf_release(&detail);
}

void request_fail_memory(const struct request *r)
{
    request_fail(r, RPC_INTERNAL_ERROR, "out of memory");
}

void request_unknown_method(const struct request *r)
{
    struct rpc_reply reply;
    struct str name = request_quote(r->method);
    struct str message =
        arena_printf(r->arena, "%s: %.*s", rpc_code_text(RPC_METHOD_NOT_FOUND),
                     STR_ARG(name));
    struct str data =
        arena_printf(r->arena, "Method '%.*s' is not supported", STR_ARG(name));
    rpc_begin_error(&reply, &r->to, RPC_METHOD_NOT_FOUND, message);
    jsonw_member(&reply.json, "data", data);
    request_check_sent(r, rpc_end(&reply));
}

bool request_needs(const struct request *r, const char *field,
                   enum json_type type, const char *words)
{
    struct json value = json_get(r->params, field);
    if (json_is_absent(value))
        request_fail(r, RPC_INVALID_PARAMS, "missing required field: %s",
                     field);
    else if (json_type(value) != type)
        request_fail(r, RPC_INVALID_PARAMS, "field %s must be %s", field,
                     words);
    return json_type(value) == type;
}

bool request_is_first_page(const struct request *r)
{
    enum json_type cursor = json_type(json_get(r->params, "cursor"));
    if (cursor == JSON_ABSENT || cursor == JSON_NULL)
        return true;
    request_fail(r, RPC_INVALID_PARAMS,
                 "unknown cursor: this list has one page only");
    return false;
}

struct str request_quote(struct str text)
{
    return utf8_head(text, QUOTED_CHARS);
}

struct jsonw *request_begin(const struct request *r, struct rpc_reply *reply)
{
    result_begin(reply, &r->to, r->version);
    return &reply->json;
}

void request_end(const struct request *r, struct rpc_reply *reply)
{
    request_check_sent(r, result_end(reply, r->version));
}

void request_end_cacheable(const struct request *r, struct rpc_reply *reply)
{
    result_write_cache_hints(&reply->json, r->version, TTL_MS, "public");
    request_end(r, reply);
}
