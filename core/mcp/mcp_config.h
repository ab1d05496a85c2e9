/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp_config.h: what the owner of a struct mcp gives it to work with. */
#ifndef MCP_MCP_CONFIG_H
#define MCP_MCP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "editor/editor.h"
#include "gate/gate.h"
#include "gate/metrics.h"
#include "mcp/resources.h"
#include "tools/toolset.h"

/* All pointers are borrowed. */
struct mcp_config {
    const struct log *log;
    struct gate *gate;
    struct image *image;
    struct buf *output; /* lines for the client */
    struct toolset tools;
    struct resources resources;
    const struct metrics *metrics;
    int64_t approval_ms;      /* how long a human may think */
    const unsigned char *key; /* TICKET_KEY random bytes (ticket.h) */
    struct editor *editor;
    bool editor_comes; /* an editor may connect at some time */
};

#endif
