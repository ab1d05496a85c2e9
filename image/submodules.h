/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submodules.h: where git keeps the folders of submodules: below "modules" in
   the folder of a repository. Their names may have slashes, and each may have
   submodules of its own. */
#ifndef IMAGE_SUBMODULES_H
#define IMAGE_SUBMODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "image/paths.h"

#define SUBMODULES "modules"

/* Folders in each other, below that of a repository, that are searched. */
#define SUBMODULES_DEPTH 12

/* Paths below the workspace, parents first. A zeroed struct is empty. */
struct submodules {
    struct paths repositories; /* what git may take for the folder of one */
    struct paths names;        /* other folders in which some are or may come */
    size_t left;               /* entries that may still be read */
    bool partial;              /* there may be more */
};

/* Finds those in MODULES, a path below WORKSPACE, while FOUND has entries left.
   Code can fill these folders: what it puts into those of repositories is read
   last. */
void submodules_find(int workspace, const char *modules,
                     struct submodules *found);

void submodules_release(struct submodules *found);

#endif
