/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_filter.h: has the kernel refuse system calls that evaluated code does
   not need (seccomp). */
#ifndef IMAGE_SYSCALL_FILTER_H
#define IMAGE_SYSCALL_FILTER_H

#include <stdbool.h>

#include "image/sandbox.h"

/* Installs the filter in this process and all that it starts. LANDLOCK is the
   version of the system's Landlock: the filter refuses what that version does
   not cover, as far as a filter can. False when the system does not take it. */
bool syscall_filter_install(const struct sandbox *sandbox, int landlock);

#endif
