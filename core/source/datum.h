/* SPDX-License-Identifier: GPL-3.0-or-later */
/* datum.h: objects as they are written in source text, found and compared
   without reading them. */
#ifndef SOURCE_DATUM_H
#define SOURCE_DATUM_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "source/token.h"

/* The object that comes next in TOKENS, as it is written; empty when there is
   none before the end of the list or the text. A closing parenthesis is left
   where it is. */
struct str datum_next(struct tokens *tokens);

/* The first object of the list that DATUM is; empty when it is no list or has
   none. */
struct str datum_head(struct str datum);

/* Whether DATUM is a list, () included. */
bool datum_is_list(struct str datum);

/* Whether A and B are written alike: the same parentheses, the same symbols but
   for case and a package that one of them does not give; a string is like the
   symbol that it names. */
bool datum_equal(struct str a, struct str b);

/* Whether the operators A and B, symbols as written, are the same in this
   sense. */
bool datum_same_symbol(struct str a, struct str b);

/* Whether forms in one with this operator are at the top level, or nearly so:
   progn, eval-when, locally, macrolet, symbol-macrolet, let, let*, flet,
   labels. */
bool datum_is_wrapper(struct str operator);

/* The specialisers of the lambda list of a method, one after the other. */
struct datum_specialisers {
    struct tokens tokens;
    bool bare; /* the list is of specialisers, not of parameters */
};

/* Starts with LIST, the lambda list of a method or a list of specialisers: it
   is of parameters when PARAMETERS or when an element, but (eql …), is a
   list. */
void datum_specialisers_init(struct datum_specialisers *specialisers,
                             struct str list, bool parameters);

/* The next one, "t" where a parameter has none; empty behind the last. */
struct str datum_specialiser(struct datum_specialisers *specialisers);

#endif
