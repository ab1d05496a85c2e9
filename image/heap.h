/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.h: collects garbage in quiet moments, and gives memory back to
   the system that Lisp no longer needs. */
#ifndef IMAGE_HEAP_H
#define IMAGE_HEAP_H

#include <stdbool.h>

enum heap_state {
    HEAP_FINE,
    HEAP_STALE, /* it is small, and much of it is the garbage of calls */
    HEAP_SPENT, /* the same, in a series of calls that goes on */
    HEAP_LOOSE  /* much of it is likely to be garbage */
};

/* This process is a session from now on: nothing so far is garbage of calls. */
void heap_begin(void);

/* A call ends. */
void heap_note_use(void);

/* Before a copy is taken: what there is to do. LASTING: the copy stays, and the
   moment need not be quiet. */
enum heap_state heap_state(bool lasting);

/* Collects, and gives back the memory that is free then, so that no copy holds
   it. */
void heap_collect(enum heap_state state);

/* Whether a signal whose handler got CONTEXT has come while the collector holds
   the thread. Lisp must not run then: it would move what is being marked, or
   wait for the collector, which waits for the thread. */
bool heap_holds_thread(const void *context);

/* A signal to be sent to the thread instead: unlike SIGINT, the collector lets
   it through only when it is done with the thread. */
#define HEAP_LATE_SIGNAL (SIGRTMAX - 2)

#endif
