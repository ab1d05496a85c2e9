/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of zygote.c with a clock of the test, and programs that are no zygote:
   how long one may take, and how often it is started. */
#include <sys/wait.h>

#include "base/limits.h"
#include "supervisor/zygote.h"
#include "support/check.h"

static struct zygote zygote;
static const struct log no_log = {LOG_ERROR, NULL, NULL};
static const struct sandbox sandbox = {.mode = SANDBOX_OFF};

static int tear_down(void **state)
{
    (void)state;
    zygote_release(&zygote);
    while (waitpid(-1, NULL, WNOHANG) > 0) // those that were killed
        continue;
    return 0;
}

static void zygote_is_given_up_for_a_while(void **state)
{
    (void)state;
    zygote_init(&zygote, "/nonexistent/image", NULL, &sandbox, &no_log);
    for (int i = 1; i < LIMIT_ZYGOTE_TRIES; i++) {
        zygote_start(&zygote, 100);
        assert_int_equal(zygote.failures, i);
    }
    zygote_start(&zygote, 100); // at once, for the last time
    assert_int_equal(zygote.failures, LIMIT_ZYGOTE_TRIES);
    zygote_start(&zygote, 100 + LIMIT_ZYGOTE_RETRY_MS - 1);
    assert_int_equal(zygote.failures, LIMIT_ZYGOTE_TRIES);
    zygote_start(&zygote, 100 + LIMIT_ZYGOTE_RETRY_MS);
    assert_int_equal(zygote.failures, LIMIT_ZYGOTE_TRIES + 1);
    assert_true(zygote_is_down(&zygote));
}

static void zygote_has_time_to_boot(void **state)
{
    pid_t first;

    (void)state;
    zygote_init(&zygote, "/bin/sh", NULL, &sandbox, &no_log);
    zygote_start(&zygote, 100);
    first = zygote.pid;
    assert_true(first > 0);
    assert_true(zygote_deadline(&zygote) == 100 + LIMIT_ZYGOTE_BOOT_MS);
    zygote_tend(&zygote, 100 + LIMIT_ZYGOTE_BOOT_MS - 1);
    assert_int_equal(zygote.pid, first);
    zygote_tend(&zygote, 100 + LIMIT_ZYGOTE_BOOT_MS);
    assert_int_equal(zygote.failures, 1);
    assert_true(zygote.pid > 0 && zygote.pid != first);
}

static void zygote_has_time_to_cover(void **state)
{
    pid_t first;

    (void)state;
    zygote_init(&zygote, "/bin/sh", NULL, &sandbox, &no_log);
    zygote_start(&zygote, 100);
    first = zygote.pid;
    zygote.ready = true;
    zygote.covering = 1;
    zygote_tend(&zygote, 200);
    assert_true(zygote_deadline(&zygote) == 200 + LIMIT_ZYGOTE_COVER_MS);
    zygote_tend(&zygote, 200 + LIMIT_ZYGOTE_COVER_MS - 1);
    assert_int_equal(zygote.pid, first);
    assert_int_equal(zygote.uncovered, 0);
    zygote_tend(&zygote, 200 + LIMIT_ZYGOTE_COVER_MS);
    assert_int_equal(zygote.uncovered, 1);
    assert_true(zygote.pid > 0 && zygote.pid != first);
    assert_false(zygote_is_covering(&zygote));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(zygote_is_given_up_for_a_while, tear_down),
        cmocka_unit_test_teardown(zygote_has_time_to_boot, tear_down),
        cmocka_unit_test_teardown(zygote_has_time_to_cover, tear_down),
    };
    return RUN_TESTS("zygote", tests);
}
