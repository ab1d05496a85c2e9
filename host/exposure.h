/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exposure.h: whether the agent could change a file that must bind it. */
#ifndef HOST_EXPOSURE_H
#define HOST_EXPOSURE_H

#include <limits.h>
#include <stdbool.h>

#include "host/workspace.h"

/* The absolute path of what FD is open on; false: unknown. */
bool exposure_find_path(int fd, char path[PATH_MAX]);

/* Why the file that FD is open on is exposed, as the end of a sentence that
   begins with "it"; NULL: it is not exposed. A file is exposed where the file
   tools can write in WORKSPACE (may be NULL), and where the sandbox lets
   evaluated code write. Without a sandbox, that code can write everywhere; this
   function does not consider that. */
const char *exposure_of_file(int fd, const struct workspace *workspace);

/* The same for a file or folder with an absolute PATH without links; nothing
   need exist there. */
const char *exposure_of_path(const char *path,
                             const struct workspace *workspace);

#endif
