/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clientinfo.h: who calls, as a client says of itself. */
#ifndef MCP_CLIENTINFO_H
#define MCP_CLIENTINFO_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

/* The last one that was read: many requests say the same. */
struct clientinfo {
    struct buf raw;  /* what was read; empty: nothing that could be kept */
    struct buf text; /* JSON text: an object with name and version, as strings
                        of LIMIT_CLIENT_NAME characters at most */
};

/* Accepts a zeroed one. */
void clientinfo_release(struct clientinfo *client);

/* Reads VALUE, MCP's clientInfo, and returns the text; empty when VALUE is no
   object with a name, or memory ran out. It is valid until the next call. */
struct str clientinfo_read(struct clientinfo *client, struct arena *arena,
                           struct json value);

#endif
