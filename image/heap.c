/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.c: see heap.h. The collector keeps what it once got from the system for
   a while, and each copy of the image keeps it as long as that copy sleeps.
   Knows the collector and nothing of Lisp. */
#include "image/heap.h"

#include <gc/gc.h>
#include <malloc.h>
#include <stddef.h>

#include "base/limits.h"

/* Quiet moments since the heap was last loose. */
static int moments = LIMIT_HEAP_MOMENTS;

bool heap_is_loose(void)
{
    size_t heap = GC_get_heap_size(); // without what was given back
    size_t free = GC_get_free_bytes() + GC_get_bytes_since_gc();
    bool loose = free > LIMIT_HEAP_LOOSE && free > heap / 4;

    if (loose)
        moments = 0;
    else if (moments < LIMIT_HEAP_MOMENTS && ++moments == LIMIT_HEAP_MOMENTS)
        loose = heap > LIMIT_HEAP_LOOSE;
    return loose;
}

void heap_tighten(void)
{
    size_t live;

    // only what was free in the two collections before is given back
    for (int i = 0; i < 3; i++) {
        GC_gcollect_and_unmap();
        live = GC_get_heap_size() - GC_get_free_bytes();
        if (live > LIMIT_HEAP_LOOSE * 2)
            break; // each takes long; the next quiet moment has the next one
    }
    (void)malloc_trim(0); // says whether there was anything
}
