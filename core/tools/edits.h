/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edits.h: replacing parts of a text, for the tools whose arguments are such
   parts (propose_file_edit.c). */
#ifndef TOOLS_EDITS_H
#define TOOLS_EDITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "gate/review.h"
#include "gate/tool.h"

struct edit {
    struct str old; /* occurs once; or anywhere, if ALL */
    struct str new;
    bool all;      /* replace it wherever it occurs */
    size_t line;   /* insert NEW before this line, from 1; 0: replace OLD */
    size_t number; /* from 0, as the model counts */
};

/* *OUT is the text of REVIEW with the N edits ALL. When that is impossible,
   ANSWER says why, and where the nearest place is; it numbers the edit if there
   are SEVERAL. */
enum status MUST_CHECK edits_make(struct review *review, const struct edit *all,
                                  size_t n, bool several, struct str *out,
                                  struct tool_answer *answer);

#endif
