/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replace.h: a file is replaced whole or not at all: its new content is made
   beside it, with what the old one has besides its content, and put into its
   place. */
#ifndef HOST_REPLACE_H
#define HOST_REPLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/status.h"
#include "base/str.h"

/* Room for the name of a file that is to replace another. */
#define REPLACE_NAME 64

/* Makes a file with BYTES in the folder PARENT, on the disk when this returns,
   and copies its name to NAME; the caller removes or moves it. It has the mode,
   owner, access control list and user attributes of LAST there, which OLD tells
   of; OLD NULL: those of a new file. *COUNTER is for names. 0 or an errno, and
   then there is no file. */
int MUST_CHECK replace_write(int parent, const char *last,
                             const struct stat *old, struct str bytes,
                             unsigned *counter, char name[REPLACE_NAME]);

/* Puts the file NAME into the place of LAST; when IS_NEW, only if there is
   none. 0 or an errno, and then NAME is still there. */
int MUST_CHECK replace_move(int parent, const char *name, const char *last,
                            bool is_new);

#endif
