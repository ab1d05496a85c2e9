/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods_prompts.h: the methods about prompts (prompts.h), and the completion
   of what a user types for a prompt or for the address of a resource. */
#ifndef MCP_METHODS_PROMPTS_H
#define MCP_METHODS_PROMPTS_H

#include "mcp/request.h"

/* prompts/list, prompts/get, completion/complete. */
void methods_prompts_list(const struct request *r);
void methods_prompts_get(const struct request *r);
void methods_prompts_complete(const struct request *r);

#endif
