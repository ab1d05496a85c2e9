/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which checkpoints a session keeps. */
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/checkpoint.h"
#include "support/check.h"

static struct checkpoints checkpoints;

static int set_up(void **state)
{
    (void)state;
    checkpoints.newest = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    checkpoints_release(&checkpoints);
    return 0;
}

/* Adds one; returns the other end of its socket. */
static int take(uint64_t evaluation, const char *name)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    if (!checkpoints_add(&checkpoints, pair[0], 1, evaluation, str_from(name)))
        fail_msg("no checkpoint");
    return pair[1];
}

/* Adds one whose copy nobody watches. */
static void add(uint64_t evaluation, const char *name)
{
    (void)close(take(evaluation, name));
}

static void kept_are(const uint64_t *evaluations, size_t n)
{
    const struct checkpoint *checkpoint = checkpoints.newest;

    for (size_t i = 0; i < n; i++, checkpoint = checkpoint->next) {
        if (!checkpoint)
            fail_msg("only %zu are kept", i);
        assert_int_equal(checkpoint->evaluation, evaluations[i]);
    }
    assert_null(checkpoint);
}

#define KEPT(...)                                                              \
    kept_are((const uint64_t[]){__VA_ARGS__},                                  \
             sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void series_keeps_its_newest_two_and_what_was_before(void **state)
{
    (void)state;
    add(1, "");
    add(400, "");
    add(800, "");
    KEPT(800, 400, 1);
    add(1200, "");
    KEPT(1200, 800, 1);
    add(1201, "");
    KEPT(1201, 1200, 1);
    assert_int_equal(checkpoints_before(&checkpoints, 1200)->evaluation, 1200);
}

/* By this the copy ends. */
static void copy_that_is_passed_loses_its_socket(void **state)
{
    char byte;
    int other;

    (void)state;
    add(1, "");
    other = take(400, "");
    add(800, "");
    assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), -1);
    add(1200, "");
    assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), 0);
    (void)close(other);
}

static void more_than_the_history_must_lie_on_both_sides(void **state)
{
    const uint64_t far = LIMIT_HISTORY;

    (void)state;
    add(1, "");
    add(1 + far, ""); // not more
    add(2 + 2 * far, "");
    add(900, "");
    KEPT(900, 2 + 2 * far, 1 + far, 1);
    checkpoints_release(&checkpoints);
    add(1, "");
    add(2 + far, "");
    add(2 + 2 * far, ""); // not more
    add(900, "");
    KEPT(900, 2 + 2 * far, 2 + far, 1);
    checkpoints_release(&checkpoints);
    add(1, "");
    add(2 + far, "");
    add(3 + 2 * far, "");
    add(900, "");
    KEPT(900, 3 + 2 * far, 1);
}

static void named_ones_stay(void **state)
{
    (void)state;
    add(1, "");
    add(400, "first");
    add(401, "");
    add(800, "second");
    add(801, "");
    KEPT(801, 800, 401, 400, 1);
    add(1200, "third");
    KEPT(1200, 801, 800, 400, 1);
}

static void older_outcome_ends_no_other(void **state)
{
    (void)state;
    add(1, "");
    add(400, "");
    add(800, "");
    add(500, "");
    KEPT(500, 800, 400, 1);
}

static void oldest_goes_when_there_are_too_many(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= LIMIT_CHECKPOINTS + 1; i++)
        add(i, "");
    KEPT(9, 8, 7, 6, 5, 4, 3, 2);
}

static void renew(uint64_t evaluation)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    if (!checkpoints_renew(&checkpoints, pair[0], 2, evaluation))
        fail_msg("no checkpoint");
    (void)close(pair[1]);
    assert_int_equal(checkpoints.newest->pid, 2);
}

/* The copy of a state that is taken again takes no other along. */
static void renewed_one_drops_its_equal_only(void **state)
{
    char byte;
    int other;

    (void)state;
    for (uint64_t i = 1; i < LIMIT_CHECKPOINTS; i++)
        add(i, "");
    other = take(LIMIT_CHECKPOINTS, "");
    renew(LIMIT_CHECKPOINTS);
    KEPT(8, 7, 6, 5, 4, 3, 2, 1);
    assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), 0);
    (void)close(other);
    checkpoints_release(&checkpoints);
    add(1, "");
    add(400, "");
    add(800, "");
    renew(800);
    KEPT(800, 400, 1); // 400 is not in the middle of anything
    add(800, "name");  // now it is
    KEPT(800, 800, 1);
    renew(800); // and is the newest
    KEPT(800, 800, 1);
    assert_string_equal(checkpoints.newest->next->name, "name");
    renew(801); // another evaluation
    KEPT(801, 800, 800, 1);
    checkpoints.newest->apart = true;
    renew(801);
    KEPT(801, 801, 800, 800, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(series_keeps_its_newest_two_and_what_was_before),
        TEST(copy_that_is_passed_loses_its_socket),
        TEST(more_than_the_history_must_lie_on_both_sides),
        TEST(named_ones_stay),
        TEST(older_outcome_ends_no_other),
        TEST(oldest_goes_when_there_are_too_many),
        TEST(renewed_one_drops_its_equal_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
