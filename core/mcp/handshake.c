/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handshake.c: see handshake.h. */
#include "mcp/handshake.h"

#include "base/buf.h"
#include "base/log.h"
#include "mcp/instructions.h"

#define META_VERSION MCP_NAMESPACE "protocolVersion"
#define META_CLIENT MCP_NAMESPACE "clientInfo"
#define META_CAPABILITIES MCP_NAMESPACE "clientCapabilities"

/* --- What the server says of itself ------------------------------------- */

static void write_capabilities(struct jsonw *w, enum mcp_version version,
                               bool editor_comes)
{
    jsonw_name(w, "capabilities");
    jsonw_object(w);
    jsonw_name(w, "tools");
    jsonw_object(w);
    if (editor_comes)
        jsonw_member_bool(w, "listChanged", true);
    jsonw_end_object(w);
    jsonw_name(w, "resources");
    jsonw_object(w);
    jsonw_end_object(w);
    jsonw_name(w, "prompts");
    jsonw_object(w);
    jsonw_end_object(w);
    if (version >= MCP_2025_03_26) {
        jsonw_name(w, "completions");
        jsonw_object(w);
        jsonw_end_object(w);
    }
    jsonw_end_object(w);
    jsonw_member(w, "instructions", str_from(instructions_text));
}

/* The versions of the modern era. */
static void write_versions(struct jsonw *w, const char *name)
{
    jsonw_name(w, name);
    jsonw_array(w);
    jsonw_string(w, str_from(result_version_name(MCP_2026_07_28)));
    jsonw_end_array(w);
}

/* --- What the client says of itself ------------------------------------- */

/* Whether a client with these CAPABILITIES shows forms to its user. One that
   names no mode does. */
static bool has_forms(struct json capabilities)
{
    struct json elicitation = json_get(capabilities, "elicitation");
    return json_type(elicitation) == JSON_OBJECT &&
           (json_is_absent(json_get(elicitation, "url")) ||
            !json_is_absent(json_get(elicitation, "form")));
}

static struct json meta_of(const struct request *r)
{
    return json_get(r->params, "_meta");
}

struct str handshake_client(const struct request *r)
{
    if (!result_is_modern(r->version))
        return buf_view(&r->mcp->client.text);
    return clientinfo_read(&r->mcp->last_client, r->arena,
                           json_get(meta_of(r), META_CLIENT));
}

bool handshake_can_ask(const struct request *r)
{
    if (result_is_modern(r->version))
        return has_forms(json_get(meta_of(r), META_CAPABILITIES));
    return r->mcp->can_ask;
}

/* --- initialize --------------------------------------------------------- */

/* The version that a client gets when it asks for WANTED. */
static enum mcp_version negotiate(struct json wanted)
{
    for (int i = MCP_2024_11_05; i < MCP_2026_07_28; i++)
        if (json_is_string(wanted, result_version_name((enum mcp_version)i)))
            return (enum mcp_version)i;
    return MCP_2025_11_25;
}

static void note_client(const struct request *r)
{
    struct mcp *mcp = r->mcp;
    mcp->version = negotiate(json_get(r->params, "protocolVersion"));
    mcp->initialized = true;
    mcp->can_ask = mcp->version >= MCP_2025_06_18 &&
                   has_forms(json_get(r->params, "capabilities"));
    struct str client = clientinfo_read(&mcp->client, r->arena,
                                        json_get(r->params, "clientInfo"));
    log_line(mcp->config.log, LOG_INFO, "mcp: client %.*s speaks %s",
             STR_ARG(client), result_version_name(mcp->version));
}

void handshake_initialize(const struct request *r)
{
    struct mcp *mcp = r->mcp;
    if (mcp->initialized) {
        request_fail(r, RPC_INVALID_REQUEST, "already initialized");
        return;
    }
    if (!request_needs(r, "protocolVersion", JSON_STRING, "a string") ||
        !request_needs(r, "capabilities", JSON_OBJECT, "an object") ||
        !request_needs(r, "clientInfo", JSON_OBJECT, "an object"))
        return;
    note_client(r);
    struct rpc_reply reply;
    struct jsonw *w = &reply.json;
    result_begin(&reply, &r->to, mcp->version);
    jsonw_member(w, "protocolVersion",
                 str_from(result_version_name(mcp->version)));
    jsonw_name(w, "serverInfo");
    result_write_server(w, mcp->version);
    write_capabilities(w, mcp->version, mcp->config.editor_comes);
    request_check_sent(r, result_end(&reply, mcp->version));
}

/* --- The modern era ----------------------------------------------------- */

bool handshake_is_modern(const struct request *r)
{
    return !json_is_absent(json_get(meta_of(r), META_VERSION)) ||
           str_eq(r->method, STR("server/discover"));
}

static void unsupported_version(const struct request *r, struct json version)
{
    struct rpc_reply reply;
    rpc_begin_error(&reply, &r->to, RPC_UNSUPPORTED_VERSION,
                    str_from(rpc_code_text(RPC_UNSUPPORTED_VERSION)));
    jsonw_name(&reply.json, "data");
    jsonw_object(&reply.json);
    write_versions(&reply.json, "supported");
    jsonw_name(&reply.json, "requested");
    jsonw_raw(&reply.json, json_raw(version));
    jsonw_end_object(&reply.json);
    request_check_sent(r, rpc_end(&reply));
}

bool handshake_check_modern(const struct request *r)
{
    struct json version = json_get(meta_of(r), META_VERSION);
    struct json capabilities = json_get(meta_of(r), META_CAPABILITIES);
    if (json_type(version) != JSON_STRING)
        request_fail(r, RPC_INVALID_PARAMS, "_meta must have %s, a string",
                     META_VERSION);
    else if (!json_is_string(version, result_version_name(MCP_2026_07_28)))
        unsupported_version(r, version);
    else if (json_type(capabilities) != JSON_OBJECT)
        request_fail(r, RPC_INVALID_PARAMS, "_meta must have %s, an object",
                     META_CAPABILITIES);
    else
        return true;
    return false;
}

void handshake_discover(const struct request *r)
{
    struct rpc_reply reply;
    struct jsonw *w = request_begin(r, &reply);
    write_versions(w, "supportedVersions");
    write_capabilities(w, r->version, r->mcp->config.editor_comes);
    request_end_cacheable(r, &reply);
}
