/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of temporary.c and removal.c: the temporary folder of a supervisor is
   its own, and nothing of it is left, whatever code has put there. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/removal.h"
#include "supervisor/temporary.h"
#include "support/check.h"
#include "support/folder.h"

/* Time enough for every removal, as a monotonic time in milliseconds. */
#define LATE INT64_MAX

static struct temporary temporary;
static struct log silent;
static char base[FOLDER_SIZE + 20];

static int set_up(void **state)
{
    (void)state;
    if (folder_make() < 0)
        return -1;
    folder_run("mkdir base home && echo text >home/kept");
    (void)snprintf(base, sizeof base, "%s/base", folder);
    return setenv("TMPDIR", base, 1);
}

static int tear_down(void **state)
{
    (void)state;
    temporary_close(&temporary);
    folder_run("chmod -R u+rwX .");
    folder_remove();
    return unsetenv("TMPDIR");
}

/* How many entries the folder of temporary folders has. */
static int count_base(void)
{
    DIR *list = opendir(base);
    int n = -2; // "." and ".."

    assert_non_null(list);
    while (readdir(list))
        n++;
    assert_int_equal(closedir(list), 0);
    return n;
}

static void open_temporary(void)
{
    temporary_open(&temporary, &silent);
    assert_string_not_equal(temporary.path, "");
}

static void sweep(void)
{
    int fd = open(base, O_RDONLY | O_DIRECTORY);

    assert_true(fd >= 0);
    temporary_sweep(fd, LATE);
    assert_int_equal(close(fd), 0);
}

/* Runs the shell's COMMAND in the folder that is TMPDIR for Lisp. */
static void run_inside(const char *command)
{
    char text[SANDBOX_PATH + 1500];

    (void)snprintf(text, sizeof text, "cd '%s' && %s", temporary.path, command);
    folder_run(text);
}

/* Leaves a folder as a supervisor does that is killed. */
static void leave_behind(const char *command)
{
    pid_t pid;
    int status;

    (void)fflush(NULL);
    pid = fork();
    if (pid == 0) {
        temporary_open(&temporary, &silent);
        run_inside(command);
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static void temporary_folder_is_private(void **state)
{
    struct stat status;
    char outer[SANDBOX_PATH + 10];

    (void)state;
    open_temporary();
    assert_int_equal(strncmp(temporary.path, base, strlen(base)), 0);
    assert_int_equal(stat(temporary.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    (void)snprintf(outer, sizeof outer, "%s/..", temporary.path);
    assert_int_equal(stat(outer, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    (void)snprintf(outer, sizeof outer, "%s/../lock", temporary.path);
    assert_int_equal(stat(outer, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    temporary_close(&temporary);
    assert_int_equal(count_base(), 0);
}

static void temporary_folder_needs_a_folder_to_be_in(void **state)
{
    char nowhere[FOLDER_SIZE + 40];

    (void)state;
    (void)snprintf(nowhere, sizeof nowhere, "%s/nowhere", folder);
    assert_int_equal(setenv("TMPDIR", nowhere, 1), 0);
    open_temporary();
    assert_int_equal(strncmp(temporary.path, "/tmp/ecl-mcp-", 13), 0);
    temporary_close(&temporary);
    assert_int_equal(setenv("TMPDIR", "base", 1), 0); // relative
    open_temporary();
    assert_int_equal(strncmp(temporary.path, "/tmp/ecl-mcp-", 13), 0);
}

static void temporary_folder_of_a_killed_supervisor_is_swept(void **state)
{
    (void)state;
    leave_behind("mkdir -p a/b && touch a/b/c");
    assert_int_equal(count_base(), 1);
    sweep();
    assert_int_equal(count_base(), 0);
    // the next supervisor does it, too
    leave_behind("touch x");
    open_temporary();
    temporary_clean(&temporary);
    assert_true(temporary.sweeper > 0);
    assert_int_equal(waitpid(temporary.sweeper, NULL, 0), temporary.sweeper);
    assert_true(temporary_note_exit(&temporary, temporary.sweeper));
    assert_false(temporary_note_exit(&temporary, 1));
    assert_int_equal(count_base(), 1);
}

static void temporary_folder_without_others_needs_no_sweeper(void **state)
{
    (void)state;
    folder_run("cd base && touch other ecl-mcp-$(id -u)-short");
    open_temporary();
    temporary_clean(&temporary);
    assert_int_equal(temporary.sweeper, 0);
    // among so many names, the sweeper looks
    folder_run("cd base && seq 1000 | xargs touch");
    temporary_clean(&temporary);
    assert_true(temporary.sweeper > 0);
}

static void temporary_folder_in_use_is_not_swept(void **state)
{
    (void)state;
    open_temporary();
    run_inside("touch mine");
    sweep();
    run_inside("test -f mine");
    // an interrupted start leaves no lock
    folder_run("cd base && mkdir -m 700 ecl-mcp-$(id -u)-0123456789abcdef");
    assert_int_equal(count_base(), 2);
    sweep();
    assert_int_equal(count_base(), 1);
    // other names are those of others, and links are not followed
    folder_run("cd base && n=ecl-mcp-$(id -u) && mkdir $n-abc $n-"
               "0123456789ABCDEF ecl-mcp-0x-0123456789abcdef other && "
               "ln -s ../home $n-0123456789abcdef");
    sweep();
    assert_int_equal(count_base(), 6);
    folder_run("test -f home/kept && test ! -e home/lock");
}

static void temporary_folder_full_of_traps_is_removed(void **state)
{
    (void)state;
    open_temporary();
    run_inside("mkdir -p a/b/c closed/inner .up-0/x .up-1 && ln -s "
               "../../../home link && ln -s ../../../../home closed/link && "
               "ln ../../../home/kept hard && mkfifo pipe a/pipe && touch "
               "a/b/c/f 'new\nline' -- -f && chmod 000 closed/inner && "
               "chmod 500 a/b && chmod 000 a closed .up-1");
    temporary_close(&temporary);
    assert_int_equal(count_base(), 0);
    folder_run("test -f home/kept");
}

/* So deep that no path reaches its end, and no process has descriptors for all
   its folders. */
static void temporary_folder_of_any_depth_is_removed(void **state)
{
    (void)state;
    open_temporary();
    int fd = open(temporary.path, O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    for (int i = 0; i < 5000; i++) {
        int next;

        assert_int_equal(mkdirat(fd, "folder", 0700), 0);
        next = openat(fd, "folder", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        assert_int_equal(close(fd), 0);
        fd = next;
    }
    assert_int_equal(close(fd), 0);
    assert_true(removal_of_folder(temporary.folder, "tmp", LATE));
    temporary_close(&temporary);
    assert_int_equal(count_base(), 0);
}

static void removal_ends_in_time(void **state)
{
    (void)state;
    open_temporary();
    run_inside("touch one");
    assert_false(removal_of_folder(temporary.folder, "tmp", 0));
    run_inside("test -f one");
    assert_true(removal_of_folder(temporary.folder, "none", LATE));
    assert_true(removal_of_folder(temporary.folder, "tmp", LATE));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(temporary_folder_is_private),
        TEST(temporary_folder_needs_a_folder_to_be_in),
        TEST(temporary_folder_of_a_killed_supervisor_is_swept),
        TEST(temporary_folder_without_others_needs_no_sweeper),
        TEST(temporary_folder_in_use_is_not_swept),
        TEST(temporary_folder_full_of_traps_is_removed),
        TEST(temporary_folder_of_any_depth_is_removed),
        TEST(removal_ends_in_time),
    };

    return RUN_TESTS("temporary", tests);
}
