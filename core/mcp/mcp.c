/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp.c: the table of methods, and what comes in: messages of the client, of
   the editor and of the image. */
#include "mcp/mcp.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/strand.h"
#include "mcp/handshake.h"
#include "mcp/methods_prompts.h"
#include "mcp/methods_resources.h"
#include "mcp/methods_tools.h"
#include "mcp/request.h"
#include "tools/registry.h"

/* --- The methods -------------------------------------------------------- */

static void ping(const struct request *r)
{
    struct rpc_reply reply;
    (void)request_begin(r, &reply); // without members
    request_end(r, &reply);
}

enum era { LEGACY = 1, MODERN = 2, BOTH = LEGACY | MODERN };

static const struct method {
    const char *name;
    enum era eras;
    bool early; /* allowed before initialize */
    void (*run)(const struct request *r);
} methods[] = {
    {"tools/call", BOTH, false, methods_tools_call},
    {"tools/list", BOTH, false, methods_tools_list},
    {"resources/list", BOTH, false, methods_resources_list},
    {"resources/templates/list", BOTH, false, methods_resources_templates},
    {"resources/read", BOTH, false, methods_resources_read},
    {"prompts/list", BOTH, false, methods_prompts_list},
    {"prompts/get", BOTH, false, methods_prompts_get},
    {"completion/complete", BOTH, false, methods_prompts_complete},
    {"ping", LEGACY, true, ping},
    {"initialize", LEGACY, true, handshake_initialize},
    {"server/discover", MODERN, false, handshake_discover},
    {"subscriptions/listen", MODERN, false, methods_tools_listen},
};

static const struct method *find_method(struct str name, enum era era)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if ((methods[i].eras & era) && str_eq(name, str_from(methods[i].name)))
            return &methods[i];
    return NULL;
}

/* --- Messages of the client --------------------------------------------- */

static void handle_request(struct request *r)
{
    bool modern = handshake_is_modern(r);
    if (modern && !handshake_check_modern(r))
        return;
    const struct method *method =
        find_method(r->method, modern ? MODERN : LEGACY);
    r->version = modern ? MCP_2026_07_28 : r->mcp->version;
    if (!modern && !r->mcp->initialized && (!method || !method->early))
        request_fail(r, RPC_INVALID_REQUEST, "server not initialized");
    else if (!method)
        request_unknown_method(r);
    else
        method->run(r);
}

/* A line for the code of call ID. One that is too long is not cut: code would
   take the part for all of it. */
static void take_input(struct mcp *mcp, struct arena *arena,
                       const struct rpc_message *message, struct str id)
{
    struct json text = json_get(message->params, "text");
    struct str line;

    if (json_type(text) != JSON_STRING ||
        json_string(arena, text, &line) != ST_OK || line.n > LIMIT_INPUT)
        log_line(mcp->config.log, LOG_WARN,
                 "mcp: a line of input is not a text of %u bytes at most",
                 LIMIT_INPUT);
    else
        calls_input(&mcp->calls, id, line);
}

static void handle_notification(struct mcp *mcp, struct arena *arena,
                                const struct rpc_message *message,
                                int64_t now_ms)
{
    struct str id = json_raw(json_get(message->params, "requestId"));

    if (str_eq(message->method, STR("notifications/ecl-mcp/input")))
        take_input(mcp, arena, message, id);
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
            request_fail_memory(&request);
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
        request_fail(&request, message.code, "%s", message.fault);
        break;
    case RPC_RESPONSE:
        calls_answer(&mcp->calls, arena, &message, now_ms);
        break;
    }
}

/* Why the batch ARRAY cannot be handled; empty when it can. */
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

/* Work (strand.h) of a message of a batch, besides that of its bytes. */
#define MESSAGE (16u * 1024)

static void handle_batch(struct mcp *mcp, struct arena *arena,
                         struct json array, int64_t now_ms)
{
    struct rpc_to to = {.output = mcp->config.output, .batch = rpc_batch_new()};
    if (!to.batch) {
        mcp_unreadable(mcp, RPC_INTERNAL_ERROR, STR("out of memory"));
        return;
    }
    struct json_walk walk;
    json_walk_init(&walk, array);
    while (json_walk_next(&walk)) {
        handle(mcp, arena, walk.value, to, now_ms);
        (void)strand_pause(MESSAGE); // the rest is answered even when stopped
    }
    rpc_check_sent(mcp->config.log, rpc_batch_done(to.batch, to.output));
}

void mcp_unreadable(struct mcp *mcp, enum rpc_code code, struct str detail)
{
    struct rpc_to to = {.output = mcp->config.output, .id = RPC_NO_ID};
    rpc_check_sent(mcp->config.log, rpc_error(&to, code, detail));
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

/* --- Messages of the editor and of the image ---------------------------- */

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

void mcp_replies(struct mcp *mcp, int64_t now_ms)
{
    calls_take_replies(&mcp->calls, now_ms);
}

bool mcp_reply(struct mcp *mcp, int64_t now_ms)
{
    return calls_take_reply(&mcp->calls, now_ms);
}

/* --- Lifecycle ---------------------------------------------------------- */

struct mcp *mcp_new(const struct mcp_config *config)
{
    struct mcp *mcp = calloc(1, sizeof *mcp);
    if (!mcp)
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
    if (mcp) {
        calls_release(&mcp->calls);
        tool_list_release(&mcp->tool_list);
        clientinfo_release(&mcp->client);
        clientinfo_release(&mcp->last_client);
    }
    free(mcp);
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
    rpc_check_sent(mcp->config.log,
                   subscriptions_finish(&mcp->tool_list.subscriptions,
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
