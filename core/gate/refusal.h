/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusal.h: what the model reads when the gate does not let a call run: why,
   and what to do next. Texts in ARENA, empty when memory runs out. */
#ifndef GATE_REFUSAL_H
#define GATE_REFUSAL_H

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "gate/tool.h"

/* Nobody can be asked. BECAUSE: why TOOL needs an approval, up to the verb. */
struct str refusal_no_approver(struct arena *arena, const struct tool *tool,
                               struct str because);

/* The editor was asked and does not answer, and there is nobody else. */
struct str refusal_no_editor(struct arena *arena, const struct tool *tool);

/* A rule, as text, denies it. */
struct str refusal_rule(struct arena *arena, const struct tool *tool,
                        struct str rule);

/* The rules have a FAULT. */
struct str refusal_fault(struct arena *arena, const struct tool *tool,
                         struct str fault);

/* What a human would have to read has N bytes. */
struct str refusal_size(struct arena *arena, const struct tool *tool, size_t n);

/* A buffer of an editor has N bytes. */
struct str refusal_buffer(struct arena *arena, const struct tool *tool,
                          size_t n);

/* The arguments that a human gave have a PROBLEM. */
struct str refusal_arguments(struct arena *arena, const struct tool *tool,
                             struct str problem);

/* The human decided nothing about CALL, because of WHY. */
struct str refusal_no_decision(struct arena *arena,
                               const struct tool_call *call, struct str why);

/* What was asked about is no more. */
struct str refusal_stale(struct arena *arena, const struct tool *tool);

#endif
