/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of log.c. */
#include "base/limits.h"
#include "base/log.h"
#include "base/utf8.h"
#include "support/check.h"

static char last[LIMIT_LOG_LINE + 1];
static size_t lines;
static enum log_level last_level;

static void keep(void *context, enum log_level level, struct str line)
{
    assert_ptr_equal(context, &lines);
    assert_true(line.n <= LIMIT_LOG_LINE);
    lines++;
    last_level = level;
    memcpy(last, line.p, line.n);
    last[line.n] = '\0';
}

static int start(void **state)
{
    (void)state;
    lines = 0;
    last[0] = '\0';
    return 0;
}

static struct log log_to(enum log_level level)
{
    return (struct log){level, keep, &lines};
}

/* The last line, or the end of the test when memory ran out for it. */
static const char *line(void)
{
    assert_memory(strcmp(last, "log: out of memory, a line was lost") != 0);
    return last;
}

static void log_formats_one_line(void **state)
{
    (void)state;
    struct log log = log_to(LOG_INFO);
    log_line(&log, LOG_INFO, "image: %s started, %d ms", "main", 12);
    assert_string_equal(line(), "image: main started, 12 ms");
    assert_int_equal(last_level, LOG_INFO);
    assert_int_equal(lines, 1);
}

static void log_drops_what_is_above_its_level(void **state)
{
    (void)state;
    struct log log = log_to(LOG_WARN);
    assert_false(log_is_on(&log, LOG_DEBUG));
    assert_false(log_is_on(&log, LOG_INFO));
    assert_true(log_is_on(&log, LOG_WARN));
    assert_true(log_is_on(&log, LOG_ERROR));
    log_line(&log, LOG_DEBUG, "a");
    log_line(&log, LOG_INFO, "b");
    assert_int_equal(lines, 0);
    log_line(&log, LOG_WARN, "c");
    log_line(&log, LOG_ERROR, "d");
    assert_int_equal(lines, 2);
}

static void log_accepts_no_log_and_no_sink(void **state)
{
    (void)state;
    struct log log = {LOG_DEBUG, NULL, NULL};
    assert_false(log_is_on(&log, LOG_ERROR));
    assert_false(log_is_on(NULL, LOG_ERROR));
    log_line(&log, LOG_ERROR, "x");
    log_line(NULL, LOG_ERROR, "x");
}

static void log_shows_what_could_forge_a_line(void **state)
{
    (void)state;
    struct log log = log_to(LOG_DEBUG);
    log_line(&log, LOG_DEBUG, "rpc: method \"%s\"",
             "x\nerror: all is lost\x1b[2J\xe2\x80\xae\xff");
    assert_string_equal(
        line(), "rpc: method \"x\\nerror: all is lost\\x1b[2J\\u202e\\xff\"");
}

static void log_cuts_long_lines_between_characters(void **state)
{
    (void)state;
    struct log log = log_to(LOG_DEBUG);
    static char text[3 * LIMIT_LOG_LINE + 1];
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    for (size_t shift = 0; shift < 3; shift++) {
        log_line(&log, LOG_DEBUG, "%.*s%s", (int)shift, "abc", text);
        size_t n = strlen(line());
        assert_true(n > LIMIT_LOG_LINE - 3 && n <= LIMIT_LOG_LINE);
        assert_true(utf8_is_valid(str_make(last, n)));
        assert_null(strstr(last, "\\x"));
    }
    memset(text, '\n', sizeof text - 1); // doubles in length
    log_line(&log, LOG_DEBUG, "%s", text);
    assert_int_equal(strlen(line()), LIMIT_LOG_LINE);
}

static void log_says_when_memory_ran_out(void **state)
{
    (void)state;
    struct log log = log_to(LOG_DEBUG);
    log_line(&log, LOG_DEBUG, "a: b");
    bool lost = check_memory_is_back();
    assert_int_equal(lines, 1);
    assert_string_equal(last,
                        lost ? "log: out of memory, a line was lost" : "a: b");
}

static void log_levels_have_names(void **state)
{
    (void)state;
    for (enum log_level level = LOG_ERROR; level <= LOG_DEBUG; level++) {
        enum log_level found;
        assert_ok(log_level_find(str_from(log_level_name(level)), &found));
        assert_int_equal(found, level);
    }
    enum log_level kept = LOG_WARN;
    assert_status(log_level_find(STR("warning"), &kept), ST_MISSING);
    assert_status(log_level_find(STR(""), &kept), ST_MISSING);
    assert_status(log_level_find(STR("WARN"), &kept), ST_MISSING);
    assert_status(log_level_find(str_make(NULL, 0), &kept), ST_MISSING);
    assert_int_equal(kept, LOG_WARN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(log_formats_one_line, start),
        cmocka_unit_test_setup(log_drops_what_is_above_its_level, start),
        cmocka_unit_test_setup(log_accepts_no_log_and_no_sink, start),
        cmocka_unit_test_setup(log_shows_what_could_forge_a_line, start),
        cmocka_unit_test_setup(log_cuts_long_lines_between_characters, start),
        cmocka_unit_test_setup(log_says_when_memory_ran_out, start),
        cmocka_unit_test_setup(log_levels_have_names, start),
    };
    return RUN_TESTS("log", tests);
}
