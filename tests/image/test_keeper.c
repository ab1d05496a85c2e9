/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose a process is, with the real zygote, keepers and images: evaluated code
   hides its processes, passes them off as another session's, and forks without
   end; zygote, keeper and supervisor are killed. Argument 1 of the program is
   ecl-mcp-image. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/family.h"
#include "image/linux.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/imagehost.h"
#include "wire/wire.h"

#define CROWDED "had more than 256 processes running and was ended"

/* Runs SCRIPT, in which no character needs an escape in Lisp. */
#define SHELL(script) "(ext:system \"" script "\")"

static void do_operation(const char *session, uint64_t id,
                         const char *operation)
{
    struct buf frame;

    host_begin(&frame, session, id, operation, 0);
    host_send(&frame);
    host_wait(id);
    host_expect_success();
}

static pid_t parent_of(pid_t pid)
{
    pid_t parent = 0;
    int64_t start;

    assert_true(linux_find(pid, &parent, &start));
    return parent;
}

/* Lets a moment pass, with the supervisor, or without one. */
static void pass(void)
{
    const struct timespec moment = {0, 5 * 1000 * 1000};

    if (host) {
        host_turn(5);
        return;
    }
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    (void)nanosleep(&moment, NULL); // a signal only shortens it
}

static void wait_gone(pid_t pid)
{
    for (int tries = 0; host_exists(pid); tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        pass();
    }
}

/* The number that a script has written to file NAME. */
static pid_t written(const char *name)
{
    char path[FOLDER_SIZE + 20];
    int pid = 0;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    for (int tries = 0; pid == 0 && tries < HOST_PATIENCE_MS / 5; tries++) {
        pass();
        file = fopen(path, "re");
        if (!file)
            continue;
        if (fscanf(file, "%d", &pid) != 1) // NOLINT: the script is ours
            pid = 0;
        (void)fclose(file); // was only read
    }
    assert_true(pid > 1);
    return (pid_t)pid;
}

static bool is_sleeper(pid_t pid)
{
    char path[64];
    char name[32] = "";
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    (void)!fgets(name, sizeof name, file); // else it has just ended
    (void)fclose(file);                    // was only read
    return strcmp(name, "mcp-sleeper\n") == 0;
}

/* Waits until only IMAGE and sleeping copies descend from its keeper. */
static void wait_alone(pid_t image)
{
    pid_t keeper = parent_of(image);
    struct family family = {NULL, 0, 0};
    bool others = true;

    for (int tries = 0; others && tries < HOST_PATIENCE_MS / 5; tries++) {
        others = false;
        host_turn(5);
        family_find(&family, keeper, NULL);
        for (size_t i = 0; i < family.n; i++)
            others = others || (family.list[i].pid != image &&
                                !is_sleeper(family.list[i].pid));
    }
    family_release(&family);
    assert_false(others);
}

/* Starts a program without environment, in a session of its own, whose parent
   ends; it writes its number to file "orphan". */
#define START_ORPHAN                                                           \
    SHELL("env -i setsid -f sh -c 'echo $$ > orphan; exec sleep 1000'")

/* --- Whose it is -------------------------------------------------------- */

/* The processes of one session say that they belong to the other. */
static void keeper_leaves_other_sessions_alone(void **state)
{
    char code[400];
    pid_t victim;

    (void)state;
    host_call(2, "(progn " SHELL("echo $PPID > runs") " (loop (sleep 0.01)))");
    victim = written("runs");
    (void)snprintf(code, sizeof code,
                   SHELL("export ECL_MCP_IMAGE=%d; i=0; while [ $i -lt 400 ]; "
                         "do setsid -f sleep 1000; i=$((i+1)); done; "
                         "sleep 1000"),
                   (int)victim);
    host_call_in("evil", 3, code);
    host_wait(3);
    host_expect_part("[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image " CROWDED);
    host_stop(2);
    host_wait(2);
    assert_null(strstr(host_answer.p, "IMAGE-DIED"));
    assert_int_equal(host_image_pid(4), victim);
}

static void expect_crowded(const char *code)
{
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    do_operation("main", 2, "checkpoint-session");
    host_call(3, code);
    host_wait(3);
    host_expect_part("[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image " CROWDED);
    host_expect_part("No evaluation that was answered is lost.");
    host_expect(4, "*x*", "=> 1");
    wait_alone(host_image_pid(5));
}

static void keeper_counts_without_environment(void **state)
{
    (void)state;
    expect_crowded(SHELL("i=0; while [ $i -lt 600 ]; do env -i setsid -f sleep "
                         "1000; i=$((i+1)); done; sleep 1000"));
}

static void keeper_counts_whatever_the_name(void **state)
{
    (void)state;
    expect_crowded(
        SHELL("cp /bin/sleep ecl-mcp-sleeper; cp /bin/sleep ecl-mcp-image; "
              "cp /bin/sleep ecl-mcp-keeper; i=0; while [ $i -lt 200 ]; do "
              "setsid -f ./ecl-mcp-sleeper 1000; setsid -f ./ecl-mcp-image "
              "1000; setsid -f ./ecl-mcp-keeper 1000; i=$((i+1)); done; "
              "sleep 1000"));
}

/* Each process starts two others, in the group of the image or in groups of
   their own; 1,000 at most, so that a failure is no disaster. */
static void keeper_stops_a_fork_bomb(void **state)
{
    (void)state;
    expect_crowded(SHELL("b() { [ $1 -lt 9 ] && { b $(($1+1)) & b $(($1+1)) & "
                         "}; sleep 1000; }; b 0"));
}

static void keeper_stops_a_fork_bomb_in_sessions(void **state)
{
    (void)state;
    expect_crowded(
        SHELL("echo 'if [ $1 -lt 9 ]; then setsid -f sh b $(($1+1)); setsid -f "
              "sh b $(($1+1)); fi; sleep 1000' > b; sh b 0"));
}

/* --- When it ends ------------------------------------------------------- */

static void keeper_ends_orphans_with_reset(void **state)
{
    pid_t orphan;

    (void)state;
    host_expect(1, START_ORPHAN, "=> 0");
    orphan = written("orphan");
    assert_true(host_exists(orphan));
    do_operation("main", 2, "reset-session");
    host_wait_gone(orphan);
    host_expect(3, "(+ 1 1)", "=> 2");
}

static void keeper_ends_orphans_with_close(void **state)
{
    pid_t orphan;

    (void)state;
    host_call_in("other", 1, START_ORPHAN);
    host_wait(1);
    orphan = written("orphan");
    assert_true(host_exists(orphan));
    do_operation("other", 2, "close-session");
    host_wait_gone(orphan);
}

static void keeper_ends_orphans_with_the_image(void **state)
{
    pid_t orphan;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    host_expect(2, START_ORPHAN, "=> 0");
    orphan = written("orphan");
    do_operation("main", 3, "checkpoint-session");
    assert_true(host_exists(orphan));
    assert_int_equal(kill(host_image_pid(4), SIGKILL), 0);
    host_call(5, "*x*");
    host_wait(5);
    host_expect_part("=> 1");
    host_wait_gone(orphan);
}

static void keeper_does_without_the_zygote(void **state)
{
    pid_t image;
    pid_t keeper;
    pid_t orphan;
    pid_t zygote;

    (void)state;
    host_expect(1, "(defvar *x* 42)", "=> *X*");
    host_expect(2, START_ORPHAN, "=> 0");
    orphan = written("orphan");
    do_operation("main", 3, "checkpoint-session");
    image = host_image_pid(4);
    keeper = parent_of(image);
    zygote = parent_of(keeper);
    assert_int_equal(kill(zygote, SIGKILL), 0);
    host_wait_gone(zygote);
    host_expect(5, "*x*", "=> 42");
    assert_int_equal(host_image_pid(6), image);
    assert_int_equal(kill(image, SIGKILL), 0);
    host_call(7, "*x*");
    host_wait(7);
    host_expect_part("continues from the checkpoint");
    host_expect_part("=> 42");
    host_wait_gone(orphan);
    assert_int_equal(parent_of(host_image_pid(8)), keeper);
}

/* Kills the keeper of session main, which has an orphan: nothing may be left of
   the session. */
static void lose_keeper(void)
{
    pid_t image = host_image_pid(11);
    pid_t keeper = parent_of(image);
    pid_t orphan;

    host_expect(12, START_ORPHAN, "=> 0");
    orphan = written("orphan");
    assert_int_equal(kill(keeper, SIGKILL), 0);
    host_wait_gone(image);
    host_wait_gone(orphan);
    host_call(13, "(boundp '*x*)");
    host_wait(13);
    host_expect_part("lost the process that watches over it (its keeper) and "
                     "was ended between two evaluations.");
    host_expect_part("all definitions and data of session main are lost");
    host_expect_part("=> NIL");
}

static void keeper_lost_ends_its_session(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 42)", "=> *X*");
    host_call_in("other", 2, "(defvar *y* 43)");
    host_wait(2);
    lose_keeper();
    host_call_in("other", 3, "*y*");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> 43");
}

static void keeper_lost_after_the_zygote(void **state)
{
    pid_t zygote;

    (void)state;
    host_expect(1, "(defvar *x* 42)", "=> *X*");
    zygote = parent_of(parent_of(host_image_pid(2)));
    assert_int_equal(kill(zygote, SIGKILL), 0);
    host_wait_gone(zygote);
    lose_keeper();
}

/* In a child: a supervisor of its own, until it is killed. */
static NO_RETURN void supervise(void)
{
    host_start(NULL, folder);
    host_expect(1, START_ORPHAN, "=> 0");
    host_expect(2, SHELL("echo $PPID > image"), "=> 0");
    for (;;)
        host_turn(1000);
}

static void keeper_outlives_no_supervisor(void **state)
{
    pid_t pid;
    pid_t orphan;
    pid_t image;
    pid_t keeper;

    (void)state;
    (void)fflush(NULL); // nothing must be printed twice
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        supervise();
    orphan = written("orphan");
    image = written("image");
    keeper = parent_of(image);
    assert_int_equal(kill(pid, SIGKILL), 0);
    wait_gone(orphan);
    wait_gone(image);
    wait_gone(keeper);
    wait_gone(pid);
}

/* --- What the system does for it ---------------------------------------- */

/* The value of FIELD in /proc/PID/NAME, or the whole file if FIELD is NULL. */
static long read_number(pid_t pid, const char *name, const char *field)
{
    char path[64];
    char line[256];
    long value = -1;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    file = fopen(path, "re");
    assert_non_null(file);
    while (value < 0 && fgets(line, sizeof line, file))
        if (!field || strncmp(line, field, strlen(field)) == 0)
            value = strtol(line + (field ? strlen(field) : 0), NULL, 10);
    (void)fclose(file); // was only read
    return value;
}

static void keeper_is_ended_after_its_image(void **state)
{
    long wanted;
    pid_t image;

    (void)state;
    image = host_image_pid(1);
    assert_int_equal(read_number(parent_of(image), "oom_score_adj", NULL),
                     read_number(getpid(), "oom_score_adj", NULL));
    // 1000 is the most that the system takes
    wanted = read_number(getpid(), "oom_score_adj", NULL) + LIMIT_OOM_SCORE;
    assert_int_equal(read_number(image, "oom_score_adj", NULL),
                     wanted < 1000 ? wanted : 1000);
}

/* In a user namespace of the keeper's own, the kernel counts tasks. */
static void keeper_bounds_the_tasks(void **state)
{
    char path[64];
    char ours[64] = "";
    char theirs[64] = "";
    pid_t image;

    (void)state;
    image = host_image_pid(1);
    (void)snprintf(path, sizeof path, "/proc/%d/ns/user",
                   (int)parent_of(parent_of(image)));
    assert_true(readlink(path, ours, sizeof ours - 1) > 0);
    (void)snprintf(path, sizeof path, "/proc/%d/ns/user", (int)image);
    assert_true(readlink(path, theirs, sizeof theirs - 1) > 0);
    if (strcmp(ours, theirs) == 0)
        skip(); // root, or the system makes none
    assert_int_equal(read_number(image, "limits", "Max processes"),
                     LIMIT_TASKS);
}

/* Code that signals by name does not reach the copies. */
static void keeper_has_copies_that_hear_nothing(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    do_operation("main", 2, "checkpoint-session");
    host_expect(3, SHELL("! pgrep -P $PPID ecl"), "=> 0");
    host_expect(4,
                SHELL("pkill -INT -P $PPID sleeper; pkill -TERM -P $PPID "
                      "sleeper; pkill -USR1 -P $PPID sleeper; pkill -HUP "
                      "-P $PPID sleeper"),
                "=> 0");
    host_call(5, SHELL("kill -9 $PPID"));
    host_wait(5);
    host_expect_part("Session main continues from the checkpoint");
    host_expect(6, "*x*", "=> 1");
}

/* A copy leads a group, so that the end of the image does not reach it. A
   session of its own would cost milliseconds on a busy machine, for the system
   divides the processors between sessions. */
static void keeper_has_copies_in_groups_of_their_own(void **state)
{
    pid_t image = host_image_pid(1);
    struct family family = {NULL, 0, 0};
    size_t copies = 0;

    (void)state;
    do_operation("main", 2, "checkpoint-session");
    family_find(&family, image, NULL);
    for (size_t i = 0; i < family.n; i++) {
        pid_t pid = family.list[i].pid;

        if (!is_sleeper(pid))
            continue;
        copies++;
        assert_int_equal(getpgid(pid), pid);
        assert_int_equal(getsid(pid), getsid(image));
    }
    family_release(&family);
    assert_int_equal(getpgid(image), image);
    assert_true(copies > 0);
}

#define TEST(f)                                                                \
    cmocka_unit_test_setup_teardown(f, host_setup_in_folder,                   \
                                    host_teardown_in_folder)

static int make_folder(void **state)
{
    (void)state;
    return folder_make();
}

static int remove_folder(void **state)
{
    (void)state;
    folder_remove();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(keeper_leaves_other_sessions_alone),
        TEST(keeper_counts_without_environment),
        TEST(keeper_counts_whatever_the_name),
        TEST(keeper_stops_a_fork_bomb),
        TEST(keeper_stops_a_fork_bomb_in_sessions),
        TEST(keeper_ends_orphans_with_reset),
        TEST(keeper_ends_orphans_with_close),
        TEST(keeper_ends_orphans_with_the_image),
        TEST(keeper_does_without_the_zygote),
        TEST(keeper_lost_ends_its_session),
        TEST(keeper_lost_after_the_zygote),
        cmocka_unit_test_setup_teardown(keeper_outlives_no_supervisor,
                                        make_folder, remove_folder),
        TEST(keeper_is_ended_after_its_image),
        TEST(keeper_bounds_the_tasks),
        TEST(keeper_has_copies_that_hear_nothing),
        TEST(keeper_has_copies_in_groups_of_their_own),
    };

    host_use(argc, argv);
    return RUN_TESTS("keeper", tests);
}
