/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decision.h: what the human in an editor decided about a call: the result of
   "approve" (docs/editor-protocol.md). */
#ifndef CORE_DECISION_H
#define CORE_DECISION_H

#include "approval.h"
#include "arena.h"
#include "json.h"
#include "status.h"
#include "tool.h"

/* Reads RESULT. What is not clearly a decision about the question of CALL gives
   TOOL_NO_DECISION and the reason: words that are not known, hunks that are not
   those of the review, a buffer of which it is not said that it was changed.
   Texts live in ARENA or in the document of RESULT. ST_NOMEM only. */
enum status MUST_CHECK decision_read(struct arena *arena, struct json result,
                                     const struct tool_call *call,
                                     struct approval *out);

#endif
