/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aliases.h: other places where the workspace is mounted, too. By way of these,
   nothing that lies over it would be in the way. */
#ifndef IMAGE_ALIASES_H
#define IMAGE_ALIASES_H

#include <stdbool.h>

/* Makes all mounts read-only for this namespace that show the folder WORKSPACE,
   a descriptor, or folders around or in it, except the one to which it belongs.
   False: one could not be. Mounts that come later are not known. */
bool aliases_close(int workspace);

#endif
