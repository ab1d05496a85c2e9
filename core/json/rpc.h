/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rpc.h: the JSON-RPC 2.0 envelope: what kind of message a JSON value is, and
   how answers, errors and batches are written. Knows nothing of MCP. */
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
    RPC_MISSING_CAPABILITY = -32021, /* MCP from 2026-07-28 on, */
    RPC_UNSUPPORTED_VERSION = -32022 /* and this, too */
};

/* The id of an answer to a message whose own id cannot be read. */
#define RPC_NO_ID STR("null")

enum rpc_kind {
    RPC_REQUEST,
    RPC_NOTIFICATION,
    RPC_RESPONSE, /* a client's answer or error to what the server asked; never
                     answered */
    RPC_INVALID
};

struct rpc_message {
    enum rpc_kind kind;
    struct str id;      /* its JSON text; RPC_NO_ID when none can be read */
    struct str method;  /* requests and notifications */
    struct json params; /* an object, or absent */
    struct json result; /* responses: one of the two is there */
    struct json error;
    enum rpc_code code; /* RPC_INVALID: the error to answer, and its detail, */
    const char *fault;  /* which starts with a small letter */
};

/* Takes VALUE apart. ID, METHOD and PARAMS are views of its document or live
   in ARENA. Fails with ST_NOMEM only. */
enum status MUST_CHECK rpc_read(struct arena *arena, struct json value,
                                struct rpc_message *message);

/* The answers of a batch, which go out together. */
struct rpc_batch {
    struct buf replies; /* separated by commas */
    size_t waiting;     /* answers to come, and one while it is being read */
    bool lost;          /* memory ran out for one of the answers */
};

/* NULL when memory runs out. It goes away with the last rpc_batch_done. */
struct rpc_batch *rpc_batch_new(void);

/* Announces one more rpc_batch_done. */
void rpc_batch_wait(struct rpc_batch *batch);

/* One member has its answer or gets none. The last one appends the whole to
   OUTPUT, as one line, unless there is nothing to say, and frees BATCH. With
   OUTPUT NULL nothing is written. ST_NOMEM when not even an error fitted. */
enum status MUST_CHECK rpc_batch_done(struct rpc_batch *batch,
                                      struct buf *output);

/* Where the answer to one request goes. */
struct rpc_to {
    struct buf *output;      /* lines for the client; borrowed */
    struct rpc_batch *batch; /* NULL: a line of its own */
    struct str id;           /* JSON text; borrowed */
};

/* Room that is kept free in an output buffer, so that an error can be answered
   when no more memory is to be had. rpc_end sees to it; the owner of the
   buffer reserves it once before the first answer. */
#define RPC_SPARE 1024

/* An answer while it is being written: rpc_begin… writes the envelope, the
   caller writes with JSON, rpc_end closes. */
struct rpc_reply {
    struct jsonw json;
    struct rpc_to to;
    size_t start; /* of the answer in its buffer */
    bool error;
};

/* The caller writes one value, the result. */
void rpc_begin_result(struct rpc_reply *reply, const struct rpc_to *to);

/* The caller may write one member "data". */
void rpc_begin_error(struct rpc_reply *reply, const struct rpc_to *to,
                     enum rpc_code code, struct str message);

/* When memory ran out the answer is taken back and RPC_INTERNAL_ERROR stands in
   its place: no half line ever stays. ST_NOMEM when even that did not fit. */
enum status MUST_CHECK rpc_end(struct rpc_reply *reply);

/* A message that is not answered: rpc_begin_notification writes the envelope,
   the caller writes one value, the params, rpc_end_notification closes. It is a
   line of its own even while a batch is gathered. ST_NOMEM: nothing of it is
   left. */
void rpc_begin_notification(struct rpc_reply *note, struct buf *output,
                            const char *method);
enum status MUST_CHECK rpc_end_notification(struct rpc_reply *note);

/* The same for something that the client is asked: a request with ID (JSON
   text); rpc_end_notification closes it. */
void rpc_begin_request(struct rpc_reply *request, struct buf *output,
                       struct str id, const char *method);

/* A whole error: the message is the standard text of CODE and DETAIL, the data
   is DETAIL as a sentence. */
enum status MUST_CHECK rpc_error(const struct rpc_to *to, enum rpc_code code,
                                 struct str detail);

/* Logs that an answer is lost, when STATUS of sending it is not ST_OK. */
void rpc_check_sent(const struct log *log, enum status status);

/* The standard text of CODE: "Invalid Request". */
const char *rpc_code_text(enum rpc_code code);

#endif
