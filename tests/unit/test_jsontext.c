/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of jsontext.c, through json_parse. */
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "json/json.h"
#include "support/check.h"
#include "support/parsing.h"

/* --- The grammar -------------------------------------------------------- */

static const struct {
    struct str text;
    enum json_type type;
} good[] = {
    {STR_INIT("null"), JSON_NULL},
    {STR_INIT("true"), JSON_TRUE},
    {STR_INIT("false"), JSON_FALSE},
    {STR_INIT("0"), JSON_NUMBER},
    {STR_INIT("-0"), JSON_NUMBER},
    {STR_INIT("-0.0"), JSON_NUMBER},
    {STR_INIT("42"), JSON_NUMBER},
    {STR_INIT("-1"), JSON_NUMBER},
    {STR_INIT("1.5"), JSON_NUMBER},
    {STR_INIT("1e5"), JSON_NUMBER},
    {STR_INIT("0e+1"), JSON_NUMBER},
    {STR_INIT("1E-22"), JSON_NUMBER},
    {STR_INIT("123.456e789"), JSON_NUMBER},
    {STR_INIT("100000000000000000000"), JSON_NUMBER},
    {STR_INIT(" \t\r\n1 \t\r\n"), JSON_NUMBER},
    {STR_INIT("\"\""), JSON_STRING},
    {STR_INIT("\"a\""), JSON_STRING},
    {STR_INIT(" \"a\" "), JSON_STRING},
    {STR_INIT("\"\x7f\""), JSON_STRING},
    {STR_INIT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), JSON_STRING},
    {STR_INIT("\"\\u0000\\u0041\\uFFFF\\uabCD\""), JSON_STRING},
    {STR_INIT("\"\\ud83d\\ude00\\uD83D\\uDE00\""), JSON_STRING},
    {STR_INIT("\"\\\\u12\""), JSON_STRING},
    {STR_INIT("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""), JSON_STRING},
    {STR_INIT("\"\xf4\x8f\xbf\xbf\xef\xbf\xbf\xe2\x80\xa8\""), JSON_STRING},
    {STR_INIT("\"/* no comment */\""), JSON_STRING},
    {STR_INIT("[]"), JSON_ARRAY},
    {STR_INIT("[ ]"), JSON_ARRAY},
    {STR_INIT(" [1 , 2] "), JSON_ARRAY},
    {STR_INIT("[null,true,false,1,\"a\",[],{}]"), JSON_ARRAY},
    {STR_INIT("[[[[]]],[]]"), JSON_ARRAY},
    {STR_INIT("[\"a\",\n\"b\"]\n"), JSON_ARRAY},
    {STR_INIT("{}"), JSON_OBJECT},
    {STR_INIT("{ }"), JSON_OBJECT},
    {STR_INIT("{\"\":0}"), JSON_OBJECT},
    {STR_INIT("{\"a\":1,\"a\":2}"), JSON_OBJECT},
    {STR_INIT("{\"a\" : {\"b\" : [ ] , \"c\" : 1e0 } }"), JSON_OBJECT},
    {STR_INIT("{\"\\u0061\":[{\"b\":{}}]}"), JSON_OBJECT},
};

static void jsontext_accepts_what_rfc_8259_allows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct json root = {NULL, 0};
        struct json_error error = {"", 0};
        enum status status = parsing_read(good[i].text, &root, &error);
        if (status == ST_INVALID)
            print_error("%.*s: %s\n", STR_ARG(good[i].text), error.what);
        assert_ok(status);
        assert_int_equal(json_type(root), good[i].type);
    }
}

#define EARLY "unexpected end of text"
#define NO_VALUE "expected a value"
#define TRAILING "text after the value"
#define IN_ARRAY "expected ',' or ']'"
#define IN_OBJECT "expected ',' or '}'"
#define NO_NAME "expected a name in quotes"
#define NO_COLON "expected ':' after a name"
#define ESCAPE "invalid escape in a string"
#define LONE "unpaired surrogate escape"
#define CONTROL "control byte in a string"
#define BAD_UTF8 "invalid UTF-8"

struct refusal {
    struct str text;
    const char *what;
    size_t at;
};

static void check_refusals(const struct refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct json root = {NULL, 7};
        struct json_error error = {"accepted", 0};
        enum status status = parsing_read(cases[i].text, &root, &error);
        if (status != ST_NOMEM &&
            (strcmp(error.what, cases[i].what) != 0 || error.at != cases[i].at))
            print_error("%.*s: %s at %zu\n", STR_ARG(cases[i].text), error.what,
                        error.at);
        assert_status(status, ST_INVALID);
        assert_string_equal(error.what, cases[i].what);
        assert_int_equal(error.at, cases[i].at);
        assert_int_equal(root.token, 7);
    }
}

static void jsontext_rejects_no_or_several_roots(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {STR_INIT(""), EARLY, 0},
        {STR_INIT(" \n"), EARLY, 2},
        {STR_INIT("1 2"), TRAILING, 2},
        {STR_INIT("{}{}"), TRAILING, 2},
        {STR_INIT("[]]"), TRAILING, 2},
        {STR_INIT("{}}"), TRAILING, 2},
        {STR_INIT("\"a\" b"), TRAILING, 4},
        {STR_INIT("1,"), TRAILING, 1},
        {STR_INIT("{}\0"), TRAILING, 2},
        {STR_INIT("[1]\0[2]"), TRAILING, 3},
        {STR_INIT("\xef\xbb\xbf{}"), NO_VALUE, 0},
        {STR_INIT("{\0}"), NO_NAME, 1},
        {STR_INIT("\0"), NO_VALUE, 0},
        {STR_INIT("]"), NO_VALUE, 0},
        {STR_INIT("\f1"), NO_VALUE, 0},
        {STR_INIT("\xc2\xa0[]"), NO_VALUE, 0},
        {STR_INIT("/* c */ 1"), NO_VALUE, 0},
        {STR_INIT("1 // c"), TRAILING, 2},
    };
    check_refusals(cases, COUNT(cases));
}

static void jsontext_rejects_malformed_words_and_numbers(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {STR_INIT("nul"), NO_VALUE, 0},
        {STR_INIT("nulll"), TRAILING, 4},
        {STR_INIT("True"), NO_VALUE, 0},
        {STR_INIT("[tru]"), NO_VALUE, 1},
        {STR_INIT("truefalse"), TRAILING, 4},
        {STR_INIT("undefined"), NO_VALUE, 0},
        {STR_INIT("NaN"), NO_VALUE, 0},
        {STR_INIT("[Infinity]"), NO_VALUE, 1},
        {STR_INIT("[-Infinity]"), NO_VALUE, 2},
        {STR_INIT("'a'"), NO_VALUE, 0},
        {STR_INIT("[a]"), NO_VALUE, 1},
        {STR_INIT("-"), EARLY, 1},
        {STR_INIT("[-]"), NO_VALUE, 2},
        {STR_INIT("[--1]"), NO_VALUE, 2},
        {STR_INIT("[+1]"), NO_VALUE, 1},
        {STR_INIT("[.5]"), NO_VALUE, 1},
        {STR_INIT("[1.]"), NO_VALUE, 3},
        {STR_INIT("[1.e3]"), NO_VALUE, 3},
        {STR_INIT("[1e]"), NO_VALUE, 3},
        {STR_INIT("[1e+]"), NO_VALUE, 4},
        {STR_INIT("1e"), EARLY, 2},
        {STR_INIT("[01]"), IN_ARRAY, 2},
        {STR_INIT("[-01]"), IN_ARRAY, 3},
        {STR_INIT("[1 000]"), IN_ARRAY, 3},
        {STR_INIT("[1_000]"), IN_ARRAY, 2},
        {STR_INIT("[0x10]"), IN_ARRAY, 2},
        {STR_INIT("[1e1.5]"), IN_ARRAY, 4},
        {STR_INIT("[1a]"), IN_ARRAY, 2},
        {STR_INIT("[1\0]"), IN_ARRAY, 2},
        {STR_INIT("[\xef\xbc\x91]"), NO_VALUE, 1},
    };
    check_refusals(cases, COUNT(cases));
}

static void jsontext_rejects_malformed_arrays(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {STR_INIT("["), EARLY, 1},
        {STR_INIT("[1"), EARLY, 2},
        {STR_INIT("[1,"), EARLY, 3},
        {STR_INIT("[1,]"), NO_VALUE, 3},
        {STR_INIT("[,1]"), NO_VALUE, 1},
        {STR_INIT("[1,,2]"), NO_VALUE, 3},
        {STR_INIT("[,]"), NO_VALUE, 1},
        {STR_INIT("[1 true]"), IN_ARRAY, 3},
        {STR_INIT("[1}"), IN_ARRAY, 2},
        {STR_INIT("[1:2]"), IN_ARRAY, 2},
        {STR_INIT("[\"a\":1]"), IN_ARRAY, 4},
        {STR_INIT("[[]"), EARLY, 3},
        {STR_INIT("[{}"), EARLY, 3},
        {STR_INIT("[}"), NO_VALUE, 1},
        {STR_INIT("[\"a\" \"b\"]"), IN_ARRAY, 5},
        {STR_INIT("[[][]]"), IN_ARRAY, 3},
        {STR_INIT("(1)"), NO_VALUE, 0},
    };
    check_refusals(cases, COUNT(cases));
}

static void jsontext_rejects_malformed_objects(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {STR_INIT("{"), EARLY, 1},
        {STR_INIT("{\"a\""), EARLY, 4},
        {STR_INIT("{\"a\":"), EARLY, 5},
        {STR_INIT("{\"a\":1"), EARLY, 6},
        {STR_INIT("{\"a\":1,"), EARLY, 7},
        {STR_INIT("{\"a\":1,}"), NO_NAME, 7},
        {STR_INIT("{,\"a\":1}"), NO_NAME, 1},
        {STR_INIT("{\"a\":1,,\"b\":2}"), NO_NAME, 7},
        {STR_INIT("{\"a\"}"), NO_COLON, 4},
        {STR_INIT("{\"a\",1}"), NO_COLON, 4},
        {STR_INIT("{\"a\" 1}"), NO_COLON, 5},
        {STR_INIT("{\"a\"::1}"), NO_VALUE, 5},
        {STR_INIT("{:1}"), NO_NAME, 1},
        {STR_INIT("{\"a\":}"), NO_VALUE, 5},
        {STR_INIT("{\"a\":1]"), IN_OBJECT, 6},
        {STR_INIT("{\"a\":1 \"b\":2}"), IN_OBJECT, 7},
        {STR_INIT("{\"a\":1:2}"), IN_OBJECT, 6},
        {STR_INIT("{a:1}"), NO_NAME, 1},
        {STR_INIT("{'a':1}"), NO_NAME, 1},
        {STR_INIT("{1:1}"), NO_NAME, 1},
        {STR_INIT("{null:1}"), NO_NAME, 1},
        {STR_INIT("{[]:1}"), NO_NAME, 1},
        {STR_INIT("{{}:1}"), NO_NAME, 1},
        {STR_INIT("{]"), NO_NAME, 1},
        {STR_INIT("{\"a\":tru}"), NO_VALUE, 5},
    };
    check_refusals(cases, COUNT(cases));
}

static void jsontext_rejects_malformed_strings(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        {STR_INIT("\""), EARLY, 1},
        {STR_INIT("\"abc"), EARLY, 4},
        {STR_INIT("\"abcdefghijklmnop"), EARLY, 17},
        {STR_INIT("\"\\\""), EARLY, 3},
        {STR_INIT("\"\\"), ESCAPE, 1},
        {STR_INIT("\"\\x41\""), ESCAPE, 1},
        {STR_INIT("\"\\'\""), ESCAPE, 1},
        {STR_INIT("\"\\N\""), ESCAPE, 1},
        {STR_INIT("\"\\0\""), ESCAPE, 1},
        {STR_INIT("\"\\\0\""), ESCAPE, 1},
        {STR_INIT("\"\\\xc3\xa9\""), ESCAPE, 1},
        {STR_INIT("\"\\u\""), ESCAPE, 1},
        {STR_INIT("\"\\u12\""), ESCAPE, 1},
        {STR_INIT("\"\\u123"), ESCAPE, 1},
        {STR_INIT("\"\\u123g\""), ESCAPE, 1},
        {STR_INIT("\"\\u 123\""), ESCAPE, 1},
        {STR_INIT("\"\\u-123\""), ESCAPE, 1},
        {STR_INIT("\"\\U0041\""), ESCAPE, 1},
        {STR_INIT("\"\\ud800\""), LONE, 1},
        {STR_INIT("\"a\\udc00\""), LONE, 2},
        {STR_INIT("\"\\udbff\\ud800\""), LONE, 1},
        {STR_INIT("\"\\ud800x\""), LONE, 1},
        {STR_INIT("\"\\ud800\\n\""), LONE, 1},
        {STR_INIT("\"\\ud800\\u0041\""), LONE, 1},
        {STR_INIT("\"\\ud800\\udc0"), LONE, 1},
        {STR_INIT("\"\\ud800"), LONE, 1},
        {STR_INIT("{\"\\ude00\":1}"), LONE, 2},
        {STR_INIT("\"a\nb\""), CONTROL, 2},
        {STR_INIT("\"a\tb\""), CONTROL, 2},
        {STR_INIT("\"a\0b\""), CONTROL, 2},
        {STR_INIT("\"\x1f\""), CONTROL, 1},
        {STR_INIT("\"\xff\""), BAD_UTF8, 1},
        {STR_INIT("\"\x80\""), BAD_UTF8, 1},
        {STR_INIT("\"\xc3\""), BAD_UTF8, 1},
        {STR_INIT("\"\xe2\x82\""), BAD_UTF8, 1},
        {STR_INIT("\"\xc0\xaf\""), BAD_UTF8, 1},
        {STR_INIT("\"\xed\xa0\x80\""), BAD_UTF8, 1},
        {STR_INIT("\"\xf4\x90\x80\x80\""), BAD_UTF8, 1},
        {STR_INIT("\"caf\xe9\""), BAD_UTF8, 4},
    };
    check_refusals(cases, COUNT(cases));
}

/* A text that is cut anywhere is refused, never read past its end. */
static void jsontext_rejects_every_part_of_a_text(void **state)
{
    (void)state;
    const struct str whole =
        STR(" {\"a\\u00e9\\ud83d\\ude00\":[-1.5e+3,true,false,null,{}],"
            "\"\xc3\xa9\":\"\\n\"}");
    struct json root;
    struct json_error error;
    for (size_t n = 0; n < whole.n; n++)
        assert_status(parsing_read(str_make(whole.p, n), &root, &error),
                      ST_INVALID);
    assert_ok(parsing_read(whole, &root, &error));
    assert_status(json_parse(&parsing.arena, str_make(NULL, 0), &root, &error),
                  ST_INVALID);
}

/* --- Limits ------------------------------------------------------------- */

/* N times OPEN, MIDDLE, N times CLOSE, in the room for the text. */
static struct str nested(size_t n, const char *open, const char *middle,
                         const char *close)
{
    struct str parts[] = {str_from(open), str_from(middle), str_from(close)};
    char *big = parsing_room(n * (parts[0].n + parts[2].n) + parts[1].n);
    char *to = big;
    for (size_t part = 0; part < 3; part++) {
        for (size_t i = 0; i < (part == 1 ? 1 : n); i++) {
            memcpy(to, parts[part].p, parts[part].n);
            to += parts[part].n;
        }
    }
    return str_make(big, (size_t)(to - big));
}

static void jsontext_bounds_the_depth(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    struct str text = nested(LIMIT_JSON_DEPTH, "[", "", "]");
    assert_ok(json_parse(&parsing.arena, text, &root, &error));
    text = nested(LIMIT_JSON_DEPTH, "{\"a\":", "1", "}");
    assert_ok(json_parse(&parsing.arena, text, &root, &error));
    text = nested(LIMIT_JSON_DEPTH + 1, "[", "", "]");
    assert_status(json_parse(&parsing.arena, text, &root, &error), ST_INVALID);
    assert_string_equal(error.what, "nesting deeper than 512");
    assert_int_equal(error.at, LIMIT_JSON_DEPTH);
    text = nested(100000, "{\"a\":[", "", "]}");
    assert_status(json_parse(&parsing.arena, text, &root, &error), ST_INVALID);
    assert_string_equal(error.what, "nesting deeper than 512");
}

/* "[1,1,…,1]" with N elements, in the room for the text. */
static struct str ones(size_t n)
{
    char *big = parsing_room(2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        big[2 * i] = ',';
        big[2 * i + 1] = '1';
    }
    big[0] = '[';
    big[2 * n] = ']';
    return str_make(big, 2 * n + 1);
}

static void jsontext_bounds_the_number_of_tokens(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    struct str text = ones(LIMIT_JSON_TOKENS - 1);
    assert_ok(json_parse(&parsing.arena, text, &root, &error));
    assert_int_equal(json_count(root), LIMIT_JSON_TOKENS - 1);
    arena_release(&parsing.arena);
    text = ones(LIMIT_JSON_TOKENS);
    assert_status(json_parse(&parsing.arena, text, &root, &error), ST_LIMIT);
    assert_string_equal(error.what, "more than 262144 values and names");
    assert_int_equal(error.at, text.n - 2);
    assert_null(parsing.arena.top);
}

static void jsontext_bounds_the_length(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    // the text itself must not be read
    struct str text = {"[", (size_t)INT32_MAX};
    assert_status(json_parse(&parsing.arena, text, &root, &error), ST_LIMIT);
    assert_string_equal(error.what, "longer than 2 GiB");
}

static void jsontext_refuses_large_nests_at_once(void **state)
{
    (void)state;
    clock_t start = clock();
    struct json root;
    struct json_error error;
    struct str text = nested(LIMIT_MESSAGE / 2, "[", "", "]");
    assert_status(json_parse(&parsing.arena, text, &root, &error), ST_INVALID);
    parsing_was_quick(start);
}

#define TEST(name) cmocka_unit_test_teardown(name, parsing_release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(jsontext_accepts_what_rfc_8259_allows),
        TEST(jsontext_rejects_no_or_several_roots),
        TEST(jsontext_rejects_malformed_words_and_numbers),
        TEST(jsontext_rejects_malformed_arrays),
        TEST(jsontext_rejects_malformed_objects),
        TEST(jsontext_rejects_malformed_strings),
        TEST(jsontext_rejects_every_part_of_a_text),
        TEST(jsontext_bounds_the_depth),
        TEST(jsontext_bounds_the_number_of_tokens),
        TEST(jsontext_bounds_the_length),
        TEST(jsontext_refuses_large_nests_at_once),
    };
    return RUN_TESTS("jsontext", tests);
}
