/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replace.h: replaces a file whole or not at all: writes a new file beside it,
   gives that the mode, owner and attributes of the old one, and renames it over
   the old one. */
#ifndef HOST_REPLACE_H
#define HOST_REPLACE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* The new file, under a name that nobody can guess: evaluated code could take
   others first. */
struct replacement {
    char name[64];
    dev_t device;
    ino_t inode;
};

/* Makes a file with BYTES in the folder PARENT, on the disk when this returns;
   the caller removes or moves it. It gets the mode, owner, access control list
   and user attributes of LAST in PARENT, whose stat(2) is OLD; with OLD NULL,
   those of a new file. The steps are those of ARENA's strand. Returns 0, or an
   errno (ECANCELED when the work is stopped), and then there is no new file. */
int MUST_CHECK replace_write(const struct arena *arena, int parent,
                             const char *last, const struct stat *old,
                             struct str bytes, struct replacement *out);

/* Renames the new file to LAST; when IS_NEW, only if LAST does not exist.
   Returns 0, or an errno, and then the new file still exists; but ESTALE:
   somebody has put something else in its place, and that is LAST now. */
int MUST_CHECK replace_move(int parent, const struct replacement *file,
                            const char *last, bool is_new);

/* Renames NAME in the folder PARENT to LAST in the folder TO, if that does not
   exist. Returns 0 or an errno. */
int MUST_CHECK replace_rename(int parent, const char *name, int to,
                              const char *last);

#endif
