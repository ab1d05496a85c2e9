/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replace.h: replaces a file whole or not at all: writes a new file beside it,
   gives that the mode, owner and attributes of the old one, and renames it over
   the old one. */
#ifndef HOST_REPLACE_H
#define HOST_REPLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* Room for the name of the new file. */
#define REPLACE_NAME 64

/* Makes a file with BYTES in the folder PARENT, on the disk when this returns,
   and copies its name to NAME; the caller removes or moves it. The file gets
   the mode, owner, access control list and user attributes of LAST in PARENT,
   whose stat(2) is OLD; with OLD NULL, those of a new file. *COUNTER makes
   names unique. The steps are those of ARENA's strand. Returns 0, or an errno
   (ECANCELED when the work is stopped), and then there is no new file. */
int MUST_CHECK replace_write(const struct arena *arena, int parent,
                             const char *last, const struct stat *old,
                             struct str bytes, unsigned *counter,
                             char name[REPLACE_NAME]);

/* Renames the file NAME to LAST; when IS_NEW, only if LAST does not exist.
   Returns 0, or an errno, and then NAME still exists. */
int MUST_CHECK replace_move(int parent, const char *name, const char *last,
                            bool is_new);

#endif
