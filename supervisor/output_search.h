/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_search.h: finds the lines of a long output that match. */
#ifndef SUPERVISOR_OUTPUT_SEARCH_H
#define SUPERVISOR_OUTPUT_SEARCH_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

/* Appends to OUT the lines of TEXT, valid UTF-8, from the character OFFSET on,
   that the regular expression PATTERN matches, each with its number and offset,
   and with the lines around it; then which part was searched, and where the
   next search goes on when a limit has ended this one: LIMIT characters,
   matches (LIMIT_SEARCH_MATCHES), or LIMIT_OUTPUT_SEARCH_WORK. ARENA is for
   what it needs meanwhile; the steps are those of its strand. ST_INVALID:
   PATTERN is not an expression, and OUT says so; ST_NOMEM. */
enum status MUST_CHECK output_search(struct arena *arena, struct str text,
                                     size_t offset, size_t limit,
                                     struct str pattern, struct buf *out);

#endif
