/* SPDX-License-Identifier: GPL-3.0-or-later */
/* likeness.h: how alike two texts are, for messages that name what may have
   been meant. */
#ifndef BASE_LIKENESS_H
#define BASE_LIKENESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* What is compared: pairs of neighbouring bytes, in upper or lower case, and
   white space left out. */
#define LIKENESS_PAIRS 1024

struct likeness {
    uint16_t pairs[LIKENESS_PAIRS]; /* how often each occurs */
    size_t count;
};

/* Prepares for comparing texts with TEXT. */
void likeness_init(struct likeness *likeness, struct str text);

/* How alike OTHER is: from 0, nothing in common, to 100, the same pairs. Takes
   time in proportion to its length. */
unsigned likeness_to(const struct likeness *likeness, struct str other);

#endif
