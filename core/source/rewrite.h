/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rewrite.h: the text of a file in which one definition is replaced or deleted,
   or has got neighbours. All that follows it stays as it was, read under the
   same features. */
#ifndef SOURCE_REWRITE_H
#define SOURCE_REWRITE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "source/definition.h"

enum rewrite_action {
    REWRITE_REPLACE,
    REWRITE_BEFORE, /* insert CONTENT before it */
    REWRITE_AFTER,  /* or after it */
    REWRITE_DELETE
};

/* *OUT, in ARENA, is TEXT after ACTION on FORM, which definition_find has found
   in it. CONTENT is indented as FORM is, apart from lines inside of strings.
   What it brings of comments above, #+ and #-, and comment after, replaces that
   of FORM; what it does not bring stays. ST_INVALID: CONTENT is not a row of
   whole forms, and *WHY, in ARENA, says so. */
enum status MUST_CHECK rewrite_make(struct arena *arena, struct str text,
                                    const struct definition *form,
                                    enum rewrite_action action,
                                    struct str content, struct str *out,
                                    struct str *why);

#endif
