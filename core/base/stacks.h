/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacks.h: the stack of a strand, and the change to it and back. Where that is
   known how, it is a few instructions; else the C library does it, which makes
   a system call to keep the mask of signals, the same on all stacks here. */
#ifndef BASE_STACKS_H
#define BASE_STACKS_H

#include <stddef.h>
#include <ucontext.h>

/* Where something goes on that another stack runs beside. */
struct stacks_place {
    void *top; /* of its stack, with what else it needs; NULL: in CONTEXT */
    ucontext_t context;
};

/* Lets PLACE begin with RUN, which never returns, on STACK of SIZE bytes. */
void stacks_prepare(struct stacks_place *place, void (*run)(void), char *stack,
                    size_t size);

/* Goes on at TO, until somebody goes on at FROM, which is set here. */
void stacks_change(struct stacks_place *from, struct stacks_place *to);

#endif
