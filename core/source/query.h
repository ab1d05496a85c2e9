/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.h: which definition is wanted, and whether one is it. */
#ifndef SOURCE_QUERY_H
#define SOURCE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "source/token.h"

struct query {
    struct str kind; /* empty: any */
    struct str name;
    struct str rest; /* what follows the name */
    uint32_t line;   /* 0: any */
};

/* Reads KIND and NAME as definition.h describes them. ST_INVALID: they cannot
   be those of a definition. ST_NOMEM, ST_LIMIT. */
enum status MUST_CHECK query_read(struct str kind, struct str name,
                                  struct query *query);

/* Whether forms with the operator KIND are methods. */
bool query_is_method(struct str kind);

/* Whether NAME, as it is defined, is WANTED: itself, or as the first element of
   a list of the name and its options. */
bool query_names(struct str name, struct str wanted);

/* Whether WANTED matches what follows the name in FORM: object for object,
   except that of a METHOD's lambda list only the specialisers count. FORM may
   have more than WANTED. */
bool query_same_rest(struct tokens form, struct str wanted, bool method);

#endif
