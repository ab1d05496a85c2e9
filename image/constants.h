/* SPDX-License-Identifier: GPL-3.0-or-later */
/* constants.h: reads the constants of ECL's own modules and of the Lisp library
   quickly when they start. */
#ifndef IMAGE_CONSTANTS_H
#define IMAGE_CONSTANTS_H

/* Modules that this thread loads from now on are read quickly. For a process
   without other threads, while no code of the user runs: symbols, packages and
   the texts of modules stay what they are, for they are remembered from one
   module to the next. */
void constants_begin(void);

void constants_end(void);

#endif
