/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of json.c. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "json/json.h"
#include "support/check.h"
#include "support/parsing.h"

/* --- Speed -------------------------------------------------------------- */

static void json_takes_large_objects_in_linear_time(void **state)
{
    (void)state;
    const int members = 80000;
    clock_t start = clock();
    char *big = parsing_room((size_t)members * 32);
    size_t n = 0;
    for (int i = 0; i < members; i++)
        n += (size_t)snprintf(big + n, 32, "%c\"name-%d\":[%d]",
                              i == 0 ? '{' : ',', i, i);
    big[n++] = '}';
    struct json root;
    struct json_error error;
    assert_ok(json_parse(&parsing.arena, str_make(big, n), &root, &error));
    assert_int_equal(json_count(root), members);
    struct json last = json_get(root, "name-79999");
    assert_text(json_raw(last), "[79999]");
    struct json_walk walk;
    json_walk_init(&walk, root);
    int count = 0;
    while (json_walk_next(&walk))
        count++;
    assert_int_equal(count, members);
    parsing_was_quick(start);
}

static void json_takes_many_small_arrays_in_linear_time(void **state)
{
    (void)state;
    const size_t arrays = LIMIT_JSON_TOKENS - 1;
    clock_t start = clock();
    char *big = parsing_room(arrays * 3 + 1);
    for (size_t i = 0; i < arrays; i++)
        memcpy(big + 3 * i, ",[]", 3);
    big[0] = '[';
    big[3 * arrays] = ']';
    struct json root;
    struct json_error error;
    struct str text = str_make(big, 3 * arrays + 1);
    assert_ok(json_parse(&parsing.arena, text, &root, &error));
    assert_int_equal(json_count(root), arrays);
    parsing_was_quick(start);
}

/* --- Access ------------------------------------------------------------- */

static void json_finds_members(void **state)
{
    (void)state;
    struct json root =
        parsing_ok("{\"a\":1, \"b\":{\"a\":2, \"c\":[3,[4]]},"
                   "\"\\u0063\":5, \"dup\":6, \"dup\":7, \"\":8}");
    assert_int_equal(json_count(root), 6);
    assert_text(json_raw(json_get(root, "a")), "1");
    assert_text(json_raw(json_get(root, "c")), "5");
    assert_text(json_raw(json_get(root, "dup")), "7");
    assert_text(json_raw(json_get(root, "")), "8");
    struct json b = json_get(root, "b");
    assert_text(json_raw(b), "{\"a\":2, \"c\":[3,[4]]}");
    assert_text(json_raw(json_get(b, "a")), "2");
    assert_int_equal(json_count(json_get(b, "c")), 2);
    assert_true(json_is_absent(json_get(root, "nope")));
    assert_true(json_is_absent(json_get(root, "A")));
    assert_true(json_is_absent(json_get(root, "du")));
    assert_true(json_is_absent(json_get(json_get(root, "a"), "a")));
    assert_true(json_is_absent(json_get(json_get(b, "c"), "3")));
}

static void json_walks_over_inner_values(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[1]", "{\"x\":{\"y\":[2,{}]}}", "\"s\"", "[]", "null", "[[[]],3]",
    };
    struct json root =
        parsing_ok("[[1], {\"x\":{\"y\":[2,{}]}}, \"s\", [], null,"
                   "[[[]],3]]");
    struct json_walk walk;
    json_walk_init(&walk, root);
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_true(json_walk_next(&walk));
        assert_true(json_is_absent(walk.name));
        assert_true(str_eq(json_raw(walk.value), str_from(texts[i])));
    }
    assert_false(json_walk_next(&walk));
    assert_false(json_walk_next(&walk));
}

static void json_walks_names_and_values(void **state)
{
    (void)state;
    struct json root = parsing_ok("{\"a\":[1,2],\"b\":{\"c\":0},\"d\":3}");
    static const char *const pairs[][2] = {
        {"\"a\"", "[1,2]"}, {"\"b\"", "{\"c\":0}"}, {"\"d\"", "3"}};
    struct json_walk walk;
    json_walk_init(&walk, root);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        assert_true(json_walk_next(&walk));
        assert_int_equal(json_type(walk.name), JSON_STRING);
        assert_true(str_eq(json_raw(walk.name), str_from(pairs[i][0])));
        assert_true(str_eq(json_raw(walk.value), str_from(pairs[i][1])));
    }
    assert_false(json_walk_next(&walk));
}

static void json_treats_absent_as_nothing(void **state)
{
    (void)state;
    struct json absent = {NULL, 0};
    struct str text = STR("kept");
    double number = 1;
    struct json_walk walk;
    assert_int_equal(json_type(absent), JSON_ABSENT);
    assert_true(json_is_absent(absent));
    assert_int_equal(json_raw(absent).n, 0);
    assert_int_equal(json_count(absent), 0);
    assert_true(json_is_absent(json_get(absent, "a")));
    assert_false(json_is_string(absent, ""));
    assert_status(json_string(&parsing.arena, absent, &text), ST_INVALID);
    assert_status(json_number(absent, &number), ST_INVALID);
    json_walk_init(&walk, absent);
    assert_false(json_walk_next(&walk));
    assert_text(text, "kept");
    json_walk_init(&walk, parsing_ok("\"scalar\""));
    assert_false(json_walk_next(&walk));
}

static void json_keeps_the_text_of_values(void **state)
{
    (void)state;
    static const char *const texts[] = {"1.0", "100000000000000000000",
                                        "-0.0e+00", "\"\\u0041\"", "true"};
    char array[100];
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_true(str_eq(json_raw(parsing_ok(texts[i])), str_from(texts[i])));
        snprintf(array, sizeof array, "{\"id\" : %s }", texts[i]);
        struct json id = json_get(parsing_ok(array), "id");
        assert_true(str_eq(json_raw(id), str_from(texts[i])));
    }
}

static const struct {
    const char *text;
    struct str decoded;
} strings[] = {
    {"\"\"", STR_INIT("")},
    {"\"plain\"", STR_INIT("plain")},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", STR_INIT("\"\\/\b\f\n\r\t")},
    {"\"a\\u0000b\"", STR_INIT("a\0b")},
    {"\"\\u007f\\u0080\\u07FF\"", STR_INIT("\x7f\xc2\x80\xdf\xbf")},
    {"\"\\u0800\\uffff\"", STR_INIT("\xe0\xa0\x80\xef\xbf\xbf")},
    {"\"\\ud83d\\ude00\"", STR_INIT("\xf0\x9f\x98\x80")},
    {"\"\\uD800\\uDC00\"", STR_INIT("\xf0\x90\x80\x80")},
    {"\"\\udbff\\udfff\"", STR_INIT("\xf4\x8f\xbf\xbf")},
    {"\"x\\\\u0041 y\"", STR_INIT("x\\u0041 y")},
    {"\"\xc3\xa9\\u00e9\xc3\xa9\"", STR_INIT("\xc3\xa9\xc3\xa9\xc3\xa9")},
};

static void json_decodes_strings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(strings); i++) {
        struct str text;
        assert_ok(
            json_string(&parsing.arena, parsing_ok(strings[i].text), &text));
        assert_true(str_eq(text, strings[i].decoded));
    }
    struct str kept = STR("kept");
    assert_status(json_string(&parsing.arena, parsing_ok("1"), &kept),
                  ST_INVALID);
    assert_text(kept, "kept");
}

static void json_views_strings_without_escapes(void **state)
{
    (void)state;
    struct json root = parsing_ok("[\"view\"]");
    struct json_walk walk;
    json_walk_init(&walk, root);
    assert_true(json_walk_next(&walk));
    struct str text;
    assert_ok(json_string(&parsing.arena, walk.value, &text));
    assert_ptr_equal(text.p, parsing.text + 2);
}

static void json_compares_strings_decoded(void **state)
{
    (void)state;
    assert_true(json_is_string(parsing_ok("\"tools/call\""), "tools/call"));
    assert_true(json_is_string(parsing_ok("\"tools\\/call\""), "tools/call"));
    assert_true(
        json_is_string(parsing_ok("\"\\u0074ools/call\""), "tools/call"));
    assert_true(
        json_is_string(parsing_ok("\"\\ud83d\\ude00\""), "\xf0\x9f\x98\x80"));
    assert_true(json_is_string(parsing_ok("\"\""), ""));
    assert_false(json_is_string(parsing_ok("\"tools/cal\""), "tools/call"));
    assert_false(json_is_string(parsing_ok("\"tools/calls\""), "tools/call"));
    assert_false(json_is_string(parsing_ok("\"\\u0074ools\""), "tools/call"));
    assert_false(json_is_string(parsing_ok("\"a\\u0000\""), "a"));
    assert_false(json_is_string(parsing_ok("\"\\n\""), "\\n"));
    assert_false(json_is_string(parsing_ok("1"), "1"));
    assert_false(json_is_string(parsing_ok("[\"a\"]"), "a"));
}

static void json_reads_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double number;
    } cases[] = {
        {"0", 0},
        {"-1", -1},
        {"[1.5]", 1.5},
        {"[-2.5e-3]", -2.5e-3},
        {" 1E2 ", 100},
        {"0.1", 0.1},
        {"9007199254740993", 9007199254740992.0},
        {"1e-400", 0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json value = parsing_ok(cases[i].text);
        struct json_walk walk;
        json_walk_init(&walk, value);
        if (json_walk_next(&walk))
            value = walk.value;
        double number = 7;
        assert_ok(json_number(value, &number));
        assert_true(number >= cases[i].number && number <= cases[i].number);
    }
    double kept = 7;
    assert_status(json_number(parsing_ok("1e400"), &kept), ST_LIMIT);
    assert_status(json_number(parsing_ok("-1e400"), &kept), ST_LIMIT);
    assert_status(json_number(parsing_ok("\"1\""), &kept), ST_INVALID);
    assert_status(json_number(parsing_ok("null"), &kept), ST_INVALID);
    assert_true(kept >= 7 && kept <= 7);
}

static void json_knows_whole_numbers(void **state)
{
    (void)state;
    static const double whole[] = {0,
                                   -0.0,
                                   1,
                                   -120,
                                   0x1p53,
                                   -0x1p53,
                                   0x1p63,
                                   -0x1p64,
                                   1e308,
                                   -1.5e300,
                                   4503599627370497.0};
    static const double broken[] = {
        0.5,   -0.5, 1e-300,       1.0000001,
        -7.25, 1e-9, 1e15 + 0.125, 4503599627370495.5};

    for (size_t i = 0; i < COUNT(whole); i++)
        assert_true(json_is_whole(whole[i]));
    for (size_t i = 0; i < COUNT(broken); i++)
        assert_false(json_is_whole(broken[i]));
}

static void json_reads_numbers_of_many_digits(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    const size_t digits = 200000;
    char *big = parsing_room(digits);
    memcpy(big, "[0.", 3);
    memset(big + 3, '0', digits / 2 - 3);
    memset(big + digits / 2, '1', digits / 2 - 1);
    big[digits - 1] = ']';
    struct str text = str_make(big, digits);
    assert_status(json_parse(&parsing.arena, text, &root, &error), ST_OK);
    struct json_walk walk;
    json_walk_init(&walk, root);
    assert_true(json_walk_next(&walk));
    double number = 1;
    assert_ok(json_number(walk.value, &number));
    assert_true(number >= 0 && number <= 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, parsing_release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_takes_large_objects_in_linear_time),
        TEST(json_takes_many_small_arrays_in_linear_time),
        TEST(json_finds_members),
        TEST(json_walks_over_inner_values),
        TEST(json_walks_names_and_values),
        TEST(json_treats_absent_as_nothing),
        TEST(json_keeps_the_text_of_values),
        TEST(json_decodes_strings),
        TEST(json_views_strings_without_escapes),
        TEST(json_compares_strings_decoded),
        TEST(json_reads_numbers),
        TEST(json_knows_whole_numbers),
        TEST(json_reads_numbers_of_many_digits),
    };
    return RUN_TESTS("json", tests);
}
