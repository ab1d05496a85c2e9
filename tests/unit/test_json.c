/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of json.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "json/json.h"
#include "support/check.h"

static struct arena arena;
static char *big; // a large text, owned

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    free(big);
    big = NULL;
    return 0;
}

/* Parses a copy of TEXT that ends where memory ends, so that the address
   sanitizer sees any look behind it. */
static enum status parse(struct str text, struct json *root,
                         struct json_error *error)
{
    free(big);
    big = malloc(text.n > 0 ? text.n : 1);
    if (big == NULL)
        return ST_NOMEM;
    if (text.n > 0)
        memcpy(big, text.p, text.n);
    return json_parse(&arena, str_make(big, text.n), root, error);
}

static struct json parse_ok(const char *text)
{
    struct json root = {NULL, 0};
    struct json_error error;
    assert_ok(parse(str_from(text), &root, &error));
    return root;
}

/* --- The grammar ---------------------------------------------------------- */

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

static void json_accepts_what_rfc_8259_allows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct json root = {NULL, 0};
        struct json_error error = {"", 0};
        enum status status = parse(good[i].text, &root, &error);
        if (status == ST_INVALID)
            print_error("%.*s: %s\n", STR_ARG(good[i].text), error.what);
        assert_ok(status);
        assert_int_equal(json_type(root), good[i].type);
    }
}

#define EARLY "the text ends too early"
#define NO_VALUE "expected a value"
#define TRAILING "text after the value"
#define IN_ARRAY "expected ',' or ']'"
#define IN_OBJECT "expected ',' or '}'"
#define NO_NAME "expected a name in quotes"
#define NO_COLON "expected ':' after a name"
#define ESCAPE "invalid escape in a string"
#define LONE "surrogate escape without its partner"
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
        enum status status = parse(cases[i].text, &root, &error);
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

static void json_rejects_no_or_several_roots(void **state)
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

static void json_rejects_malformed_words_and_numbers(void **state)
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

static void json_rejects_malformed_arrays(void **state)
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

static void json_rejects_malformed_objects(void **state)
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

static void json_rejects_malformed_strings(void **state)
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
static void json_rejects_every_part_of_a_text(void **state)
{
    (void)state;
    const struct str whole =
        STR(" {\"a\\u00e9\\ud83d\\ude00\":[-1.5e+3,true,false,null,{}],"
            "\"\xc3\xa9\":\"\\n\"}");
    struct json root;
    struct json_error error;
    for (size_t n = 0; n < whole.n; n++)
        assert_status(parse(str_make(whole.p, n), &root, &error), ST_INVALID);
    assert_ok(parse(whole, &root, &error));
    assert_status(json_parse(&arena, str_make(NULL, 0), &root, &error),
                  ST_INVALID);
}

/* --- Limits --------------------------------------------------------------- */

/* N times OPEN, MIDDLE, N times CLOSE, in big. */
static struct str nested(size_t n, const char *open, const char *middle,
                         const char *close)
{
    struct str parts[] = {str_from(open), str_from(middle), str_from(close)};
    free(big);
    big = malloc(n * (parts[0].n + parts[2].n) + parts[1].n);
    assert_memory(big != NULL);
    char *to = big;
    for (size_t part = 0; part < 3; part++) {
        for (size_t i = 0; i < (part == 1 ? 1 : n); i++) {
            memcpy(to, parts[part].p, parts[part].n);
            to += parts[part].n;
        }
    }
    return str_make(big, (size_t)(to - big));
}

static void json_bounds_the_depth(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    struct str text = nested(LIMIT_JSON_DEPTH, "[", "", "]");
    assert_ok(json_parse(&arena, text, &root, &error));
    text = nested(LIMIT_JSON_DEPTH, "{\"a\":", "1", "}");
    assert_ok(json_parse(&arena, text, &root, &error));
    text = nested(LIMIT_JSON_DEPTH + 1, "[", "", "]");
    assert_status(json_parse(&arena, text, &root, &error), ST_INVALID);
    assert_string_equal(error.what, "nesting deeper than 512");
    assert_int_equal(error.at, LIMIT_JSON_DEPTH);
    text = nested(100000, "{\"a\":[", "", "]}");
    assert_status(json_parse(&arena, text, &root, &error), ST_INVALID);
    assert_string_equal(error.what, "nesting deeper than 512");
}

/* "[1,1,…,1]" with N elements, in big. */
static struct str ones(size_t n)
{
    free(big);
    big = malloc(2 * n + 1);
    assert_memory(big != NULL);
    for (size_t i = 0; i < n; i++) {
        big[2 * i] = ',';
        big[2 * i + 1] = '1';
    }
    big[0] = '[';
    big[2 * n] = ']';
    return str_make(big, 2 * n + 1);
}

static void json_bounds_the_number_of_tokens(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    struct str text = ones(LIMIT_JSON_TOKENS - 1);
    assert_ok(json_parse(&arena, text, &root, &error));
    assert_int_equal(json_count(root), LIMIT_JSON_TOKENS - 1);
    arena_release(&arena);
    text = ones(LIMIT_JSON_TOKENS);
    assert_status(json_parse(&arena, text, &root, &error), ST_LIMIT);
    assert_string_equal(error.what, "more than 1048576 values and names");
    assert_int_equal(error.at, text.n - 2);
    assert_null(arena.top);
}

static void json_bounds_the_length(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    // Nothing of the text may be looked at.
    struct str text = {"[", (size_t)INT32_MAX};
    assert_status(json_parse(&arena, text, &root, &error), ST_LIMIT);
    assert_string_equal(error.what, "longer than 2 GiB");
}

/* Some ten times what it takes under the sanitizers; a quadratic algorithm
   would take hours. */
static void assert_quick(clock_t start)
{
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
}

static void json_takes_large_objects_in_linear_time(void **state)
{
    (void)state;
    const int members = 300000;
    clock_t start = clock();
    free(big);
    big = malloc((size_t)members * 32);
    assert_memory(big != NULL);
    size_t n = 0;
    for (int i = 0; i < members; i++)
        n += (size_t)snprintf(big + n, 32, "%c\"name-%d\":[%d]",
                              i == 0 ? '{' : ',', i, i);
    big[n++] = '}';
    struct json root;
    struct json_error error;
    assert_ok(json_parse(&arena, str_make(big, n), &root, &error));
    assert_int_equal(json_count(root), members);
    struct json last = json_get(root, "name-299999");
    assert_text(json_raw(last), "[299999]");
    struct json_walk walk;
    json_walk_init(&walk, root);
    int count = 0;
    while (json_walk_next(&walk))
        count++;
    assert_int_equal(count, members);
    assert_quick(start);
}

static void json_takes_many_small_arrays_in_linear_time(void **state)
{
    (void)state;
    const size_t arrays = LIMIT_JSON_TOKENS - 1;
    clock_t start = clock();
    free(big);
    big = malloc(arrays * 3 + 1);
    assert_memory(big != NULL);
    for (size_t i = 0; i < arrays; i++)
        memcpy(big + 3 * i, ",[]", 3);
    big[0] = '[';
    big[3 * arrays] = ']';
    struct json root;
    struct json_error error;
    struct str text = str_make(big, 3 * arrays + 1);
    assert_ok(json_parse(&arena, text, &root, &error));
    assert_int_equal(json_count(root), arrays);
    assert_quick(start);
}

static void json_refuses_large_nests_at_once(void **state)
{
    (void)state;
    clock_t start = clock();
    struct json root;
    struct json_error error;
    struct str text = nested(LIMIT_MESSAGE / 2, "[", "", "]");
    assert_status(json_parse(&arena, text, &root, &error), ST_INVALID);
    assert_quick(start);
}

/* --- Access ----------------------------------------------------------------
 */

static void json_finds_members(void **state)
{
    (void)state;
    struct json root = parse_ok("{\"a\":1, \"b\":{\"a\":2, \"c\":[3,[4]]},"
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
    struct json root = parse_ok("[[1], {\"x\":{\"y\":[2,{}]}}, \"s\", [], null,"
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
    struct json root = parse_ok("{\"a\":[1,2],\"b\":{\"c\":0},\"d\":3}");
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
    assert_status(json_string(&arena, absent, &text), ST_INVALID);
    assert_status(json_number(absent, &number), ST_INVALID);
    json_walk_init(&walk, absent);
    assert_false(json_walk_next(&walk));
    assert_text(text, "kept");
    json_walk_init(&walk, parse_ok("\"scalar\""));
    assert_false(json_walk_next(&walk));
}

static void json_keeps_the_text_of_values(void **state)
{
    (void)state;
    static const char *const texts[] = {"1.0", "100000000000000000000",
                                        "-0.0e+00", "\"\\u0041\"", "true"};
    char array[100];
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_true(str_eq(json_raw(parse_ok(texts[i])), str_from(texts[i])));
        snprintf(array, sizeof array, "{\"id\" : %s }", texts[i]);
        struct json id = json_get(parse_ok(array), "id");
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
        assert_ok(json_string(&arena, parse_ok(strings[i].text), &text));
        assert_true(str_eq(text, strings[i].decoded));
    }
    struct str kept = STR("kept");
    assert_status(json_string(&arena, parse_ok("1"), &kept), ST_INVALID);
    assert_text(kept, "kept");
}

static void json_views_strings_without_escapes(void **state)
{
    (void)state;
    struct json root = parse_ok("[\"view\"]");
    struct json_walk walk;
    json_walk_init(&walk, root);
    assert_true(json_walk_next(&walk));
    struct str text;
    assert_ok(json_string(&arena, walk.value, &text));
    assert_ptr_equal(text.p, big + 2);
}

static void json_compares_strings_decoded(void **state)
{
    (void)state;
    assert_true(json_is_string(parse_ok("\"tools/call\""), "tools/call"));
    assert_true(json_is_string(parse_ok("\"tools\\/call\""), "tools/call"));
    assert_true(json_is_string(parse_ok("\"\\u0074ools/call\""), "tools/call"));
    assert_true(
        json_is_string(parse_ok("\"\\ud83d\\ude00\""), "\xf0\x9f\x98\x80"));
    assert_true(json_is_string(parse_ok("\"\""), ""));
    assert_false(json_is_string(parse_ok("\"tools/cal\""), "tools/call"));
    assert_false(json_is_string(parse_ok("\"tools/calls\""), "tools/call"));
    assert_false(json_is_string(parse_ok("\"\\u0074ools\""), "tools/call"));
    assert_false(json_is_string(parse_ok("\"a\\u0000\""), "a"));
    assert_false(json_is_string(parse_ok("\"\\n\""), "\\n"));
    assert_false(json_is_string(parse_ok("1"), "1"));
    assert_false(json_is_string(parse_ok("[\"a\"]"), "a"));
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
        struct json value = parse_ok(cases[i].text);
        struct json_walk walk;
        json_walk_init(&walk, value);
        if (json_walk_next(&walk))
            value = walk.value;
        double number = 7;
        assert_ok(json_number(value, &number));
        assert_true(number >= cases[i].number && number <= cases[i].number);
    }
    double kept = 7;
    assert_status(json_number(parse_ok("1e400"), &kept), ST_LIMIT);
    assert_status(json_number(parse_ok("-1e400"), &kept), ST_LIMIT);
    assert_status(json_number(parse_ok("\"1\""), &kept), ST_INVALID);
    assert_status(json_number(parse_ok("null"), &kept), ST_INVALID);
    assert_true(kept >= 7 && kept <= 7);
}

static void json_reads_numbers_of_many_digits(void **state)
{
    (void)state;
    struct json root;
    struct json_error error;
    struct str text = nested(100000, "0", "", "1");
    big[0] = '[';
    big[1] = '0';
    big[2] = '.';
    big[text.n - 1] = ']';
    assert_status(json_parse(&arena, text, &root, &error), ST_OK);
    struct json_walk walk;
    json_walk_init(&walk, root);
    assert_true(json_walk_next(&walk));
    double number = 1;
    assert_ok(json_number(walk.value, &number));
    assert_true(number >= 0 && number <= 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(json_accepts_what_rfc_8259_allows),
        TEST(json_rejects_no_or_several_roots),
        TEST(json_rejects_malformed_words_and_numbers),
        TEST(json_rejects_malformed_arrays),
        TEST(json_rejects_malformed_objects),
        TEST(json_rejects_malformed_strings),
        TEST(json_rejects_every_part_of_a_text),
        TEST(json_bounds_the_depth),
        TEST(json_bounds_the_number_of_tokens),
        TEST(json_bounds_the_length),
        TEST(json_takes_large_objects_in_linear_time),
        TEST(json_takes_many_small_arrays_in_linear_time),
        TEST(json_refuses_large_nests_at_once),
        TEST(json_finds_members),
        TEST(json_walks_over_inner_values),
        TEST(json_walks_names_and_values),
        TEST(json_treats_absent_as_nothing),
        TEST(json_keeps_the_text_of_values),
        TEST(json_decodes_strings),
        TEST(json_views_strings_without_escapes),
        TEST(json_compares_strings_decoded),
        TEST(json_reads_numbers),
        TEST(json_reads_numbers_of_many_digits),
    };
    return RUN_TESTS("json", tests);
}
