/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handshake.h: how client and server learn of each other. Up to 2025-11-25
   once, with initialize; in the modern era each request says which version it
   is of, and who sends it, and server/discover is optional. */
#ifndef MCP_HANDSHAKE_H
#define MCP_HANDSHAKE_H

#include <stdbool.h>

#include "base/str.h"
#include "mcp/request.h"

/* The methods initialize and server/discover. */
void handshake_initialize(const struct request *r);
void handshake_discover(const struct request *r);

/* Whether R is a request of the modern era. */
bool handshake_is_modern(const struct request *r);

/* Whether R, of the modern era, says what every such request must, and is of a
   version that the server speaks. Answers with an error when it does not. */
bool handshake_check_modern(const struct request *r);

/* The client that sent R, as JSON text (clientinfo.h), valid until the next
   call; empty when it did not say. */
struct str handshake_client(const struct request *r);

/* Whether the client that sent R can put a question to its user. */
bool handshake_can_ask(const struct request *r);

#endif
