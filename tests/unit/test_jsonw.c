/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of jsonw.c. */
#include "base/utf8.h"
#include "json/json.h"
#include "json/jsonw.h"
#include "support/check.h"

static struct buf out;
static struct arena arena;

static int release(void **state)
{
    (void)state;
    buf_release(&out);
    arena_release(&arena);
    return 0;
}

/* A writer on the emptied buffer. */
static struct jsonw fresh(void)
{
    struct jsonw w;
    buf_reset(&out);
    jsonw_init(&w, &out);
    return w;
}

static void assert_written(const char *wanted)
{
    assert_memory(!buf_failed(&out));
    if (!str_eq(buf_view(&out), str_from(wanted)))
        print_error("%.*s\n", STR_ARG(buf_view(&out)));
    assert_true(str_eq(buf_view(&out), str_from(wanted)));
}

static void jsonw_puts_commas(void **state)
{
    (void)state;
    struct jsonw w = fresh();
    jsonw_object(&w);
    jsonw_member(&w, "a", STR("x"));
    jsonw_member_int(&w, "b", -5);
    jsonw_member_bool(&w, "c", true);
    jsonw_name(&w, "d");
    jsonw_array(&w);
    jsonw_array(&w);
    jsonw_end_array(&w);
    jsonw_object(&w);
    jsonw_end_object(&w);
    jsonw_null(&w);
    jsonw_bool(&w, false);
    jsonw_string(&w, STR(""));
    jsonw_int(&w, 0);
    jsonw_raw(&w, STR("1.0"));
    jsonw_end_array(&w);
    jsonw_name(&w, "e");
    jsonw_object(&w);
    jsonw_name(&w, "f");
    jsonw_null(&w);
    jsonw_end_object(&w);
    jsonw_member(&w, "g", STR(""));
    jsonw_end_object(&w);
    assert_written("{\"a\":\"x\",\"b\":-5,\"c\":true,"
                   "\"d\":[[],{},null,false,\"\",0,1.0],"
                   "\"e\":{\"f\":null},\"g\":\"\"}");
}

static void jsonw_writes_scalars_alone(void **state)
{
    (void)state;
    struct jsonw w = fresh();
    jsonw_int(&w, INT64_MIN);
    assert_written("-9223372036854775808");
    w = fresh();
    jsonw_int(&w, INT64_MAX);
    assert_written("9223372036854775807");
    w = fresh();
    jsonw_string(&w, str_make(NULL, 0));
    assert_written("\"\"");
}

static void jsonw_escapes(void **state)
{
    (void)state;
    static const struct {
        struct str text;
        const char *written;
    } cases[] = {
        {STR_INIT("plain ASCII ~ / '"), "\"plain ASCII ~ / '\""},
        {STR_INIT("\"\\"), "\"\\\"\\\\\""},
        {STR_INIT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
        {STR_INIT("\0\x01\x1b[31m\x1f\x7f"),
         "\"\\u0000\\u0001\\u001b[31m\\u001f\\u007f\""},
        {STR_INIT("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa"),
         "\"\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa\""},
        {STR_INIT("\xc3\xa1\xf0\x9f\x98\x80"), "\"\xc3\xa1\xf0\x9f\x98\x80\""},
        {STR_INIT("a\xff\xc3z\xe2\x82"),
         "\"a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\""},
        {STR_INIT("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {STR_INIT("\n in the middle of a longer run \x7f of plain text"),
         "\"\\n in the middle of a longer run \\u007f of plain text\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct jsonw w = fresh();
        jsonw_string(&w, cases[i].text);
        assert_written(cases[i].written);
    }
}

static void jsonw_escapes_names(void **state)
{
    (void)state;
    struct jsonw w = fresh();
    jsonw_object(&w);
    jsonw_member_int(&w, "a\"\n\xff", 1);
    jsonw_end_object(&w);
    assert_written("{\"a\\\"\\n\xef\xbf\xbd\":1}");
}

/* Written strings read back as the same text, with U+FFFD for bytes that are
   not UTF-8, and are one line of printable bytes. */
static void check_round_trip(struct str text)
{
    struct jsonw w = fresh();
    jsonw_string(&w, text);
    assert_memory(!buf_failed(&out));
    struct str written = buf_view(&out);
    assert_true(utf8_is_valid(written));
    for (size_t i = 0; i < written.n; i++)
        assert_true((unsigned char)written.p[i] >= ' ' && written.p[i] != 0x7f);
    struct json root;
    struct json_error error;
    struct str back;
    assert_ok(json_parse(&arena, written, &root, &error));
    assert_ok(json_string(&arena, root, &back));
    size_t end = out.n;
    utf8_append_valid(&out, text);
    assert_memory(!buf_failed(&out));
    assert_true(str_eq(back, str_make(out.p + end, out.n - end)));
}

static void jsonw_strings_read_back(void **state)
{
    (void)state;
    char text[300];
    for (size_t i = 0; i < 256; i++)
        text[i] = (char)i;
    check_round_trip(str_make(text, 256));
    for (uint32_t code = 0; code <= 0x10ffff; code += 0x1fff) {
        size_t n = 0;
        for (uint32_t c = code; n < 290 && c <= 0x10ffff; c += 7)
            if (c < 0xd800 || c > 0xdfff)
                n += utf8_encode(c, text + n);
        check_round_trip(str_make(text, n));
        check_round_trip(str_make(text + 1, n - 1));
        check_round_trip(str_make(text, n - 1));
        arena_release(&arena);
    }
}

#define TEST(name) cmocka_unit_test_teardown(name, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(jsonw_puts_commas),       TEST(jsonw_writes_scalars_alone),
        TEST(jsonw_escapes),           TEST(jsonw_escapes_names),
        TEST(jsonw_strings_read_back),
    };
    return RUN_TESTS("jsonw", tests);
}
