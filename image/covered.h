/* SPDX-License-Identifier: GPL-3.0-or-later */
/* covered.h: the names of what other programs run or trust later: settings that
   a program reads by itself in the folder in which somebody starts it or opens
   a file. Patterns are of the kind that --protect takes. */
#ifndef IMAGE_COVERED_H
#define IMAGE_COVERED_H

#include <stdbool.h>

#define COVERED_GIT ".git"

/* In the workspace and in each repository. Ends with NULL. */
extern const char *const covered_patterns[];

/* In the folder of a repository of git: what git runs, and what tells it where
   to look. Ends with NULL. */
extern const char *const covered_of_git[];

/* Whether a folder with an entry NAME is a repository. */
bool covered_is_repository(const char *name);

#endif
