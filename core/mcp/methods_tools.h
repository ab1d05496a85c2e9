/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods_tools.h: the methods about tools. What becomes of a call that was
   started is the business of calls.h. */
#ifndef MCP_METHODS_TOOLS_H
#define MCP_METHODS_TOOLS_H

#include "mcp/request.h"

/* tools/list, tools/call, and subscriptions/listen, with which a client of the
   modern era asks to hear of changes of the list. */
void methods_tools_list(const struct request *r);
void methods_tools_call(const struct request *r);
void methods_tools_listen(const struct request *r);

#endif
