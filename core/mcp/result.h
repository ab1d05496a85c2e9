/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.h: the versions of MCP, and results in the form that each wants. */
#ifndef MCP_RESULT_H
#define MCP_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "gate/tool.h"
#include "json/jsonw.h"
#include "json/rpc.h"

/* Oldest first, so that "from this version on" is a comparison. */
enum mcp_version {
    MCP_2024_11_05,
    MCP_2025_03_26, /* messages of progress; the only one with batches */
    MCP_2025_06_18, /* titles */
    MCP_2025_11_25, /* bad arguments are results; description of a server */
    MCP_2026_07_28  /* no initialize: each request names the version */
};

/* "2025-11-25". */
const char *result_version_name(enum mcp_version version);

/* Whether VERSION is of the era without initialize. */
bool result_is_modern(enum mcp_version version);

/* What the names in _meta that MCP itself uses start with. */
#define MCP_NAMESPACE "io.modelcontextprotocol/"

/* Writes the description of this server as one value. */
void result_write_server(struct jsonw *w, enum mcp_version version);

/* Between the two the caller writes the members of the result. result_end as
   rpc_end. */
void result_begin(struct rpc_reply *reply, const struct rpc_to *to,
                  enum mcp_version version);
enum status MUST_CHECK result_end(struct rpc_reply *reply,
                                  enum mcp_version version);

/* Writes the whole result of a tools/call. */
enum status MUST_CHECK result_of_call(const struct rpc_to *to,
                                      enum mcp_version version,
                                      const struct tool_call *call,
                                      const struct tool_answer *answer,
                                      int64_t now_ms);

/* The type of a resource that shows something of a session. */
#define RESULT_VIEW_TYPE "text/plain"

/* Write the whole result of a resources/read: one text, or CONTENTS, a JSON
   array. */
enum status MUST_CHECK result_of_text(const struct rpc_to *to,
                                      enum mcp_version version, struct str uri,
                                      const char *type, struct str text);
enum status MUST_CHECK result_of_contents(const struct rpc_to *to,
                                          enum mcp_version version,
                                          struct str contents);

/* There is no resource URI; DETAIL says so. As rpc_error, but for its data. */
enum status MUST_CHECK result_no_resource(const struct rpc_to *to,
                                          enum mcp_version version,
                                          struct str uri, struct str detail);

/* The client lacks the capability NAME, which only the newer era can say;
   DETAIL tells more. As rpc_error, but for its data. */
enum status MUST_CHECK result_missing_capability(const struct rpc_to *to,
                                                 const char *name,
                                                 struct str detail);

/* Writes the members that say for how long, and for whom, a result may be kept;
   older versions have none. */
void result_write_cache_hints(struct jsonw *w, enum mcp_version version,
                              int64_t ttl_ms, const char *scope);

/* Writes a notification about a running call: PROGRESS is larger each time,
   MESSAGE what there is to say. TOKEN is the client's, JSON text. ST_NOMEM:
   nothing is written. */
enum status MUST_CHECK result_progress(struct buf *output,
                                       enum mcp_version version,
                                       struct str token, int64_t progress,
                                       struct str message);

/* Asks the client to put the question of CALL to its user: a request with ID,
   JSON text. ST_NOMEM: nothing is written. */
enum status MUST_CHECK result_elicit(struct buf *output,
                                     enum mcp_version version, struct str id,
                                     const struct tool_call *call);

/* The same as the result of a tools/call in the era without such requests: the
   client makes the call again, with the reply and STATE. */
enum status MUST_CHECK result_input_required(const struct rpc_to *to,
                                             enum mcp_version version,
                                             const struct tool_call *call,
                                             struct str state);

/* The name of the question of CALL in such a result. */
const char *result_question_name(const struct tool_call *call);

/* Takes such a request back; WHY is for the client's user. */
enum status MUST_CHECK result_withdraw(struct buf *output, struct str id,
                                       struct str why);

#endif
