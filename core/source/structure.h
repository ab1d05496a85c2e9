/* SPDX-License-Identifier: GPL-3.0-or-later */
/* structure.h: what a defstruct says about the names that it makes. */
#ifndef SOURCE_STRUCTURE_H
#define SOURCE_STRUCTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "source/token.h"

/* Names are as written, without a package. */
struct structure {
    struct str name;
    struct str include; /* the structure that it extends; empty: none */
    struct str prefix;  /* of its accessors, when OWN_PREFIX; may be empty */
    bool own_prefix;    /* else it is the name and a hyphen */
    bool own_maker;     /* options say how these are called, or that there */
    bool own_copier;    /* are none */
    bool own_predicate;
    bool sure; /* no #+, #- or the like hides a part of it */
    struct str *slots;
    size_t slot_count;
};

/* Reads what follows the word defstruct at TOKENS; names go to ARENA.
   ST_MISSING: it has no name. */
enum status MUST_CHECK structure_read(struct arena *arena, struct tokens tokens,
                                      struct structure *out);

bool structure_has_slot(const struct structure *structure, struct str name);

#endif
