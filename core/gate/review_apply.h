/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review_apply.h: a change that was reviewed (review.h) is made, as far as the
   human chose it. */
#ifndef GATE_REVIEW_APPLY_H
#define GATE_REVIEW_APPLY_H

#include "base/buf.h"
#include "base/status.h"
#include "gate/approval.h"
#include "gate/review.h"
#include "gate/tool.h"

/* What became of the hunks, and of the file. */
struct outcome {
    bool *chosen;             /* one for each hunk */
    enum diff_outcome *hunks; /* one for each hunk; some may be DIFF_APPLIED
                                 although nothing is, for a review that is
                                 whole */
    size_t applied;
    size_t stale;
    bool divided;             /* a hunk was applied in part */
    struct str text;          /* the new text */
    struct files_content now; /* the file just before the change, or, when an
                                 editor made it, after it */
    struct text form;         /* the text of NOW, with its form */
    struct diff diff;         /* that was made */
    bool compared;            /* DIFF is known before it is made */
    struct str where;         /* what was done with the buffer; else empty */
    bool saved;               /* the file has the text of the buffer */
    bool hashed;              /* the file can be read, and has the */
    unsigned char hash[FILES_HASH];
};

/* The handler of the tools that edit: makes the change of call->plan, a struct
   review, as request->decision says, or reports what the editor made of it.
   The answer has the state of the whole, what became of each hunk, the diff
   from the file as it was if the human has edited it, and where a Lisp file
   cannot be read now. What was changed is kept in
   call->change. */
enum status MUST_CHECK review_apply(const struct tool_request *request,
                                    struct tool_answer *answer);

/* The same without an answer: fills *OUTCOME; or makes ANSWER a failure that
   says why nothing was changed. */
enum status MUST_CHECK review_make(const struct tool_request *request,
                                   struct outcome *outcome,
                                   struct tool_answer *answer);

/* Appends what became of hunk INDEX, with the words of the human. */
void review_write_outcome(struct buf *out,
                          const struct approval_decision *decision,
                          const struct outcome *outcome, size_t index);

/* Appends a line when Lisp cannot read what is in the file, or in its buffer,
   now. */
enum status MUST_CHECK
review_write_reading(struct arena *arena, const struct review *review,
                     const struct approval_decision *decision,
                     const struct outcome *outcome, struct buf *out);

/* For the log: the file that was changed, its HASH (NULL: unknown), and PATCH.
   Without memory the log has less. */
void review_note_change(struct tool_change *change, const struct review *review,
                        const unsigned char *hash, const struct buf *patch);

#endif
