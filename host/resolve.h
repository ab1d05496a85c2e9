/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve.h: where a path leads. */
#ifndef HOST_RESOLVE_H
#define HOST_RESOLVE_H

#include <linux/limits.h>
#include <stdbool.h>

/* Writes to OUT where PATH (absolute, shorter than PATH_MAX) leads, after all
   symbolic links. When it does not exist, *MISSING is true: its folders are
   resolved as far as they exist, and the rest, which must not contain "." or
   "..", follows as it stands. Returns 0 or an errno: ENOENT, ENOTDIR, ELOOP,
   EACCES, ENAMETOOLONG, ... */
int resolve_path(const char *path, char out[PATH_MAX], bool *missing);

#endif
