/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subscriptions.h: who wants to hear that the list of tools has changed. In the
   era without initialize a client opens a stream for that, a request that is
   answered when the stream ends. */
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
    bool legacy; /* a client that has opened with initialize is ready for
                    notifications */
    struct subscriptions_stream {
        struct buf id; /* of its request, JSON text */
        bool tools;    /* it wants to hear of tools */
    } streams[LIMIT_SUBSCRIPTIONS];
    size_t count;
};

/* Accepts a zeroed one. */
void subscriptions_release(struct subscriptions *subscriptions);

/* Opens the stream of the request TO, with what its FILTER asks for and there
   is, and says so. ST_LIMIT: there are LIMIT_SUBSCRIPTIONS; it is still to be
   answered then, as after ST_NOMEM. */
enum status MUST_CHECK subscriptions_open(struct subscriptions *subscriptions,
                                          const struct rpc_to *to,
                                          struct json filter);

/* Closes the stream of the request ID, JSON text, if there is one; nothing more
   is said of it. */
void subscriptions_cancel(struct subscriptions *subscriptions, struct str id);

/* Tells all who want to hear it that the tools are others now. ST_NOMEM: not
   everybody was told. */
enum status MUST_CHECK subscriptions_tell(
    const struct subscriptions *subscriptions, struct buf *output);

/* Ends all streams, with their answers. */
enum status MUST_CHECK subscriptions_finish(struct subscriptions *subscriptions,
                                            struct buf *output);

#endif
