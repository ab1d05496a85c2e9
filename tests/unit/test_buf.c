/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of buf.c. */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "support/check.h"

static struct buf buf;

static int release(void **state)
{
    (void)state;
    buf_release(&buf);
    return 0;
}

static void buf_appends(void **state)
{
    (void)state;
    buf_append(&buf, NULL, 0);
    assert_null(buf.p);
    buf_append(&buf, "ab", 2);
    buf_str(&buf, STR("c\0d"));
    buf_byte(&buf, '!');
    buf_str(&buf, str_make(NULL, 0));
    assert_memory(!buf_failed(&buf));
    assert_text(buf_view(&buf), "abc\0d!");
}

static void buf_formats_short_and_long(void **state)
{
    (void)state;
    buf_printf(&buf, "%s", "");
    buf_printf(&buf, "%d,", 7);
    buf_printf(&buf, "%5000s", "x");
    assert_memory(!buf_failed(&buf));
    assert_int_equal(buf.n, 5002);
    assert_int_equal(buf.p[5001], 'x');
    for (int n = 120; n < 136; n++) { // near the first guess at the size
        buf_reset(&buf);
        buf_printf(&buf, "%*d", n, 1);
        assert_memory(!buf_failed(&buf));
        assert_int_equal(buf.n, n);
        assert_int_equal(buf.p[n - 1], '1');
    }
}

static void buf_writes_integers(void **state)
{
    static const int64_t numbers[] = {0,  1,         -1,        9,         10,
                                      99, INT64_MAX, INT64_MIN, INT32_MIN, 100};

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char expected[32];

        (void)snprintf(expected, sizeof expected, "%" PRId64, numbers[i]);
        buf_reset(&buf);
        buf_int(&buf, numbers[i]);
        assert_memory(!buf_failed(&buf));
        buf_byte(&buf, '\0');
        assert_memory(!buf_failed(&buf));
        assert_string_equal(buf.p, expected);
    }
}

static void buf_reserves(void **state)
{
    (void)state;
    assert_memory(buf_reserve(&buf, 0) != NULL);
    char *to = buf_reserve(&buf, 1000);
    assert_memory(to != NULL);
    memset(to, 'r', 1000);
    buf.n += 1000;
    assert_int_equal(buf_view(&buf).n, 1000);
    assert_true(buf.cap >= 1000);
}

static void buf_reserves_exactly(void **state)
{
    (void)state;
    assert_memory(buf_reserve_exact(&buf, 1000) != NULL);
    assert_int_equal(buf.cap, 1000);
    buf.n = 0;
    buf_str(&buf, STR("0123456789"));
    buf_consume(&buf, 5);
    assert_memory(buf_reserve_exact(&buf, 2000) != NULL);
    assert_int_equal(buf.cap, 2005);
    assert_text(buf_view(&buf), "56789");
}

static void buf_fails_on_overflow_and_stays_so(void **state)
{
    (void)state;
    buf_str(&buf, STR("kept"));
    assert_memory(!buf_failed(&buf));
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_null(buf_reserve_exact(&buf, SIZE_MAX - 16));
    assert_true(buf_failed(&buf));
    buf_str(&buf, STR("dropped"));
    assert_null(buf_reserve(&buf, 1));
    assert_text(buf_view(&buf), "kept");
    buf_truncate(&buf, 2);
    assert_true(buf_failed(&buf));
    buf_reset(&buf);
    assert_false(buf_failed(&buf));
    buf_str(&buf, STR("again"));
    assert_memory(!buf_failed(&buf));
    assert_text(buf_view(&buf), "again");
}

static void buf_reports_lost_memory(void **state)
{
    (void)state;
    for (int i = 0; i < 5000; i++)
        buf_byte(&buf, 'x');
    bool lost = check_memory_is_back();
    assert_int_equal(buf_failed(&buf), lost);
    assert_true(lost ? buf.n < 5000 : buf.n == 5000);
    for (size_t i = 0; i < buf.n; i++)
        assert_int_equal(buf.p[i], 'x');
}

static void buf_consumes_from_the_front(void **state)
{
    (void)state;
    buf_consume(&buf, 5);
    buf_str(&buf, STR("hello world"));
    assert_memory(!buf_failed(&buf));
    buf_consume(&buf, 0);
    buf_consume(&buf, 6);
    assert_text(buf_view(&buf), "world");
    buf_str(&buf, STR("s"));
    assert_memory(!buf_failed(&buf));
    assert_text(buf_view(&buf), "worlds");
    buf_consume(&buf, 100);
    assert_int_equal(buf.n, 0);
    buf_str(&buf, STR("new"));
    assert_memory(!buf_failed(&buf));
    assert_text(buf_view(&buf), "new");
}

/* A queue that is filled and emptied piece by piece keeps its order, and does
   not grow with the bytes that have passed through it. */
static void buf_serves_as_a_queue(void **state)
{
    (void)state;
    char piece[16];
    int in = 0;
    int out = 0;
    while (out < 20000) {
        for (int i = 0; i < 7 && in < 20000; i++) {
            snprintf(piece, sizeof piece, "%07d", in++);
            buf_append(&buf, piece, 7);
            assert_memory(!buf_failed(&buf));
        }
        for (int i = 0; i < (in < 20000 ? 6 : 7) && out < in; i++) {
            snprintf(piece, sizeof piece, "%07d", out++);
            assert_memory_equal(buf.p, piece, 7);
            buf_consume(&buf, 7);
        }
    }
    assert_int_equal(buf.n, 0);
    assert_true(buf.head + buf.cap < 100000);
}

static void buf_trims_large_storage_only(void **state)
{
    (void)state;
    buf_printf(&buf, "%1000s", "x");
    assert_memory(!buf_failed(&buf));
    buf_consume(&buf, 10);
    buf_trim(&buf, 100000);
    assert_non_null(buf.p);
    assert_int_equal(buf.n, 0);
    buf_str(&buf, STR("x"));
    assert_memory(!buf_failed(&buf));
    buf_trim(&buf, 10);
    assert_null(buf.p);
    assert_int_equal(buf.cap, 0);
}

static void buf_truncates(void **state)
{
    (void)state;
    buf_str(&buf, STR("0123456789"));
    assert_memory(!buf_failed(&buf));
    buf_truncate(&buf, 20);
    assert_int_equal(buf.n, 10);
    buf_consume(&buf, 2);
    buf_truncate(&buf, 3);
    assert_text(buf_view(&buf), "234");
    buf_truncate(&buf, 0);
    assert_int_equal(buf.head, 0);
    struct buf zeroed = BUF_EMPTY;
    buf_truncate(&zeroed, 0);
    buf_trim(&zeroed, 0);
    buf_release(&zeroed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(buf_appends, release),
        cmocka_unit_test_teardown(buf_formats_short_and_long, release),
        cmocka_unit_test_teardown(buf_writes_integers, release),
        cmocka_unit_test_teardown(buf_reserves, release),
        cmocka_unit_test_teardown(buf_reserves_exactly, release),
        cmocka_unit_test_teardown(buf_fails_on_overflow_and_stays_so, release),
        cmocka_unit_test_teardown(buf_reports_lost_memory, release),
        cmocka_unit_test_teardown(buf_consumes_from_the_front, release),
        cmocka_unit_test_teardown(buf_serves_as_a_queue, release),
        cmocka_unit_test_teardown(buf_trims_large_storage_only, release),
        cmocka_unit_test_teardown(buf_truncates, release),
    };
    return RUN_TESTS("buf", tests);
}
