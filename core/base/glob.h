/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glob.h: patterns of paths. A path has components between "/", none before
   the first and none behind the last. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

#include "base/str.h"

/* Whether PATTERN fits the whole PATH. "*" is any text within a component, "**"
   any text. As a component of its own the latter is any number of components,
   none included: the components a, **, b fit a/b and a/x/y/b, and as the last
   one it also fits the folder itself. Everything else stands for itself. The
   time is bounded by the product of the lengths. */
bool glob_matches(struct str pattern, struct str path);

#endif
