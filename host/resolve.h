/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve.h: where a path leads. */
#ifndef HOST_RESOLVE_H
#define HOST_RESOLVE_H

#include <linux/limits.h>
#include <stdbool.h>

/* Writes to OUT where PATH (absolute, shorter than PATH_MAX) leads, all
   symbolic links followed. When it is MISSING, its folders are followed as far
   as they exist, and the rest, in which neither "." nor ".." may stand, is put
   behind that. 0 or an errno: ENOENT, ENOTDIR, ELOOP, EACCES, ENAMETOOLONG, ...
 */
int resolve_path(const char *path, char out[PATH_MAX], bool *missing);

#endif
