/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review.h: a change of one file that a human reviews, hunk by hunk, before
   it is made. What the model reads afterwards is what is on the disk, or what
   an editor has made of the buffer that visits the file. */
#ifndef GATE_REVIEW_H
#define GATE_REVIEW_H

#include <stdbool.h>

#include "base/arena.h"
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
    struct str name;  /* of the file, for people to read */
    bool asks_editor; /* the question is for one, too, */
    bool buffer;      /* which has a buffer of the file and makes the change */
    struct text before;
    struct diff diff; /* from before.text to the text that is proposed */
};

/* Reads the file PATH; with MAY_MISS it may be new. *OUT belongs to the call.
   It is NULL when ANSWER says why there is nothing to review: path refused, no
   text, not as the model has seen it. */
enum status MUST_CHECK review_open(const struct tool_request *request,
                                   struct str path, bool may_miss,
                                   struct review **out,
                                   struct tool_answer *answer);

/* Proposes AFTER (in the form that the text before has) in place of the text,
   for the REASON that the model gives (empty: none), and puts it to the human
   as QUESTION; or sets ANSWER: nothing would change, the file's coding lacks a
   character. BY_HUNK: they can be chosen in a form, too. */
enum status MUST_CHECK review_propose(struct review *review, struct str after,
                                      struct str reason, bool by_hunk,
                                      struct tool_question *question,
                                      struct tool_answer *answer);

/* The handler of all of them: makes the change that was decided on. */
enum status MUST_CHECK review_apply(const struct tool_request *request,
                                    struct tool_answer *answer);

/* ANSWER is the failure FORMAT…, a sentence, under STATE: "STALE", "ERROR". */
enum status MUST_CHECK review_fail(struct arena *arena,
                                   struct tool_answer *answer,
                                   const char *state, const char *format, ...)
    PRINTF_LIKE(4, 5);

#endif
