/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comment.h: the comments that belong to a form. */
#ifndef SOURCE_COMMENT_H
#define SOURCE_COMMENT_H

#include <stddef.h>

#include "base/str.h"

/* The start of the line that contains AT, or FROM when that is later. */
size_t comment_line(struct str text, size_t from, size_t at);

/* The start of the comment above AT, but not before FROM; without one, AT. */
size_t comment_above(struct str text, size_t from, size_t at);

/* The end of the comment that follows END on its line; without one, END. */
size_t comment_after(struct str text, size_t end);

#endif
