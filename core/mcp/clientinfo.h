/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clientinfo.h: what a client says of itself. */
#ifndef MCP_CLIENTINFO_H
#define MCP_CLIENTINFO_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

/* The one that was read last, because many requests say the same. */
struct clientinfo {
    struct buf raw;  /* what was read; empty: not remembered */
    struct buf text; /* JSON text: an object with the strings name and version,
                        of at most LIMIT_CLIENT_NAME characters each */
};

/* Accepts a zeroed one. */
void clientinfo_release(struct clientinfo *client);

/* Reads VALUE, MCP's clientInfo, and returns the text, which is valid until the
   next call. Empty when VALUE is not an object with a name, or memory ran
   out. */
struct str clientinfo_read(struct clientinfo *client, struct arena *arena,
                           struct json value);

#endif
