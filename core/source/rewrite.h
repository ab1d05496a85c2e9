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

struct rewrite {
    struct str text;
    const struct definition *form; /* that definition_find has found in TEXT */
    enum rewrite_action action;
    struct str content;
};

/* *OUT, in ARENA, is the text after REWRITE. The content is indented as the
   form is, apart from lines inside of strings. What it brings of comments
   above, #+ and #-, and comment after, replaces that of the form; what it does
   not bring stays. ST_INVALID: the content is not a row of whole forms, and
   *WHY, in ARENA, says so. */
enum status MUST_CHECK rewrite_make(struct arena *arena,
                                    const struct rewrite *rewrite,
                                    struct str *out, struct str *why);

#endif
