/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_again.h: questions in the era without requests of the server. The call
   ends with the question and a ticket; the client makes it again with both the
   ticket and the answer. How long a ticket is good is ask.h's business. */
#ifndef MCP_ASK_AGAIN_H
#define MCP_ASK_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"
#include "json/json.h"
#include "mcp/step.h"
#include "mcp/ticket.h"

/* What a client brings with a call that it makes again. */
struct ask_again {
    struct json replies; /* to questions, by name; absent: none */
    bool has_ticket;     /* the state that came with the question is here: */
    struct ticket ticket;
    struct str late; /* why the ticket is no longer good; empty: it is */
};

/* Ends the call of T with its question and a ticket that is good until
   EXPIRES_MS. ST_NOMEM: the caller still has to answer and to end the call. */
enum status MUST_CHECK ask_again_require(struct step *t,
                                         struct tickets *tickets,
                                         int64_t expires_ms);

/* The call of T asks, and the client has made it with AGAIN: lets the gate
   decide by the reply, and uses the ticket up. The result is that of
   gate_decide, or the call still asks because AGAIN answers nothing. */
enum status MUST_CHECK ask_again_resume(struct step *t, struct tickets *tickets,
                                        const struct ask_again *again);

/* The call of T has begun to work: keeps AGAIN with it. */
enum status MUST_CHECK ask_again_keep(struct step *t,
                                      const struct ask_again *again);

/* The call of T has worked and asks now: does what ask_again_resume does with
   what was kept, if anything. */
enum status MUST_CHECK ask_again_go_on(struct step *t, struct tickets *tickets);

/* Prepares CALL for gate_start with ARGUMENTS when AGAIN has a ticket: CALL
   then asks for its approval whatever allows it to run, or its handler gets the
   reply to its own question. */
void ask_again_set_reply(struct tool_call *call, struct json arguments,
                         const struct ask_again *again);

#endif
