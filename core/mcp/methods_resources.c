/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods_resources.c: see methods_resources.h. */
#include "mcp/methods_resources.h"

#include "base/buf.h"
#include "gate/metrics.h"
#include "mcp/handshake.h"
#include "mcp/resources.h"

/* --- Lists -------------------------------------------------------------- */

static struct resources_page first_page(const struct request *r)
{
    return (struct resources_page){.resources = &r->mcp->config.resources,
                                   .with_title = r->version >= MCP_2025_06_18};
}

/* The list changes with every session that opens: nobody may keep it. */
void methods_resources_list(const struct request *r)
{
    struct resources_page page = first_page(r);
    enum status status =
        resources_read_cursor(r->arena, json_get(r->params, "cursor"), &page);
    if (status == ST_NOMEM) {
        request_fail_memory(r);
        return;
    }
    if (status != ST_OK) {
        request_fail(
            r, RPC_INVALID_PARAMS,
            "unknown cursor: it must be the nextCursor of another page");
        return;
    }
    struct rpc_reply reply;
    struct jsonw *w = request_begin(r, &reply);
    resources_list(w, &page);
    result_write_cache_hints(w, r->version, 0, "private");
    request_end(r, &reply);
}

void methods_resources_templates(const struct request *r)
{
    struct resources_page page = first_page(r);
    if (!request_is_first_page(r))
        return;
    struct rpc_reply reply;
    resources_list_templates(request_begin(r, &reply), &page);
    request_end_cacheable(r, &reply);
}

/* --- resources/read ----------------------------------------------------- */

static void read_metrics(const struct request *r)
{
    struct buf text = BUF_EMPTY;
    struct jsonw w;
    jsonw_init(&w, &text);
    metrics_write(&w, r->mcp->config.metrics, r->mcp->config.gate,
                  calls_waiting(&r->mcp->calls));
    if (buf_failed(&text))
        request_fail_memory(r);
    else
        request_check_sent(
            r, result_of_text(&r->to, r->version, STR(RESOURCES_METRICS),
                              RESOURCES_METRICS_TYPE, buf_view(&text)));
    buf_release(&text);
}

static void unknown_resource(const struct request *r, struct str uri)
{
    struct str shown = request_quote(uri);
    struct str detail =
        arena_printf(r->arena,
                     "there is no resource %.*s; resources/list and "
                     "resources/templates/list show those that exist",
                     STR_ARG(shown));
    request_check_sent(r, result_no_resource(&r->to, r->version, uri, detail));
}

/* In the modern era the user's answer comes with the same call, made again;
   that exists for tools/call only, so nobody is asked here. */
static void read_view(const struct request *r, struct str uri,
                      const struct resources_view *view)
{
    struct calls_request request = {.arena = r->arena,
                                    .to = r->to,
                                    .version = r->version,
                                    .texts = {.client = handshake_client(r),
                                              .uri = uri,
                                              .type = view->type},
                                    .can_ask = handshake_can_ask(r) &&
                                               !result_is_modern(r->version),
                                    .tool = view->tool,
                                    .arguments = view->arguments,
                                    .values = view->values,
                                    .now_ms = r->now_ms};
    if (calls_start(&r->mcp->calls, &request) != ST_OK)
        request_fail_memory(r);
}

void methods_resources_read(const struct request *r)
{
    struct str uri;
    struct resources_view view;
    if (!request_needs(r, "uri", JSON_STRING, "a string"))
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
        request_fail_memory(r);
}
