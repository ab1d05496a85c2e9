/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of temporary.c and removal.c: the temporary folder of a supervisor is
   its own, and nothing of it is left, whatever code has put there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/removal.h"
#include "supervisor/temporary.h"
#include "support/check.h"
#include "support/folder.h"

/* Time enough for every removal, as a monotonic time in milliseconds. */
#define LATE INT64_MAX

static struct temporary temporary;
static struct log silent;
static char base[FOLDER_SIZE + 20];
static char common[FOLDER_SIZE + 60]; // in it

/* What the file system can lock: as on NFS, no folders, or nothing. */
static enum { ALL, FILES, NOTHING } lockable;

/* In the place of the library's. */
int flock(int fd, int operation)
{
    struct stat status;

    if (lockable == ALL ||
        (lockable == FILES && fstat(fd, &status) == 0 &&
         S_ISREG(status.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR))
        return (int)syscall(SYS_flock, fd, operation);
    errno = lockable == FILES ? EBADF : ENOLCK;
    return -1;
}

static int set_up(void **state)
{
    (void)state;
    lockable = ALL;
    if (folder_make() < 0)
        return -1;
    folder_run("mkdir base home && echo text >home/kept");
    (void)snprintf(base, sizeof base, "%s/base", folder);
    (void)snprintf(common, sizeof common, "%s/ecl-mcp-%u", base,
                   (unsigned)geteuid());
    return setenv("TMPDIR", base, 1);
}

static int tear_down(void **state)
{
    (void)state;
    temporary_close(&temporary, linux_now_ms());
    folder_run("chmod -R u+rwX .");
    folder_remove();
    return unsetenv("TMPDIR");
}

/* How many entries the folder of temporary folders has; of the user's temporary
   folder, if that has none. */
static int count(void)
{
    DIR *list = opendir(common);
    int n = -2; // "." and ".."

    if (!list)
        list = opendir(base);
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
    int fd = open(common, O_RDONLY | O_DIRECTORY);

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
    assert_int_equal(strncmp(temporary.path, common, strlen(common)), 0);
    assert_int_equal(stat(temporary.path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    (void)snprintf(outer, sizeof outer, "%s/..", temporary.path);
    assert_int_equal(stat(outer, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    temporary_close(&temporary, linux_now_ms());
    assert_int_equal(count(), 0);
    // what others could enter is closed to them, not used as it is
    assert_int_equal(chmod(common, 0777), 0);
    open_temporary();
    assert_int_equal(stat(common, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
}

/* Whoever may write to the same folder could take the name. */
static void temporary_folder_is_not_where_others_say(void **state)
{
    static const char *const there[] = {"ln -s ../home $n", "touch $n",
                                        "ln -s nowhere $n", NULL};
    char command[200];

    (void)state;
    for (size_t i = 0; there[i]; i++) {
        (void)snprintf(command, sizeof command,
                       "cd base && n=ecl-mcp-$(id -u) && %s", there[i]);
        folder_run(command);
        open_temporary();
        assert_true(temporary.alone);
        assert_int_equal(temporary.path[strlen(common)], '-');
        leave_behind("touch left");
        folder_run("test $(ls base | wc -l) = 3");
        temporary_clean(&temporary, linux_now_ms());
        assert_int_equal(waitpid(temporary.sweeper, NULL, 0),
                         temporary.sweeper);
        assert_true(temporary_note_exit(&temporary, temporary.sweeper));
        folder_run("test $(ls base | wc -l) = 2");
        temporary_close(&temporary, linux_now_ms());
        folder_run("cd base && test -z \"$(ls ../home | grep -v kept)\" && "
                   "test $(ls | wc -l) = 1 && rm ecl-mcp-*");
    }
}

static void temporary_folder_needs_a_folder_to_be_in(void **state)
{
    char nowhere[FOLDER_SIZE + 40];

    (void)state;
    (void)snprintf(nowhere, sizeof nowhere, "%s/nowhere", folder);
    assert_int_equal(setenv("TMPDIR", nowhere, 1), 0);
    open_temporary();
    assert_int_equal(strncmp(temporary.path, "/tmp/ecl-mcp-", 13), 0);
    temporary_close(&temporary, linux_now_ms());
    assert_int_equal(setenv("TMPDIR", "base", 1), 0); // relative
    open_temporary();
    assert_int_equal(strncmp(temporary.path, "/tmp/ecl-mcp-", 13), 0);
}

static void temporary_folder_of_a_killed_supervisor_is_swept(void **state)
{
    (void)state;
    leave_behind("mkdir -p a/b && touch a/b/c");
    assert_int_equal(count(), 1);
    sweep();
    assert_int_equal(count(), 0);
    // the next supervisor does it, too
    leave_behind("touch x");
    open_temporary();
    temporary_clean(&temporary, linux_now_ms());
    assert_true(temporary.sweeper > 0);
    assert_int_equal(waitpid(temporary.sweeper, NULL, 0), temporary.sweeper);
    assert_true(temporary_note_exit(&temporary, temporary.sweeper));
    assert_false(temporary_note_exit(&temporary, 1));
    assert_int_equal(count(), 1);
}

static void temporary_folder_without_others_needs_no_sweeper(void **state)
{
    struct temporary others[2];

    (void)state;
    folder_run("cd base && touch other ecl-mcp-$(id -u)-short && "
               "seq 2000 | xargs touch"); // are not read
    temporary_open(&others[0], &silent);
    temporary_open(&others[1], &silent);
    open_temporary();
    folder_run("cd base/ecl-mcp-$(id -u) && touch other 0123");
    temporary_clean(&temporary, linux_now_ms());
    assert_int_equal(temporary.sweeper, 0);
    // among so many names, the sweeper looks
    folder_run("cd base/ecl-mcp-$(id -u) && seq 32 | xargs touch");
    temporary_clean(&temporary, linux_now_ms());
    assert_true(temporary.sweeper > 0);
    temporary_close(&others[0], linux_now_ms());
    temporary_close(&others[1], linux_now_ms());
}

static void temporary_folder_in_use_is_not_swept(void **state)
{
    (void)state;
    open_temporary();
    run_inside("touch mine");
    sweep();
    run_inside("test -f mine");
    // an interrupted start leaves no lock, and code what cannot be read
    folder_run("cd base/ecl-mcp-$(id -u) && mkdir -m 700 0123456789abcdef && "
               "mkdir -m 000 0123456789abcdee");
    assert_int_equal(count(), 3);
    sweep();
    assert_int_equal(count(), 1);
    // other names are those of others, and links are not followed
    folder_run("cd base/ecl-mcp-$(id -u) && mkdir abc 0123456789ABCDEF "
               "0x0123456789abcdef other && "
               "ln -s ../../home 0123456789abcdef");
    sweep();
    assert_int_equal(count(), 6);
    folder_run("test -f home/kept");
}

static void temporary_folder_needs_no_lock_of_folders(void **state)
{
    (void)state;
    lockable = FILES;
    open_temporary();
    assert_int_equal(strncmp(temporary.path, common, strlen(common)), 0);
    assert_int_equal(count(), 2);
    run_inside("test -z \"$(ls -A)\" && touch mine");
    // one is left as a whole, of two others only the folder or the file
    leave_behind("touch left");
    folder_run("cd base/ecl-mcp-$(id -u) && mkdir -m 700 0123456789abcdef && "
               "touch 0123456789abcdee.lock && ln -s ../../home/kept "
               "0123456789abcded.lock");
    assert_int_equal(count(), 7);
    sweep();
    run_inside("test -f mine");
    folder_run("cd base/ecl-mcp-$(id -u) && rm 0123456789abcded.lock");
    assert_int_equal(count(), 2);
    temporary_clean(&temporary, linux_now_ms());
    assert_int_equal(temporary.sweeper, 0); // nothing is left
    // not even a file alone, which an end in the wrong moment leaves
    folder_run("touch base/ecl-mcp-$(id -u)/0123456789abcdee.lock");
    temporary_clean(&temporary, linux_now_ms());
    assert_true(temporary.sweeper > 0);
    pid_t sweeper = waitpid(temporary.sweeper, NULL, 0);
    assert_true(temporary_note_exit(&temporary, sweeper));
    assert_int_equal(count(), 2);
    temporary_close(&temporary, linux_now_ms());
    assert_int_equal(count(), 0);
}

static void temporary_folder_needs_a_lock(void **state)
{
    (void)state;
    lockable = NOTHING;
    temporary_open(&temporary, &silent);
    assert_string_equal(temporary.path, ""); // nor below /tmp
    assert_int_equal(count(), 0);
}

/* The zygote makes a folder to mount on, which the next one needs, too, unless
   it can have been changed. */
static void temporary_folder_leaves_the_way(void **state)
{
    static const struct {
        const char *command; // in the folder
        bool reached;
        bool left;
    } ways[] = {
        {"mkdir -m 700 \"$WAY\"", true, false},
        {"mkdir -m 700 \"$WAY\"", false, true},
        {"test -d \"$WAY\"", false, true}, // the one that was left
        {"touch \"$WAY\"/file", false, false},
        {"mkdir -m 700 \"$WAY\"; chmod 750 \"$WAY\"", false, false},
        {"ln -s . \"$WAY\"", false, false},
        {"true", false, false},
    };
    char left[sizeof common + 10];

    (void)state;
    open_temporary();
    assert_int_equal(setenv("WAY", temporary.common, 1), 0);
    temporary_close(&temporary, linux_now_ms());
    (void)snprintf(left, sizeof left, "%s/way", common);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        open_temporary();
        assert_int_not_equal(access(left, F_OK), 0); // it was taken
        run_inside(ways[i].command);
        temporary.reached = ways[i].reached;
        temporary_close(&temporary, linux_now_ms());
        assert_int_equal(access(left, F_OK) == 0, ways[i].left);
    }
    assert_int_equal(count(), 0);
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
    temporary_close(&temporary, linux_now_ms());
    assert_int_equal(count(), 0);
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
    assert_true(removal_of_folder(temporary.parent, temporary.name, LATE));
    temporary_close(&temporary, linux_now_ms());
    assert_int_equal(count(), 0);
}

static void removal_ends_in_time(void **state)
{
    (void)state;
    open_temporary();
    run_inside("touch one");
    assert_false(removal_of_folder(temporary.parent, temporary.name, 0));
    run_inside("test -f one");
    assert_true(removal_of_folder(temporary.parent, "none", LATE));
    assert_true(removal_of_folder(temporary.parent, temporary.name, LATE));
}

/* Starts the sweeper at NOW_MS, and waits until it has ended. */
static void clean(int64_t now_ms)
{
    open_temporary();
    temporary_clean(&temporary, now_ms);
    assert_true(temporary.sweeper > 0);
    assert_int_equal(check_wait(temporary.sweeper), 0);
    assert_true(temporary_note_exit(&temporary, temporary.sweeper));
    temporary_close(&temporary, linux_now_ms());
}

/* Who began to remove folders as long ago as the limit is has no time left; who
   does so later removes them. */
static void temporary_folders_are_removed_in_time(void **state)
{
    int64_t end = linux_now_ms();

    (void)state;
    open_temporary();
    run_inside("touch one");
    temporary_close(&temporary, end - LIMIT_TEMPORARY_END_MS);
    assert_int_equal(count(), 1);
    clean(end - LIMIT_TEMPORARY_SWEEP_MS);
    assert_int_equal(count(), 1);
    clean(linux_now_ms());
    assert_int_equal(count(), 0);
    open_temporary();
    run_inside("touch one");
    temporary_close(&temporary, linux_now_ms());
    assert_int_equal(count(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(temporary_folder_is_private),
        TEST(temporary_folder_is_not_where_others_say),
        TEST(temporary_folder_needs_a_folder_to_be_in),
        TEST(temporary_folder_of_a_killed_supervisor_is_swept),
        TEST(temporary_folder_without_others_needs_no_sweeper),
        TEST(temporary_folder_in_use_is_not_swept),
        TEST(temporary_folder_needs_no_lock_of_folders),
        TEST(temporary_folder_needs_a_lock),
        TEST(temporary_folder_leaves_the_way),
        TEST(temporary_folder_full_of_traps_is_removed),
        TEST(temporary_folder_of_any_depth_is_removed),
        TEST(removal_ends_in_time),
        TEST(temporary_folders_are_removed_in_time),
    };

    return RUN_TESTS("temporary", tests);
}
