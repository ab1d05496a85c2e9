/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of watch.c: what has happened to a descriptor is told, also when the
   system does not watch it. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "supervisor/session.h"
#include "supervisor/watch.h"
#include "support/check.h"

static struct session session;
static struct watch watch;
static int epoll;
static int pipe_fds[2];
static int woken;

static void wake(void *context, struct session *which)
{
    assert_ptr_equal(context, &woken);
    assert_ptr_equal(which, &session);
    woken++;
}

static int setup(void **state)
{
    (void)state;
    woken = 0;
    epoll = watch_open();
    watch_init(&watch, epoll, &session);
    return epoll < 0 || pipe(pipe_fds) < 0;
}

static int teardown(void **state)
{
    (void)state;
    watch_drop(&watch);
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
    return close(epoll);
}

static void watch_tells(void **state)
{
    (void)state;
    watch_set(&watch, pipe_fds[0], EPOLLIN);
    assert_int_equal(watch_take(epoll, 0, wake, &woken), 0);
    assert_int_equal(woken, 0);
    assert_int_equal(write(pipe_fds[1], "x", 1), 1);
    (void)watch_take(epoll, 0, wake, &woken);
    assert_int_equal(woken, 1);
    assert_int_equal(watch.found, EPOLLIN);
    watch_set(&watch, pipe_fds[0], EPOLLIN); // nothing changes
    assert_int_equal(watch.found, EPOLLIN);
    watch_set(&watch, pipe_fds[1], EPOLLOUT); // another one
    assert_int_equal(watch.found, 0);
    (void)watch_take(epoll, 0, wake, &woken);
    assert_int_equal(watch.found, EPOLLOUT);
}

/* Another file that gets the number of a closed one is watched anew. */
static void watch_knows_a_number_that_is_used_again(void **state)
{
    int other[2];
    int number = pipe_fds[0];

    (void)state;
    assert_int_equal(pipe(other), 0);
    watch_set(&watch, number, EPOLLIN);
    watch_drop(&watch);
    assert_int_equal(dup2(other[0], number), number);
    watch_set(&watch, number, EPOLLIN);
    assert_int_equal(write(other[1], "x", 1), 1);
    (void)watch_take(epoll, 0, wake, &woken);
    assert_int_equal(watch.found, EPOLLIN);
    (void)close(other[0]);
    (void)close(other[1]);
}

/* What is of no session is told by the watch alone, and ends the wait. */
static void watch_tells_of_what_is_of_no_session(void **state)
{
    (void)state;
    watch_init(&watch, epoll, NULL);
    watch_set(&watch, pipe_fds[0], EPOLLIN);
    assert_int_equal(write(pipe_fds[1], "x", 1), 1);
    assert_int_equal(watch_take(epoll, -1, wake, &woken), 1);
    assert_int_equal(woken, 0);
    assert_int_equal(watch.found, EPOLLIN);
    watch_set(&watch, pipe_fds[1], 0); // only its end is told
    assert_int_equal(watch_take(epoll, 0, wake, &woken), 0);
    (void)close(pipe_fds[0]);
    assert_int_equal(watch_take(epoll, -1, wake, &woken), 1);
    assert_int_equal(watch.found, EPOLLERR);
    pipe_fds[0] = -1;
}

static void watch_looks_where_the_system_does_not(void **state)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); // epoll takes none

    (void)state;
    assert_true(file >= 0);
    watch_set(&watch, file, EPOLLIN);
    assert_true(watch.failed);
    watch_look(&watch);
    assert_int_equal(watch.found, EPOLLIN);
    watch_set(&watch, pipe_fds[0], EPOLLIN);
    assert_false(watch.failed);
    assert_int_equal(watch.found, 0);
    (void)close(file);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(watch_tells),
        TEST(watch_knows_a_number_that_is_used_again),
        TEST(watch_tells_of_what_is_of_no_session),
        TEST(watch_looks_where_the_system_does_not),
    };
    return RUN_TESTS("watch", tests);
}
