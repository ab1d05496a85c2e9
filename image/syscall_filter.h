/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_filter.h: the system calls that evaluated code has no use for,
   refused by the kernel (seccomp). */
#ifndef IMAGE_SYSCALL_FILTER_H
#define IMAGE_SYSCALL_FILTER_H

#include <stdbool.h>

#include "image/sandbox.h"

/* Installs the filter in this process and all that it starts. LANDLOCK is the
   version of the system's Landlock: what that does not cover is refused here as
   far as a filter can. False when the system does not take it. */
bool syscall_filter_install(const struct sandbox *sandbox, int landlock);

#endif
