/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jsontext.h: JSON as text (RFC 8259): whether a text is JSON, and what an
   escape stands for. Knows nothing of values. */
#ifndef JSON_JSONTEXT_H
#define JSON_JSONTEXT_H

#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

struct jsontext {
    size_t tokens;    /* values and names */
    const char *what; /* why the text was refused, else NULL */
    size_t at;        /* and at which byte offset */
};

/* Checks grammar, escapes, UTF-8, depth and that there is one root. Always
   fills *REPORT. ST_INVALID: not JSON, or nested deeper than LIMIT_JSON_DEPTH.
   ST_LIMIT: more than LIMIT_JSON_TOKENS, or too long for offsets of type int.
   ST_NOMEM: the work is stopped (arena_spend of ARENA). */
enum status MUST_CHECK jsontext_check(const struct arena *arena,
                                      struct str text, struct jsontext *report);

/* Decodes the escape at the start of S: writes at most 4 bytes to OUT and their
   number to *N. Returns the length of the escape; 0 when S does not start with
   one, or starts with half of a surrogate pair. */
size_t jsontext_escape(struct str s, char out[4], size_t *n);

#endif
