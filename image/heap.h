/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.h: gives memory back to the system that Lisp no longer needs. */
#ifndef IMAGE_HEAP_H
#define IMAGE_HEAP_H

#include <stdbool.h>

/* In a quiet moment, before a copy is taken: whether much of the heap is
   likely to be garbage. */
bool heap_is_loose(void);

/* Collects, and gives back the memory that is free then, so that no copy holds
   it. */
void heap_tighten(void);

#endif
