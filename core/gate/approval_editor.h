/* SPDX-License-Identifier: GPL-3.0-or-later */
/* approval_editor.h: what the human in an editor decided about a call: the
   result of "approve" (docs/editor-protocol.md). */
#ifndef GATE_APPROVAL_EDITOR_H
#define GATE_APPROVAL_EDITOR_H

#include "base/arena.h"
#include "base/status.h"
#include "gate/approval.h"
#include "gate/tool.h"
#include "json/json.h"

/* Reads RESULT. A result that is not clearly a decision about the question of
   CALL gives APPROVAL_NO_DECISION and the reason: unknown words, hunks that are
   not those of the review, silence about a buffer that had to be changed. Texts
   live in ARENA or in the document of RESULT. ST_NOMEM only. */
enum status MUST_CHECK approval_editor_read(struct arena *arena,
                                            struct json result,
                                            const struct tool_call *call,
                                            struct approval *out);

#endif
