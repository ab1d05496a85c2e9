/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The supervisor in this process, with the real zygote and real images. Its
   processes are killed, calls are stopped, and every call must be answered all
   the same. Argument 1 of the program is ecl-mcp-image. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/linux.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

static void finish(int64_t grace_ms)
{
    struct buf frame = BUF_EMPTY;
    size_t at = wire_begin(&frame, WIRE_FINISH, 0, 0);

    wire_put_int(&frame, grace_ms);
    wire_end(&frame, at);
    assert_int_equal(intake_feed(host_front, frame.p, frame.n, 0), ST_OK);
    buf_release(&frame);
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); // exists everywhere
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static pid_t zygote_pid(void)
{
    pid_t children[16];

    assert_true(linux_children(children, 16) >= 1);
    return children[0];
}

static void supervisor_answers_in_order(void **state)
{
    char code[64];
    char text[64];

    (void)state;
    for (uint64_t i = 1; i <= 200; i++) {
        (void)snprintf(code, sizeof code, "(progn (print %d) %d)", (int)i,
                       (int)i);
        host_call(i, code);
    }
    for (uint64_t i = 1; i <= 200; i++) {
        host_wait(i);
        (void)snprintf(text, sizeof text, "[stdout]\n\n%d \n\n=> %d", (int)i,
                       (int)i);
        assert_string_equal(host_answer.p, text);
    }
}

/* What the program that starts the server left open is not for Lisp. */
static void supervisor_passes_on_no_descriptors(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_RDONLY); // NOLINT: it must be inherited
    assert_true(fd >= 0 && dup2(fd, 77) == 77);
    host_start(NULL, NULL);
    host_expect(1, "(probe-file \"/proc/self/fd/0\")", "=> #P\"/dev/null\"");
    host_expect(2, "(probe-file \"/proc/self/fd/77\")", "=> NIL");
    assert_int_equal(close(fd) | close(77), 0);
}

static void supervisor_replaces_a_killed_image(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    host_call(2, "(progn (princ \"before\") (finish-output)"
                 " (ext:system (format nil \"kill -9 ~d\" (ext:getpid)))"
                 " (loop))");
    host_call(3, "(boundp '*x*)");
    host_wait(2);
    assert_true(host_error);
    host_expect_part("[stdout]\nbefore\n\n[ERROR] ECL-MCP:IMAGE-DIED\n");
    host_expect_part("was killed by signal 9 (SIGKILL)");
    host_wait(3); // the image that replaced the first one did it
    host_expect_success();
    assert_int_equal(strncmp(host_answer.p, "=> ", 3), 0);
}

static void supervisor_notices_the_death_of_an_idle_image(void **state)
{
    pid_t pid;

    (void)state;
    pid = host_image_pid(1);
    assert_int_equal(kill(pid, SIGTERM), 0);
    host_wait_gone(pid);
    host_call(2, "(+ 1 1)");
    host_wait(2);
    host_expect_success();
    host_expect_part(
        "[notice]\nThe Lisp image was killed by signal 15 (SIGTERM) "
        "between two evaluations.");
    host_expect_part("\n\n=> 2");
    host_expect(3, "(+ 1 2)", "=> 3");
}

/* Images outlive their zygote, and the next one serves new images. */
static void supervisor_survives_its_zygote(void **state)
{
    pid_t image;
    pid_t zygote;

    (void)state;
    host_expect(1, "(defvar *x* 42)", "=> *X*");
    image = host_image_pid(2);
    zygote = zygote_pid();
    assert_int_equal(kill(zygote, SIGKILL), 0);
    host_wait_gone(zygote);
    host_expect(3, "*x*", "=> 42");
    assert_int_equal(host_image_pid(4), image);
    assert_int_equal(kill(image, SIGKILL), 0); // now a child of this process
    host_wait_gone(image);
    host_call(5, "(+ 1 1)");
    host_wait(5);
    host_expect_part("was killed by signal 9");
    host_expect_part("=> 2");
    assert_int_not_equal(host_image_pid(6), image);
}

static void supervisor_withdraws_waiting_calls(void **state)
{
    (void)state;
    host_expect(1, "(defvar *ran* nil)", "=> *RAN*");
    host_call(2, "(sleep 1)");
    host_call(3, "(push 3 *ran*)");
    host_call(4, "(push 4 *ran*)");
    host_stop(3);
    host_wait(2);
    host_wait(3);
    assert_true(host_error);
    host_expect_part("[ERROR] ECL-MCP:NOT-EVALUATED\n");
    host_wait(4);
    assert_string_equal(host_answer.p, "=> (4)");
    host_stop(99); // nobody made this call
    host_expect(5, "*ran*", "=> (4)");
}

static void supervisor_interrupts_running_calls(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 7)", "=> *X*");
    host_call_within(2, "(progn (princ \"partial\")", "(loop))");
    host_call(3, "*x*");
    host_stop(2);
    host_wait(2);
    assert_true(host_error);
    host_expect_part("[stdout]\npartial\n\n[ERROR] ");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> 7"); // the image was not replaced
}

/* A signal may find the call where it can be interrupted: then it is
   repeated. */
static void supervisor_kills_images_that_ignore_interrupts(void **state)
{
    int tries = 5;

    (void)state;
    host_expect(1, "(+ 1 1)", "=> 2");
    do {
        host_call_and_see_it_run(2, "(mp:without-interrupts (loop))");
        host_stop(2);
        host_wait(2);
        assert_true(host_error);
    } while (--tries > 0 && !strstr(host_answer.p, "ECL-MCP:IMAGE-DIED"));
    host_expect_part(
        "[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image did not stop when "
        "asked to and was killed");
    host_expect(3, "(+ 1 1)", "=> 2");
}

static void supervisor_answers_everything_at_the_end(void **state)
{
    (void)state;
    host_expect(1, "(+ 1 1)", "=> 2");
    host_call_and_see_it_run(2, "(loop)");
    host_call(3, "(+ 1 1)");
    finish(50);
    host_wait(2);
    assert_true(host_error);
    host_wait(3);
    assert_true(host_error);
    host_expect_part("did not run");
    host_call(4, "(+ 1 1)");
    host_wait(4);
    assert_true(host_error);
}

static void supervisor_ends_the_programs_of_an_image(void **state)
{
    pid_t image;
    pid_t program;

    (void)state;
    image = host_image_pid(1);
    host_call(
        2, "(nth-value 2 (ext:run-program \"/bin/sh\" '(\"-c\" \"exec setsid "
           "sleep 1000\") :wait nil :output nil :input nil))");
    host_wait(2);
    host_call(3, "(ext:external-process-pid *)");
    host_wait(3);
    program = (pid_t)strtol(host_answer.p + 3, NULL, 10);
    assert_true(program > 1);
    assert_true(host_exists(program));
    assert_int_equal(kill(image, SIGKILL), 0);
    host_wait_gone(image);
    host_wait_gone(program);
}

static void supervisor_keeps_sessions_apart(void **state)
{
    (void)state;
    host_call_in("main", 1, "(defvar *x* 1)");
    host_wait(1);
    host_call_in("other", 2, "(boundp '*x*)");
    host_wait(2);
    assert_string_equal(host_answer.p, "=> NIL");
    host_expect(3, "*x*", "=> 1");
}

static void supervisor_refuses_broken_frames(void **state)
{
    char bytes[WIRE_HEAD];

    (void)state;
    memset(bytes, 0, sizeof bytes);
    bytes[4] = 77; // no such kind
    assert_int_equal(intake_feed(host_front, bytes, sizeof bytes, 0),
                     ST_INVALID);
}

/* Without an image, the answer to every call says why, immediately and also
   later. */
static void supervisor_says_why_there_is_no_image(void **state)
{
    (void)state;
    host_start("/nonexistent/ecl-mcp-image", NULL);
    host_call(1, "(+ 1 1)");
    host_wait(1);
    assert_true(host_error);
    host_expect_part(
        "[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\nThe Lisp image cannot be "
        "started: No such file or directory");
    host_call(2, "(+ 1 1)");
    host_wait(2);
    assert_true(host_error);
}

/* A call that comes when there is no zygote has the next turn at once, also if
   it had to wait for its own turn. */
static void supervisor_refuses_what_comes_late(void **state)
{
    const uint64_t calls = LIMIT_STEP / 1024;

    (void)state;
    host_start("/nonexistent/ecl-mcp-image", NULL);
    host_call(1, "(+ 1 1)");
    assert_true(supervisor_deadline(host) >= 0);
    host_wait(1);
    assert_true(supervisor_deadline(host) < 0);
    for (uint64_t i = 2; i < calls; i++)
        host_call(i, "(+ 1 1)");
    assert_true(front_is_busy(host_front));
    for (uint64_t i = 2; i < calls; i++) {
        assert_true(front_output(host_front)->n > 0 ||
                    supervisor_deadline(host) >= 0);
        host_wait(i);
        assert_true(host_error);
    }
    assert_true(supervisor_deadline(host) < 0);
}

/* Frames that cannot be understood leave nothing to do, also when some of them
   waited for their turn. */
static void supervisor_forgets_what_is_wrong(void **state)
{
    (void)state;
    host_start("/nonexistent/ecl-mcp-image", NULL);
    while (!front_is_busy(host_front))
        host_call(1, "(+ 1 1)");
    host_front->wrong = true; // as after a frame that is none
    host_turn(0);
    assert_false(front_is_busy(host_front));
}

static void supervisor_gives_up_on_programs_without_lisp(void **state)
{
    (void)state;
    host_start("/bin/true", NULL);
    host_call(1, "(+ 1 1)");
    host_wait(1);
    host_expect_part("cannot be started: exit status 0 (/bin/true)");
}

static void supervisor_starts_in_the_workspace(void **state)
{
    char folder[] = "ecl-mcp-test-XXXXXX";
    char part[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    host_start(NULL, folder);
    host_call(1, "(ext:getcwd)");
    host_wait(1);
    (void)snprintf(part, sizeof part, "%s/\"", folder);
    host_expect_part(part);
    assert_int_equal(rmdir(folder), 0);
}

/* A session in which nothing happens costs the loop nothing, and wakes by what
   comes: a call, output of a thread, the death of its image. */
static void supervisor_lets_idle_sessions_sleep(void **state)
{
    int64_t end = time(NULL) + HOST_PATIENCE_MS / 1000;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    while (host->awake && time(NULL) < end)
        host_turn(100);
    assert_null(host->awake);
    assert_true(supervisor_deadline(host) < 0);
    host_expect(2,
                "(mp:process-run-function :t (lambda () (sleep 0.3)"
                " (print :late) (terpri) (sleep 600))) *x*",
                "=> 1");
    host_wait_log(":LATE");
    while (host->awake && time(NULL) < end)
        host_turn(100);
    assert_null(host->awake);
    (void)kill(host->sessions->image.pid, SIGKILL);
    host_wait_log("killed by signal 9");
    host_call(3, "*x*");
    host_wait(3);
    host_expect_part("=> 1");
}

/* Code that prints line by line does not wake the loop for each of them. */
static void supervisor_is_not_woken_by_each_line(void **state)
{
    size_t turns;
    int64_t start;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    turns = host_turns;
    start = now_ms();
    host_call(2, "(dotimes (i 20000 :ok) (write-line \"line\"))");
    host_wait(2);
    host_expect_part("=> :OK");
    // one in two milliseconds, and some for the call itself
    assert_true(host_turns - turns < (size_t)(now_ms() - start) / 2 + 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)
#define OWN_START(f) cmocka_unit_test_teardown(f, host_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(supervisor_answers_in_order),
        OWN_START(supervisor_passes_on_no_descriptors),
        TEST(supervisor_replaces_a_killed_image),
        TEST(supervisor_notices_the_death_of_an_idle_image),
        TEST(supervisor_survives_its_zygote),
        TEST(supervisor_withdraws_waiting_calls),
        TEST(supervisor_interrupts_running_calls),
        TEST(supervisor_kills_images_that_ignore_interrupts),
        TEST(supervisor_answers_everything_at_the_end),
        TEST(supervisor_ends_the_programs_of_an_image),
        TEST(supervisor_keeps_sessions_apart),
        TEST(supervisor_refuses_broken_frames),
        TEST(supervisor_lets_idle_sessions_sleep),
        TEST(supervisor_is_not_woken_by_each_line),
        OWN_START(supervisor_says_why_there_is_no_image),
        OWN_START(supervisor_refuses_what_comes_late),
        OWN_START(supervisor_forgets_what_is_wrong),
        OWN_START(supervisor_gives_up_on_programs_without_lisp),
        OWN_START(supervisor_starts_in_the_workspace),
    };

    host_use(argc, argv);
    return RUN_TESTS("supervisor", tests);
}
