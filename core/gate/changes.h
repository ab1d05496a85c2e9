/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.h: a change of several files that a human reviews as one. Each file
   is a part of the call (tool.h) with a review (review.h) of its own; here they
   get one question, whose hunks are numbered through, and one answer. Each file
   is changed wholly or not at all, and what goes wrong with one concerns no
   other. */
#ifndef GATE_CHANGES_H
#define GATE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "gate/review.h"
#include "gate/tool.h"

/* Divides the call: a part for each of the N paths. ANSWER says why that is not
   possible: there are too many files, or two paths lead to the same one. */
enum status MUST_CHECK changes_divide(const struct tool_request *request,
                                      const struct str *paths, size_t n,
                                      struct tool_answer *answer);

/* As review_open, for part I. When the file REMOVES, its review is complete.
   What an editor has not saved is not removed. */
enum status MUST_CHECK changes_open(const struct tool_request *request,
                                    size_t i, bool removes, struct review **out,
                                    struct tool_answer *answer);

/* What an editor has not saved of the file of PART is neither removed nor
   moved: ANSWER says so. Otherwise its buffer does not matter from now on. */
enum status MUST_CHECK changes_check_saved(const struct tool_request *request,
                                           struct tool_call *part,
                                           struct tool_answer *answer);

/* AFTER replaces the text of REVIEW, as with review_propose; or ANSWER says why
   not. */
enum status MUST_CHECK changes_compare(const struct tool_request *request,
                                       struct review *review, struct str after,
                                       struct tool_answer *answer);

/* Part I could not be prepared, as ANSWER says, if it does. When the human was
   shown it, it has changed since, which concerns no other part: then ANSWER
   asks again. */
enum status MUST_CHECK changes_forgive(const struct tool_request *request,
                                       size_t i, struct tool_answer *answer);

/* All parts have their reviews, or have been forgiven: proposes them for the
   REASON that the model gives (empty: none). NOTE is what the human should
   know, too. */
enum status MUST_CHECK changes_propose(const struct tool_request *request,
                                       struct str reason, struct str note,
                                       struct tool_question *question,
                                       struct tool_answer *answer);

/* The handler: makes all changes that were chosen, or reports what the editor
   made of them. The answer has one state, and one line for each file and
   hunk. */
enum status MUST_CHECK changes_apply(const struct tool_request *request,
                                     struct tool_answer *answer);

/* The same, followed by NOTE unless nothing was changed. */
enum status MUST_CHECK changes_apply_with(const struct tool_request *request,
                                          struct str note,
                                          struct tool_answer *answer);

#endif
