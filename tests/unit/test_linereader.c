/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of linereader.c. */
#include <stdlib.h>

#include "base/limits.h"
#include "json/linereader.h"
#include "support/check.h"

#define MAX_LINE 8

static struct linereader reader;
static struct buf seen; // "<line>" for each line, "!" for one too long
static char *chunk;     // a large piece of input, owned

static int release(void **state)
{
    (void)state;
    linereader_release(&reader);
    buf_release(&seen);
    free(chunk);
    chunk = NULL;
    return 0;
}

static void take_all(void)
{
    struct str line;
    enum status status;
    while ((status = linereader_next(&reader, &line)) != ST_MISSING) {
        if (status == ST_LIMIT) {
            buf_byte(&seen, '!');
            continue;
        }
        assert_ok(status);
        buf_byte(&seen, '<');
        buf_str(&seen, line);
        buf_byte(&seen, '>');
    }
    assert_memory(!buf_failed(&seen));
}

/* Feeds TEXT in pieces of STEP bytes, then ends the input. */
static void feed_steps(struct str text, size_t step)
{
    linereader_release(&reader);
    linereader_init(&reader, MAX_LINE);
    buf_reset(&seen);
    for (size_t i = 0; i < text.n; i += step) {
        size_t n = text.n - i < step ? text.n - i : step;
        assert_ok(linereader_feed(&reader, text.p + i, n));
        take_all();
    }
    linereader_finish(&reader);
    take_all();
}

static const struct {
    struct str input;
    const char *lines;
} cases[] = {
    {STR_INIT(""), ""},
    {STR_INIT("a\n"), "<a>"},
    {STR_INIT("a\nb\n"), "<a><b>"},
    {STR_INIT("a\r\nb\r\n"), "<a><b>"},
    {STR_INIT("a\rb\n"), "<a\rb>"},
    {STR_INIT("a\r\r\n"), "<a\r>"},
    {STR_INIT("\n\r\n  \n\t \r\na\n\n"), "<a>"},
    {STR_INIT("  a \n"), "<  a >"},
    {STR_INIT("no end"), "<no end>"},
    {STR_INIT("a\nb\r"), "<a><b>"},
    {STR_INIT("a\n  "), "<a>"},
    {STR_INIT("\xef\xbb\xbf{}\n{}\n"), "<{}><{}>"},
    {STR_INIT("\xef\xbb\xbf"), ""},
    {STR_INIT("\xef\xbb\xbf\n\xef\xbb\xbf\n"), "<\xef\xbb\xbf>"},
    {STR_INIT("\xef\xbb"), "<\xef\xbb>"},
    {STR_INIT("\xef\xbb\xbf"
              "12345678\r\n"),
     "<12345678>"},
    {STR_INIT("\xef\xbb\xbf"
              "123456789\n"),
     "!"},
    {STR_INIT("\xc3\xa1\xf0\x9f\x98\x80\n"), "<\xc3\xa1\xf0\x9f\x98\x80>"},
    {STR_INIT("12345678\nx\n"), "<12345678><x>"},
    {STR_INIT("12345678\r\nx\n"), "<12345678><x>"},
    {STR_INIT("12345678"), "<12345678>"},
    {STR_INIT("123456789\nx\n"), "!<x>"},
    {STR_INIT("123456789\r\nx\n"), "!<x>"},
    {STR_INIT("123456789"), "!"},
    {STR_INIT("1234567890123456789012345\nx\n"), "!<x>"},
    {STR_INIT("1234567890123456789012345"), "!"},
    {STR_INIT("a\n123456789012345\nb\n123456789012345\nc"), "<a>!<b>!<c>"},
    {STR_INIT("12345678901234\n12345678901234\n"), "!!"},
    {STR_INIT("           \nx\n"), "!<x>"},
    {STR_INIT("a\0b\n"), NULL}, // "<a\0b>", below
};

static void linereader_cuts_lines_however_they_come(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t step = 1; step <= cases[i].input.n + 1; step++) {
            feed_steps(cases[i].input, step);
            struct str wanted = cases[i].lines == NULL
                                    ? STR("<a\0b>")
                                    : str_from(cases[i].lines);
            if (!str_eq(buf_view(&seen), wanted))
                print_error("case %zu by %zu: %.*s\n", i, step,
                            STR_ARG(buf_view(&seen)));
            assert_true(str_eq(buf_view(&seen), wanted));
        }
    }
}

static void linereader_hands_out_lines_in_between(void **state)
{
    (void)state;
    struct str line;
    linereader_init(&reader, MAX_LINE);
    assert_status(linereader_next(&reader, &line), ST_MISSING);
    assert_ok(linereader_feed(&reader, "one\ntwo\nthr", 11));
    assert_ok(linereader_next(&reader, &line));
    assert_text(line, "one");
    assert_ok(linereader_feed(&reader, "ee\n", 3));
    assert_ok(linereader_next(&reader, &line));
    assert_text(line, "two");
    assert_ok(linereader_feed(&reader, "", 0));
    assert_ok(linereader_next(&reader, &line));
    assert_text(line, "three");
    assert_status(linereader_next(&reader, &line), ST_MISSING);
    assert_text(line, "three");
}

/* A line of 64 MB with a limit of 16 takes bounded memory and gives one error.
   Its storage is freed immediately. */
static void linereader_bounds_memory(void **state)
{
    (void)state;
    const size_t piece = 64 * 1024;
    chunk = malloc(piece);
    assert_memory(chunk != NULL);
    memset(chunk, 'x', piece);
    linereader_init(&reader, LIMIT_MESSAGE);
    size_t most = 0;
    for (size_t fed = 0; fed < 64 * 1024 * 1024; fed += piece) {
        assert_ok(linereader_feed(&reader, chunk, piece));
        if (reader.line.head + reader.line.cap > most)
            most = reader.line.head + reader.line.cap;
        take_all();
    }
    assert_true(most <= LIMIT_MESSAGE + piece + 16);
    assert_text(buf_view(&seen), "!");
    assert_true(reader.line.cap <= piece);
    assert_ok(linereader_feed(&reader, "end\nnext\n", 9));
    take_all();
    assert_text(buf_view(&seen), "!<next>");
}

static void linereader_gives_back_the_storage_of_a_large_line(void **state)
{
    (void)state;
    const size_t large = 1024 * 1024;
    chunk = malloc(large);
    assert_memory(chunk != NULL);
    memset(chunk, 'x', large);
    chunk[large - 1] = '\n';
    linereader_init(&reader, LIMIT_MESSAGE);
    for (int i = 0; i < 3; i++) {
        struct str line;
        assert_ok(linereader_feed(&reader, "short\n", 6));
        assert_ok(linereader_feed(&reader, chunk, large));
        assert_ok(linereader_next(&reader, &line));
        assert_text(line, "short");
        assert_ok(linereader_next(&reader, &line));
        assert_int_equal(line.n, large - 1);
        assert_status(linereader_next(&reader, &line), ST_MISSING);
        assert_true(reader.line.head + reader.line.cap <= 64 * 1024);
    }
}

/* Byte by byte, a quadratic algorithm would take hours. */
static void linereader_takes_single_bytes_in_linear_time(void **state)
{
    (void)state;
    linereader_init(&reader, LIMIT_MESSAGE);
    struct str line;
    for (size_t i = 0; i < 2 * 1024 * 1024; i++) {
        assert_ok(linereader_feed(&reader, "x", 1));
        assert_status(linereader_next(&reader, &line), ST_MISSING);
    }
    assert_ok(linereader_feed(&reader, "\n", 1));
    assert_ok(linereader_next(&reader, &line));
    assert_int_equal(line.n, 2 * 1024 * 1024);
}

static void linereader_takes_many_lines_in_one_piece(void **state)
{
    (void)state;
    const size_t lines = 1024 * 1024;
    chunk = malloc(2 * lines);
    assert_memory(chunk != NULL);
    for (size_t i = 0; i < lines; i++)
        memcpy(chunk + 2 * i, "x\n", 2);
    linereader_init(&reader, LIMIT_MESSAGE);
    assert_ok(linereader_feed(&reader, chunk, 2 * lines));
    struct str line;
    size_t count = 0;
    while (linereader_next(&reader, &line) == ST_OK)
        count++;
    assert_int_equal(count, lines);
}

/* Feeds a large piece that ends in END after an unfinished line. If memory runs
   out, the piece is lost with the lines that it touches, but no others. */
static void check_lost_piece(const char *end, const char *wanted_after)
{
    const size_t large = 100000;
    chunk = malloc(large);
    assert_memory(chunk != NULL);
    memset(chunk, 'x', large);
    size_t n = strlen(end);
    memcpy(chunk + large - n, end, n);
    linereader_init(&reader, LIMIT_MESSAGE);
    assert_ok(linereader_feed(&reader, "kept\npart", 9));
    enum status status = linereader_feed(&reader, chunk, large);
    bool lost = check_memory_is_back();
    assert_int_equal(status, lost ? ST_NOMEM : ST_OK);
    assert_ok(linereader_feed(&reader, "a\nb\n", 4));
    struct str line;
    assert_ok(linereader_next(&reader, &line));
    assert_text(line, "kept");
    if (!lost) {
        assert_ok(linereader_next(&reader, &line));
        assert_int_equal(line.n, strlen("part") + large - n);
        return;
    }
    take_all();
    assert_true(str_eq(buf_view(&seen), str_from(wanted_after)));
}

static void linereader_continues_after_a_lost_part_of_a_line(void **state)
{
    (void)state;
    check_lost_piece("\nx", "<b>");
}

static void linereader_continues_after_lost_lines(void **state)
{
    (void)state;
    check_lost_piece("\n", "<a><b>");
}

#define TEST(name) cmocka_unit_test_teardown(name, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(linereader_cuts_lines_however_they_come),
        TEST(linereader_hands_out_lines_in_between),
        TEST(linereader_bounds_memory),
        TEST(linereader_gives_back_the_storage_of_a_large_line),
        TEST(linereader_takes_single_bytes_in_linear_time),
        TEST(linereader_takes_many_lines_in_one_piece),
        TEST(linereader_continues_after_a_lost_part_of_a_line),
        TEST(linereader_continues_after_lost_lines),
    };
    return RUN_TESTS("reader", tests);
}
