/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When an image gives memory back, with a collector that says what the test
   wants. */
#define GC_THREADS
#include <gc/gc.h>
#include <signal.h>

#include "base/limits.h"
#include "image/heap.h"
#include "support/check.h"

static size_t heap_bytes;
static size_t free_bytes;
static size_t bytes_since;
static int collections;

GC_API size_t GC_CALL GC_get_heap_size(void)
{
    return heap_bytes;
}

GC_API size_t GC_CALL GC_get_free_bytes(void)
{
    return free_bytes;
}

GC_API size_t GC_CALL GC_get_bytes_since_gc(void)
{
    return bytes_since;
}

GC_API GC_word GC_CALL GC_get_gc_no(void)
{
    return (GC_word)collections;
}

GC_API void GC_CALL GC_gcollect_and_unmap(void)
{
    collections++;
}

GC_API void GC_CALL GC_gcollect(void)
{
    collections++;
}

GC_API int GC_CALL GC_get_suspend_signal(void)
{
    return SIGPWR;
}

/* The whole of it, as no library has it without the real collector. */
#include "image/heap.c" // NOLINT(bugprone-suspicious-include)

static int set_up(void **state)
{
    (void)state;
    moments = LIMIT_HEAP_MOMENTS; // as at the start
    used_at = 0;
    begun_with = 0;
    return 0;
}

static void heap_is(size_t size, size_t free, size_t since)
{
    heap_bytes = size;
    free_bytes = free;
    bytes_since = since;
}

/* One is tried again after so many moments (LIMIT_HEAP_MOMENTS), not sooner,
   and once. */
static void large_heap_is_tried_again_after_some_moments(void **state)
{
    (void)state;
    heap_is((size_t)LIMIT_HEAP_LOOSE * 2, (size_t)LIMIT_HEAP_LOOSE + 1, 0);
    assert_int_equal(heap_state(false), HEAP_LOOSE);
    heap_is((size_t)LIMIT_HEAP_LOOSE + 1, 0, 0); // what is left is used
    for (int moment = 1; moment < LIMIT_HEAP_MOMENTS; moment++)
        assert_int_equal(heap_state(false), HEAP_FINE);
    assert_int_equal(heap_state(false), HEAP_LOOSE);
    for (int moment = 0; moment < 2 * LIMIT_HEAP_MOMENTS; moment++)
        assert_int_equal(heap_state(false), HEAP_FINE);
}

static void small_heap_is_not_tried_again(void **state)
{
    (void)state;
    heap_is((size_t)LIMIT_HEAP_LOOSE * 2, (size_t)LIMIT_HEAP_LOOSE + 1, 0);
    assert_int_equal(heap_state(false), HEAP_LOOSE);
    heap_is(LIMIT_HEAP_LOOSE, 0, 0);
    for (int moment = 0; moment < 2 * LIMIT_HEAP_MOMENTS; moment++)
        assert_int_equal(heap_state(false), HEAP_FINE);
}

static void garbage_counts_from_its_limit_on(void **state)
{
    (void)state;
    heap_is((size_t)LIMIT_HEAP_LOOSE * 2, LIMIT_HEAP_LOOSE, 0);
    assert_int_equal(heap_state(false), HEAP_FINE);
    heap_is((size_t)LIMIT_HEAP_LOOSE * 2, LIMIT_HEAP_LOOSE - 10, 11);
    assert_int_equal(heap_state(false), HEAP_LOOSE);
    heap_is(((size_t)LIMIT_HEAP_LOOSE + 1) * 4, LIMIT_HEAP_LOOSE + 1, 0);
    assert_int_equal(heap_state(false), HEAP_FINE); // a quarter, and not more
}

static void stale_heap_counts_from_its_limit_on(void **state)
{
    (void)state;
    heap_is(LIMIT_HEAP_LOOSE, 0, LIMIT_HEAP_STALE);
    assert_int_equal(heap_state(false), HEAP_FINE);
    heap_is(LIMIT_HEAP_LOOSE, 0, LIMIT_HEAP_STALE + 1);
    assert_int_equal(heap_state(false), HEAP_STALE);
    heap_is(LIMIT_HEAP_LOOSE + 1, 0, LIMIT_HEAP_STALE + 1);
    assert_int_equal(heap_state(false), HEAP_FINE);
    heap_is(LIMIT_HEAP_LOOSE, 0, LIMIT_HEAP_STALE + 1);
    heap_note_use(); // just now
    assert_int_equal(heap_state(false), HEAP_FINE);
    assert_int_equal(heap_state(true), HEAP_STALE); // the copy stays
}

/* Until it is collected, what was there before the calls does not count. */
static void garbage_of_the_start_does_not_count(void **state)
{
    (void)state;
    heap_is(LIMIT_HEAP_LOOSE, 0, LIMIT_HEAP_STALE);
    heap_begin();
    heap_is(LIMIT_HEAP_LOOSE, 0, (size_t)LIMIT_HEAP_STALE * 2);
    assert_int_equal(heap_state(false), HEAP_FINE);
    heap_is(LIMIT_HEAP_LOOSE, 0, (size_t)LIMIT_HEAP_STALE * 2 + 1);
    assert_int_equal(heap_state(false), HEAP_STALE);
    heap_is(LIMIT_HEAP_LOOSE, 0, LIMIT_HEAP_STALE + 1);
    collections++;
    assert_int_equal(heap_state(false), HEAP_STALE);
}

/* What the collector has freed by itself is still in the process and in its
   copies; what the heap has grown by was never touched. */
static void what_was_freed_counts_until_it_is_given_back(void **state)
{
    (void)state;
    heap_is(LIMIT_HEAP_LOOSE, LIMIT_HEAP_STALE + 1, 0);
    heap_begin();
    assert_int_equal(heap_state(true), HEAP_FINE);
    collections++; // by itself
    assert_int_equal(heap_state(true), HEAP_STALE);
    heap_is(LIMIT_HEAP_LOOSE, LIMIT_HEAP_STALE - 1, 1);
    assert_int_equal(heap_state(true), HEAP_FINE);
    heap_is(LIMIT_HEAP_LOOSE, LIMIT_HEAP_STALE - 1, 2);
    assert_int_equal(heap_state(true), HEAP_STALE);
    heap_collect(HEAP_STALE);
    assert_int_equal(heap_state(true), HEAP_FINE);
    heap_is(LIMIT_HEAP_LOOSE, LIMIT_HEAP_STALE - 1, LIMIT_HEAP_STALE + 3);
    assert_int_equal(heap_state(true), HEAP_STALE);
}

/* In a series of calls, what was allocated counts, from SPENT and a
   quarter of the heap on, and not what was freed: that is used again. */
static void series_of_calls_is_collected_from_its_limit_on(void **state)
{
    (void)state;
    heap_begin();
    begun_with = 0;
    heap_note_use(); // no moment is quiet
    heap_is(SPENT * 4, SPENT, SPENT);
    assert_int_equal(heap_state(false), HEAP_FINE);
    heap_is(SPENT * 4, 0, SPENT + 1);
    assert_int_equal(heap_state(false), HEAP_SPENT);
    heap_is(SPENT * 4 + 8, 0, SPENT + 1);
    assert_int_equal(heap_state(false), HEAP_FINE);
    heap_is(LIMIT_HEAP_LOOSE, 0, LIMIT_HEAP_LOOSE / 4 + 1);
    assert_int_equal(heap_state(false), HEAP_SPENT);
    heap_is(LIMIT_HEAP_LOOSE + 1, 0, LIMIT_HEAP_LOOSE / 4 + 2);
    assert_int_equal(heap_state(false), HEAP_FINE);
    collections = 0;
    heap_is(SPENT * 4, 0, SPENT + 1);
    heap_collect(HEAP_SPENT);
    assert_int_equal(collections, 1);
    heap_is(SPENT * 4, SPENT, 0);
    assert_int_equal(heap_state(false), HEAP_FINE);
    assert_int_equal(heap_state(true), HEAP_STALE); // still in this process
}

/* A collection of a large heap takes long: one in each moment. */
static void heap_is_collected_as_long_as_nobody_waits(void **state)
{
    (void)state;
    heap_is((size_t)LIMIT_HEAP_LOOSE * 2, 0, 0);
    collections = 0;
    heap_collect(HEAP_LOOSE);
    assert_int_equal(collections, 3);
    heap_is((size_t)LIMIT_HEAP_LOOSE * 2 + 1, 0, 0);
    heap_collect(HEAP_LOOSE);
    assert_int_equal(collections, 4);
    heap_is(LIMIT_HEAP_LOOSE, 0, 0);
    heap_collect(HEAP_STALE);
    assert_int_equal(collections, 7);
}

/* SIGINT gets through to a thread that the collector has stopped. */
static volatile sig_atomic_t is_held;

static void on_interrupt(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    is_held = heap_holds_thread(context);
}

static void on_suspend(int signal)
{
    (void)signal;
    (void)raise(SIGINT);
}

static void a_stopped_thread_is_told_from_others(void **state)
{
    struct sigaction suspend = {.sa_handler = on_suspend};
    struct sigaction interrupt = {.sa_sigaction = on_interrupt,
                                  .sa_flags = SA_SIGINFO};

    (void)state;
    (void)sigfillset(&suspend.sa_mask);
    (void)sigdelset(&suspend.sa_mask, SIGINT);
    (void)sigfillset(&interrupt.sa_mask);
    assert_int_equal(sigaction(SIGPWR, &suspend, NULL), 0);
    assert_int_equal(sigaction(SIGINT, &interrupt, NULL), 0);
    is_held = true;
    (void)raise(SIGINT);
    assert_false(is_held);
    (void)raise(SIGPWR);
    assert_true(is_held);
    (void)raise(SIGINT);
    assert_false(is_held);
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(large_heap_is_tried_again_after_some_moments),
        TEST(small_heap_is_not_tried_again),
        TEST(garbage_counts_from_its_limit_on),
        TEST(stale_heap_counts_from_its_limit_on),
        TEST(garbage_of_the_start_does_not_count),
        TEST(what_was_freed_counts_until_it_is_given_back),
        TEST(series_of_calls_is_collected_from_its_limit_on),
        TEST(heap_is_collected_as_long_as_nobody_waits),
        TEST(a_stopped_thread_is_told_from_others),
    };

    return RUN_TESTS("heap", tests);
}
