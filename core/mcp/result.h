/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.h: the versions of MCP; results, errors and our own messages in the
   form that each version needs. */
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
    MCP_2025_03_26, /* texts in progress; the only one with batches */
    MCP_2025_06_18, /* titles; questions to the client's user */
    MCP_2025_11_25, /* results, not errors, for bad arguments; descriptions */
    MCP_2026_07_28  /* no initialize: each request names its version */
};

/* "2025-11-25". */
const char *result_version_name(enum mcp_version version);

/* Whether VERSION is of the modern era, the one without initialize. */
bool result_is_modern(enum mcp_version version);

/* Where the names begin that MCP itself uses in _meta. */
#define MCP_NAMESPACE "io.modelcontextprotocol/"

/* Writes the name and version of this server, one value. */
void result_write_server(struct jsonw *w, enum mcp_version version);

/* Between the two the caller writes the members of the result. result_end fails
   as rpc_end does. */
void result_begin(struct rpc_reply *reply, const struct rpc_to *to,
                  enum mcp_version version);
enum status MUST_CHECK result_end(struct rpc_reply *reply,
                                  enum mcp_version version);

/* Writes the whole result of the tools/call CALL. NOTICE, lines or empty, comes
   before the text; then there is no other form of the answer, since some
   clients show the model only that. */
enum status MUST_CHECK result_of_call(const struct rpc_to *to,
                                      enum mcp_version version,
                                      const struct tool_call *call,
                                      const struct tool_answer *answer,
                                      struct str notice, int64_t now_ms);

/* The type of a view (resources.h). */
#define RESULT_VIEW_TYPE "text/plain"

/* Write the whole result of a resources/read: TEXT of TYPE, or CONTENTS, an
   array as JSON text. */
enum status MUST_CHECK result_of_text(const struct rpc_to *to,
                                      enum mcp_version version, struct str uri,
                                      const char *type, struct str text);
enum status MUST_CHECK result_of_contents(const struct rpc_to *to,
                                          enum mcp_version version,
                                          struct str contents);

/* Writes the whole result of a completion/complete: COMPLETION, an object as
   JSON text; empty: there are no values. */
enum status MUST_CHECK result_of_completion(const struct rpc_to *to,
                                            enum mcp_version version,
                                            struct str completion);

/* Like rpc_error, with other data: there is no resource URI, which DETAIL
   says. */
enum status MUST_CHECK result_no_resource(const struct rpc_to *to,
                                          enum mcp_version version,
                                          struct str uri, struct str detail);

/* Like rpc_error, with other data: the client lacks the capability NAME; DETAIL
   says more. Only the modern era has this error. */
enum status MUST_CHECK result_missing_capability(const struct rpc_to *to,
                                                 const char *name,
                                                 struct str detail);

/* Writes the members that say for how long (TTL_MS) and for whom (SCOPE,
   "public" or "private") a result may be kept. Only the modern era has them. */
void result_write_cache_hints(struct jsonw *w, enum mcp_version version,
                              int64_t ttl_ms, const char *scope);

/* Writes a notification of progress: PROGRESS grows each time, MESSAGE is text
   for the user, TOKEN is the client's, JSON text. ST_NOMEM: nothing was
   written. */
enum status MUST_CHECK result_progress(struct buf *output,
                                       enum mcp_version version,
                                       struct str token, int64_t progress,
                                       struct str message);

/* The same, saying that the code of the call waits for a line. */
enum status MUST_CHECK result_progress_input(struct buf *output,
                                             struct str token,
                                             int64_t progress);

/* Writes a request with ID, JSON text, that asks the client to put the question
   of CALL to its user. ST_NOMEM: nothing was written. */
enum status MUST_CHECK result_elicit(struct buf *output,
                                     enum mcp_version version, struct str id,
                                     const struct tool_call *call);

/* Asks the same in the modern era, which has no requests of the server: the
   result of a tools/call, after which the client makes the call again with the
   reply and with STATE. */
enum status MUST_CHECK result_input_required(const struct rpc_to *to,
                                             enum mcp_version version,
                                             const struct tool_call *call,
                                             struct str state);

/* The name that the question of CALL has in such a result. */
const char *result_question_name(const struct tool_call *call);

/* Writes a notification that withdraws the request ID, JSON text; WHY is for
   the client's user. ST_NOMEM: nothing was written. */
enum status MUST_CHECK result_withdraw(struct buf *output, struct str id,
                                       struct str why);

#endif
