/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subscriptions.h: whom to notify when the list of tools changes. A client of
   the modern era opens a stream for that, a request that is answered when the
   stream ends; any other client is notified once it is initialized. */
#ifndef MCP_SUBSCRIPTIONS_H
#define MCP_SUBSCRIPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"
#include "json/json.h"
#include "json/rpc.h"
#include "mcp/result.h"

struct subscriptions {
    bool legacy; /* a client has initialized and can take notifications */
    struct subscriptions_stream {
        struct buf id; /* of its request, JSON text */
        bool tools;    /* it asks for changes of the list of tools */
    } streams[LIMIT_SUBSCRIPTIONS];
    size_t count;
};

/* Accepts a zeroed one. */
void subscriptions_release(struct subscriptions *subscriptions);

/* Opens a stream for the request TO and acknowledges it: of what FILTER asks
   for, it gets what this server has. ST_LIMIT: LIMIT_SUBSCRIPTIONS are open;
   after that, as after ST_NOMEM, the caller answers the request. */
enum status MUST_CHECK subscriptions_open(struct subscriptions *subscriptions,
                                          const struct rpc_to *to,
                                          struct json filter);

/* Closes the stream of the request ID, JSON text, if there is one, without an
   answer. */
void subscriptions_cancel(struct subscriptions *subscriptions, struct str id);

/* Notifies all subscribers that the list of tools changed. ST_NOMEM: some were
   not notified. */
enum status MUST_CHECK subscriptions_tell(
    const struct subscriptions *subscriptions, struct buf *output);

/* Ends all streams with their answers. ST_NOMEM: some got none. */
enum status MUST_CHECK subscriptions_finish(struct subscriptions *subscriptions,
                                            struct buf *output);

#endif
