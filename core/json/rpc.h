/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rpc.h: the envelope of JSON-RPC 2.0: reads what kind of message a JSON value
   is; writes answers, errors, batches, notifications and requests. Knows
   nothing of MCP. */
#ifndef JSON_RPC_H
#define JSON_RPC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "json/json.h"
#include "json/jsonw.h"

enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_NO_RESOURCE = -32002,        /* MCP up to 2025-11-25 */
    RPC_MISSING_CAPABILITY = -32021, /* MCP from 2026-07-28 on */
    RPC_UNSUPPORTED_VERSION = -32022 /* MCP from 2026-07-28 on */
};

/* The id in the answer to a message whose own id cannot be read. */
#define RPC_NO_ID STR("null")

enum rpc_kind {
    RPC_REQUEST,
    RPC_NOTIFICATION,
    RPC_RESPONSE, /* a result or an error for a request of ours; needs no
                     answer */
    RPC_INVALID
};

struct rpc_message {
    enum rpc_kind kind;
    struct str id;      /* JSON text; RPC_NO_ID when it cannot be read */
    struct str method;  /* of requests and notifications */
    struct json params; /* an object, or absent */
    struct json result; /* of responses, which have either this */
    struct json error;  /* or that */
    enum rpc_code code; /* RPC_INVALID: the error to answer with, */
    const char *fault;  /* and its detail, which starts with a small letter */
};

/* Takes VALUE apart. What MESSAGE refers to is in VALUE's document or in ARENA.
   Fails with ST_NOMEM only. */
enum status MUST_CHECK rpc_read(struct arena *arena, struct json value,
                                struct rpc_message *message);

/* The answers to a batch, which are sent together. */
struct rpc_batch {
    struct buf replies; /* separated by commas */
    size_t waiting; /* how many answers are missing; and 1 while it is read */
    bool lost;      /* memory ran out for one of the answers */
};

/* NULL when memory runs out. The last rpc_batch_done frees it. */
struct rpc_batch *rpc_batch_new(void);

/* One more answer is to come: rpc_batch_done must be called once more. */
void rpc_batch_wait(struct rpc_batch *batch);

/* A member of BATCH has its answer, or will not get one. After the last one the
   answers, if there are any, are appended to OUTPUT as one line, and BATCH is
   freed. Nothing is written when OUTPUT is NULL. ST_NOMEM: not even an error
   fitted. */
enum status MUST_CHECK rpc_batch_done(struct rpc_batch *batch,
                                      struct buf *output);

/* Where the answer to one request goes. */
struct rpc_to {
    struct buf *output;      /* lines for the client; borrowed */
    struct rpc_batch *batch; /* NULL: a line of its own */
    struct str id;           /* JSON text; borrowed */
};

/* Bytes that stay free in an output buffer, so that an error can be sent when
   memory has run out. rpc_end reserves them again after each answer; the owner
   of the buffer reserves them before the first. */
#define RPC_SPARE 1024

/* A message while it is written: rpc_begin_… writes the envelope, the caller
   writes the content with JSON, rpc_end or rpc_end_notification closes it. */
struct rpc_reply {
    struct jsonw json;
    struct rpc_to to;
    size_t start; /* of the message in its buffer */
    bool error;
};

/* Begins an answer. The caller writes one value, the result. */
void rpc_begin_result(struct rpc_reply *reply, const struct rpc_to *to);

/* Begins an error. The caller may write one member, "data". */
void rpc_begin_error(struct rpc_reply *reply, const struct rpc_to *to,
                     enum rpc_code code, struct str message);

/* Ends an answer or error. When memory ran out, RPC_INTERNAL_ERROR replaces it:
   half a line never stays. ST_NOMEM: not even that fitted. */
enum status MUST_CHECK rpc_end(struct rpc_reply *reply);

/* A notification: between the two calls the caller writes one value, the
   params. It is a line of its own even while a batch is answered. ST_NOMEM:
   nothing of it was written. */
void rpc_begin_notification(struct rpc_reply *note, struct buf *output,
                            const char *method);
enum status MUST_CHECK rpc_end_notification(struct rpc_reply *note);

/* Begins a request of ours with ID, JSON text; rpc_end_notification ends it. */
void rpc_begin_request(struct rpc_reply *request, struct buf *output,
                       struct str id, const char *method);

/* Writes a whole error: its message is the standard text of CODE followed by
   DETAIL, its data is DETAIL as a sentence. */
enum status MUST_CHECK rpc_error(const struct rpc_to *to, enum rpc_code code,
                                 struct str detail);

/* Logs that an answer was lost when STATUS, that of sending it, is not
   ST_OK. */
void rpc_check_sent(const struct log *log, enum status status);

/* The standard text of CODE: "Invalid Request". */
const char *rpc_code_text(enum rpc_code code);

#endif
