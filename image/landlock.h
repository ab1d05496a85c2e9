/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landlock.h: the file system, TCP and signals as a live image has them
   (Linux's Landlock, without a library). */
#ifndef IMAGE_LANDLOCK_H
#define IMAGE_LANDLOCK_H

#include "base/status.h"
#include "image/sandbox.h"

/* The version of the interface that the system has; 0: none. */
int landlock_version(void);

/* Confines this process and all that it starts: only what PLACES name may be
   written, what is secret below the home folders not be read, and processes
   outside not be signalled or looked into. Rights that VERSION does not know
   are not handled. ST_IO with errno set when the system refuses; then nothing
   has changed. */
enum status MUST_CHECK landlock_confine(int version,
                                        const struct sandbox *sandbox,
                                        const struct sandbox_places *places);

#endif
