/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nothing.h: an empty file or folder that nobody may open, laid over what the
   images must not see: secrets, and files of the kernel that tell of other
   programs. In the namespace of mounts.h. */
#ifndef IMAGE_NOTHING_H
#define IMAGE_NOTHING_H

#include <stdbool.h>

#include "base/status.h"
#include "image/hidden.h"

/* Lays nothing over the secrets of HIDDEN and over what the kernel tells.
   False: not over all of it. */
bool MUST_CHECK nothing_lay(const struct hidden *hidden);

#endif
