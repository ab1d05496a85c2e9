/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foldname.h: names as file systems compare them that ignore case. */
#ifndef FILES_FOLDNAME_H
#define FILES_FOLDNAME_H

#include <stddef.h>

#include "base/str.h"

/* Bytes of the longest path that is folded; longer ones do not exist. */
#define FOLDNAME_PATH 4096

/* Writes PATH to OUT so that two names that lead to one file where case is
   ignored (ext4 and f2fs with casefold, vfat, exfat, NTFS, Windows' drives) and
   that are otherwise ASCII become equal: in lower case, ligatures and the like
   as their letters, without characters that such file systems ignore, and
   without dots and spaces at the ends of names. Returns what was written; a
   PATH that is too long comes back as it is. */
struct str foldname(struct str path, char out[FOLDNAME_PATH]);

#endif
