/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of script.c: when the search for the shortest script ends. */
#include "base/limits.h"
#include "diff/script.h"
#include "support/check.h"

/* A is N zeros and N ones, B the other way round: 2 * N edits, which searches
   from both ends find when each has made N. */
#define MOST (LIMIT_DIFF_COST + 1)
static uint32_t zeros_first[2 * MOST];
static uint32_t ones_first[2 * MOST];
static bool deleted[2 * MOST];
static bool inserted[2 * MOST];

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Whether the search was capped; checks that what is left of both is equal.
 *EDITS: what is not. */
static bool mark(size_t n, int64_t steps, size_t *edits)
{
    struct script_side a = {zeros_first, 2 * n, deleted};
    struct script_side b = {ones_first, 2 * n, inserted};
    bool capped = false;
    size_t y = 0;

    for (size_t i = 0; i < 2 * n; i++) {
        zeros_first[i] = i >= n;
        ones_first[i] = i < n;
        deleted[i] = false;
        inserted[i] = false;
    }
    assert_ok(script_mark(&arena, &a, &b, steps, &capped));
    *edits = 0;
    for (size_t x = 0; x < 2 * n; x++) {
        if (deleted[x]) {
            ++*edits;
            continue;
        }
        for (; y < 2 * n && inserted[y]; y++)
            ++*edits;
        assert_in_range(y, 0, 2 * n - 1);
        assert_int_equal(zeros_first[x], ones_first[y++]);
    }
    for (; y < 2 * n; y++) {
        assert_true(inserted[y]);
        ++*edits;
    }
    return capped;
}

static void search_ends_after_its_steps_and_edits(void **state)
{
    size_t edits;

    (void)state;
    assert_false(mark(LIMIT_DIFF_COST, 0, &edits));
    assert_int_equal(edits, 2 * LIMIT_DIFF_COST);
    assert_true(mark(LIMIT_DIFF_COST + 1, 0, &edits));
    assert_false(mark(LIMIT_DIFF_COST + 1, LIMIT_DIFF_STEPS, &edits));
    assert_int_equal(edits, 2 * (LIMIT_DIFF_COST + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(search_ends_after_its_steps_and_edits,
                                  tear_down),
    };
    return RUN_TESTS("script", tests);
}
