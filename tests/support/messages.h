/* SPDX-License-Identifier: GPL-3.0-or-later */
/* messages.h: messages of a client, and the server's answers as patterns for
   client_expect, where "…" stands for any text. */
#ifndef TESTS_SUPPORT_MESSAGES_H
#define TESTS_SUPPORT_MESSAGES_H

#include "base/version.h"

#define OK(id, rest) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" rest "}"
#define FAIL(id, code, rest)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code             \
    ",\"message\":" rest "}}"
#define CALL(id, name, arguments)                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name                  \
    "\",\"arguments\":" arguments "}}"
#define REQUEST(id, method)                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define MODERN(version)                                                        \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version        \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN_REQUEST(id, method, params)                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{" params MODERN("2026-07-28") "}}"
#define SERVER_META                                                            \
    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"ecl-mcp\","            \
    "\"title\":\"ECL Common Lisp\",\"version\":\"" ECL_MCP_VERSION             \
    "\",\"description\":\"…\"}"
#define CANCEL(id)                                                             \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","             \
    "\"params\":{\"requestId\":" id ",\"reason\":\"r\"}}"

#define CALL_WITH_TOKEN(id, token)                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"evaluate-lisp\","       \
    "\"arguments\":{\"code\":\"1\"},\"_meta\":{\"progressToken\":" token "}}}"
#define PROGRESS(token, rest)                                                  \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"   \
    "{\"progressToken\":" token ",\"progress\":" rest "}}"
#define TEXT(text)                                                             \
    "{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],"                \
    "\"isError\":false,…}"
#define PROBLEM(text)                                                          \
    "{\"content\":[{\"type\":\"text\",\"text\":\"Invalid params: " text        \
    "\"}],\"isError\":true,…}"

#endif
