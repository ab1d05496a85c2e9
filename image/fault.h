/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fault.h: notes where a segmentation violation has come from, which Lisp only
   gets as a condition without any detail, so that its report says it. */
#ifndef IMAGE_FAULT_H
#define IMAGE_FAULT_H

/* Once, when Lisp is booted, and defines the Lisp function LAST-FAULT: a line
   about the last fault of this thread in the call that runs, or NIL. */
void fault_begin(void);

/* A call begins: there was none yet. */
void fault_forget(void);

#endif
