/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of str.h. */
#include <stdio.h>

#include "base/str.h"
#include "support/check.h"

static const struct str none = {NULL, 0};

static void str_compares_bytes_and_length(void **state)
{
    (void)state;
    assert_true(str_eq(none, STR("")));
    assert_true(str_eq(STR("a\0b"), STR("a\0b")));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_false(str_eq(STR("ab"), STR("abc")));
    assert_false(str_eq(none, STR("a")));
}

static void str_starts_with_a_prefix(void **state)
{
    (void)state;
    assert_true(str_starts(none, none));
    assert_true(str_starts(STR("abc"), none));
    assert_true(str_starts(STR("abc"), STR("abc")));
    assert_false(str_starts(STR("ab"), STR("abc")));
    assert_false(str_starts(STR("xbc"), STR("ab")));
}

static void str_is_printable(void **state)
{
    (void)state;
    char text[16];
    struct str s = str_make("hello, world", 5);
    snprintf(text, sizeof text, "<%.*s>", STR_ARG(s));
    assert_string_equal(text, "<hello>");
    assert_int_equal(str_from("abc").n, 3);
}

static void str_trims_white_space(void **state)
{
    (void)state;
    assert_true(str_eq(str_trim(STR(" \t\r\n\fa b\n ")), STR("a b")));
    assert_true(str_eq(str_trim(STR("a")), STR("a")));
    assert_int_equal(str_trim(STR(" \n ")).n, 0);
    assert_int_equal(str_trim(none).n, 0);
    assert_false(str_is_space('\0'));
    assert_false(str_is_space('\v'));
}

static void str_knows_its_folder(void **state)
{
    (void)state;
    assert_true(str_eq(str_folder(STR("a/b/c")), STR("a/b/")));
    assert_true(str_eq(str_folder(STR("a/")), STR("a/")));
    assert_true(str_eq(str_folder(STR("/")), STR("/")));
    assert_int_equal(str_folder(STR("a")).n, 0);
    assert_int_equal(str_folder(none).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(str_compares_bytes_and_length),
        cmocka_unit_test(str_starts_with_a_prefix),
        cmocka_unit_test(str_is_printable),
        cmocka_unit_test(str_trims_white_space),
        cmocka_unit_test(str_knows_its_folder),
    };
    return RUN_TESTS("str", tests);
}
