/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_again.h: questions in the era without requests of the server: the call
   ends with the question and a ticket, and the client makes it again with both
   ticket and answer. */
#ifndef MCP_ASK_AGAIN_H
#define MCP_ASK_AGAIN_H

#include "base/status.h"
#include "gate/tool.h"
#include "mcp/step.h"
#include "mcp/ticket.h"

/* Ends the call of T, which asks. ST_NOMEM: it is still to be answered. */
enum status MUST_CHECK again_require(struct step *t);

/* A call that asks was made again with an answer; TICKET is NULL when it lacks
   the state that came with the question. Goes on as gate_decide; it still asks
   when there is no answer. */
enum status MUST_CHECK again_resume(struct step *t,
                                    const struct calls_request *request,
                                    const struct ticket *ticket);

/* CALL is made again with TICKET: it is to ask for its approval, or its handler
   is to know the reply to its question. */
void again_set_reply(struct tool_call *call,
                     const struct calls_request *request,
                     const struct ticket *ticket);

#endif
