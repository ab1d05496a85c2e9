/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of deadline.h. */
#include "base/deadline.h"
#include "support/check.h"

static void deadline_passes_when_its_time_comes(void **state)
{
    (void)state;
    assert_false(deadline_has_passed(5, 4));
    assert_true(deadline_has_passed(5, 5));
    assert_true(deadline_has_passed(5, 6));
    assert_true(deadline_has_passed(0, 0));
    assert_false(deadline_has_passed(DEADLINE_NEVER, INT64_MAX));
}

static void deadline_earlier_takes_never_for_the_last(void **state)
{
    static const struct {
        int64_t a;
        int64_t b;
        int64_t earlier;
    } cases[] = {
        {1, 2, 1},
        {0, 7, 0},
        {3, 3, 3},
        {DEADLINE_NEVER, 2, 2},
        {INT64_MAX, DEADLINE_NEVER, INT64_MAX},
        {DEADLINE_NEVER, DEADLINE_NEVER, DEADLINE_NEVER},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(deadline_earlier(cases[i].a, cases[i].b),
                         cases[i].earlier);
        assert_int_equal(deadline_earlier(cases[i].b, cases[i].a),
                         cases[i].earlier);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadline_passes_when_its_time_comes),
        cmocka_unit_test(deadline_earlier_takes_never_for_the_last),
    };
    return RUN_TESTS("deadline", tests);
}
