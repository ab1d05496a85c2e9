/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods_tools.c: see methods_tools.h. */
#include "mcp/methods_tools.h"

#include "base/limits.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "mcp/handshake.h"

/* --- tools/list --------------------------------------------------------- */

void methods_tools_list(const struct request *r)
{
    if (!request_is_first_page(r))
        return;
    struct rpc_reply reply;
    struct jsonw *w = request_begin(r, &reply);
    const struct tool *tool;
    bool with_title = r->version >= MCP_2025_06_18;
    jsonw_name(w, "tools");
    jsonw_array(w);
    for (size_t i = 0; (tool = toolset_at(&r->mcp->config.tools, i)) != NULL;
         i++)
        tool_write(w, tool, with_title);
    for (size_t i = 0;
         (tool = editor_tools_at(&r->mcp->tool_list.editor_tools, i)) != NULL;
         i++)
        tool_write(w, tool, with_title);
    jsonw_end_array(w);
    request_end_cacheable(r, &reply);
}

/* --- tools/call --------------------------------------------------------- */

/* From 2025-11-25 on this is a result, so that the model reads it. */
static void bad_arguments(const struct request *r, const struct tool *tool,
                          struct str problem)
{
    if (r->version < MCP_2025_11_25) {
        request_fail(r, RPC_INVALID_PARAMS, "%.*s", STR_ARG(problem));
        return;
    }
    struct tool_call call = {.tool = tool, .started_ms = r->now_ms};
    struct tool_answer answer = {
        .state = TOOL_FAILED,
        .text =
            arena_printf(r->arena, "%s: %.*s",
                         rpc_code_text(RPC_INVALID_PARAMS), STR_ARG(problem)),
    };
    if (answer.text.n == 0)
        request_fail_memory(r);
    else
        request_check_sent(r, result_of_call(&r->to, r->version, &call, &answer,
                                             STR(""), r->now_ms));
}

/* The client's token for notifications of progress, as JSON text; empty when it
   sent none, or one of a type that MCP does not allow. */
static struct str progress_token(const struct request *r)
{
    double number;
    struct json token = json_get(json_get(r->params, "_meta"), "progressToken");
    if (json_type(token) == JSON_STRING ||
        (json_number(token, &number) == ST_OK && json_is_whole(number)))
        return json_raw(token);
    return STR("");
}

/* Reads what a client of the modern era sends when it makes a call again with
   the answer of its user. Answers with an error when that makes no sense. */
static bool read_again(const struct request *r, struct calls_request *request)
{
    if (!result_is_modern(r->version))
        return true;
    struct json state = json_get(r->params, "requestState");
    request->replies = json_get(r->params, "inputResponses");
    if (json_is_absent(state))
        return true;
    if (!request_needs(r, "requestState", JSON_STRING, "a string"))
        return false;
    if (json_string(r->arena, state, &request->state) == ST_OK)
        return true;
    request_fail_memory(r);
    return false;
}

static void start_call(const struct request *r, const struct tool *tool,
                       struct json arguments, const struct schema_value *values)
{
    struct calls_request request = {
        .arena = r->arena,
        .to = r->to,
        .version = r->version,
        .texts = {.token = progress_token(r), .client = handshake_client(r)},
        .can_ask = handshake_can_ask(r),
        .tool = tool,
        .editor_tools =
            tool->in_editor ? r->mcp->tool_list.editor_tools.now : NULL,
        .arguments = arguments,
        .values = values,
        .now_ms = r->now_ms};
    if (!read_again(r, &request))
        return;
    enum status status = calls_start(&r->mcp->calls, &request);
    if (status == ST_INVALID)
        request_fail(r, RPC_INVALID_PARAMS,
                     "this server did not issue the requestState");
    else if (status != ST_OK)
        request_fail_memory(r);
}

static void call_tool(const struct request *r, const struct tool *tool,
                      struct json arguments)
{
    struct schema_notes notes;
    struct schema_value *values =
        arena_array(r->arena, schema_count(tool->fields), sizeof *values);
    enum status status = ST_NOMEM;
    if (values)
        status =
            schema_check(r->arena, tool->fields, arguments, values, &notes);
    if (status == ST_NOMEM) {
        request_fail_memory(r);
        return;
    }
    if (status == ST_OK)
        start_call(r, tool, arguments, values);
    else
        bad_arguments(r, tool, notes.problem);
}

static void unknown_tool(const struct request *r, struct str name)
{
    struct rpc_reply reply;
    struct str shown = request_quote(name);
    struct str message =
        arena_printf(r->arena, "Unknown tool: %.*s", STR_ARG(shown));
    rpc_begin_error(&reply, &r->to, RPC_INVALID_PARAMS, message);
    request_check_sent(r, rpc_end(&reply));
}

void methods_tools_call(const struct request *r)
{
    struct str name;
    struct json arguments = json_get(r->params, "arguments");
    if (!request_needs(r, "name", JSON_STRING, "a string"))
        return;
    if (json_string(r->arena, json_get(r->params, "name"), &name) != ST_OK) {
        request_fail_memory(r);
        return;
    }
    const struct tool *tool = toolset_find(&r->mcp->config.tools, name);
    if (!tool)
        tool = editor_tools_find(&r->mcp->tool_list.editor_tools, name);
    if (!tool) {
        unknown_tool(r, name);
        return;
    }
    if (!json_is_absent(arguments) &&
        !request_needs(r, "arguments", JSON_OBJECT, "an object"))
        return;
    call_tool(r, tool, arguments);
}

/* --- subscriptions/listen ----------------------------------------------- */

void methods_tools_listen(const struct request *r)
{
    if (!r->mcp->config.editor_comes) {
        request_unknown_method(r);
        return;
    }
    if (!request_needs(r, "notifications", JSON_OBJECT, "an object"))
        return;
    enum status status =
        subscriptions_open(&r->mcp->tool_list.subscriptions, &r->to,
                           json_get(r->params, "notifications"));
    if (status == ST_LIMIT)
        request_fail(r, RPC_INVALID_REQUEST,
                     "too many subscriptions: %d are open",
                     LIMIT_SUBSCRIPTIONS);
    else if (status != ST_OK)
        request_fail_memory(r);
}
