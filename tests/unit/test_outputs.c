/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of outputs.c: long outputs by number, in parts and whole, and those
   that are dropped. */
#include <string.h>

#include "supervisor/outputs.h"
#include "support/check.h"

static struct outputs outputs;
static struct buf text;

static int setup(void **state)
{
    (void)state;
    memset(&outputs, 0, sizeof outputs);
    text = BUF_EMPTY;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    outputs_release(&outputs);
    buf_release(&text);
    return 0;
}

/* Adds N bytes of the digits 0 to 9, printed by session main. */
static void add_digits(size_t n)
{
    struct buf digits = BUF_EMPTY;
    bool failed;

    for (size_t i = 0; i < n; i++)
        buf_byte(&digits, (char)('0' + i % 10));
    failed = buf_failed(&digits);
    outputs_add(&outputs, "main", &digits);
    assert_int_equal(digits.n, 0);
    assert_memory(!failed);
}

static void outputs_read_a_part(void **state)
{
    bool found;

    (void)state;
    add_digits(100);
    found = outputs_read(&outputs, 1, 95, 3, &text);
    assert_memory(!buf_failed(&text));
    assert_true(found);
    assert_text(buf_view(&text), "567\n[characters 95 to 98 of 100]");
}

static void outputs_say_what_is_missing(void **state)
{
    (void)state;
    add_digits(100);
    assert_false(outputs_read(&outputs, 7, 0, 10, &text));
    assert_false(outputs_read(&outputs, 1, 100, 10, &text));
    buf_byte(&text, '\0');
    assert_memory(!buf_failed(&text));
    assert_non_null(strstr(text.p, "Output 7 not found"));
    assert_non_null(strstr(text.p, "nothing at offset 100"));
}

/* An output that was cut is kept whole, and belongs to its session. */
static void outputs_show_the_whole(void **state)
{
    struct str whole = {NULL, 0};

    (void)state;
    add_digits(5000);
    assert_true(outputs_show(&outputs, 1, STR("main"), &whole, &text));
    assert_int_equal(whole.n, 5000);
    assert_ptr_equal(whole.p, outputs.list[0].text.p); // not a copy
    assert_int_equal(text.n, 0);
    assert_false(outputs_show(&outputs, 1, STR("other"), &whole, &text));
    assert_false(outputs_show(&outputs, 2, STR("main"), &whole, &text));
}

static void outputs_drop_the_oldest(void **state)
{
    (void)state;
    for (int i = 0; i < LIMIT_OUTPUTS + 2; i++)
        add_digits(100);
    assert_int_equal(outputs.n, LIMIT_OUTPUTS);
    assert_int_equal(outputs.list[0].id, 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(outputs_read_a_part),
        TEST(outputs_say_what_is_missing),
        TEST(outputs_show_the_whole),
        TEST(outputs_drop_the_oldest),
    };

    return RUN_TESTS("outputs", tests);
}
