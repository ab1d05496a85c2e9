/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack.h: the C stack of Lisp: larger than ECL believes, which finds an
   overflow early. */
#ifndef IMAGE_STACK_H
#define IMAGE_STACK_H

#include <stdbool.h>

/* Before ECL boots: grows the stack of this thread, and has ECL believe that
   each has LIMIT_LISP_STACK. */
void stack_boot(void);

/* In the thread that serves, before its first call. */
void stack_begin(void);

/* Whether ECL has found an overflow since stack_begin or stack_restore: then it
   has moved its guard to give its handlers room, and leaves it there. */
bool stack_has_overflowed(void);

/* Puts the guard back: the next overflow would have no room. */
void stack_restore(void);

#endif
