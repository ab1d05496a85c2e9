/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of capture.c: which output is kept, and which is only counted. */
#include <string.h>

#include "base/utf8.h"
#include "supervisor/capture.h"
#include "support/check.h"

static struct capture output;
static struct buf text;

static int setup(void **state)
{
    (void)state;
    memset(&output, 0, sizeof output);
    text = BUF_EMPTY;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    capture_release(&output);
    buf_release(&text);
    return 0;
}

/* Room for all that is added. */
static size_t room = SIZE_MAX;

/* Fills the capture with N bytes of the digits 0 to 9. */
static void add_digits(size_t n)
{
    char block[1000];

    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)('0' + i % 10);
    for (; n >= sizeof block; n -= sizeof block)
        capture_add(&output, str_make(block, sizeof block), &room);
    capture_add(&output, str_make(block, n), &room);
}

static void capture_starts_empty(void **state)
{
    (void)state;
    assert_true(capture_is_empty(&output));
    capture_add(&output, STR(""), &room);
    assert_true(capture_is_empty(&output));
    assert_int_equal(capture_text(&output, &text), 0);
    assert_int_equal(text.n, 0);
    capture_add(&output, STR("a"), &room);
    assert_memory(!buf_failed(&output.head));
    assert_false(capture_is_empty(&output));
}

static void capture_joins_split_characters(void **state)
{
    int64_t missing;

    (void)state;
    capture_add(&output, STR("\xc3"), &room);
    capture_add(&output, STR("\xa4"), &room);
    assert_int_equal(output.chars, 1);
    missing = capture_text(&output, &text);
    assert_memory(!buf_failed(&output.head) && !buf_failed(&text));
    assert_int_equal(missing, 0);
    assert_text(buf_view(&text), "\xc3\xa4");
}

/* All output is counted. Memory is bounded by what is kept: the start and the
   end, with a line between them. */
static void capture_is_bounded(void **state)
{
    const size_t n = (size_t)LIMIT_OUTPUT_KEPT * 2;
    int64_t missing;

    (void)state;
    add_digits(n);
    missing = capture_text(&output, &text);
    assert_memory(output.ring && !buf_failed(&output.head) &&
                  !buf_failed(&text));
    assert_int_equal(output.chars, n);
    assert_true(output.head.cap <= CAPTURE_HEAD * 2);
    assert_int_equal(utf8_count(buf_view(&text)) + (size_t)missing, n);
    buf_byte(&text, '\0');
    assert_memory(!buf_failed(&text));
    assert_non_null(strstr(text.p, "characters are not kept …]\n"));
}

/* Storage is moved, not copied, unless bytes are not valid. */
static void capture_gives_its_text_away(void **state)
{
    const char *storage;
    int64_t missing;

    (void)state;
    capture_add(&output, STR("head \xc3\xa4"), &room);
    assert_memory(!buf_failed(&output.head));
    storage = output.head.p;
    missing = capture_take_text(&output, &text);
    assert_memory(!buf_failed(&text) && text.n > 0);
    assert_int_equal(missing, 0);
    assert_text(buf_view(&text), "head \xc3\xa4");
    assert_ptr_equal(text.p, storage);
    assert_true(capture_is_empty(&output));
    buf_reset(&text);
    capture_add(&output, STR("head \xc3"), &room);
    assert_memory(!buf_failed(&output.head));
    (void)capture_take_text(&output, &text);
    assert_memory(!buf_failed(&text) && text.n > 0);
    assert_text(buf_view(&text), "head \xef\xbf\xbd");
    assert_true(capture_is_empty(&output));
}

/* Output for which there is no room is counted, and what comes once there is
   room follows the gap. */
static void capture_counts_without_room(void **state)
{
    int64_t missing;
    size_t little = 5;
    size_t none = 0;

    (void)state;
    capture_add(&output, STR("abcdefgh"), &little);
    assert_int_equal(little, 0);
    assert_memory(!buf_failed(&output.head));
    capture_add(&output, STR("ijkl"), &none);
    assert_int_equal(capture_held(&output), 5);
    capture_add(&output, STR("mnop"), &room);
    assert_memory(output.ring && !buf_failed(&output.head));
    assert_int_equal(capture_held(&output), 5 + CAPTURE_TAIL);
    missing = capture_text(&output, &text);
    assert_memory(!buf_failed(&text));
    assert_int_equal((int64_t)utf8_count(buf_view(&text)) + missing, 16);
    assert_text(buf_view(&text),
                "abcde\n[… 7 characters are not kept …]\nmnop");
}

/* Output that was not kept at all is not silence. */
static void capture_without_any_room_is_not_empty(void **state)
{
    size_t none = 0;

    (void)state;
    capture_add(&output, STR("abc"), &none);
    assert_false(capture_is_empty(&output));
    (void)capture_text(&output, &text);
    assert_memory(!buf_failed(&text));
    assert_text(buf_view(&text), "\n[… 3 characters are not kept …]\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(capture_starts_empty),
        TEST(capture_joins_split_characters),
        TEST(capture_is_bounded),
        TEST(capture_gives_its_text_away),
        TEST(capture_counts_without_room),
        TEST(capture_without_any_room_is_not_empty),
    };

    return RUN_TESTS("capture", tests);
}
