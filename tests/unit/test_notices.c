/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of notices.c: each front of a session reads once what has happened to
   it. */
#include <string.h>

#include "supervisor/notices.h"
#include "support/check.h"

static struct notices notices;
static struct buf text;

/* Notices know fronts only by their addresses. */
static const char fronts[3];
#define FRONT(i) ((const struct front *)(const void *)&fronts[i])

static int setup(void **state)
{
    (void)state;
    memset(&notices, 0, sizeof notices);
    text = BUF_EMPTY;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    notices_release(&notices);
    buf_release(&text);
    return 0;
}

/* Front I joins the session. */
static void join(int i)
{
    notices_join(&notices, FRONT(i));
    assert_memory(notices.readers != NULL);
}

/* Checks that front I reads WANTED, and then nothing. */
static void expect(int i, const char *wanted)
{
    buf_reset(&text);
    notices_read(&notices, FRONT(i), &text);
    assert_memory(!buf_failed(&text) && !buf_failed(&notices.newest));
    assert_memory(str_eq(buf_view(&text), str_from(wanted)));
    buf_reset(&text);
    notices_read(&notices, FRONT(i), &text);
    assert_int_equal(text.n, 0);
}

static void notices_are_read_once(void **state)
{
    (void)state;
    join(0);
    expect(0, "");
    notices_add(&notices, NULL, STR("It died."));
    expect(0, "\nIt died.");
}

static void notices_are_not_for_their_cause(void **state)
{
    (void)state;
    join(0);
    join(1);
    notices_add(&notices, FRONT(0), STR("It was reset."));
    expect(0, "");
    expect(1, "\nIt was reset.");
}

static void notices_are_not_for_later_fronts(void **state)
{
    (void)state;
    join(0);
    notices_add(&notices, NULL, STR("It died."));
    join(1);
    expect(1, "");
    notices_leave(&notices, FRONT(0));
    notices_leave(&notices, FRONT(2)); // which never joined
    join(0);
    expect(0, "");
}

static void notices_count_those_that_were_missed(void **state)
{
    (void)state;
    join(0);
    notices_add(&notices, NULL, STR("It died."));
    notices_add(&notices, NULL, STR("It was reset."));
    expect(0, "\nSince the last answer this has happened 2 times; the last "
              "time:\nIt was reset.");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(notices_are_read_once),
        TEST(notices_are_not_for_their_cause),
        TEST(notices_are_not_for_later_fronts),
        TEST(notices_count_those_that_were_missed),
    };

    return RUN_TESTS("notices", tests);
}
