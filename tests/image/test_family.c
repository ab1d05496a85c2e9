/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The descendants of a process: that all are counted, stopped and killed. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/family.h"
#include "image/linux.h"
#include "support/check.h"
#include "support/imagehost.h"

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
    for (;;)
        (void)pause();
}

/* Those whose parents have been killed on the way, too. */
static void family_is_killed_at_once(void **state)
{
    enum { GENERATIONS = 7, MEMBERS = (2 << GENERATIONS) - 1 };
    struct pollfd end = {0};
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
    assert_int_equal(family_kill(getpid(), NULL), MEMBERS);
    end.fd = ready[0];
    assert_int_equal(poll(&end, 1, HOST_PATIENCE_MS), 1);
    assert_int_equal(read(ready[0], &byte, 1), 0);
    (void)close(ready[0]);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(family_counts_without_first_threads),
        cmocka_unit_test(family_is_killed_at_once),
    };

    return RUN_TESTS("family", tests);
}
