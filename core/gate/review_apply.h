/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review_apply.h: a change that was reviewed (review.h) is made, as far as the
   human chose it. */
#ifndef GATE_REVIEW_APPLY_H
#define GATE_REVIEW_APPLY_H

#include "base/status.h"
#include "gate/tool.h"

/* The handler of the tools that edit: makes the change of call->plan, a struct
   review, as request->decision says, or reports what the editor made of it.
   The answer has the state of the whole, what became of each hunk, the diff
   from the file as it was, and its hash. What was changed is kept in
   call->change. */
enum status MUST_CHECK review_apply(const struct tool_request *request,
                                    struct tool_answer *answer);

#endif
