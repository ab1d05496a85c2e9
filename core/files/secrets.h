/* SPDX-License-Identifier: GPL-3.0-or-later */
/* secrets.h: files that no tool shows and no tool changes, known by their
   names: keys, passwords, and what the gate itself relies on. */
#ifndef FILES_SECRETS_H
#define FILES_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* The patterns that are always there, each one or more names of a path: the
   last may be a file or a folder, and what is in it is secret, too. "*" in a
   name stands for any characters. NULL behind the last. */
extern const char *const secrets_patterns[];

/* Whether PATH (components separated by "/", no links, no ".") is or lies in
   what a pattern names. MORE are further patterns, up to a NULL; or NULL. */
bool secrets_match(struct str path, const char *const *more);

/* Whether PATTERN can match anything: names with "/" between them, none of
   them empty, "." or "..", no "~" in front. */
bool secrets_is_pattern(struct str pattern);

#endif
