/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp.c: messages, lifecycle and methods of MCP. */
#include "mcp/mcp.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "mcp/calls.h"
#include "mcp/clientinfo.h"
#include "mcp/instructions.h"
#include "mcp/resources.h"
#include "mcp/result.h"
#include "mcp/tool_list.h"
#include "tools/registry.h"

#define META_VERSION MCP_NAMESPACE "protocolVersion"
#define META_CLIENT MCP_NAMESPACE "clientInfo"
#define META_CAPABILITIES MCP_NAMESPACE "clientCapabilities"

/* Milliseconds for which a client may keep the list of tools. It changes when
   an editor comes or goes, which clients that listen are told; some keep it
   beyond the life of the server. */
#define TTL_MS (5 * 60 * 1000)

/* Characters of a name out of a message that an answer repeats. */
#define SHOWN_CHARS 100

struct mcp {
    struct mcp_config config;
    struct calls calls;
    struct tool_list tool_list; /* tools of the editor */
    bool initialized;
    enum mcp_version version; /* agreed on in initialize */
    bool can_ask;             /* the client can put questions to its user */
    struct clientinfo client; /* of initialize, */
    struct clientinfo last_client; /* and of a request that names its own */
};

/* A request while it is handled. */
struct request {
    struct mcp *mcp;
    struct arena *arena;
    struct rpc_to to;
    struct str method;
    struct json params; /* an object, or absent */
    enum mcp_version version;
    int64_t now_ms;
};

/* --- Answers ------------------------------------------------------------ */

static void check_sent(const struct mcp *mcp, enum status status)
{
    rpc_check_sent(mcp->config.log, status);
}

static void fail(const struct request *r, enum rpc_code code,
                 const char *format, ...) PRINTF_LIKE(3, 4);

static void fail(const struct request *r, enum rpc_code code,
                 const char *format, ...)
{
    struct buf detail = BUF_EMPTY;
    va_list args;
    va_start(args, format);
    buf_vprintf(&detail, format, args);
    va_end(args);
    check_sent(r->mcp, rpc_error(&r->to, code, buf_view(&detail)));
    buf_release(&detail);
}

static void fail_memory(const struct request *r)
{
    fail(r, RPC_INTERNAL_ERROR, "out of memory");
}

/* Whether the params have a FIELD of TYPE, WORDS being its name; answers when
   they have not. */
static bool need(const struct request *r, const char *field,
                 enum json_type type, const char *words)
{
    struct json value = json_get(r->params, field);
    if (json_is_absent(value))
        fail(r, RPC_INVALID_PARAMS, "missing required field: %s", field);
    else if (json_type(value) != type)
        fail(r, RPC_INVALID_PARAMS, "field %s must be %s", field, words);
    return json_type(value) == type;
}

/* What a client may keep of the results that describe the server. */
static void write_cache_hints(struct jsonw *w, enum mcp_version version)
{
    result_write_cache_hints(w, version, TTL_MS, "public");
}

static void write_offer(const struct mcp *mcp, struct jsonw *w)
{
    jsonw_name(w, "capabilities");
    jsonw_object(w);
    jsonw_name(w, "tools");
    jsonw_object(w);
    if (mcp->config.editor_comes)
        jsonw_member_bool(w, "listChanged", true);
    jsonw_end_object(w);
    jsonw_name(w, "resources");
    jsonw_object(w);
    jsonw_end_object(w);
    jsonw_end_object(w);
    jsonw_member(w, "instructions", str_from(instructions_text));
}

static void unknown_method(const struct request *r)
{
    struct rpc_reply reply;
    struct str name = utf8_head(r->method, SHOWN_CHARS);
    struct str message =
        arena_printf(r->arena, "%s: %.*s", rpc_code_text(RPC_METHOD_NOT_FOUND),
                     STR_ARG(name));
    struct str data =
        arena_printf(r->arena, "Method '%.*s' is not supported", STR_ARG(name));
    rpc_begin_error(&reply, &r->to, RPC_METHOD_NOT_FOUND, message);
    jsonw_member(&reply.json, "data", data);
    check_sent(r->mcp, rpc_end(&reply));
}

/* --- Methods ------------------------------------------------------------ */

static enum mcp_version negotiate(struct json wanted)
{
    for (int i = MCP_2024_11_05; i < MCP_2026_07_28; i++)
        if (json_is_string(wanted, result_version_name((enum mcp_version)i)))
            return (enum mcp_version)i;
    return MCP_2025_11_25;
}

/* Whether a client with these CAPABILITIES shows forms to its user. One that
   names no mode does. */
static bool has_forms(struct json capabilities)
{
    struct json elicitation = json_get(capabilities, "elicitation");
    return json_type(elicitation) == JSON_OBJECT &&
           (json_is_absent(json_get(elicitation, "url")) ||
            !json_is_absent(json_get(elicitation, "form")));
}

/* Who sent R, as JSON text; empty when it did not say. */
static struct str client_of(const struct request *r)
{
    if (!result_is_modern(r->version))
        return buf_view(&r->mcp->client.text);
    return clientinfo_read(&r->mcp->last_client, r->arena,
                           json_get(json_get(r->params, "_meta"), META_CLIENT));
}

static void note_client(const struct request *r)
{
    struct str client = clientinfo_read(&r->mcp->client, r->arena,
                                        json_get(r->params, "clientInfo"));
    log_line(r->mcp->config.log, LOG_INFO, "mcp: client %.*s speaks %s",
             STR_ARG(client), result_version_name(r->mcp->version));
}

static void initialize(const struct request *r)
{
    struct mcp *mcp = r->mcp;
    if (mcp->initialized) {
        fail(r, RPC_INVALID_REQUEST, "already initialized");
        return;
    }
    if (!need(r, "protocolVersion", JSON_STRING, "a string") ||
        !need(r, "capabilities", JSON_OBJECT, "an object") ||
        !need(r, "clientInfo", JSON_OBJECT, "an object"))
        return;
    mcp->version = negotiate(json_get(r->params, "protocolVersion"));
    mcp->initialized = true;
    mcp->can_ask = mcp->version >= MCP_2025_06_18 &&
                   has_forms(json_get(r->params, "capabilities"));
    note_client(r);

    struct rpc_reply reply;
    result_begin(&reply, &r->to, mcp->version);
    jsonw_member(&reply.json, "protocolVersion",
                 str_from(result_version_name(mcp->version)));
    jsonw_name(&reply.json, "serverInfo");
    result_write_server(&reply.json, mcp->version);
    write_offer(mcp, &reply.json);
    check_sent(mcp, result_end(&reply, mcp->version));
}

static void write_supported(struct jsonw *w, const char *name)
{
    jsonw_name(w, name);
    jsonw_array(w);
    jsonw_string(w, str_from(result_version_name(MCP_2026_07_28)));
    jsonw_end_array(w);
}

static void discover(const struct request *r)
{
    struct rpc_reply reply;
    result_begin(&reply, &r->to, r->version);
    write_supported(&reply.json, "supportedVersions");
    write_offer(r->mcp, &reply.json);
    write_cache_hints(&reply.json, r->version);
    check_sent(r->mcp, result_end(&reply, r->version));
}

static void ping(const struct request *r)
{
    struct rpc_reply reply;
    result_begin(&reply, &r->to, r->version);
    check_sent(r->mcp, result_end(&reply, r->version));
}

/* Whether the first page of a list that has no other is wanted; answers when it
   is not. */
static bool wants_page(const struct request *r)
{
    enum json_type cursor = json_type(json_get(r->params, "cursor"));
    if (cursor == JSON_ABSENT || cursor == JSON_NULL)
        return true;
    fail(r, RPC_INVALID_PARAMS, "unknown cursor: this list is one page");
    return false;
}

static void tools_list(const struct request *r)
{
    if (!wants_page(r))
        return;
    struct rpc_reply reply;
    struct jsonw *w = &reply.json;
    const struct tool *tool;
    result_begin(&reply, &r->to, r->version);
    jsonw_name(w, "tools");
    jsonw_array(w);
    for (size_t i = 0; (tool = toolset_at(&r->mcp->config.tools, i)); i++)
        tool_write(w, tool, r->version >= MCP_2025_06_18);
    for (size_t i = 0;
         (tool = editor_tools_at(&r->mcp->tool_list.editor_tools, i)); i++)
        tool_write(w, tool, r->version >= MCP_2025_06_18);
    jsonw_end_array(w);
    write_cache_hints(w, r->version);
    check_sent(r->mcp, result_end(&reply, r->version));
}

/* Newer versions of MCP want the model to read what was wrong. */
static void bad_arguments(const struct request *r, const struct tool *tool,
                          struct str problem)
{
    if (r->version < MCP_2025_11_25) {
        fail(r, RPC_INVALID_PARAMS, "%.*s", STR_ARG(problem));
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
        fail_memory(r);
    else
        check_sent(r->mcp, result_of_call(&r->to, r->version, &call, &answer,
                                          r->now_ms));
}

/* The token under which the client wants to hear of progress, as JSON text;
   empty when it does not, or when what it sent is no token. */
static struct str progress_token(const struct request *r)
{
    double number;
    struct json token = json_get(json_get(r->params, "_meta"), "progressToken");
    if (json_type(token) == JSON_STRING ||
        (json_number(token, &number) == ST_OK && floor(number) == number))
        return json_raw(token);
    return STR("");
}

/* Whether the client of R can put a question to its user. */
static bool can_ask(const struct request *r)
{
    struct json meta = json_get(r->params, "_meta");
    if (result_is_modern(r->version))
        return has_forms(json_get(meta, META_CAPABILITIES));
    return r->mcp->can_ask;
}

/* Reads what a client of the newer era brings with a call that it makes again;
   answers when it makes no sense. */
static bool read_again(const struct request *r, struct calls_request *request)
{
    if (!result_is_modern(r->version))
        return true;
    struct json state = json_get(r->params, "requestState");
    request->replies = json_get(r->params, "inputResponses");
    if (json_is_absent(state))
        return true;
    if (!need(r, "requestState", JSON_STRING, "a string"))
        return false;
    if (json_string(r->arena, state, &request->state) == ST_OK)
        return true;
    fail_memory(r);
    return false;
}

static void start_call(const struct request *r, const struct tool *tool,
                       struct json arguments, const struct schema_value *values)
{
    struct calls_request request = {
        .arena = r->arena,
        .to = r->to,
        .version = r->version,
        .texts = {.token = progress_token(r), .client = client_of(r)},
        .can_ask = can_ask(r),
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
        fail(r, RPC_INVALID_PARAMS,
             "requestState is none that this server has given out");
    else if (status != ST_OK)
        fail_memory(r);
}

static void call_tool(const struct request *r, const struct tool *tool,
                      struct json arguments)
{
    struct schema_notes notes;
    struct schema_value *values =
        arena_array(r->arena, schema_count(tool->fields), sizeof *values);
    enum status status = ST_NOMEM;
    if (values != NULL)
        status =
            schema_check(r->arena, tool->fields, arguments, values, &notes);
    if (status == ST_NOMEM) {
        fail_memory(r);
        return;
    }
    if (notes.extras > 0) {
        struct str extra = utf8_head(notes.extra, SHOWN_CHARS);
        log_line(r->mcp->config.log, LOG_INFO,
                 "mcp: %s: %zu unknown arguments ignored, the first is %.*s",
                 tool->name, notes.extras, STR_ARG(extra));
    }
    if (status == ST_OK)
        start_call(r, tool, arguments, values);
    else
        bad_arguments(r, tool, notes.problem);
}

static void unknown_tool(const struct request *r, struct str name)
{
    struct rpc_reply reply;
    struct str shown = utf8_head(name, SHOWN_CHARS);
    struct str message =
        arena_printf(r->arena, "Unknown tool: %.*s", STR_ARG(shown));
    rpc_begin_error(&reply, &r->to, RPC_INVALID_PARAMS, message);
    check_sent(r->mcp, rpc_end(&reply));
}

static void tools_call(const struct request *r)
{
    struct str name;
    struct json arguments = json_get(r->params, "arguments");
    if (!need(r, "name", JSON_STRING, "a string"))
        return;
    if (json_string(r->arena, json_get(r->params, "name"), &name) != ST_OK) {
        fail_memory(r);
        return;
    }
    const struct tool *tool = toolset_find(&r->mcp->config.tools, name);
    if (tool == NULL)
        tool = editor_tools_find(&r->mcp->tool_list.editor_tools, name);
    if (tool == NULL) {
        unknown_tool(r, name);
        return;
    }
    if (!json_is_absent(arguments) &&
        !need(r, "arguments", JSON_OBJECT, "an object"))
        return;
    call_tool(r, tool, arguments);
}

/* --- Tools of the editor ------------------------------------------------ */

static void listen(const struct request *r)
{
    if (!r->mcp->config.editor_comes) {
        unknown_method(r);
        return;
    }
    if (!need(r, "notifications", JSON_OBJECT, "an object"))
        return;
    enum status status =
        subscriptions_open(&r->mcp->tool_list.subscriptions, &r->to,
                           json_get(r->params, "notifications"));
    if (status == ST_LIMIT)
        fail(r, RPC_INVALID_REQUEST, "more than %d streams of notifications",
             LIMIT_SUBSCRIPTIONS);
    else if (status != ST_OK)
        fail_memory(r);
}

void mcp_editor(struct mcp *mcp, struct arena *arena,
                const struct editor_message *message, int64_t now_ms)
{
    if (message->kind != EDITOR_TOOLS)
        calls_editor(&mcp->calls, arena, message, now_ms);
    else if (registry_has_editor_set(mcp->config.tools.sets))
        tool_list_replace(&mcp->tool_list, message->value);
}

void mcp_editor_gone(struct mcp *mcp, struct arena *arena, int64_t now_ms)
{
    calls_editor_gone(&mcp->calls, arena, now_ms);
    tool_list_replace(&mcp->tool_list, (struct json){0});
}

/* --- Resources ---------------------------------------------------------- */

static struct resources_page first_page(const struct request *r)
{
    return (struct resources_page){.resources = &r->mcp->config.resources,
                                   .with_title = r->version >= MCP_2025_06_18};
}

static void resources_list_page(const struct request *r)
{
    struct resources_page page = first_page(r);
    enum status status =
        resources_read_cursor(r->arena, json_get(r->params, "cursor"), &page);
    if (status == ST_NOMEM) {
        fail_memory(r);
        return;
    }
    if (status != ST_OK) {
        fail(r, RPC_INVALID_PARAMS,
             "unknown cursor: it must be the nextCursor of another page");
        return;
    }
    struct rpc_reply reply;
    result_begin(&reply, &r->to, r->version);
    resources_list(&reply.json, &page);
    result_write_cache_hints(&reply.json, r->version, 0, "private");
    check_sent(r->mcp, result_end(&reply, r->version));
}

static void resources_templates(const struct request *r)
{
    struct resources_page page = first_page(r);
    struct rpc_reply reply;
    if (!wants_page(r))
        return;
    result_begin(&reply, &r->to, r->version);
    resources_list_templates(&reply.json, &page);
    write_cache_hints(&reply.json, r->version);
    check_sent(r->mcp, result_end(&reply, r->version));
}

static void read_metrics(const struct request *r)
{
    struct buf text = BUF_EMPTY;
    struct jsonw w;
    jsonw_init(&w, &text);
    metrics_write(&w, r->mcp->config.metrics, r->mcp->config.gate,
                  mcp_waiting(r->mcp));
    if (buf_failed(&text))
        fail_memory(r);
    else
        check_sent(r->mcp,
                   result_of_text(&r->to, r->version, STR(RESOURCES_METRICS),
                                  RESOURCES_METRICS_TYPE, buf_view(&text)));
    buf_release(&text);
}

static void unknown_resource(const struct request *r, struct str uri)
{
    struct str shown = utf8_head(uri, SHOWN_CHARS);
    struct str detail =
        arena_printf(r->arena,
                     "there is no resource %.*s; resources/list and "
                     "resources/templates/list show what there is",
                     STR_ARG(shown));
    check_sent(r->mcp, result_no_resource(&r->to, r->version, uri, detail));
}

/* In the newer era a question would have to be answered with a repeated
   request, which is for tools only. */
static void read_view(const struct request *r, struct str uri,
                      const struct resources_view *view)
{
    struct calls_request request = {
        .arena = r->arena,
        .to = r->to,
        .version = r->version,
        .texts = {.client = client_of(r), .uri = uri, .type = view->type},
        .can_ask = can_ask(r) && !result_is_modern(r->version),
        .tool = view->tool,
        .arguments = view->arguments,
        .values = view->values,
        .now_ms = r->now_ms};
    if (calls_start(&r->mcp->calls, &request) != ST_OK)
        fail_memory(r);
}

static void resources_read(const struct request *r)
{
    struct str uri;
    struct resources_view view;
    if (!need(r, "uri", JSON_STRING, "a string"))
        return;
    enum status status =
        json_string(r->arena, json_get(r->params, "uri"), &uri);
    if (status == ST_OK && str_eq(uri, STR(RESOURCES_METRICS))) {
        read_metrics(r);
        return;
    }
    if (status == ST_OK)
        status =
            resources_find(r->arena, &r->mcp->config.resources, uri, &view);
    if (status == ST_OK)
        read_view(r, uri, &view);
    else if (status == ST_MISSING)
        unknown_resource(r, uri);
    else
        fail_memory(r);
}

/* --- Messages ----------------------------------------------------------- */

enum era { LEGACY = 1, MODERN = 2, BOTH = LEGACY | MODERN };

static const struct method {
    const char *name;
    enum era eras;
    bool early; /* allowed before initialize */
    void (*run)(const struct request *r);
} methods[] = {
    {"tools/call", BOTH, false, tools_call},
    {"tools/list", BOTH, false, tools_list},
    {"resources/list", BOTH, false, resources_list_page},
    {"resources/templates/list", BOTH, false, resources_templates},
    {"resources/read", BOTH, false, resources_read},
    {"ping", LEGACY, true, ping},
    {"initialize", LEGACY, true, initialize},
    {"server/discover", MODERN, false, discover},
    {"subscriptions/listen", MODERN, false, listen},
};

static const struct method *find_method(struct str name, enum era era)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if ((methods[i].eras & era) && str_eq(name, str_from(methods[i].name)))
            return &methods[i];
    return NULL;
}

static void unsupported_version(const struct request *r, struct json version)
{
    struct rpc_reply reply;
    rpc_begin_error(&reply, &r->to, RPC_UNSUPPORTED_VERSION,
                    str_from(rpc_code_text(RPC_UNSUPPORTED_VERSION)));
    jsonw_name(&reply.json, "data");
    jsonw_object(&reply.json);
    write_supported(&reply.json, "supported");
    jsonw_name(&reply.json, "requested");
    jsonw_raw(&reply.json, json_raw(version));
    jsonw_end_object(&reply.json);
    check_sent(r->mcp, rpc_end(&reply));
}

/* Checks what each request of the modern era has to bring; answers when it
   does not. */
static bool check_modern(const struct request *r, struct json meta)
{
    struct json version = json_get(meta, META_VERSION);
    struct json capabilities = json_get(meta, META_CAPABILITIES);
    if (json_type(version) != JSON_STRING)
        fail(r, RPC_INVALID_PARAMS, "_meta must have %s, a string",
             META_VERSION);
    else if (!json_is_string(version, result_version_name(MCP_2026_07_28)))
        unsupported_version(r, version);
    else if (json_type(capabilities) != JSON_OBJECT)
        fail(r, RPC_INVALID_PARAMS, "_meta must have %s, an object",
             META_CAPABILITIES);
    else
        return true;
    return false;
}

static void handle_request(struct request *r)
{
    struct json meta = json_get(r->params, "_meta");
    bool modern = !json_is_absent(json_get(meta, META_VERSION)) ||
                  str_eq(r->method, STR("server/discover"));
    if (modern && !check_modern(r, meta))
        return;
    const struct method *method =
        find_method(r->method, modern ? MODERN : LEGACY);
    r->version = modern ? MCP_2026_07_28 : r->mcp->version;
    if (!modern && !r->mcp->initialized && (method == NULL || !method->early))
        fail(r, RPC_INVALID_REQUEST, "server not initialized");
    else if (method == NULL)
        unknown_method(r);
    else
        method->run(r);
}

static void handle_notification(struct mcp *mcp, struct arena *arena,
                                const struct rpc_message *message,
                                int64_t now_ms)
{
    struct str id = json_raw(json_get(message->params, "requestId"));

    if (str_eq(message->method, STR("notifications/initialized")))
        mcp->tool_list.subscriptions.legacy =
            mcp->initialized && mcp->config.editor_comes;
    if (!str_eq(message->method, STR("notifications/cancelled")))
        return;
    subscriptions_cancel(&mcp->tool_list.subscriptions, id);
    calls_cancel(&mcp->calls, arena, id, now_ms);
}

/* Handles one message; the answer goes to TO, whose id is set here. */
static void handle(struct mcp *mcp, struct arena *arena, struct json value,
                   struct rpc_to to, int64_t now_ms)
{
    struct rpc_message message;
    enum status status = rpc_read(arena, value, &message);
    to.id = message.id;
    struct request request = {.mcp = mcp,
                              .arena = arena,
                              .to = to,
                              .method = message.method,
                              .params = message.params,
                              .now_ms = now_ms};
    if (status != ST_OK) {
        if (message.kind == RPC_REQUEST)
            fail_memory(&request);
        return;
    }
    switch (message.kind) {
    case RPC_REQUEST:
        handle_request(&request);
        break;
    case RPC_NOTIFICATION:
        handle_notification(mcp, arena, &message, now_ms);
        break;
    case RPC_INVALID:
        fail(&request, message.code, "%s", message.fault);
        break;
    case RPC_RESPONSE:
        calls_answer(&mcp->calls, arena, &message, now_ms);
        break;
    }
}

/* What keeps ARRAY from being handled; empty when nothing does. */
static struct str batch_fault(const struct mcp *mcp, struct arena *arena,
                              struct json array)
{
    if (json_count(array) == 0)
        return STR("empty batch");
    if (!mcp->initialized || mcp->version != MCP_2025_03_26)
        return STR("batches are part of protocol version 2025-03-26 only");
    if (json_count(array) <= LIMIT_BATCH)
        return STR("");
    struct str fault =
        arena_printf(arena, "batch of more than %d messages", LIMIT_BATCH);
    return fault.n > 0 ? fault : STR("batch too large");
}

static void handle_batch(struct mcp *mcp, struct arena *arena,
                         struct json array, int64_t now_ms)
{
    struct rpc_to to = {.output = mcp->config.output, .batch = rpc_batch_new()};
    if (to.batch == NULL) {
        mcp_unreadable(mcp, RPC_INTERNAL_ERROR, STR("out of memory"));
        return;
    }
    struct json_walk walk;
    json_walk_init(&walk, array);
    while (json_walk_next(&walk))
        handle(mcp, arena, walk.value, to, now_ms);
    check_sent(mcp, rpc_batch_done(to.batch, to.output));
}

void mcp_unreadable(struct mcp *mcp, enum rpc_code code, struct str detail)
{
    struct rpc_to to = {.output = mcp->config.output, .id = RPC_NO_ID};
    check_sent(mcp, rpc_error(&to, code, detail));
}

static void not_json(struct mcp *mcp, struct arena *arena, enum status status,
                     const struct json_error *error)
{
    if (status == ST_NOMEM)
        mcp_unreadable(mcp, RPC_INTERNAL_ERROR, STR("out of memory"));
    else
        mcp_unreadable(
            mcp, status == ST_LIMIT ? RPC_INVALID_REQUEST : RPC_PARSE_ERROR,
            arena_printf(arena, "%s at byte %zu", error->what, error->at));
}

void mcp_message(struct mcp *mcp, struct arena *arena, struct str line,
                 int64_t now_ms)
{
    struct json value;
    struct json_error error;
    struct rpc_to to = {.output = mcp->config.output};
    enum status status = json_parse(arena, line, &value, &error);
    if (status != ST_OK) {
        not_json(mcp, arena, status, &error);
        return;
    }
    if (json_type(value) != JSON_ARRAY) {
        handle(mcp, arena, value, to, now_ms);
        return;
    }
    struct str fault = batch_fault(mcp, arena, value);
    if (fault.n > 0)
        mcp_unreadable(mcp, RPC_INVALID_REQUEST, fault);
    else
        handle_batch(mcp, arena, value, now_ms);
}

struct mcp *mcp_new(const struct mcp_config *config)
{
    struct mcp *mcp = calloc(1, sizeof *mcp);
    if (mcp == NULL)
        return NULL;
    mcp->config = *config;
    tool_list_init(&mcp->tool_list, config->gate, config->output,
                   config->tools.more);
    calls_init(&mcp->calls, config->gate, config->output, config->editor,
               config->approval_ms, config->key);
    return mcp;
}

void mcp_free(struct mcp *mcp)
{
    if (mcp != NULL) {
        calls_release(&mcp->calls);
        tool_list_release(&mcp->tool_list);
        clientinfo_release(&mcp->client);
        clientinfo_release(&mcp->last_client);
    }
    free(mcp);
}

void mcp_replies(struct mcp *mcp, int64_t now_ms)
{
    calls_take_replies(&mcp->calls, now_ms);
}

int64_t mcp_deadline(const struct mcp *mcp, int64_t now_ms)
{
    return calls_deadline(&mcp->calls, now_ms);
}

void mcp_tick(struct mcp *mcp, struct arena *arena, int64_t now_ms)
{
    calls_tick(&mcp->calls, arena, now_ms);
}

void mcp_finish(struct mcp *mcp, struct arena *arena, int64_t now_ms)
{
    calls_finish(&mcp->calls, arena, now_ms);
    check_sent(mcp, subscriptions_finish(&mcp->tool_list.subscriptions,
                                         mcp->config.output));
}

void mcp_stop_work(struct mcp *mcp, struct arena *arena, int64_t now_ms)
{
    calls_stop_work(&mcp->calls, arena, now_ms);
}

size_t mcp_waiting(const struct mcp *mcp)
{
    return calls_waiting(&mcp->calls);
}
