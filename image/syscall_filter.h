/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_filter.h: has the kernel refuse system calls that evaluated code does
   not need (seccomp). */
#ifndef IMAGE_SYSCALL_FILTER_H
#define IMAGE_SYSCALL_FILTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "image/filter_program.h"
#include "image/sandbox.h"

/* A program for the kernel. The zygote makes it once, and each image loads
   it. */
struct syscall_filter {
    struct filter_program program; /* empty: nothing is to be loaded */
    bool signals;                  /* those to the keeper are refused, too */
};

/* In the zygote: makes the filter for SANDBOX. LANDLOCK is the version of the
   system's Landlock: the filter refuses what that version does not cover, as
   far as a filter can. False, and OUT is empty, when a thread could not load
   it. */
bool syscall_filter_prepare(const struct sandbox *sandbox, int landlock,
                            struct syscall_filter *out);

/* Loads FILTER into this process and all that it starts, for ever. KEEPER is
   the process that keeps this image. Rights must have been given up. False when
   the system does not take it: no user code may run then. An empty filter is
   always loaded. */
bool MUST_CHECK syscall_filter_load(const struct syscall_filter *filter,
                                    pid_t keeper);

/* Empties FILTER; what was loaded stays in force. */
void syscall_filter_release(struct syscall_filter *filter);

#endif
