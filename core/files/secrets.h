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
   in a name stands for any characters. Ends with NULL. */
extern const char *const secrets_patterns[];

/* Whether PATH (components separated by "/", no links, no ".") is what a
   pattern names, or lies in it. MORE are further patterns, up to a NULL; or
   NULL. */
bool secrets_match(struct str path, const char *const *more);

/* Whether PATTERN can match anything: names separated by "/", none of them
   empty, "." or "..", without "~" at the start. */
bool secrets_is_pattern(struct str pattern);

#endif
