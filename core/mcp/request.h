/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.h: one request of the client while its method handles it, and the
   state of the connection that all methods share. For mcp.c and the files of
   the methods; everybody else sees struct mcp through mcp.h only. */
#ifndef MCP_REQUEST_H
#define MCP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "json/json.h"
#include "json/jsonw.h"
#include "json/rpc.h"
#include "mcp/calls.h"
#include "mcp/clientinfo.h"
#include "mcp/mcp_config.h"
#include "mcp/result.h"
#include "mcp/tool_list.h"

struct mcp {
    struct mcp_config config;
    struct calls calls;
    struct tool_list tool_list; /* tools of the editor */
    bool initialized;
    enum mcp_version version;      /* agreed on in initialize */
    bool can_ask;                  /* that client can ask its user, */
    struct clientinfo client;      /* and this is what it said of itself */
    struct clientinfo last_client; /* of the last request that named its own */
};

struct request {
    struct mcp *mcp;
    struct arena *arena; /* released after the request */
    struct rpc_to to;    /* where the answer goes */
    struct str method;
    struct json params; /* an object, or absent */
    enum mcp_version version;
    int64_t now_ms;
};

/* Logs that an answer was lost when STATUS, that of sending it, is not ST_OK.
 */
void request_check_sent(const struct request *r, enum status status);

/* Answers with an error; FORMAT makes the detail, which starts with a small
   letter. */
void request_fail(const struct request *r, enum rpc_code code,
                  const char *format, ...) PRINTF_LIKE(3, 4);
void request_fail_memory(const struct request *r);
void request_unknown_method(const struct request *r);

/* Whether the params have a FIELD of TYPE, which WORDS name ("a string").
   Answers with an error when they do not. */
bool request_needs(const struct request *r, const char *field,
                   enum json_type type, const char *words);

/* Whether the request asks for the first page of a list that has only one.
   Answers with an error when it does not. */
bool request_is_first_page(const struct request *r);

/* As much of TEXT, which the client chose, as answers and log lines repeat. */
struct str request_quote(struct str text);

/* Between request_begin and request_end the caller writes the members of the
   result with the writer that request_begin returns, which is REPLY's. */
struct jsonw *request_begin(const struct request *r, struct rpc_reply *reply);
void request_end(const struct request *r, struct rpc_reply *reply);

/* The same for a result that describes the server, which the client may keep
   for a while. */
void request_end_cacheable(const struct request *r, struct rpc_reply *reply);

#endif
