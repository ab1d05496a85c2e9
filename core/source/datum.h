/* SPDX-License-Identifier: GPL-3.0-or-later */
/* datum.h: objects as source text writes them, found and compared without being
   read. */
#ifndef SOURCE_DATUM_H
#define SOURCE_DATUM_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "source/token.h"

/* Takes the next object from TOKENS and returns it as written; empty when there
   is none before the end of the list or the text. A closing parenthesis is not
   taken. */
struct str datum_next(struct tokens *tokens);

/* The first object of the list DATUM; empty when DATUM is not a list, or is an
   empty one. */
struct str datum_head(struct str datum);

/* Whether DATUM is a list, () included. */
bool datum_is_list(struct str datum);

/* Whether A and B are written alike: with the same parentheses and the same
   symbols, apart from case and from a package that only one of them gives. A
   string is like the symbol that it names. */
bool datum_equal(struct str a, struct str b);

/* Whether the operators A and B, symbols as written, are the same in this
   sense. */
bool datum_same_symbol(struct str a, struct str b);

/* Whether the forms inside a form with this operator are at the top level, or
   nearly so: progn, eval-when, locally, macrolet, symbol-macrolet, let, let*,
   flet, labels. */
bool datum_is_wrapper(struct str operator);

/* The specialisers of the lambda list of a method, one after the other. */
struct datum_specialisers {
    struct tokens tokens;
    bool bare; /* a list of specialisers, not of parameters */
};

/* Starts with LIST, the lambda list of a method, or a list of specialisers. It
   is the former when PARAMETERS, or when an element other than (eql …) is a
   list. */
void datum_specialisers_init(struct datum_specialisers *specialisers,
                             struct str list, bool parameters);

/* The next specialiser, "t" where a parameter has none; empty at the end. */
struct str datum_specialiser(struct datum_specialisers *specialisers);

#endif
