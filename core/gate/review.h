/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review.h: a change of one file that a human reviews, hunk by hunk, before it
   is made (review_apply.h): read, compared, and worded as a question. */
#ifndef GATE_REVIEW_H
#define GATE_REVIEW_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "diff/diff.h"
#include "files/files.h"
#include "files/text.h"
#include "gate/tool.h"

/* The plan of the tools that edit. */
struct review {
    struct tool_plan plan; /* first */
    struct arena arena;    /* of everything below */
    struct files_content base;
    const char *root; /* of the workspace */
    struct str name;  /* of the file, as people read it */
    bool asks_editor; /* an editor needs the question, too */
    bool buffer;      /* it has a buffer of the file, and makes the change */
    bool dry;         /* the change is only shown to the model */
    struct text before;
    struct diff diff; /* from before.text to the text that is proposed */

    /* Of one of several files (changes.h): */
    bool removes; /* the file is to go; its one hunk is all of it */
    bool bulk;    /* the same, but it is not a text, or too long to be shown:
                     its hunk is empty */
    bool whole;   /* if a chosen hunk has no place, no other is applied */
    bool stale;   /* it is not what the human was shown: the hunks have a number
                     only, and none is applied */
    size_t first; /* hunks of the files before it in the question */
    size_t total; /* hunks of the question; 0: there are no other files */
};

/* Reads the file that the call is about; with MAY_MISS it may be new. *OUT
   belongs to the call. It is NULL when ANSWER says why there is nothing to
   review: the path is refused, the file is not a text, or not as the model
   knows it. */
enum status MUST_CHECK review_open(const struct tool_request *request,
                                   bool may_miss, struct review **out,
                                   struct tool_answer *answer);

/* Proposes AFTER, or shows it to the model if REVIEW is dry, in the form that
   review->before.text has and in the review's arena, to replace that text, for
   the REASON that the model gives (empty: none). Fills QUESTION; or sets
   ANSWER: nothing would change, or the file's coding lacks a character.
   BY_HUNK: hunks can be chosen in a form, too. */
enum status MUST_CHECK review_propose(struct review *review, struct str after,
                                      struct str reason, bool by_hunk,
                                      struct tool_question *question,
                                      struct tool_answer *answer);

/* The first half of that: compares, or sets ANSWER. */
enum status MUST_CHECK review_compare(struct review *review, struct str after,
                                      struct tool_answer *answer);

/* Parts of the question: the change as a diff, its hunks numbered when BY_HUNK;
   and what an editor gets (docs/editor-protocol.md). */
void review_write_diff(struct buf *out, const struct review *review,
                       bool by_hunk);
void review_write_for_editor(struct buf *out, const struct review *review,
                             struct str reason);

/* The same of a file that is bulk: how large it is, and its first lines. */
void review_write_bulk(struct buf *out, const struct review *review);

/* Appends what must not have changed when the answer comes. */
void review_write_substance(struct buf *out, const struct review *review);

/* Makes ANSWER a failure: STATE ("STALE" or "ERROR"), then FORMAT. */
enum status MUST_CHECK review_fail(struct arena *arena,
                                   struct tool_answer *answer,
                                   const char *state, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* The same for the RESULT of a file function, whose PROBLEM is a sentence. */
enum status MUST_CHECK review_fail_files(struct arena *arena,
                                         enum files_result result,
                                         struct str problem,
                                         struct tool_answer *answer);

/* The same for a text that exceeds the limits of a review. */
enum status MUST_CHECK review_fail_size(struct arena *arena,
                                        const struct review *review,
                                        const char *state,
                                        struct tool_answer *answer);

/* Appends the absolute path of the file. */
void review_write_path(struct buf *out, const struct review *review);

#endif
