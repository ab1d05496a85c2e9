/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of answer.c: sections become an answer, which is cut if it is long. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "supervisor/answer.h"
#include "supervisor/capture.h"
#include "support/check.h"

static struct capture output;
static struct capture errors;
static struct capture earlier;
static struct outputs outputs;
static struct buf text;

/* The next answers are not about their outputs. */
static bool aside;

static int setup(void **state)
{
    (void)state;
    memset(&output, 0, sizeof output);
    memset(&errors, 0, sizeof errors);
    memset(&earlier, 0, sizeof earlier);
    memset(&outputs, 0, sizeof outputs);
    text = BUF_EMPTY;
    aside = false;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    capture_release(&output);
    capture_release(&errors);
    capture_release(&earlier);
    outputs_release(&outputs);
    buf_release(&text);
    return 0;
}

static void compose(const char *notice, const char *body, size_t max_chars)
{
    struct answer answer = {notice,         &earlier, &output, &errors,
                            str_from(body), "main",   aside};

    bool kept = !buf_failed(&output.head) && !buf_failed(&errors.head) &&
                !buf_failed(&earlier.head);

    buf_reset(&text);
    bool whole = answer_compose(&answer, max_chars, &outputs, &text);
    buf_byte(&text, '\0'); // for strstr
    assert_memory(whole && kept && !buf_failed(&text));
    buf_truncate(&text, text.n - 1);
}

/* Room for all that is added. */
static size_t room = SIZE_MAX;

static void add(struct capture *capture, const char *bytes)
{
    capture_add(capture, str_from(bytes), &room);
}

/* Fills CAPTURE with N bytes of the digits 0 to 9. */
static void add_digits(struct capture *capture, size_t n)
{
    char block[1000];

    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)('0' + i % 10);
    for (; n >= sizeof block; n -= sizeof block)
        capture_add(capture, str_make(block, sizeof block), &room);
    capture_add(capture, str_make(block, n), &room);
}

static void answer_omits_empty_sections(void **state)
{
    (void)state;
    compose(NULL, "=> 6", 1000);
    assert_text(buf_view(&text), "=> 6");
}

static void answer_orders_sections(void **state)
{
    (void)state;
    add(&output, "Hello, World!\n");
    add(&errors, "deprecated");
    compose("[notice]\nNew.", "=> NIL", 1000);
    assert_text(buf_view(&text), "[notice]\nNew.\n\n[stdout]\nHello, World!\n\n"
                                 "[stderr]\ndeprecated\n\n=> NIL");
}

/* The body comes first, and has the room that the outputs leave. */
static void answer_puts_output_aside(void **state)
{
    char body[9001];

    (void)state;
    aside = true;
    add(&output, "Hello, World!\n");
    add(&errors, "deprecated");
    compose("[notice]\nNew.", "PASSED", 1000);
    assert_text(buf_view(&text), "[notice]\nNew.\n\nPASSED\n\n"
                                 "[stdout]\nHello, World!\n\n"
                                 "[stderr]\ndeprecated");
    add_digits(&output, LIMIT_OUTPUT_ASIDE);
    compose(NULL, "PASSED", 10000);
    assert_null(strstr(text.p, "omitted"));
    memset(body, 'b', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    add_digits(&output, 100000);
    compose(NULL, body, 10000);
    assert_non_null(strstr(text.p, body));
    assert_non_null(strstr(text.p, "[… 99000 characters omitted; read-output"));
}

static void answer_without_body_is_its_output(void **state)
{
    (void)state;
    add(&output, "only this\n\n");
    compose(NULL, "", 1000);
    assert_text(buf_view(&text), "[stdout]\nonly this");
}

static void answer_marks_output_of_threads(void **state)
{
    (void)state;
    add(&earlier, "late\n");
    compose(NULL, "=> 1", 1000);
    assert_text(
        buf_view(&text),
        "[stdout]\n; from thread, since the last answer:\nlate\n\n=> 1");
    add(&earlier, "late\n");
    add(&output, "now\n");
    compose(NULL, "=> 1", 1000);
    assert_text(buf_view(&text),
                "[stdout]\n; from thread, since the last answer:\nlate\n"
                "; from this evaluation:\nnow\n\n=> 1");
}

static void answer_replaces_broken_bytes(void **state)
{
    (void)state;
    add(&output, "a\xff\xed\xa0\x80z");
    compose(NULL, "=> \xc3", 1000);
    assert_text(buf_view(&text), "[stdout]\na\xef\xbf\xbd\xef\xbf\xbd"
                                 "\xef\xbf\xbd\xef\xbf\xbdz\n\n=> "
                                 "\xef\xbf\xbd");
}

static void answer_cuts_the_middle(void **state)
{
    (void)state;
    add_digits(&output, 100);
    compose(NULL, "=> 1", 24);
    assert_text(buf_view(&text),
                "[stdout]\n0123456789\n[… 80 characters omitted; read-output "
                "id 1 …]\n0123456789\n\n=> 1");
    add_digits(&output, 100);
    compose(NULL, "=> 1", 24);
    assert_non_null(strstr(text.p, "id 2 "));
}

/* Characters are counted, not bytes, and never cut in two. */
static void answer_cuts_between_characters(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++)
        add(&output, "\xf0\x9f\x98\x80");
    compose(NULL, "", 4);
    assert_text(buf_view(&text),
                "[stdout]\n\xf0\x9f\x98\x80\xf0\x9f\x98\x80\n[… 46 characters "
                "omitted; read-output id 1 …]\n"
                "\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
}

/* A short body is never cut for a long output. Two long sections share the
   room. */
static void answer_shares_the_room(void **state)
{
    (void)state;
    add_digits(&output, 5000);
    add_digits(&errors, 5000);
    compose(NULL, "[ERROR] SIMPLE-ERROR\nall of this", 1000);
    assert_non_null(strstr(text.p, "\n\n[ERROR] SIMPLE-ERROR\nall of this"));
    assert_true(utf8_count(buf_view(&text)) < 1200);
    assert_true(utf8_count(buf_view(&text)) > 1000);
    assert_non_null(strstr(text.p, "id 1 "));
    assert_non_null(strstr(text.p, "id 2 "));
}

/* Characters that the capture has dropped count as omitted, too. */
static void answer_counts_all_that_came(void **state)
{
    const size_t n = (size_t)LIMIT_OUTPUT_KEPT * 2;

    (void)state;
    add_digits(&output, n);
    assert_int_equal(output.chars, n);
    assert_true(output.head.cap <= CAPTURE_HEAD * 2);
    compose(NULL, "", 1000);
    assert_true(capture_is_empty(&output));
    assert_non_null(strstr(text.p, "[… 33553432 characters omitted;"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answer_omits_empty_sections),
        TEST(answer_orders_sections),
        TEST(answer_puts_output_aside),
        TEST(answer_without_body_is_its_output),
        TEST(answer_marks_output_of_threads),
        TEST(answer_replaces_broken_bytes),
        TEST(answer_cuts_the_middle),
        TEST(answer_cuts_between_characters),
        TEST(answer_shares_the_room),
        TEST(answer_counts_all_that_came),
    };

    return RUN_TESTS("answer", tests);
}
