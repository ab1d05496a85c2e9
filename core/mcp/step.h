/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.h: one step of one call: what it works with, and what the client hears
   of it. */
#ifndef MCP_STEP_H
#define MCP_STEP_H

#include "base/status.h"
#include "base/str.h"
#include "gate/gate.h"
#include "mcp/pending.h"

/* Made for one event: a request, an answer, a moment. All of it is borrowed,
   except the answer, which the gate writes. */
struct step {
    struct pending_table *table; /* with the output for the client */
    struct pending *pending;     /* the call, in that table */
    struct gate_step gate;       /* about the tool_call of the same call */
};

/* Tells the client how the call gets on, if it wants to know and reads fast
   enough. The answer repeats what TEXT says, so nothing is lost. */
void step_report(const struct step *t, struct str text);

/* Tells the client that the code waits for a line. */
void step_ask_input(const struct step *t);

/* Ends the call without an answer. It and T must not be used afterwards; the
   same holds for the next two. */
void step_end(struct step *t);

/* Sends the answer of T, which is complete, and ends the call. When the log of
   calls must be on the disk before, the answer is kept, and the call is
   settling. */
void step_send(struct step *t);

/* The same for a call that is settling: sends its answer if the log is on the
   disk, or, with ANYWAY, whether it is or not. */
void step_settle(struct step *t, bool anyway);

/* The call fails with TEXT: tells the hooks, sends that as the answer, and ends
   the call. */
void step_fail(struct step *t, struct str text);

/* The same, but the caller still has to send the answer, or to end the call
   without it. */
void step_give_up(struct step *t, struct str text);

/* The gate decides about T without an answer to its question; WHY says why
   there is none. The result is that of gate_decide. */
enum status MUST_CHECK step_decide_without(struct step *t, struct str why);

#endif
