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

/* A function that makes structures, as an option names it. */
struct structure_maker {
    struct structure_maker *next;
    struct str name;
    struct str parameters; /* its lambda list, as written; empty: the slots as
                              keywords */
};

/* A name that defstruct makes of others. */
enum structure_part {
    STRUCTURE_NONE,
    STRUCTURE_MAKER,
    STRUCTURE_COPIER,
    STRUCTURE_PREDICATE,
    STRUCTURE_ACCESSOR,
    STRUCTURE_INHERITED /* maybe that of a slot of the structure it extends */
};

/* Names are as written, without a package. */
struct structure {
    struct str name;
    struct str include;         /* the structure that it extends; empty: none */
    struct str include_package; /* that is written before it; may be empty */
    struct structure_maker *makers;
    struct str prefix; /* of its accessors, when OWN_PREFIX; may be empty */
    bool own_prefix;   /* else it is the name and a hyphen */
    bool own_maker;    /* options say how these are called, or that there */
    bool own_copier;   /* are none */
    bool own_predicate;
    bool sure; /* no #+, #- or the like hides a part of it */
    struct str *slots;
    size_t slot_count;
};

/* Reads what follows the word defstruct at TOKENS; names go to ARENA.
   ST_MISSING: it has no name. */
enum status MUST_CHECK structure_read(struct arena *arena, struct tokens tokens,
                                      struct structure *out);

/* What the name NAME, as the reader has it, is of those that STRUCTURE makes;
 *SLOT: the rest of an accessor's name. ARENA is for what it needs. */
enum status MUST_CHECK structure_part_of(struct arena *arena,
                                         const struct structure *structure,
                                         struct str name,
                                         enum structure_part *out,
                                         struct str *slot);

/* The place, from 1, in a call of a function with the lambda list PARAMETERS
   from which on keywords are, when one is that of the variable NAME; 0: none
   is, or that is not certain. */
size_t structure_keywords(struct str parameters, struct str name);

bool structure_has_slot(const struct structure *structure, struct str name);

#endif
