/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edits.h: replacing parts of a text that occur once in it, for the tools whose
   arguments are such parts (propose_file_edit.c). */
#ifndef TOOLS_EDITS_H
#define TOOLS_EDITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"
#include "gate/review.h"
#include "gate/tool.h"

struct edit {
    struct str old;
    struct str new;
    size_t number; /* from 0, as the model counts */
    size_t at;     /* found: what is replaced, in bytes */
    size_t end;
};

/* *OUT is the text of REVIEW with the N edits ALL, which are sorted. When that
   is impossible, ANSWER says why; it numbers the edit if there are SEVERAL. */
enum status MUST_CHECK edits_make(struct review *review, struct edit *all,
                                  size_t n, bool several, struct str *out,
                                  struct tool_answer *answer);

#endif
