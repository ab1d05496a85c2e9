/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images that load ASDF ahead, and what can come meanwhile. Argument 1 of the
   program is ecl-mcp-image. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/imagehost.h"
#include "wire/wire.h"

#define HAS_ASDF "(and (find-package :asdf) t)"

/* A session of a workspace that has a system. */
static int set_up(void **state)
{
    int status = host_setup_in_folder(state);

    folder_run("touch thing.asd"); // images look for it later
    return status;
}

static struct keeping *keeping(void)
{
    return &host->sessions->keeping;
}

static void run_operation(uint64_t id, const char *operation, const char *name,
                          const char *value)
{
    struct buf frame;

    host_begin(&frame, "main", id, operation, 0);
    if (name) {
        wire_put_string(&frame, str_from(name));
        wire_put_string(&frame, str_from(value));
    }
    host_send(&frame);
    host_wait(id);
}

/* Whether the image has begun to load ASDF: it has mapped its file. */
static bool has_begun(void)
{
    char path[64];
    char line[400];
    bool found = false;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/maps",
                   (int)host->sessions->image.pid);
    file = fopen(path, "re");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file))
        found = strstr(line, "asdf.fas");
    (void)fclose(file); // was only read
    return found;
}

/* Waits until the image is loading ahead and stops it there. False: it has
   loaded before it was stopped. */
static bool stop_in_load(void)
{
    const struct session *session = host->sessions;
    int tries = 0;
    char letter = 0;

    for (; !keeping()->preparing.asked; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
    host_turn(0); // sends it
    for (; !has_begun() && linux_waiting(session->image.socket) == 0; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        (void)usleep(1000);
    }
    assert_int_equal(kill(session->image.pid, SIGSTOP), 0);
    for (; letter != 'T'; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        (void)host_process_field(session->image.pid, 0, &letter);
        (void)usleep(1000);
    }
    return keeping()->preparing.asked &&
           linux_waiting(session->image.socket) == 0;
}

/* Defines *N* as call 1 in a session whose image is stopped in the middle of
   the load; it stays so until the test lets it go on. */
static void begin_load(void)
{
    host_expect(1, "(defvar *n* 0)", "=> *N*");
    while (!stop_in_load()) {
        assert_int_equal(kill(host->sessions->image.pid, SIGCONT), 0);
        run_operation(1, "close-session", NULL, NULL);
        host_expect(1, "(defvar *n* 0)", "=> *N*");
    }
    host->sessions->patience.look_at = INT64_MAX;
}

static void go_on(void)
{
    assert_int_equal(kill(host->sessions->image.pid, SIGCONT), 0);
}

/* Waits until the image has loaded, and, if COPIED, a copy has that. */
static void wait_loaded(bool copied)
{
    for (int tries = 0;
         !keeping()->preparing.done || (copied && keeping()->preparing.renews);
         tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
}

/* A call that comes meanwhile waits, is answered once, and sees all of it. */
static void calls_wait_for_the_load(void **state)
{
    (void)state;
    begin_load();
    host_call(2, "(incf *n*)");
    host_call(3,
              "(list (incf *n*) " HAS_ASDF " (boundp 'asdf::*asdf-version*))");
    go_on();
    host_wait(2);
    assert_string_equal(host_answer.p, "=> 1");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> (2 T T)");
    host_expect_quiet(host_front);
    assert_true(keeping()->preparing.loaded);
}

/* The one copy of that state has ASDF, and replaces a dead image. */
static void the_copy_is_renewed(void **state)
{
    const struct checkpoint *newest;

    (void)state;
    host_expect(1, "(defvar *n* 0)", "=> *N*");
    wait_loaded(true);
    newest = keeping()->checkpoints.newest;
    assert_non_null(newest);
    assert_null(newest->next);
    assert_int_equal(newest->evaluation, 1);
    assert_int_equal(kill(host->sessions->image.pid, SIGKILL), 0);
    host_call(2, "(list *n* " HAS_ASDF ")");
    host_wait(2);
    host_expect_part(
        "continues from the checkpoint after evaluation 1: "
        "(defvar *n* 0)\nNo evaluation that was answered is lost.");
    host_expect_part("=> (0 T)");
}

/* A death meanwhile loses nothing and doubles nothing, and it is not tried
   again. */
static void death_costs_nothing_else(void **state)
{
    (void)state;
    begin_load();
    host_call(3, "(list (incf *n*) " HAS_ASDF ")");
    assert_int_equal(kill(host->sessions->image.pid, SIGKILL), 0);
    host_wait(3);
    host_expect_part("No evaluation that was answered is lost.");
    host_expect_part("=> (1 NIL)");
    assert_true(keeping()->preparing.failed);
    host_pass(2 * LIMIT_PREPARE_MS);
    host_expect(4, "(list *n* " HAS_ASDF ")", "=> (1 NIL)");
    host_expect_quiet(host_front);
}

/* Calls that have been sent and cannot have begun run in the next image; what
   was stopped before does not. */
static void death_begins_no_call(void **state)
{
    (void)state;
    begin_load();
    host_call(2, "(incf *n*)");
    host_call(3, "(incf *n* 10)");
    host_call(4, "(incf *n* 100)");
    host_turn(0);
    host_stop(3);
    host_turn(0);
    assert_int_equal(host->sessions->calls.sent, 3);
    assert_int_equal(kill(host->sessions->image.pid, SIGKILL), 0);
    host_wait(3);
    host_expect_part("The call did not run: it was cancelled.");
    host_wait(2);
    host_expect_part("was killed by signal 9 (SIGKILL) between two "
                     "evaluations.");
    host_expect_part("=> 1");
    host_wait(4);
    assert_string_equal(host_answer.p, "=> 101");
    host_expect_quiet(host_front);
}

/* The first one waits, and its time is up: it has not run. */
static void death_by_a_stop_begins_no_call(void **state)
{
    (void)state;
    begin_load();
    host_call(2, "(incf *n*)");
    host_turn(0);
    host_stop(2);
    host_wait(2); // the image hears none of the interrupts
    host_expect_part("The call did not run: it was cancelled.");
    host_call(3, "(list *n* 1)");
    host_wait(3);
    host_expect_part("did not stop when asked to and was killed between two");
    host_expect_part("=> (0 1)");
}

/* A load that does not end keeps no other session from its own for ever. */
static void load_without_end_is_ended(void **state)
{
    char letter;
    pid_t image;

    (void)state;
    begin_load();
    image = host->sessions->image.pid;
    host_turn(0);
    assert_true(supervisor_deadline(host) >= 0); // nobody calls
    host->sessions->patience.told = true;        // and SIGCONT is not heard
    host->sessions->patience.since -= LIMIT_TIMEOUT_MS;
    host->sessions->patience.look_at = 0;
    (void)host_process_field(image, 0, &letter);
    assert_int_equal(letter, 'T');
    host_wait_log("did not load ahead what calls will need within 30 s and was "
                  "killed");
    host_wait_gone(image);
    host_call(2, "(list (incf *n*) " HAS_ASDF ")");
    host_wait(2);
    host_expect_part("No evaluation that was answered is lost.");
    host_expect_part("=> (1 NIL)");
}

/* One that was stopped goes on. */
static void stopped_load_goes_on(void **state)
{
    (void)state;
    begin_load();
    host->sessions->patience.look_at = 0;
    wait_loaded(true);
    host_expect(2, "(list (incf *n*) " HAS_ASDF ")", "=> (1 T)");
}

/* A call that is stopped while it waits does not run; on a slow machine the
   image may be ended with it, as by any stop that it does not heed in time. */
static void waiting_calls_can_be_stopped(void **state)
{
    (void)state;
    begin_load();
    host_call(2, "(incf *n*)");
    host_turn(0);
    host_stop(2);
    host_turn(0);
    go_on();
    host_wait(2);
    assert_true(host_error);
    host_call(3, "(list *n* 1)");
    host_wait(3);
    host_expect_part("=> (0 1)");
}

/* Copies and ends that are asked for wait, too. */
static void operations_wait_for_the_load(void **state)
{
    (void)state;
    begin_load();
    go_on();
    run_operation(2, "checkpoint-session", "name", "one");
    assert_string_equal(host_answer.p, "Checkpoint \"one\" taken after "
                                       "evaluation 1: (defvar *n* 0)");
    host_expect(3, "(setf *n* 1)", "=> 1");
    run_operation(4, "restore-session", "name", "one");
    host_expect(5, "(list *n* " HAS_ASDF ")", "=> (0 T)");
    run_operation(6, "reset-session", NULL, NULL);
    host_expect_success();
    host_expect(7, "(list (boundp '*n*) " HAS_ASDF ")", "=> (NIL T)");
    run_operation(8, "close-session", NULL, NULL);
    host_expect_success();
    host_expect(9, HAS_ASDF, "=> NIL"); // of a new one
    run_operation(9, "close-session", NULL, NULL);
    host_expect_success();
    begin_load();
    go_on();
    run_operation(10, "close-session", NULL, NULL);
    host_expect_success();
}

/* An older state that comes back without ASDF gets it once. */
static void restored_images_load_it_once(void **state)
{
    (void)state;
    host_expect(1, "(defvar *n* 0)", "=> *N*");
    keeping()->preparing.done = true; // not yet
    run_operation(2, "checkpoint-session", "name", "bare");
    host_expect(3, "(setf *n* 1)", "=> 1");
    keeping()->preparing.done = false;
    wait_loaded(true);
    run_operation(4, "restore-session", "name", "bare");
    host_expect(5, HAS_ASDF, "=> NIL");
    wait_loaded(true);
    host_expect(6, HAS_ASDF, "=> T");
    run_operation(7, "restore-session", "name", "bare");
    host_expect(8, "*n*", "=> 0");
}

/* A session that nobody has used stays as it is. */
static void unused_sessions_load_nothing(void **state)
{
    (void)state;
    for (int tries = 0; !host->sessions || host->sessions->image.pid <= 0;
         tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
    host_pass(2 * LIMIT_PREPARE_MS);
    assert_false(keeping()->preparing.asked);
    assert_false(keeping()->preparing.done);
}

#define TEST(f)                                                                \
    cmocka_unit_test_setup_teardown(f, set_up, host_teardown_in_folder)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_wait_for_the_load),
        TEST(the_copy_is_renewed),
        TEST(death_costs_nothing_else),
        TEST(death_begins_no_call),
        TEST(load_without_end_is_ended),
        TEST(stopped_load_goes_on),
        TEST(death_by_a_stop_begins_no_call),
        TEST(waiting_calls_can_be_stopped),
        TEST(operations_wait_for_the_load),
        TEST(restored_images_load_it_once),
        TEST(unused_sessions_load_nothing),
    };

    host_use(argc, argv);
    return RUN_TESTS("preparing", tests);
}
