/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interrupts that come while an image tells the supervisor something, with the
   real zygote and images: the system sends one each time that bytes of the
   image arrive, so they come before its call of the system returns. An
   interrupt that left the image with a frame in its buffer used to bring that
   frame along once more. Argument 1 of the program is ecl-mcp-image. */
#include <fcntl.h>
#include <signal.h>

#include "supervisor/state.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

/* From now on, whatever the image of session main sends interrupts it. */
static void interrupt_when_it_sends(pid_t image)
{
    int socket = host->sessions->image.socket;

    assert_int_equal(fcntl(socket, F_SETOWN, image), 0);
    assert_int_equal(fcntl(socket, F_SETSIG, SIGINT), 0);
    assert_int_equal(fcntl(socket, F_SETFL, O_NONBLOCK | O_ASYNC), 0);
}

static void let_it_send(void)
{
    assert_int_equal(fcntl(host->sessions->image.socket, F_SETFL, O_NONBLOCK),
                     0);
}

/* The session goes on in the same image. */
static void expect_image(uint64_t id, pid_t image)
{
    let_it_send();
    assert_int_equal(host_image_pid(id), image);
}

static void torn_errors(void **state)
{
    pid_t image = host_image_pid(1);

    (void)state;
    interrupt_when_it_sends(image);
    host_call(2, "(error \"first\")");
    host_wait(2);
    host_expect_part("[ERROR] ");
    host_expect_part("first");
    expect_image(3, image);
}

/* The same where code handles what the interrupts signal. */
static void torn_errors_of_patient_code(void **state)
{
    pid_t image = host_image_pid(1);

    (void)state;
    interrupt_when_it_sends(image);
    host_call(2, "(handler-bind ((error #'continue)) "
                 "(print (list :in)) (invoke-debugger "
                 "(make-condition 'simple-error :format-control \"second\")))");
    host_wait(2);
    host_expect_part("second");
    expect_image(3, image);
}

static void invoke(uint64_t id, const char *restart, bool adopt)
{
    struct buf frame;

    host_begin(&frame, "main", id, "invoke-restart", 0);
    wire_put_string(&frame, STR("restart"));
    wire_put_string(&frame, str_from(restart));
    wire_put_string(&frame, STR("adopt"));
    wire_put_bool(&frame, adopt);
    host_send(&frame);
    host_wait(id);
}

/* A copy that goes on from an error answers with the next one. */
static void torn_errors_of_copies(void **state)
{
    pid_t image = host_image_pid(1);

    (void)state;
    host_call(2, "(restart-case (error \"third\") "
                 "(again () (error \"fourth\")))");
    host_wait(2);
    host_expect_part("Frozen as error 1.");
    interrupt_when_it_sends(image);
    invoke(3, "again", false);
    host_expect_part("EVALUATION-INTERRUPTED");
    expect_image(4, image);
}

/* One that answers with what shall become the session. */
static void torn_outcomes_of_copies(void **state)
{
    pid_t image = host_image_pid(1);

    (void)state;
    host_call(2, "(list (cerror \"Go on.\" \"fifth\"))");
    host_wait(2);
    interrupt_when_it_sends(image);
    invoke(3, "continue", true);
    host_expect_part("EVALUATION-INTERRUPTED");
    expect_image(4, image);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(torn_errors),
        TEST(torn_errors_of_patient_code),
        TEST(torn_errors_of_copies),
        TEST(torn_outcomes_of_copies),
    };

    host_use(argc, argv);
    return RUN_TESTS("torn", tests);
}
