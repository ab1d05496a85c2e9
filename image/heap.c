/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.c: see heap.h. The collector keeps what it once got from the system for
   a while, and each copy of the image keeps it as long as that copy sleeps.
   Knows the collector and nothing of Lisp. */
#include "image/heap.h"

#define GC_THREADS /* declares what is for threads, too */
#include <gc/gc.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "base/limits.h"

/* Milliseconds without a call after which a collection, which takes some 5, is
   likely to be in nobody's way. */
#define QUIET_MS 15

/* The bytes of LIMIT_HEAP_STALE in a series of calls without a pause, where one
   collection, some 2 ms, is made instead of one in the middle of a call: the
   copy has none of the garbage, and the heap, which may double then, does not
   grow. */
#define SPENT ((size_t)LIMIT_HEAP_STALE * 2)

/* When the last call ended, in milliseconds. */
static int64_t used_at;

/* What had been allocated since the collection before, and which one that was,
   when this process began or gave memory back: nothing of it is garbage of
   calls. */
static size_t begun_with;
static GC_word begun_at;

/* Quiet moments since the heap was last loose. */
static int moments = LIMIT_HEAP_MOMENTS;

static bool is_loose(void)
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

static int64_t now(void)
{
    struct timespec time = {0};

    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &time); // always there
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void heap_begin(void)
{
    begun_with = GC_get_bytes_since_gc();
    begun_at = GC_get_gc_no();
}

/* Bytes that calls have allocated since the last collection. */
static size_t made_by_calls(void)
{
    size_t since = GC_get_bytes_since_gc();

    return GC_get_gc_no() == begun_at ? since - begun_with : since;
}

/* Bytes of garbage that calls have left. Once the collector has collected in
   between, what is free was used before, too, and the system still has its
   pages; what was never used is free only before that. */
static size_t left_by_calls(void)
{
    return made_by_calls() +
           (GC_get_gc_no() == begun_at ? 0 : GC_get_free_bytes());
}

void heap_note_use(void)
{
    used_at = now();
}

/* Whether calls have left so much that the heap would soon grow, and no call
   has used it for a while, or the copy is LASTING. */
static bool is_stale(bool lasting)
{
    return left_by_calls() > LIMIT_HEAP_STALE &&
           GC_get_heap_size() <= LIMIT_HEAP_LOOSE &&
           (lasting || now() - used_at >= QUIET_MS);
}

/* Whether calls that follow each other have left so much that the collector
   would soon collect in the middle of one, or let the heap grow. */
static bool is_spent(void)
{
    size_t heap = GC_get_heap_size();
    size_t made = made_by_calls();

    return made > SPENT && made > heap / 4 && heap <= LIMIT_HEAP_LOOSE;
}

enum heap_state heap_state(bool lasting)
{
    if (is_loose())
        return HEAP_LOOSE;
    if (is_stale(lasting))
        return HEAP_STALE;
    return is_spent() ? HEAP_SPENT : HEAP_FINE;
}

void heap_collect(enum heap_state state)
{
    size_t live;

    if (state == HEAP_SPENT) {
        GC_gcollect(); // what it frees is used again at once
        return;
    }
    // only what was free in the two collections before is given back; kept, it
    // would be in the copy, and once more in this process when it is used again
    for (int i = 0; i < 3; i++) {
        GC_gcollect_and_unmap();
        live = GC_get_heap_size() - GC_get_free_bytes();
        if (live > LIMIT_HEAP_LOOSE * 2)
            break; // each takes long; the next quiet moment has the next one
    }
    if (state == HEAP_LOOSE)
        (void)malloc_trim(0); // says whether there was anything
    heap_begin();
}

bool heap_holds_thread(const void *context)
{
    const ucontext_t *user = context;

    // the collector's own signal is blocked in its handler and nowhere else
    return sigismember(&user->uc_sigmask, GC_get_suspend_signal()) == 1;
}
