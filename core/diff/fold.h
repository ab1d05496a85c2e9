/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.h: the characters of a text without what people do not see or do not
   type: white space, case, accents and how they are composed, kinds of quotes
   and dashes. */
#ifndef DIFF_FOLD_H
#define DIFF_FOLD_H

#include <stddef.h>

#include "base/str.h"

struct fold {
    struct str text;
    size_t at; /* after the character that was read last */
};

/* The next character of FOLD, folded to one byte, or -1 at the end. *START is
   where it begins in the text. Different characters may have the same byte. */
int fold_next(struct fold *fold, size_t *start);

#endif
