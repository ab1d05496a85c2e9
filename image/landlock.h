/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landlock.h: confines the files, TCP and signals of a live image by Linux's
   Landlock, without a library. */
#ifndef IMAGE_LANDLOCK_H
#define IMAGE_LANDLOCK_H

#include "base/status.h"
#include "image/sandbox.h"

/* Confines this process and all that it starts: it can write only below PLACES,
   not read secrets in the home folders, and neither signal nor inspect
   processes outside. Rights that VERSION does not know are not restricted.
   ST_IO: the system refuses, errno says why, and nothing has changed. */
enum status MUST_CHECK landlock_confine(int version,
                                        const struct sandbox *sandbox,
                                        const struct sandbox_places *places);

#endif
