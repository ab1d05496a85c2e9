/* SPDX-License-Identifier: GPL-3.0-or-later */
/* covers.h: files of the workspace that other programs run or trust later,
   outside of the sandbox: hooks and settings of git, of agents, of editors.
   Evaluated code must not change them, and the user must hear when it makes
   them. */
#ifndef IMAGE_COVERS_H
#define IMAGE_COVERS_H

#include <stdbool.h>
#include <stddef.h>

#include "image/paths.h"
#include "image/sandbox.h"

/* Paths below the workspace; its own is "". */
struct covers {
    struct paths roots;  /* it, and folders of it that are repositories */
    bool repository;     /* it is one, or those that come later count, too */
    struct paths fixed;  /* folders that must keep their names */
    struct paths closed; /* what must not change */
    const char *cut;     /* the limit by which repositories may be missing, as a
                            message has it; NULL: they are not */
    bool partial;        /* the last list lacks some that patterns with stars
                            fit, or submodules, or is full */
};

/* Finds the repositories of the workspace WORKSPACE, a descriptor. Few folders
   are searched (LIMIT_COVERED_FOLDERS, LIMIT_COVERED_ENTRIES), those near it
   first, and few repositories kept (LIMIT_COVERED_ROOTS). */
void covers_find_roots(int workspace, struct covers *covers);

/* Lists what there is in the roots now: parents before what is in them. Files
   of a repository that was made since the roots were found do not count: to
   cover them while git makes them would stop it. */
void covers_list(int workspace, const struct sandbox *sandbox,
                 struct covers *covers);

/* Adds the files of this program, and of the server and of Emacs beside it,
   where they lie below WORKSPACE, a path. PROGRAM is
   a link to the executable file, as the system has it. */
void covers_add_program(const char *workspace, const char *program,
                        struct covers *covers);

/* Adds the folders of all caches of compiled files that lie below WORKSPACE, a
   path: servers whose code may do more load what is in them. */
void covers_add_caches(const char *workspace, struct covers *covers);

void covers_release(struct covers *covers);

#endif
