/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of outputs.c: long outputs by number, in parts and whole, and those
   that are dropped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "supervisor/output_search.h"
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

/* Adds TEXT, printed by session main. */
static void add_text(const char *string)
{
    struct buf copy = BUF_EMPTY;
    bool failed;

    buf_str(&copy, str_from(string));
    failed = buf_failed(&copy);
    outputs_add(&outputs, "main", &copy);
    assert_memory(!failed);
}

/* Looks for PATTERN in output ID from OFFSET on; the answer is in text. */
static bool look(uint64_t id, uint64_t offset, uint64_t limit,
                 struct str pattern)
{
    struct arena arena = ARENA_EMPTY;
    enum status status = ST_INVALID;
    struct str whole;

    if (outputs_find(&outputs, id, offset, &whole, &text))
        status = output_search(&arena, whole, (size_t)offset, (size_t)limit,
                               pattern, &text);
    arena_release(&arena);
    assert_memory(status != ST_NOMEM);
    return status == ST_OK;
}

/* The answer to a search of output 1. */
static struct str search(uint64_t offset, uint64_t limit, const char *pattern)
{
    text.n = 0;
    if (!look(1, offset, limit, str_from(pattern)))
        text.n = 0;
    assert_memory(!buf_failed(&text) && text.n > 0);
    return buf_view(&text);
}

static void outputs_are_searched(void **state)
{
    (void)state;
    add_text("ä one\ntwo\nERROR: x\nfour\nfive\nsix\nERROR y\nERROR z\n");
    assert_text(search(0, 1000, "ERROR"),
                "2  two\n3: offset 10: ERROR: x\n4  four\n--\n6  six\n"
                "7: offset 33: ERROR y\n8: offset 41: ERROR z\n"
                "[3 matches in characters 0 to 49 of 49]");
    assert_text(search(0, 1000, "(?i)error [yz]$|^ä"),
                "1: offset 0: ä one\n2  two\n--\n6  six\n"
                "7: offset 33: ERROR y\n8: offset 41: ERROR z\n"
                "[3 matches in characters 0 to 49 of 49]");
    assert_text(search(41, 1000, "ERROR"),
                "8: offset 41: ERROR z\n"
                "[1 match in characters 41 to 49 of 49]");
    assert_text(search(0, 10, "ERROR"),
                "2  two\n3: offset 10: ERROR: x\n"
                "[1 match in characters 0 to 19 of 49; offset 19 continues]");
    assert_text(search(0, 1000, "no such"),
                "[0 matches in characters 0 to 49 of 49]");
    text.n = 0;
    assert_false(look(1, 0, 9, STR("(")));
    assert_memory(!buf_failed(&text));
    assert_true(
        str_starts(buf_view(&text), STR("argument pattern is not a regular")));
    text.n = 0;
    assert_false(look(1, 49, 9, STR("x")));
    assert_false(look(2, 0, 9, STR("x")));
}

/* Follows the offsets until all of output 1 was searched for PATTERN, and
   counts the searches and the matches. */
static void search_all(const char *pattern, size_t *searches, size_t *matches)
{
    unsigned long long offset = 0;

    *searches = 0;
    *matches = 0;
    for (bool more = true; more; ++*searches) {
        struct str found = search(offset, LIMIT_OUTPUT, pattern);
        const char *end;
        buf_byte(&text, '\0');
        assert_memory(!buf_failed(&text));
        end = strrchr(text.p, '[');
        assert_non_null(end);
        *matches += strtoull(end + 1, NULL, 10);
        end = strstr(end, "; offset ");
        more = end != NULL;
        if (more)
            offset = strtoull(end + strlen("; offset "), NULL, 10);
        assert_true(found.n < LIMIT_OUTPUT + 2000 && *searches < 1000);
    }
}

static void searches_are_bounded(void **state)
{
    struct buf lines = BUF_EMPTY;
    bool failed;
    size_t searches;
    size_t matches;

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        buf_printf(&lines, "line %zu of a text\n", i);
    for (size_t i = 0; i < 40 * LIMIT_OUTPUT_SEARCH_LINE; i++)
        buf_str(&lines, STR("aä")); // one line, of more bytes than is one
    buf_str(&lines, STR("\nend 7\n"));
    failed = buf_failed(&lines);
    outputs_add(&outputs, "main", &lines);
    assert_memory(!failed);
    search_all("[0-9]", &searches, &matches); // more matches than are shown
    assert_int_equal(matches, 1001);
    assert_true(searches > 1000 / LIMIT_SEARCH_MATCHES);
    search_all("end", &searches, &matches);
    assert_int_equal(matches, 1);
    assert_int_equal(searches, 1);
    buf_byte(&text, '\0');
    assert_memory(!buf_failed(&text));
    assert_non_null(strstr(text.p, "\n1002: offset ")); // many pieces before
    search_all("^(a|ä|aä)*(a|ä)*(x|y)", &searches, &matches); // much work
    assert_int_equal(matches, 0);
    assert_true(searches > 1);
}

#define MUCH_WORK "(x|x){300}$"
#define LINE_X 1000

/* The work of a search in one line of X for what it does not have. */
static uint64_t work_of_line(struct str line)
{
    struct arena arena = ARENA_EMPTY;
    struct regex regex = {.work = 0};
    struct str why;
    size_t at;
    bool found = true;
    enum status status = regex_init(&regex, &arena, STR(MUCH_WORK), &why);

    if (status == ST_OK)
        status = regex_search(&regex, &arena, line, &found, &at);
    arena_release(&arena);
    assert_ok(status);
    assert_false(found);
    return regex.work;
}

/* The line with which LIMIT_OUTPUT_SEARCH_WORK is reached is the last one. */
static void searches_end_with_the_line_that_is_too_much(void **state)
{
    char line[LINE_X + 1];
    struct buf lines = BUF_EMPTY;
    bool failed;
    uint64_t work;
    uint64_t n;

    (void)state;
    memset(line, 'x', LINE_X - 1);
    memcpy(line + LINE_X - 1, "y", 2);
    work = work_of_line(str_make(line, LINE_X));
    n = (LIMIT_OUTPUT_SEARCH_WORK + work - 1) / work;
    assert_in_range(n, 2, 1000);
    for (uint64_t i = 0; i < n; i++)
        buf_printf(&lines, "%s\n", line);
    buf_str(&lines, STR("more\n"));
    failed = buf_failed(&lines);
    outputs_add(&outputs, "main", &lines);
    assert_memory(!failed);
    char wanted[100];
    uint64_t all = n * (LINE_X + 1) + 5;
    // at the limit: the line before the last one is searched, and one more
    snprintf(wanted, sizeof wanted,
             "[0 matches in characters %llu to %llu of %llu]",
             (unsigned long long)LINE_X + 1, (unsigned long long)all,
             (unsigned long long)all);
    assert_true(
        str_eq(search(LINE_X + 1, LIMIT_OUTPUT, MUCH_WORK), str_from(wanted)));
    snprintf(wanted, sizeof wanted,
             "[0 matches in characters 0 to %llu of %llu; offset %llu "
             "continues]",
             (unsigned long long)all - 5, (unsigned long long)all,
             (unsigned long long)all - 5);
    assert_true(str_eq(search(0, LIMIT_OUTPUT, MUCH_WORK), str_from(wanted)));
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
        TEST(outputs_are_searched),
        TEST(searches_are_bounded),
        TEST(searches_end_with_the_line_that_is_too_much),
        TEST(outputs_say_what_is_missing),
        TEST(outputs_show_the_whole),
        TEST(outputs_drop_the_oldest),
    };

    return RUN_TESTS("outputs", tests);
}
