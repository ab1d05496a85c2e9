/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_arguments.h: the system calls whose arguments decide whether they
   run. */
#ifndef IMAGE_SYSCALL_ARGUMENTS_H
#define IMAGE_SYSCALL_ARGUMENTS_H

#include "image/filter_program.h"
#include "image/sandbox.h"

/* Adds the blocks of these calls to PROGRAM. What version LANDLOCK of the
   system's Landlock does not cover is refused as far as a filter can: signals
   to this process, the zygote, and to its parent then, too. */
void syscall_arguments_add(struct filter_program *program,
                           const struct sandbox *sandbox, int landlock);

/* Adds blocks that refuse signals to TARGETS, N of them, and run others. */
void syscall_arguments_refuse_signals(struct filter_program *program,
                                      const uint32_t *targets, size_t n);

#endif
