/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies that wake slowly or never, with the real zygote and images: one
   session waits for them, and nothing else does. What happens first is seen by
   the order of the answers. Argument 1 of the program is ecl-mcp-image. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

#define KILL_MYSELF "(ext:system (format nil \"kill -9 ~d\" (ext:getpid)))"

/* From now on SIGCONT, which the supervisor sends before it wakes a copy, makes
   this process, and copies of it, wait for another signal. */
#define BE_DEAF                                                                \
    "(progn (si:call-cfun (si:find-foreign-symbol \"signal\" :default "        \
    ":pointer-void 0) :pointer-void '(:int :pointer-void) (list 18 "           \
    "(si:find-foreign-symbol \"pause\" :default :pointer-void 0)) :default) "  \
    "nil)"

static void send_operation(uint64_t id, const char *operation, const char *name)
{
    struct buf frame;

    host_begin(&frame, "main", id, operation, 0);
    if (name) {
        wire_put_string(&frame, STR("name"));
        wire_put_string(&frame, str_from(name));
    }
    host_send(&frame);
}

/* Takes N checkpoints of session main, "c0" and so on. */
static void take_checkpoints(int n)
{
    char name[16];

    for (int i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        send_operation(1, "checkpoint-session", name);
        host_wait(1);
        host_expect_success();
    }
}

static void open_other_session(void)
{
    host_call_in("other", 1, "(defvar *other* 5)");
    host_wait(1);
    host_expect_success();
}

/* Session "other" answers now, whatever else waits. */
static void expect_other(void)
{
    host_call_in("other", 100, "*other*");
    host_wait(100);
    host_expect_part("=> 5");
}

/* A stopped copy is as good as any other. The supervisor used to wait a second
   for each, and to give it up. */
static void waking_continues_stopped_copies(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    take_checkpoints(8);
    host_call(2, "(progn (ext:system \"pkill -STOP mcp-sleeper -P "
                 "$PPID\") " KILL_MYSELF ")");
    host_wait(2);
    host_expect_part("continues from the checkpoint after evaluation 1");
    host_expect(3, "*x*", "=> 1");
}

/* The supervisor used to serve nobody while copies did not wake. */
static void waking_lets_other_sessions_run(void **state)
{
    (void)state;
    open_other_session();
    host_expect(1, BE_DEAF, "=> NIL");
    take_checkpoints(3);
    host_call(2, KILL_MYSELF);
    host_call(3, "(boundp '*x*)");
    host_wait_log("was killed by signal 9");
    expect_other();
    host_wait_log("did not wake");
    expect_other(); // while it waits for the next copy
    send_operation(4, "list-sessions", NULL);
    host_wait(4);
    host_expect_part("main: restoring, 1 evaluation");
    host_wait(2);
    host_expect_part("[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image was killed by "
                     "signal 9 (SIGKILL) during this evaluation.\n"
                     "A fresh session replaces it: all definitions and data");
    host_wait(3);
    host_expect_part("=> NIL");
}

/* A session that waits for a copy which a user wants takes calls, and does them
   afterwards. Stopping the wait is not possible, for the session must be in one
   state or the other. */
static void waking_makes_calls_wait(void **state)
{
    (void)state;
    open_other_session();
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    host_expect(1, BE_DEAF, "=> NIL");
    take_checkpoints(1);
    host_expect(1, "(setf *x* 2)", "=> 2");
    send_operation(2, "restore-session", "c0");
    host_call(3, "*x*");
    host_stop(2);
    expect_other();
    host_wait(2);
    host_expect_part("[ERROR] ECL-MCP:NO-CHECKPOINT\nThe checkpoint is broken "
                     "and was dropped; the session is unchanged.");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> 2");
}

/* Kills the image of session main; the supervisor does not know yet. */
static void kill_image(void)
{
    const struct timespec pause = {0, 2 * 1000 * 1000};
    pid_t image = host_image_pid(1);

    assert_int_equal(kill(image, SIGKILL), 0);
    for (int waited = 0; host_exists(image); waited += 2) {
        assert_true(waited < HOST_PATIENCE_MS);
        (void)nanosleep(&pause, NULL);
    }
}

/* The image that a copy will replace dies meanwhile. */
static void waking_outlasts_the_death_of_the_image(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    take_checkpoints(1);
    host_expect(1, "(setf *x* 2)", "=> 2");
    kill_image();
    send_operation(2, "restore-session", "c0");
    host_call(3, "*x*");
    host_wait(2);
    host_expect_part("restored to the state after evaluation 1");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> 1");
}

/* The same with a copy that does not wake. */
static void waking_fails_after_the_death_of_the_image(void **state)
{
    (void)state;
    host_expect(1, BE_DEAF, "=> NIL");
    take_checkpoints(1);
    kill_image();
    send_operation(2, "restore-session", "c0");
    host_call(3, "1");
    host_wait(2);
    host_expect_part("The checkpoint is broken and was dropped");
    host_wait(3);
    host_expect_part("[notice]\nThe Lisp image was killed by signal 9 "
                     "(SIGKILL) between two evaluations.\n");
    host_expect_part("=> 1");
}

/* The front whose call was running leaves while a copy wakes. */
static void waking_outlasts_a_front(void **state)
{
    struct front *owner = host_front;

    (void)state;
    open_other_session();
    host_expect(1, BE_DEAF, "=> NIL");
    take_checkpoints(2);
    host_front = host_join(false);
    host_call(2, KILL_MYSELF);
    host_wait_log("was killed by signal 9");
    host_leave(host_front);
    host_front = owner;
    expect_other();
    host_call(3, "1");
    host_wait(3);
    host_expect_part("(SIGKILL) during an evaluation by someone who had left");
    host_expect_part("=> 1");
}

/* The supervisor ends while a copy wakes; the teardown sees what is left. */
static void waking_ends_with_the_supervisor(void **state)
{
    (void)state;
    host_expect(1, BE_DEAF, "=> NIL");
    take_checkpoints(2);
    host_call(2, KILL_MYSELF);
    host_wait_log("was killed by signal 9");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(waking_continues_stopped_copies),
        TEST(waking_lets_other_sessions_run),
        TEST(waking_makes_calls_wait),
        TEST(waking_outlasts_the_death_of_the_image),
        TEST(waking_fails_after_the_death_of_the_image),
        TEST(waking_outlasts_a_front),
        TEST(waking_ends_with_the_supervisor),
    };

    host_use(argc, argv);
    return RUN_TESTS("waking", tests);
}
