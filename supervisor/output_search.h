/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_search.h: finds the lines of a long output that match. */
#ifndef SUPERVISOR_OUTPUT_SEARCH_H
#define SUPERVISOR_OUTPUT_SEARCH_H

#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

/* Appends to OUT the lines of TEXT, valid UTF-8, from the character OFFSET on,
   that the regular expression PATTERN matches, as outputs_search says; some
   characters more than LIMIT. ST_INVALID: PATTERN is not an expression, and OUT
   says so; ST_NOMEM. */
enum status MUST_CHECK output_search(struct str text, size_t offset,
                                     size_t limit, struct str pattern,
                                     struct buf *out);

#endif
