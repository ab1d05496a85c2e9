/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a session waits for besides its code has been stopped, with the real
   zygote, keepers and images: no call waits for ever. Argument 1 of the program
   is ecl-mcp-image. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/family.h"
#include "image/linux.h"
#include "supervisor/closing.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "support/lingering.h"
#include "wire/wire.h"

/* From now on SIGCONT makes this process wait for another signal. */
#define BE_DEAF                                                                \
    "(progn (si:call-cfun (si:find-foreign-symbol \"signal\" :default "        \
    ":pointer-void 0) :pointer-void '(:int :pointer-void) (list 18 "           \
    "(si:find-foreign-symbol \"pause\" :default :pointer-void 0)) :default) "  \
    "nil)"

static void send_operation(const char *session, uint64_t id,
                           const char *operation, const char *name)
{
    struct buf frame;

    host_begin(&frame, session, id, operation, 0);
    if (name) {
        wire_put_string(&frame, STR("name"));
        wire_put_string(&frame, str_from(name));
    }
    host_send(&frame);
}

static void do_operation(const char *session, uint64_t id,
                         const char *operation, const char *name)
{
    send_operation(session, id, operation, name);
    host_wait(id);
    host_expect_success();
}

static const struct session *find(const char *name)
{
    const struct session *session = state_find_session(host, str_from(name));

    assert_non_null(session);
    return session;
}

/* Stops PID, and sees that it is stopped: the control of every test here. */
static void stop(pid_t pid)
{
    char path[64];
    char line[256] = "";
    FILE *file;

    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int tries = 0; !strstr(line, ") T "); tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
        file = fopen(path, "re");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        (void)fclose(file); // was only read
    }
}

/* *X* is 1, then "here" is taken, then it is 2. */
static void prepare(void)
{
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    do_operation("main", 2, "checkpoint-session", "here");
    host_expect(3, "(setf *x* 2)", "=> 2");
}

/* --- Stopped once ------------------------------------------------------- */

static void patience_wakes_a_keeper(void **state)
{
    (void)state;
    prepare();
    stop(find("main")->image.keeper_pid);
    do_operation("main", 4, "restore-session", "here");
    host_expect(5, "*x*", "=> 1");
}

static void patience_closes_with_a_stopped_keeper(void **state)
{
    pid_t image;
    pid_t keeper;

    (void)state;
    prepare();
    image = find("main")->image.pid;
    keeper = find("main")->image.keeper_pid;
    stop(keeper);
    do_operation("main", 4, "close-session", NULL);
    host_wait_gone(image);
    host_wait_gone(keeper);
}

static void patience_wakes_the_zygote(void **state)
{
    (void)state;
    prepare();
    stop(host->zygote.pid);
    // the first new session finds its keeper ready
    for (uint64_t id = 4; id < 6; id++) {
        char name[8];

        (void)snprintf(name, sizeof name, "new%d", (int)id);
        host_call_in(name, id, "(+ 1 2)");
        host_wait(id);
        host_expect_part("=> 3");
    }
}

static void patience_wakes_an_image_to_be_copied(void **state)
{
    (void)state;
    prepare();
    stop(host_image_pid(4));
    do_operation("main", 5, "checkpoint-session", "there");
    host_expect(6, "*x*", "=> 2");
}

/* A copy that nobody asked for is under way when the image is stopped. */
static void patience_undoes_behind_a_copy(void **state)
{
    (void)state;
    prepare();
    stop(host_image_pid(4));
    for (int tries = 0; find("main")->keeping.number == 0; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
    do_operation("main", 5, "restore-session", "here");
    host_expect(6, "*x*", "=> 1");
}

/* --- Stopped for ever --------------------------------------------------- */

static pid_t wait_for_spare(void)
{
    for (int tries = 0; tries < HOST_PATIENCE_MS / 5; tries++) {
        struct family family = {NULL, 0, 0};
        pid_t found = 0;

        family_find(&family, host->zygote.pid, NULL);
        for (size_t i = 0; i < family.n; i++) {
            const struct session *session = host->sessions;

            while (session && session->image.keeper_pid != family.list[i].pid)
                session = session->next;
            if (family.list[i].parent == host->zygote.pid && !session)
                found = family.list[i].pid;
        }
        family_release(&family);
        if (found > 0)
            return found;
        host_turn(5);
    }
    fail();
    return 0;
}

/* An image that never makes a copy is replaced; so is a keeper that waits for
   its session and does not take it. */
static void patience_ends(void **state)
{
    pid_t image;

    (void)state;
    prepare();
    host_call_in("other", 4, "(+ 1 2)");
    host_wait(4);
    host_expect(5, BE_DEAF, "=> NIL");
    image = host_image_pid(6);
    stop(image);
    send_operation("main", 7, "checkpoint-session", "there");
    stop(wait_for_spare());
    host_call_in("new", 8, "(+ 1 3)");
    host_wait(8);
    assert_string_equal(host_answer.p, "=> 4");
    host_wait_log("it did not open a session in time");
    host_wait(7);
    host_expect_part("The Lisp image did not make the copy for which a call "
                     "waited within 30 s and was killed between two "
                     "evaluations.\nSession main continues from the "
                     "checkpoint");
    host_expect_part("Checkpoint \"there\" taken after evaluation");
    host_wait_gone(image);
}

/* A keeper that does not hear SIGCONT either: a debugger has stopped it. */
static void patience_replaces_a_keeper(void **state)
{
    pid_t keeper;

    (void)state;
    prepare();
    keeper = find("main")->image.keeper_pid;
    if (ptrace(PTRACE_SEIZE, keeper, NULL, NULL) < 0) {
        assert_int_equal(errno, EPERM); // not everybody may trace
        skip();
    }
    assert_int_equal(ptrace(PTRACE_INTERRUPT, keeper, NULL, NULL), 0);
    assert_int_equal(waitpid(keeper, NULL, __WALL), keeper);
    do_operation("main", 4, "restore-session", "here");
    host_call(5, "(boundp '*x*)");
    host_wait_log("its keeper has not answered for 20 s and is killed");
    host_wait(5);
    host_expect_part("lost the process that watches over it (its keeper)");
    host_expect_part("=> NIL");
}

/* This process can have no more descriptors, for a while. */
static void patience_refuses_without_room(void **state)
{
    struct rlimit limit;
    rlim_t before;
    int lowest = dup(0);

    (void)state;
    prepare();
    assert_true(lowest >= 0);
    (void)close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)lowest;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    host_call_in("new", 4, "(+ 1 2)");
    host_wait_log("session new: Too many open files");
    host_expect(5, "*x*", "=> 2");
    host_wait(4);
    limit.rlim_cur = before;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    host_expect_part("ECL-MCP:IMAGE-UNAVAILABLE\nThe Lisp image cannot be "
                     "started: the system has no descriptor");
    host_call_in("new", 6, "(+ 1 2)");
    host_wait(6);
    assert_string_equal(host_answer.p, "=> 3");
}

/* Lets more wait to be closed than may: LIMIT_CLOSING + 1 behind what takes
   long, and which ends when the descriptor that it returns is read and closed.
 */
static int fill_closing(void)
{
    int pair[2];
    int far;

    closing_any(lingering_open(&far, 120));
    for (int i = 0; i < LIMIT_CLOSING; i++) {
        assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        closing_any(pair[0]);
        (void)close(pair[1]);
    }
    assert_true(closing_is_full());
    return far;
}

/* All that waits may be closed. */
static void drain_closing(int far)
{
    char block[65536];

    assert_true(closing_is_full()); // it was all the time
    while (read(far, block, sizeof block) > 0)
        continue;
    (void)close(far);
}

/* Does rounds until the first call of session NAME was sent. */
static void await_sent(const char *name)
{
    for (int tries = 0; find(name)->calls.sent == 0; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
}

/* More waits to be closed than may. An image that exists continues. A new one,
   or one for a session that has lost its own, could send more. */
static void patience_refuses_while_closing(void **state)
{
    int far;

    (void)state;
    prepare();
    host_call_in("other", 4, "(+ 1 2)");
    host_wait(4);
    far = fill_closing();
    host_expect(5, "*x*", "=> 2"); // it is not concerned
    host_call(6, "(loop)");
    host_call(7, "(+ 3 4)");
    await_sent("main");
    assert_int_equal(kill(find("main")->image.pid, SIGKILL), 0);
    host_wait(6);
    host_expect_part("ECL-MCP:IMAGE-DIED");
    host_wait(7);
    host_expect_part("server is still closing descriptors");
    assert_true(find("main")->image.dying); // nor has its checkpoint woken
    host_call_in("new", 11, "(+ 1 2)");
    host_wait(11);
    host_expect_part("server is still closing descriptors");
    host_call_in("other", 8, "(+ 1 3)");
    host_wait(8);
    assert_string_equal(host_answer.p, "=> 4");
    drain_closing(far);
    host_call_in("new", 9, "(+ 1 4)");
    host_wait(9);
    assert_string_equal(host_answer.p, "=> 5");
    host_call(10, "(+ 2 5)");
    host_wait(10);
    host_expect_part("continues from the checkpoint");
    host_expect_part("=> 7");
}

/* Meanwhile a state that was restored gets no calls either, and no call fails
   as if it had run that the image, which has died, did not read. */
static void patience_says_what_has_not_run(void **state)
{
    struct front *other = host_join(false);
    struct front *first = host_front;
    pid_t deaf;
    int far;

    (void)state;
    prepare();
    host_call_in("unread", 4, BE_DEAF);
    host_wait(4);
    deaf = find("unread")->image.pid;
    far = fill_closing();
    do_operation("main", 5, "restore-session", "here");
    host_call(6, "*x*");
    host_as(other);
    stop(deaf);
    host_call_in("unread", 7, "(+ 1 2)");
    await_sent("unread");
    assert_int_equal(kill(deaf, SIGKILL), 0);
    host_wait(7);
    host_expect_part("[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\nNo Lisp image is "
                     "started now: the server is still closing descriptors");
    host_as(first);
    host_wait(6);
    host_expect_part("server is still closing descriptors");
    drain_closing(far);
    host_expect(8, "*x*", "=> 1");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(patience_wakes_a_keeper),
        TEST(patience_closes_with_a_stopped_keeper),
        TEST(patience_wakes_the_zygote),
        TEST(patience_wakes_an_image_to_be_copied),
        TEST(patience_undoes_behind_a_copy),
        TEST(patience_ends),
        TEST(patience_replaces_a_keeper),
        TEST(patience_refuses_without_room),
        TEST(patience_refuses_while_closing),
        TEST(patience_says_what_has_not_run),
    };

    host_use(argc, argv);
    return RUN_TESTS("patience", tests);
}
