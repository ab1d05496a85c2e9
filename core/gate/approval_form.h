/* SPDX-License-Identifier: GPL-3.0-or-later */
/* approval_form.h: the form in which a human decides about a call, and what
   stands above it: flat, as every client with MCP's elicitation can show it. */
#ifndef GATE_APPROVAL_FORM_H
#define GATE_APPROVAL_FORM_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"
#include "json/json.h"
#include "json/jsonw.h"

/* Appends the request of CALL in words: tool, and ARGUMENTS (an object or
   absent), whole. ST_NOMEM: OUT is incomplete. */
enum status MUST_CHECK approval_describe(struct buf *out, struct arena *arena,
                                         const struct tool *tool,
                                         struct json arguments);

/* Replaces what a terminal or editor would not show as it is, but for line ends
   and tabs, by visible escapes. ST_NOMEM: TEXT is unchanged. */
enum status MUST_CHECK approval_make_visible(struct buf *text);

/* Writes the form's JSON schema as one value: decision (approve, deny), reason,
   hunks ("1,3"; empty is all) when the question has some, else arguments (JSON
   text), and remember when it may be. PREFILL: the version of MCP knows
   defaults of texts, and arguments has that of the call. */
void approval_write_schema(struct jsonw *w, const struct tool_call *call,
                           bool prefill);

/* What a form says. */
struct approval {
    struct tool_decision decision; /* in the arena or the form's document */
    bool remember;
    struct str arguments; /* JSON text, not checked; empty: as asked */
    const char *by;       /* who decided, for the log; static */
    struct str rule;      /* that of an editor, which did; may be empty */
};

/* Reads REPLY, an object with "action" and "content" as MCP's elicitation has
   it. What is no decision, or names what does not exist, gives TOOL_NO_DECISION
   and the reason. ST_NOMEM only. */
enum status MUST_CHECK approval_read(struct arena *arena, struct json reply,
                                     const struct tool_call *call,
                                     struct approval *out);

/* Appends which arguments differ, in words: "code is \"(f)\", n is left out";
   nothing when none does. */
void approval_describe_changes(struct buf *out, struct json before,
                               struct json after);

#endif
