/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glob.h: patterns of paths. A path has components separated by "/", without
   one before the first component or after the last. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

/* Whether PATTERN matches the whole PATH. "*" is any text within a component,
   "**" any text. As a component of its own, "**" is any number of components,
   including none: the components a, **, b match a/b and a/x/y/b, and as the
   last component it also matches the folder itself. Everything else stands for
   itself. The time is bounded by the product of the lengths. */
bool glob_matches(struct str pattern, struct str path);

#endif
