/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of preview.c. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "gate/preview.h"
#include "support/check.h"

static const struct schema_field fields[] = {
    {.name = "code", .kind = SCHEMA_STRING},
    {.name = "path", .kind = SCHEMA_PATH},
    {.name = "limit", .kind = SCHEMA_INTEGER},
    {.name = "share", .kind = SCHEMA_NUMBER},
    {.name = "full", .kind = SCHEMA_BOOLEAN},
    {.name = "edits", .kind = SCHEMA_LIST},
    {0},
};

static struct buf out;

static int release(void **state)
{
    (void)state;
    buf_release(&out);
    return 0;
}

static void check_code(struct str code, const char *expected)
{
    const struct schema_value values[] = {
        {.given = true, .string = code}, {0}, {0}, {0}, {0}, {0}};

    buf_reset(&out);
    preview_write(&out, fields, values);
    assert_memory(!buf_failed(&out));
    if (!buf_failed(&out))
        assert_true(str_eq(buf_view(&out), str_from(expected)));
}

static void preview_names_values(void **state)
{
    const struct schema_value values[] = {
        {0},
        {.given = true, .string = STR("src/a0123456789b0123456789c.lisp\n")},
        {.given = true, .integer = -7},
        {.given = true, .real = 0.5},
        {.given = true, .boolean = true},
        {.given = true, .count = 2},
    };

    (void)state;
    buf_str(&out, STR("before "));
    preview_write(&out, fields, values);
    assert_memory(!buf_failed(&out));
    if (!buf_failed(&out))
        assert_true(
            str_eq(buf_view(&out),
                   STR("before path: src/a0123456789b0123456789c.lisp\\n, "
                       "limit: -7, share: 0.5, full: true, edits: 2 items")));
    buf_reset(&out);
    preview_write(&out, NULL, NULL);
    assert_int_equal(out.n, 0);
}

static void preview_masks(void **state)
{
    static const struct {
        const char *code;
        const char *shown;
    } cases[] = {
        {"(defun f (x)\n\t (* x 2))", "(defun f (x) (* x 2))"},
        {"(login \"me\" \"\" \"my \\\"word\\\"\" 1)",
         "(login \"…\" \"\" \"…\" 1)"},
        {"(eql c #\\\") (f \"secret\")", "(eql c #\\\") (f \"…\")"},
        {"(f \"open", "(f \"…\""},
        {"\"ends in \\", "\"…\""},
        {"key=sk-0123456789abcdefghijk", "…"},
        {"(use :a-name-of-letters-that-is-long 12345678901234567890)",
         "(use :a-name-of-letters-that-is-long 12345678901234567890)"},
        {"(f deadbeef0123456789ab)", "(f …)"},
        {"(f deadbeef0123456789a)", "(f deadbeef0123456789a)"},
        {"(λ \xe2\x80\xae \x1b x)", "(λ \\u202e \\x1b x)"},
        {"\\", "\\"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char expected[200];
        (void)snprintf(expected, sizeof expected, "code: %s", cases[i].shown);
        check_code(str_from(cases[i].code), expected);
    }
}

/* A preview is bounded however long the text is, and wherever masked words
   end. */
static void preview_is_bounded(void **state)
{
    static char text[8 * LIMIT_PREVIEW];
    const struct schema_value values[] = {
        {.given = true, .string = {text, sizeof text}},
        {0},
        {0},
        {0},
        {0},
        {0}};

    (void)state;
    for (size_t quote = 0; quote < sizeof text; quote += 7) {
        memset(text, 'x', sizeof text);
        for (size_t i = 5; i < sizeof text; i += 9)
            text[i] = ' ';
        text[quote] = '"';
        buf_reset(&out);
        preview_write(&out, fields, values);
        assert_memory(!buf_failed(&out));
        if (!buf_failed(&out))
            assert_in_range(utf8_count(buf_view(&out)), 1, LIMIT_PREVIEW + 1);
    }
    // a word of which only the start was examined
    memset(text, 'x', sizeof text);
    check_code(str_make(text, sizeof text), "code: …");
}

#define TEST(name) cmocka_unit_test_teardown(name, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(preview_names_values),
        TEST(preview_masks),
        TEST(preview_is_bounded),
    };
    return RUN_TESTS("preview", tests);
}
