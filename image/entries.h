/* SPDX-License-Identifier: GPL-3.0-or-later */
/* entries.h: what readdir(3) tells of a folder; paths of its entries. */
#ifndef IMAGE_ENTRIES_H
#define IMAGE_ENTRIES_H

#include <dirent.h>
#include <stdbool.h>

#include "image/sandbox.h"

/* Opens folder PATH of WORKSPACE for reading; NULL: there is none. Links are
   not followed at the end of PATH: those before lead to places that cannot be
   covered, either. */
DIR *entries_open(int workspace, const char *path);

/* The next entry that is neither the folder itself nor its parent; NULL: there
   is none. */
const struct dirent *entries_next(DIR *folder);

/* Whether ENTRY of FOLDER is a folder, which not all file systems tell with its
   name. */
bool entries_is_folder(DIR *folder, const struct dirent *entry);

/* Writes the path of the entry NAME of folder PATH, below the same workspace,
   to OUT; false when that is too long. */
bool entries_join(const char *path, const char *name, char out[SANDBOX_PATH]);

#endif
