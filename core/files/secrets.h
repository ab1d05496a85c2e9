/* SPDX-License-Identifier: GPL-3.0-or-later */
/* secrets.h: files that no tool shows or changes, known by their names: keys,
   passwords, and files on which the gate itself relies. */
#ifndef FILES_SECRETS_H
#define FILES_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* The patterns that always apply, each one or more names of a path. The last
   name may be that of a file or a folder, whose contents are secret, too. "*"
   in a name stands for any characters; case does not matter. What is called as
   a key, but ends in ".pub", is no secret. Ends with NULL; docs/security.md has
   the same list. */
extern const char *const secrets_patterns[];

/* Those of them on which the gate itself relies, in the home folder. Ends with
   NULL. */
extern const char *const secrets_own_places[];

/* Whether PATH (components separated by "/", no links, no ".") is what a
   pattern names, or lies in it. MORE are further patterns, up to a NULL; or
   NULL. */
bool secrets_match(struct str path, const char *const *more);

/* Whether something that a pattern names may lie in FOLDER, a path that begins
   in the home folder as the patterns do. Patterns of one name do not count. */
bool secrets_lie_in(struct str folder, const char *const *more);

/* Whether NAME fits PATTERN, one name. */
bool secrets_name_fits(struct str name, struct str pattern);

/* Whether PATTERN can match anything: names separated by "/", none of them
   empty, "." or "..", without "~" at the start. */
bool secrets_is_pattern(struct str pattern);

#endif
