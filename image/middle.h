/* SPDX-License-Identifier: GPL-3.0-or-later */
/* middle.h: moments in the middle of an evaluation in which Lisp may do
   something else, and the evaluation does not notice: the main thread is in the
   code of ECL's interpreter itself. So it is not in an allocation, in C of
   anybody else, or in our own Lisp, which is compiled; and what it does is what
   would be faster as native code. A moment that is missed because the thread is
   elsewhere is made up for when the interpreter calls the next function that is
   not interpreted: code may spend nearly all of its time in what it calls. Time
   is that of the processor: an evaluation that waits is left alone. */
#ifndef IMAGE_MIDDLE_H
#define IMAGE_MIDDLE_H

#include <stdbool.h>
#include <stdint.h>

/* What is done then, with interrupts by the supervisor held back. False: there
   is nothing left to be done. */
typedef bool middle_work(void);

/* Once, in the main thread of Lisp, before there are others. */
void middle_prepare(middle_work *work);

/* From MS milliseconds of this process's main thread on, looks for such
   moments; if it does so already, nothing changes. */
void middle_watch(int64_t ms);

/* No longer. */
void middle_stop(void);

#endif
