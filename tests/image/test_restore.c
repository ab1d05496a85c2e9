/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints, time limits and sessions, with the real zygote and images:
   argument 1 of the program is ecl-mcp-image. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

#define KILL_MYSELF "(ext:system (format nil \"kill -9 ~d\" (ext:getpid)))"

static void run_operation(uint64_t id, const char *operation, const char *name,
                          int64_t back)
{
    struct buf frame;

    host_begin(&frame, "main", id, operation, 0);
    if (name) {
        wire_put_string(&frame, STR("name"));
        wire_put_string(&frame, str_from(name));
    }
    if (back > 0) {
        wire_put_string(&frame, STR("back"));
        wire_put_int(&frame, back);
    }
    host_send(&frame);
    host_wait(id);
}

/* Waits until the newest state of session main is in a checkpoint. */
static void wait_checkpoint(uint64_t id, int evaluation)
{
    char wanted[64];

    (void)snprintf(wanted, sizeof wanted, ", after evaluation %d:", evaluation);
    for (int tries = 0; tries < HOST_PATIENCE_MS / 5; tries++) {
        run_operation(id, "list-sessions", NULL, 0);
        if (strstr(host_answer.p, wanted))
            return;
        host_turn(5);
    }
    fail_msg("no checkpoint%s in %s", wanted, host_answer.p);
}

static void restore_brings_everything_back(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* (list 1 2 3))", "=> *X*");
    host_expect(2, "(defun sq (x) (* x x))", "=> SQ");
    wait_checkpoint(3, 2);
    host_call(4, KILL_MYSELF);
    host_wait(4);
    assert_true(host_error);
    host_expect_part(
        "[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image was killed by signal 9 "
        "(SIGKILL) during this evaluation.\nSession main continues from the "
        "checkpoint after evaluation 2: (defun sq (x) (* x x))\n"
        "No evaluation that was answered is lost.\n");
    host_expect(5, "(list (sq 12) *x*)", "=> (144 (1 2 3))");
}

static void restore_says_what_is_lost(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    wait_checkpoint(2, 1);
    host_call(3, "(defvar *y*\n 2)");
    host_call(4, "(setf *x* 3)");
    host_call(5, KILL_MYSELF); // too early for a checkpoint
    host_wait(3);
    host_wait(4);
    host_wait(5);
    host_expect_part("Answered, but lost:\n- evaluation 2: (defvar *y*\n"
                     "- evaluation 3: (setf *x* 3)\n");
    host_expect(6, "(list *x* (boundp '*y*))", "=> (1 NIL)");
}

static void restore_survives_death_after_death(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 7)", "=> *X*");
    wait_checkpoint(2, 1);
    for (uint64_t id = 10; id < 30; id++) {
        host_call(id, KILL_MYSELF);
        host_wait(id);
        host_expect_part("continues from the checkpoint after evaluation 1");
    }
    host_expect(3, "*x*", "=> 7");
}

/* The first copy of all waits for a quiet moment, but not so long that an
   evaluation could come before it. */
static void restore_takes_the_first_copy_before_a_call(void **state)
{
    const struct keeping *keeping;

    (void)state;
    host_expect(1, "(defvar *x* 7)", "=> *X*");
    keeping = &host->sessions->keeping;
    // nothing is asked for in the turn of the answer
    assert_int_equal(keeping->number, 0);
    assert_null(keeping->checkpoints.newest);
    host_call(2, KILL_MYSELF);
    host_wait(2);
    host_expect_part("continues from the checkpoint after evaluation 1");
    host_expect(3, "*x*", "=> 7");
}

/* The keeper and the image speak over two sockets, and their first words can be
   read in any order: the image is asked for a copy when its keeper is known, by
   which the copy is seen to be one. */
static void restore_asks_a_known_image(void **state)
{
    struct buf frame;
    int tries = 0;

    (void)state;
    for (; !zygote_is_ready(&host->zygote); tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
    assert_int_equal(kill(host->zygote.pid, SIGSTOP), 0);
    host_begin(&frame, "main", 1, "checkpoint-session", 0);
    host_send(&frame);
    for (; !host->sessions || host->sessions->image.socket < 0; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
    host_turn(0); // sends what there is
    assert_false(linux_has_unread(host->sessions->image.socket));
    assert_int_equal(kill(host->zygote.pid, SIGCONT), 0);
    host_wait(1);
    host_expect_success();
}

/* The newest checkpoint is killed, too: an older one replaces the image. */
static void restore_falls_back_to_older_ones(void **state)
{
    pid_t images[64];
    size_t n;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    wait_checkpoint(2, 1);
    host_expect(3, "(defvar *y* 2)", "=> *Y*");
    wait_checkpoint(4, 2);
    run_operation(5, "list-sessions", NULL, 0);
    host_call(6, "(progn (ext:system \"pkill -9 -n mcp-sleeper -P $PPID\")"
                 " " KILL_MYSELF ")");
    host_wait(6);
    host_expect_part("[ERROR] ECL-MCP:IMAGE-DIED\n");
    host_expect(7, "*x*", "=> 1");
    n = linux_children(images, 64);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        assert_true(host_exists(images[i]));
}

static void restore_undoes_evaluations(void **state)
{
    (void)state;
    host_expect(1, "(defvar *h* (make-hash-table))", "=> *H*");
    wait_checkpoint(2, 1);
    host_expect(3, "(defun f () :old)", "=> F");
    wait_checkpoint(4, 2);
    host_expect(5, "(defun f () :new)", "=> F");
    wait_checkpoint(6, 3);
    host_expect(7, "(setf (gethash :k *h*) 1)", "=> 1");
    wait_checkpoint(8, 4);
    host_expect(9, "(progn (make-package :p) (in-package :p))",
                "=> #<\"P\" package>");
    run_operation(10, "restore-session", NULL, 3);
    host_expect_success();
    host_expect_part("Session main restored to the state after evaluation 2: "
                     "(defun f () :old)\nUndone:\n- evaluation 3: (defun f () "
                     ":new)\n- evaluation 4: (setf (gethash :k *h*) 1)\n"
                     "- evaluation 5: ");
    host_expect(11, "(list (f) (gethash :k *h*) (package-name *package*))",
                "=> (:OLD NIL \"COMMON-LISP-USER\")");
    run_operation(12, "restore-session", NULL, 3); // everything
    host_expect_part("restored to its beginning");
    host_expect(13, "(fboundp 'f)", "=> NIL");
}

static void list_definitions(uint64_t id, unsigned char flags)
{
    struct buf frame;

    host_begin(&frame, "main", id, "list-definitions", 0);
    frame.p[6] = (char)flags;
    host_send(&frame);
    host_wait(id);
    host_expect_success();
}

/* A call that says that it only reads is not an evaluation. */
static void restore_passes_over_reads(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    wait_checkpoint(2, 1);
    host_expect(3, "(setf *x* 2)", "=> 2");
    wait_checkpoint(4, 2);
    list_definitions(5, WIRE_READS);
    run_operation(6, "restore-session", NULL, 1);
    host_expect_part("to the state after evaluation 1: (defvar *x* 1)\n"
                     "Undone:\n- evaluation 2: (setf *x* 2)\n");
    list_definitions(7, 0);
    run_operation(8, "restore-session", NULL, 1);
    host_expect_part("to the state after evaluation 1: (defvar *x* 1)\n"
                     "Undone:\n- evaluation 2: list-definitions\n");
}

static void restore_goes_to_named_ones(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    run_operation(2, "checkpoint-session", "good", 0);
    assert_string_equal(host_answer.p, "Checkpoint \"good\" taken after "
                                       "evaluation 1: (defvar *x* 1)");
    host_expect(3, "(setf *x* 2)", "=> 2");
    run_operation(4, "restore-session", "good", 0);
    host_expect_part("(checkpoint \"good\")\nUndone:\n- evaluation 2: (setf");
    host_expect(5, "*x*", "=> 1");
    host_expect(6, "(setf *x* 3)", "=> 3");
    run_operation(7, "restore-session", "good", 0); // it still exists
    host_expect(8, "*x*", "=> 1");
}

/* A named checkpoint of an abandoned past is found by its name, and never
   mistaken for a state of the present past. */
static void restore_keeps_pasts_apart(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    run_operation(2, "checkpoint-session", "one", 0);
    host_expect(3, "(setf *x* 2)", "=> 2");
    run_operation(4, "checkpoint-session", "two", 0);
    run_operation(5, "restore-session", "one", 0);
    host_expect(6, "(setf *x* :other)", "=> :OTHER");
    wait_checkpoint(7, 2);
    host_expect_part("checkpoint \"two\" at ");
    host_expect_part("evaluation 2 of an abandoned past");
    host_call(8, KILL_MYSELF);
    host_wait(8);
    host_expect(9, "*x*", "=> :OTHER");
    run_operation(10, "restore-session", "two", 0);
    host_expect(11, "*x*", "=> 2");
}

static void restore_says_what_is_missing(void **state)
{
    (void)state;
    run_operation(1, "restore-session", NULL, 1);
    assert_true(host_error);
    host_expect_part("[ERROR] ECL-MCP:NO-CHECKPOINT\nSession main has 0 "
                     "evaluations; there is no state 1 evaluations back.");
    run_operation(2, "restore-session", "nope", 0);
    host_expect_part("has no checkpoint named \"nope\"");
    host_expect(3, "(+ 1 1)", "=> 2");
}

/* Of each kind of checkpoint, a limited number is kept: the newest ones. */
static void restore_keeps_a_bounded_number(void **state)
{
    char name[16];

    (void)state;
    host_expect(1, "(+ 1 1)", "=> 2");
    for (int i = 0; i < LIMIT_CHECKPOINTS + 3; i++) {
        (void)snprintf(name, sizeof name, "c%d", i);
        run_operation(2, "checkpoint-session", name, 0);
        host_expect_success();
    }
    run_operation(3, "restore-session", "c2", 0);
    assert_true(host_error);
    run_operation(4, "restore-session", "c3", 0);
    host_expect_success();
}

/* A checkpoint has no threads of user code, but works nevertheless. */
static void restore_works_with_threads(void **state)
{
    (void)state;
    host_expect(1, "(defvar *n* 0)", "=> *N*");
    host_call(2, "(dotimes (i 8 :started) (mp:process-run-function \"busy\" "
                 "(lambda () (loop (incf *n*) (make-list 100)))))");
    host_wait(2);
    assert_string_equal(host_answer.p, "=> :STARTED");
    wait_checkpoint(3, 2);
    host_call(4, KILL_MYSELF);
    host_wait(4);
    host_expect_part("Threads, open files and sockets");
    host_expect(5, "(progn (si:gc t) (dotimes (i 50) (make-list 10000)) :ok)",
                "=> :OK");
    host_expect(6,
                "(mp:process-join (mp:process-run-function \"new\" (lambda () "
                ":joined)))",
                "=> :JOINED");
}

static void limit_stops_a_loop(void **state)
{
    struct buf frame;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    host_begin(&frame, "main", 2, "evaluate", 300);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, STR("(progn (print :before) (loop))"));
    host_send(&frame);
    host_wait(2);
    assert_true(host_error);
    host_expect_part("[stdout]\n\n:BEFORE");
    host_expect(3, "*x*", "=> 1");
}

static void limit_stops_each_of_many_loops(void **state)
{
    struct buf frame;

    (void)state;
    host_expect(1, "(defvar *x* (expt 3 4000))", "=> *X*");
    for (uint64_t id = 2; id < 50; id++) {
        host_begin(&frame, "main", id, "evaluate", 20);
        wire_put_string(&frame, STR("code"));
        wire_put_string(&frame, id % 2 ? STR("(loop (floor (* *x* *x*) *x*))")
                                       : STR("(loop (make-string 100000))"));
        host_send(&frame);
        host_wait(id);
        host_expect_part("[ERROR] ECL-MCP:TIME-LIMIT-EXCEEDED");
    }
    host_expect(50, "(= *x* (floor (* *x* *x*) *x*))", "=> T");
}

static void limit_ends_an_image_that_ignores_it(void **state)
{
    struct buf frame;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    wait_checkpoint(2, 1);
    host_begin(&frame, "main", 3, "evaluate", 300);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, STR("(mp:without-interrupts (loop))"));
    host_send(&frame);
    host_wait(3);
    host_expect_part("did not stop when its time limit of 0.3 s was reached");
    host_expect(4, "*x*", "=> 1");
}

/* The programs that a stopped evaluation has started end with it; those that
   were started before keep running. */
static void limit_ends_the_programs_of_a_call(void **state)
{
    struct buf frame;
    pid_t before;

    (void)state;
    host_call(1, "(ext:external-process-pid (nth-value 2 (ext:run-program "
                 "\"sleep\" '(\"1000\") :wait nil :input nil :output nil)))");
    host_wait(1);
    before = (pid_t)strtol(host_answer.p + 3, NULL, 10);
    assert_true(before > 1);
    host_pass(50); // old and new are told apart by clock ticks of 10 ms
    host_begin(&frame, "main", 2, "evaluate", 300);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame,
                    STR("(ext:system \"sleep 12345.25 & sleep 12345.25\")"));
    host_send(&frame);
    host_wait(2);
    for (int tries = 0; !strstr(host_answer.p, "=> NIL"); tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 20); // SIGKILL takes a moment
        host_pass(20);
        host_call(3, "(zerop (ext:system \"ps -eo args | grep -q "
                     "'[s]leep 12345.25'\"))");
        host_wait(3);
    }
    assert_true(host_exists(before));
}

/* An image with too many programs is ended with them, and a checkpoint replaces
   it; so it is when the programs stay after the answer. */
static void limit_ends_too_many_processes(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    wait_checkpoint(2, 1);
    // one stream for all: each program would keep descriptors of its own open
    host_call(3, "(with-open-file (null \"/dev/null\" :direction :io "
                 ":if-exists :append) (loop (ext:run-program \"sleep\" "
                 "'(\"1000\") :wait nil :input null :output null "
                 ":error null)))");
    host_wait(3);
    host_expect_part("[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image had more than "
                     "256 processes running and was ended");
    host_expect(4, "*x*", "=> 1");
    host_expect(5,
                "(progn (ext:system \"(until [ -e go ]; do sleep 0.05; done; "
                "i=0; while [ $i -lt 1000 ]; do sleep 1000 & i=$((i+1)); done) "
                "&\") 5)",
                "=> 5");
    // not before the answer is here
    assert_int_equal(close(creat("go", 0600)), 0);
    for (int tries = 0; !strstr(host_answer.p, "had more than"); tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 20);
        host_pass(20);
        host_call(6, "*x*");
        host_wait(6);
    }
    assert_int_equal(unlink("go"), 0);
    host_expect(7, "*x*", "=> 1");
}

/* The time in which a call waits for the one before it does not count. */
static void limit_starts_with_the_call(void **state)
{
    struct buf frame;

    (void)state;
    host_call(1, "(sleep 0.6)");
    host_begin(&frame, "main", 2, "evaluate", 400);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, STR("(+ 1 1)"));
    host_send(&frame);
    host_wait(1);
    host_wait(2);
    assert_string_equal(host_answer.p, "=> 2");
}

static void session_is_closed(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    run_operation(2, "close-session", NULL, 0);
    host_expect_part("Session main closed.");
    host_expect(3, "(boundp '*x*)", "=> NIL");
    run_operation(4, "close-session", NULL, 0);
    run_operation(5, "close-session", NULL, 0);
    host_expect_part("Session main not found");
}

static void sessions_are_limited(void **state)
{
    char name[16];

    (void)state;
    host_expect(1, "1", "=> 1");
    // only open sessions count: closing is cheaper than forking
    for (int i = 0; i < LIMIT_SESSIONS + 10; i++) {
        struct buf frame;

        (void)snprintf(name, sizeof name, "s%d", i);
        host_begin(&frame, name, 2, "close-session", 0);
        host_send(&frame);
        host_wait(2);
        host_expect_success();
        host_turn(0);
    }
}

static void sessions_keep_200_states_apart(void **state)
{
    char name[16];
    char text[64];

    (void)state;
    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof name, "s%d", i);
        (void)snprintf(text, sizeof text, "(defvar *me* %d)", i);
        host_call_in(name, 1, text);
        host_wait(1);
    }
    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof name, "s%d", i);
        (void)snprintf(text, sizeof text, "=> %d", i);
        host_call_in(name, 2, "*me*");
        host_wait(2);
        assert_string_equal(host_answer.p, text);
    }
    // some have the same hash: half of them are closed, the others stay
    for (int i = 0; i < 200; i += 2) {
        struct buf frame;

        (void)snprintf(name, sizeof name, "s%d", i);
        host_begin(&frame, name, 3, "close-session", 0);
        host_send(&frame);
        host_wait(3);
        host_expect_part(" closed.");
    }
    for (int i = 0; i < 200; i++) {
        (void)snprintf(name, sizeof name, "s%d", i);
        (void)snprintf(text, sizeof text, i % 2 == 0 ? "=> NIL" : "=> %d", i);
        host_call_in(name, 4, "(and (boundp '*me*) (symbol-value '*me*))");
        host_wait(4);
        assert_string_equal(host_answer.p, text);
    }
}

static void session_names_are_checked(void **state)
{
    char name[LIMIT_SESSION_NAME + 2];

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    host_call_in(name, 1, "1");
    host_wait(1);
    assert_true(host_error);
    host_expect_part("[ERROR] ECL-MCP:NO-SESSION");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(restore_brings_everything_back),
        TEST(restore_says_what_is_lost),
        TEST(restore_survives_death_after_death),
        TEST(restore_takes_the_first_copy_before_a_call),
        TEST(restore_asks_a_known_image),
        TEST(restore_falls_back_to_older_ones),
        TEST(restore_undoes_evaluations),
        TEST(restore_passes_over_reads),
        TEST(restore_goes_to_named_ones),
        TEST(restore_keeps_pasts_apart),
        TEST(restore_says_what_is_missing),
        TEST(restore_keeps_a_bounded_number),
        TEST(restore_works_with_threads),
        TEST(limit_stops_a_loop),
        TEST(limit_stops_each_of_many_loops),
        TEST(limit_ends_an_image_that_ignores_it),
        TEST(limit_ends_the_programs_of_a_call),
        TEST(limit_ends_too_many_processes),
        TEST(limit_starts_with_the_call),
        TEST(session_is_closed),
        TEST(sessions_are_limited),
        TEST(sessions_keep_200_states_apart),
        TEST(session_names_are_checked),
    };

    host_use(argc, argv);
    return RUN_TESTS("restore", tests);
}
