/* SPDX-License-Identifier: GPL-3.0-or-later */
/* approval_form.h: the form in which a human decides about a call, and the text
   above it. The form is flat, so that every client with MCP's elicitation can
   show it. */
#ifndef GATE_APPROVAL_FORM_H
#define GATE_APPROVAL_FORM_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/approval.h"
#include "gate/tool.h"
#include "json/json.h"
#include "json/jsonw.h"

/* Appends the request in words: TOOL, and those of ARGUMENTS (an object or
   absent) that the tool has, whole and under the tool's names for them; of the
   others, which have no effect, only how many there are: their names are words
   of the agent's. ST_NOMEM: OUT is incomplete. */
enum status MUST_CHECK approval_form_describe(struct buf *out,
                                              struct arena *arena,
                                              const struct tool *tool,
                                              struct json arguments);

/* Replaces everything that a terminal or editor would not show as it is, except
   line ends and tabs, with visible escapes. ST_NOMEM: TEXT is unchanged. */
enum status MUST_CHECK approval_form_make_visible(struct buf *text);

/* Writes the JSON schema of CALL's form as one value: decision (approve, deny),
   reason, hunks ("1,3"; empty: all) when the question has some, else arguments
   (JSON text), and remember when an approval may hold for later calls. PREFILL:
   the version of MCP has defaults for texts, so the arguments get theirs. */
void approval_form_write_schema(struct jsonw *w, const struct tool_call *call,
                                bool prefill);

/* Reads REPLY, an object with "action" and "content" as MCP's elicitation has
   it. A reply that is not a decision, or names something that does not exist,
   gives APPROVAL_NO_DECISION and the reason. ST_NOMEM only. */
enum status MUST_CHECK approval_form_read(struct arena *arena,
                                          struct json reply,
                                          const struct tool_call *call,
                                          struct approval *out);

#endif
