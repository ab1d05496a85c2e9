/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slot.h: where a library looks up a function that it calls through its table
   of symbols, as it calls all that other objects may define in its place. */
#ifndef IMAGE_SLOT_H
#define IMAGE_SLOT_H

/* The entry of the table by which the library that defines FUNCTION calls it
   itself; writing it changes what the library calls. NULL: there is none, or
   it stays read-only. */
void **slot_find(void *function);

#endif
