/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descendants of a process: that all are counted, stopped and killed; and
   what it costs to look at one. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/family.h"
#include "image/linux.h"
#include "support/check.h"
#include "support/imagehost.h"

/* Waits to be killed; should the test fail, this ends by itself. */
static NO_RETURN void wait_for_kill(void)
{
    (void)alarm(HOST_PATIENCE_MS / 1000);
    for (;;)
        (void)pause();
}

static void *wait_for_end(void *until)
{
    char byte;

    (void)!read(*(int *)until, &byte, 1);
    _exit(0);
}

/* In a child: goes on in a second thread when the first one has ended, so that
   the system calls the process a zombie. */
static NO_RETURN void leave_first_thread(int until)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, wait_for_end, &until) != 0)
        _exit(1);
    pthread_exit(NULL);
}

static void family_counts_without_first_threads(void **state)
{
    char path[64];
    char name[64];
    char process_state = '\0';
    int until[2];
    size_t n;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(until), 0); // NOLINT: nothing is executed
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(until[1]);
        leave_first_thread(until[0]);
    }
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    while (process_state != 'Z') {
        FILE *file = fopen(path, "re");

        assert_non_null(file);
        assert_int_equal(fscanf(file, "%*d %63s %c", name, &process_state), 2);
        (void)fclose(file); // was only read
    }
    assert_true(family_is_crowded(getpid(), NULL, 0, &n));
    (void)close(until[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(family_is_crowded(getpid(), NULL, 0, &n));
    assert_int_equal(n, 0);
}

/* In a child: starts another one, tells READY its number, and ends when UNTIL
   is closed. */
static NO_RETURN void start_and_leave(int ready, int until)
{
    char byte;
    pid_t pid = fork();

    if (pid == 0)
        wait_for_kill();
    (void)!write(ready, &pid, sizeof pid);
    (void)!read(until, &byte, 1);
    _exit(0);
}

/* Looks at a process all the time while its parent ends. */
static void look_while_parent_ends(void)
{
    pid_t parent = 0;
    pid_t pid = 0;
    pid_t between;
    int64_t start;
    int ready[2];
    int until[2];

    assert_int_equal(pipe(ready), 0); // NOLINT: nothing is executed
    assert_int_equal(pipe(until), 0); // NOLINT: nothing is executed
    between = fork();
    assert_true(between >= 0);
    if (between == 0) {
        (void)close(until[1]);
        start_and_leave(ready[1], until[0]);
    }
    assert_int_equal(read(ready[0], &pid, sizeof pid), sizeof pid);
    assert_true(pid > 0);
    (void)close(until[1]);
    while (parent != getpid()) {
        assert_true(family_descends(pid, getpid()));
        assert_true(linux_find(pid, &parent, &start));
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(waitpid(between, NULL, 0), between);
    assert_false(family_descends(pid, getpid()));
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)close(until[0]);
}

/* A copy is known by its descent, and whoever made it ends at that moment. */
static void descent_is_known_while_parents_end(void **state)
{
    enum { TRIES = 500 };

    (void)state;
    linux_adopt_orphans();
    for (int i = 0; i < TRIES; i++)
        look_while_parent_ends();
    assert_false(family_descends(getppid(), getpid()));
}

/* In a child: starts two others, and these again, GENERATIONS deep. Each tells
   READY, which stays open as long as one of them lives. */
static NO_RETURN void start_tree(int ready, int generations)
{
    for (int born = 0; generations > 0 && born < 2; born++)
        if (fork() == 0) { // which goes on as one of the next generation
            generations--;
            born = -1;
        }
    (void)!write(ready, "", 1);
    wait_for_kill();
}

/* Those whose parents have been killed on the way, too. */
static void family_is_killed_at_once(void **state)
{
    enum { GENERATIONS = 7, MEMBERS = (2 << GENERATIONS) - 1 };
    struct pollfd end = {0};
    uint64_t who;
    char byte;
    int ready[2];
    pid_t pid;

    (void)state;
    linux_adopt_orphans();
    assert_int_equal(pipe(ready), 0); // NOLINT: nothing is executed
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)setpgid(0, 0);
        start_tree(ready[1], GENERATIONS);
    }
    (void)close(ready[1]);
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(family_kill(getpid(), NULL, &who), MEMBERS);
    end.fd = ready[0];
    assert_int_equal(poll(&end, 1, HOST_PATIENCE_MS), 1);
    assert_int_equal(read(ready[0], &byte, 1), 0);
    (void)close(ready[0]);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
}

/* Nanoseconds of this thread's processor time for one look at the memory of
   PID: the least of several, as others disturb. */
static int64_t cost_of_a_look(pid_t pid)
{
    enum { LOOKS = 100, TRIES = 10 };
    int64_t least = INT64_MAX;

    for (int try = 0; try < TRIES; try++) {
        struct timespec a;
        struct timespec b;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a); // exists everywhere
        for (int i = 0; i < LOOKS; i++)
            assert_true(linux_memory(pid) > 0);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        int64_t ns = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec;
        least = ns < least ? ns : least;
    }
    return least / LOOKS;
}

/* A child that has touched SIZE bytes and sleeps. */
static pid_t hold_memory(size_t size)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0); // NOLINT: nothing is executed
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *p = malloc(size);

        if (!p)
            _exit(1);
        memset(p, 1, size);
        (void)!write(ready[1], p, 1);
        wait_for_kill();
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return pid;
}

/* The loop of the server looks at the memory of all images for each call of
   list-sessions: an image with much of it must not hold it up. */
static void memory_is_looked_at_in_a_moment(void **state)
{
    static const size_t large = (size_t)200 * 1024 * 1024;
    pid_t pids[] = {hold_memory(4096), hold_memory(large)};

    (void)state;
    size_t small = linux_memory(pids[0]);
    assert_in_range(linux_memory(pids[1]) - small, large / 10 * 9,
                    large / 10 * 11);
    assert_true(cost_of_a_look(pids[1]) < 3 * cost_of_a_look(pids[0]));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kill(pids[i], SIGKILL), 0);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    }
    assert_int_equal(linux_memory(pids[0]), 0);
}

/* A child that stops itself, with one of its own or without; *END is closed
   when both have ended. */
static pid_t stop_head(bool with_child, int *end)
{
    int status;
    int ends[2];
    pid_t pid;

    assert_int_equal(pipe(ends), 0); // NOLINT: nothing is executed
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        pid_t child = with_child ? fork() : 0;

        if (with_child && child == 0)
            wait_for_kill();
        (void)raise(SIGSTOP);
        if (child > 0)
            (void)kill(child, SIGKILL);
        _exit(0);
    }
    (void)close(ends[1]);
    *end = ends[0];
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

/* Who still has a family to end is not killed, which would leave that to
   nobody, but may have been stopped. */
static void heads_go_on_until_nobody_is_left(void **state)
{
    char byte;

    (void)state;
    for (int with_child = 0; with_child < 2; with_child++) {
        int end;
        int status;
        pid_t head = stop_head(with_child, &end);

        family_end_head(head);
        assert_int_equal(waitpid(head, &status, 0), head);
        assert_int_equal(WIFEXITED(status), with_child);
        assert_int_equal(read(end, &byte, 1), 0);
        (void)close(end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(family_counts_without_first_threads),
        cmocka_unit_test(descent_is_known_while_parents_end),
        cmocka_unit_test(family_is_killed_at_once),
        cmocka_unit_test(memory_is_looked_at_in_a_moment),
        cmocka_unit_test(heads_go_on_until_nobody_is_left),
    };

    return RUN_TESTS("family", tests);
}
