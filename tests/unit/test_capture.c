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
    size_t chars = 0;

    (void)state;
    capture_add(&output, STR("head \xc3\xa4"), &room);
    assert_memory(!buf_failed(&output.head));
    storage = output.head.p;
    missing = capture_take_text(&output, &text, &chars);
    assert_memory(!buf_failed(&text) && text.n > 0);
    assert_int_equal(missing, 0);
    assert_int_equal(chars, 6);
    assert_text(buf_view(&text), "head \xc3\xa4");
    assert_ptr_equal(text.p, storage);
    assert_true(capture_is_empty(&output));
    buf_reset(&text);
    capture_add(&output, STR("head \xc3"), &room);
    assert_memory(!buf_failed(&output.head));
    (void)capture_take_text(&output, &text, &chars);
    assert_memory(!buf_failed(&text) && text.n > 0);
    assert_text(buf_view(&text), "head \xef\xbf\xbd");
    assert_int_equal(chars, 6 + 6);
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

/* Whatever comes, and in whatever pieces: what is kept is what all of it would
   be when made valid at once. */
static void capture_is_valid_in_any_pieces(void **state)
{
    static const struct str texts[] = {
        STR_INIT("a\xc3\xa4\xe4\xb8\x80\xf0\x9f\x98\x80z"),
        STR_INIT("\xf0\x9f\x98"),
        STR_INIT("\xf0\x9f\x98z\xe4\xb8\xc3\xc3\xa4"),
        STR_INIT("\x80\x80\x80\x80\x80\xff\xfe\xe0\x80\x80"),
        STR_INIT("\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xf8\x88"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (size_t cut = 0; cut < texts[i].n * texts[i].n; cut++) {
            size_t ends[] = {cut / texts[i].n, cut % texts[i].n, texts[i].n};
            struct buf wanted = BUF_EMPTY;
            size_t at = 0;

            if (ends[0] > ends[1])
                continue;
            for (int piece = 0; piece < 3; at = ends[piece++])
                capture_add(&output,
                            str_make(texts[i].p + at, ends[piece] - at), &room);
            bool kept = !buf_failed(&output.head);
            size_t chars = 0;
            int64_t missing = capture_take_text(&output, &text, &chars);
            utf8_append_valid(&wanted, texts[i]);
            bool good = kept && !buf_failed(&text) && !buf_failed(&wanted);
            bool same = str_eq(buf_view(&text), buf_view(&wanted));
            size_t wanted_chars = utf8_count(buf_view(&wanted));
            buf_release(&wanted);
            assert_memory(good);
            assert_true(same);
            assert_int_equal(chars, wanted_chars);
            assert_int_equal(missing, 0);
            buf_reset(&text);
        }
    }
}

/* The head, the ring and the place where it begins again may each divide a
   character. */
static void capture_keeps_characters_whole(void **state)
{
    static char block[3 * 1000];

    (void)state;
    for (size_t i = 0; i < sizeof block; i += 3)
        memcpy(block + i, "\xe4\xb8\x80", 3);
    capture_add(&output, STR("a"), &room);
    for (size_t n = 0; n < 18u * 1024 * 1024; n += sizeof block)
        capture_add(&output, str_make(block, sizeof block), &room);
    uint64_t all = output.chars;
    bool kept = !buf_failed(&output.head);
    size_t chars = 0;
    int64_t missing = capture_take_text(&output, &text, &chars);
    assert_memory(kept && !buf_failed(&text));
    assert_true(utf8_is_valid(buf_view(&text)));
    for (size_t i = 0; i + 3 <= text.n; i++)
        assert_false(memcmp(text.p + i, "\xef\xbf\xbd", 3) == 0);
    assert_true(missing > 0);
    // the line in the middle is in the text, and counts as what it replaces
    assert_int_equal(utf8_count(buf_view(&text)) + (size_t)missing, all);
    assert_int_equal(chars, utf8_count(buf_view(&text)));
}

/* Nothing that a terminal obeys is missed, wherever it comes and however it is
   divided; most other output is known to be plain. */
static void capture_finds_controls(void **state)
{
    static const struct str controls[] = {
        STR_INIT("a\x1b[31mb"), STR_INIT("ab\xc2\x9b"), STR_INIT("\rab"),
        STR_INIT("abcd\a"),     STR_INIT("ab\x7f"),
    };
    static const struct str plain = STR_INIT("a\tb\r\nc\xc2\xa0\xe4\xb8\x80\n");

    (void)state;
    for (size_t i = 0; i < COUNT(controls); i++) {
        for (size_t cut = 0; cut <= controls[i].n; cut++) {
            capture_add(&output, str_make(controls[i].p, cut), &room);
            capture_add(&output,
                        str_make(controls[i].p + cut, controls[i].n - cut),
                        &room);
            assert_true(output.has_controls);
            capture_release(&output);
        }
    }
    capture_add(&output, plain, &room);
    assert_false(output.has_controls);
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
        TEST(capture_is_valid_in_any_pieces),
        TEST(capture_keeps_characters_whole),
        TEST(capture_finds_controls),
    };

    return RUN_TESTS("capture", tests);
}
