/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask.h: the course of a call: what follows from what the gate says about a
   step of it. Whom a question is put to is decided here: the editor first, then
   the client. */
#ifndef MCP_ASK_H
#define MCP_ASK_H

#include "base/status.h"
#include "base/str.h"
#include "mcp/pending.h"
#include "mcp/step.h"

/* Goes on with a call after a step of it, to which the gate said STATUS. On
   ST_NOMEM the call is over and still to be answered. */
enum status MUST_CHECK course_go_on(struct step *t, enum status status);

/* The same for a call whose request is gone: it is answered in any case. */
void course_go_on_alone(struct step *t, enum status status);

/* Why the question of T cannot be put to anybody now; empty when it can. */
struct str course_fault(const struct step *t);

/* Nobody need answer the question of PENDING, or do its editor_request, any
 * more. */
void course_withdraw(struct calls *calls, struct pending *pending,
                     struct str why);

/* The call whose question to the client has this id, JSON text, or NULL. */
struct pending *course_find_question(const struct calls *calls, struct str id);

#endif
