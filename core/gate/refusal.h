/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusal.h: what the model reads when the gate does not let a call run: why,
   and what to do next. All texts live in ARENA; they are empty when memory ran
   out. */
#ifndef GATE_REFUSAL_H
#define GATE_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "gate/approval.h"
#include "gate/tool.h"

/* Nobody can be asked. BECAUSE says why TOOL needs an approval: the words
   before "needs an approval". BY_RULE: a rule says so, which no rule that
   allows the tool would change. */
struct str refusal_no_approver(struct arena *arena, const struct tool *tool,
                               struct str because, bool by_rule);

/* The editor was asked and does not answer, and nobody else can be asked. */
struct str refusal_no_editor(struct arena *arena, const struct tool *tool);

/* The rule RULE, as text, denies it. */
struct str refusal_rule(struct arena *arena, const struct tool *tool,
                        struct str rule);

/* The rules have a FAULT. */
struct str refusal_fault(struct arena *arena, const struct tool *tool,
                         struct str fault);

/* The question to a human would be longer than LIMIT_QUESTION. */
struct str refusal_size(struct arena *arena, const struct tool *tool);

/* A buffer of an editor has N bytes. */
struct str refusal_buffer(struct arena *arena, const struct tool *tool,
                          size_t n);

/* The arguments that a human gave have a PROBLEM. */
struct str refusal_arguments(struct arena *arena, const struct tool *tool,
                             struct str problem);

/* The human denied it, or stopped the run, as DECISION says. */
struct str refusal_denied(struct arena *arena,
                          const struct approval_decision *decision);

/* The human decided nothing about CALL, because of WHY. */
struct str refusal_no_decision(struct arena *arena,
                               const struct tool_call *call, struct str why);

/* The handler of TOOL has a question, but the client shows no forms. */
struct str refusal_no_form(struct arena *arena, const struct tool *tool);

/* Nobody answers that question, because of WHY. */
struct str refusal_no_reply(struct arena *arena, const struct tool *tool,
                            struct str why);

/* Too many calls wait already. */
struct str refusal_busy(struct arena *arena);

/* What the human was asked about has changed. */
struct str refusal_stale(struct arena *arena, const struct tool *tool);

#endif
