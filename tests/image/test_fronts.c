/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several fronts of one supervisor, with the real zygote and real images. The
   fronts share sessions and nothing else. Argument 1 of the program is
   ecl-mcp-image. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

static void guest_leaves(void)
{
    host_leave(host_guest);
    host_guest = NULL;
    host_as(host_owner);
}

static void finish(int64_t grace_ms)
{
    struct buf frame = BUF_EMPTY;

    (void)wire_begin(&frame, WIRE_FINISH, 0, 0);
    wire_put_int(&frame, grace_ms);
    host_send(&frame);
}

static void fronts_share_sessions(void **state)
{
    (void)state;
    host_expect(1, "(defun twice (x) (* 2 x))", "=> TWICE");
    host_as(host_guest);
    host_expect(1, "(twice 21)", "=> 42");
    host_call_in("other", 2, "(defvar *x* 7)");
    host_wait(2);
    host_as(host_owner);
    host_call_in("other", 2, "*x*");
    host_wait(2);
    assert_string_equal(host_answer.p, "=> 7");
    host_expect_quiet(host_guest);
}

/* The calls of all fronts run in the order in which they arrived. */
static void fronts_take_turns(void **state)
{
    char code[64];

    (void)state;
    host_expect(1, "(defvar *seen* nil)", "=> *SEEN*");
    host_call(2, "(sleep 0.2)");
    for (int i = 0; i < 20; i++) {
        host_as(i % 2 == 0 ? host_guest : host_owner);
        (void)snprintf(code, sizeof code, "(push %d *seen*)", i);
        host_call((uint64_t)(10 + i), code);
    }
    host_as(host_owner);
    host_call(90, "(equal *seen* (loop for i from 19 downto 0 collect i))");
    host_wait(2);
    for (int i = 1; i < 20; i += 2)
        host_wait((uint64_t)(10 + i));
    host_wait(90);
    assert_string_equal(host_answer.p, "=> T");
    host_as(host_guest);
    for (int i = 0; i < 20; i += 2)
        host_wait((uint64_t)(10 + i));
}

static void fronts_stop_their_own_calls_only(void **state)
{
    (void)state;
    host_call_and_see_it_run(5, "(loop)");
    host_as(host_guest);
    host_stop(5);
    host_call(6, "(+ 1 1)");
    host_pass(300);
    host_expect_quiet(host_owner);
    host_expect_quiet(host_guest);
    host_as(host_owner);
    host_stop(6); // which is a call of the guest
    host_stop(5);
    host_wait(5);
    assert_true(host_error);
    host_as(host_guest);
    host_wait(6);
    assert_string_equal(host_answer.p, "=> 2");
}

/* Without a number, the owner stops the calls of all other fronts. Nobody else
   can. */
static void owner_stops_the_calls_of_others(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    host_call_and_see_it_run(2, "(loop)");
    host_as(host_guest);
    host_call(1, "(setf *x* 2)");
    host_stop(0); // the guest is not the owner
    host_pass(300);
    host_expect_quiet(host_owner);
    host_expect_quiet(host_guest);
    host_as(host_owner);
    host_stop(0);
    host_pass(300);
    host_expect_quiet(host_owner); // its own call keeps running
    host_stop(2);
    host_wait(2);
    host_as(host_guest);
    host_wait(1);
    assert_true(host_error);
    host_expect_part("[ERROR] ECL-MCP:NOT-EVALUATED\nThe call did not run: "
                     "it was stopped.");
    host_as(host_guest);
    host_call_and_see_it_run(2, "(loop)");
    host_as(host_owner);
    host_stop(0);
    host_as(host_guest);
    host_wait(2);
    assert_true(host_error);
    host_expect_part("[ERROR] ECL-MCP:STOPPED-BY-USER\nThe user stopped the "
                     "evaluation. Do not repeat it unchanged.\n");
    host_expect(3, "*x*", "=> 1");
}

static void front_leaves_in_a_call(void **state)
{
    pid_t image;

    (void)state;
    image = host_image_pid(1);
    host_expect(2, "(defvar *ran* nil)", "=> *RAN*");
    host_as(host_guest);
    host_call_and_see_it_run(1, "(princ \"lost\") (loop)");
    host_call(2, "(push 2 *ran*)");
    host_as(host_owner);
    host_call(3, "(list *ran* 1)");
    guest_leaves();
    host_wait(3);
    assert_string_equal(host_answer.p, "=> (NIL 1)");
    assert_int_equal(host_image_pid(4), image);
}

/* The caller is gone and cannot read why the image died; the next caller can. A
   signal may find the call where it can be interrupted: then it is repeated. */
static void front_leaves_a_call_that_does_not_stop(void **state)
{
    int tries = 5;

    (void)state;
    host_expect(1, "(+ 1 1)", "=> 2");
    do {
        host_as(host_guest ? host_guest : (host_guest = host_join(false)));
        host_call_and_see_it_run(1, "(mp:without-interrupts (loop))");
        guest_leaves();
        host_call(2, "(+ 1 2)");
        host_wait(2);
        host_expect_success();
    } while (--tries > 0 && !strstr(host_answer.p, "[notice]"));
    host_expect_part("[notice]\nThe Lisp image did not stop when asked to and "
                     "was killed during an evaluation by someone who had "
                     "left.\n");
    host_expect_part("\n\n=> 3");
    host_expect(3, "(+ 1 3)", "=> 4");
}

/* Fronts that share a session are told once what others did to it; fronts of
   other sessions are not. */
static void fronts_are_told_of_deaths(void **state)
{
    struct front *third;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    host_as(third = host_join(false));
    host_call_in("other", 1, "1");
    host_wait(1);
    host_as(host_guest);
    host_expect(1, "*x*", "=> 1");
    host_call(2, "(ext:system (format nil \"kill -9 ~d\" (ext:getpid)))");
    host_wait(2);
    host_expect_part("[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image was killed by "
                     "signal 9 (SIGKILL) during this evaluation.\n");
    host_expect(3, "(+ 1 1)", "=> 2");
    host_as(host_owner);
    host_call(2, "(+ 1 2)");
    host_wait(2);
    host_expect_part(
        "[notice]\nThe Lisp image was killed by signal 9 (SIGKILL) "
        "during an evaluation by someone who shares it.\n");
    host_expect_part("\n\n=> 3");
    host_expect(3, "(+ 1 3)", "=> 4");
    host_as(third);
    host_call_in("other", 2, "2");
    host_wait(2);
    assert_string_equal(host_answer.p, "=> 2");
    host_as(host_owner);
    host_leave(third);
}

static void call_operation(uint64_t id, const char *operation)
{
    struct buf frame;

    host_begin(&frame, "main", id, operation, 0);
    host_send(&frame);
    host_wait(id);
    host_expect_success();
}

static void fronts_are_told_of_restores(void **state)
{
    struct buf frame;

    (void)state;
    host_expect(1, "(defvar *x* 1)", "=> *X*");
    call_operation(2, "checkpoint-session");
    host_as(host_guest);
    host_expect(1, "(setf *x* 2)", "=> 2");
    call_operation(2, "restore-session");
    host_expect(3, "*x*", "=> 1");
    host_as(host_owner);
    host_call(3, "*x*");
    host_wait(3);
    host_expect_part("[notice]\nSomeone who shares this session has called "
                     "restore-session:\nSession main restored to the state "
                     "after evaluation 1: (defvar *x* 1)");
    host_expect_part("\n\n=> 1");
    host_as(host_guest);
    call_operation(4, "reset-session");
    host_begin(&frame, "main", 5, "restore-session", 0);
    wire_put_string(&frame, STR("back"));
    wire_put_int(&frame, 1);
    host_send(&frame);
    host_wait(5);
    host_as(host_owner);
    host_call(4, "(+ 1 1)");
    host_wait(4);
    host_expect_part("[notice]\nSince the last answer this has happened 2 "
                     "times; the last time:\nSomeone who shares this session");
    host_expect(5, "(+ 1 1)", "=> 2");
}

static void front_leaves_at_any_time(void **state)
{
    static const char *const operations[] = {"checkpoint-session",
                                             "restore-session", "close-session",
                                             "reset-session"};
    struct buf frame;

    (void)state;
    for (size_t i = 0; i < COUNT(operations); i++) {
        host_call(10 + i, "(defvar *x* 1)");
        host_wait(10 + i);
        host_expect_part("=> *X*");
        host_as(host_guest);
        host_begin(&frame, "main", 1, operations[i], 0);
        host_send(&frame);
        host_call(2, "(+ 1 1)");
        guest_leaves();
        host_call(20 + i, "(+ 2 2)");
        host_wait(20 + i);
        host_expect_part("=> 4"); // perhaps after a notice
        host_guest = host_join(false);
    }
}

static void front_finishes_alone(void **state)
{
    (void)state;
    host_expect(1, "(defvar *x* 7)", "=> *X*");
    host_as(host_guest);
    host_call_and_see_it_run(1, "(loop)");
    host_call(2, "(+ 1 1)");
    host_as(host_owner);
    host_call(2, "*x*");
    host_as(host_guest);
    finish(50);
    host_wait(1);
    assert_true(host_error);
    host_wait(2);
    assert_true(host_error);
    host_call(3, "(+ 1 1)");
    host_wait(3);
    host_expect_part("the server is ending");
    host_as(host_owner);
    host_wait(2);
    assert_string_equal(host_answer.p, "=> 7");
    host_expect(3, "*x*", "=> 7");
}

static void owner_finishes_for_all(void **state)
{
    (void)state;
    host_as(host_guest);
    host_call_and_see_it_run(1, "(loop)");
    host_as(host_owner);
    finish(50);
    host_as(host_guest);
    host_wait(1);
    assert_true(host_error);
    host_call(2, "(+ 1 1)");
    host_wait(2);
    host_expect_part("the server is ending");
}

/* One front makes as many calls as it may; the other one is still served. */
static void fronts_have_their_own_limits(void **state)
{
    char part[80];
    uint64_t i;

    (void)state;
    host_as(host_guest);
    host_call_and_see_it_run(1, "(loop)");
    for (i = 2; i <= LIMIT_PENDING_CALLS; i++)
        host_call(i, "1");
    host_expect_quiet(host_guest);
    host_call(i, "1");
    host_wait(i);
    (void)snprintf(part, sizeof part, "the limit is %d calls and %u bytes",
                   LIMIT_PENDING_CALLS, LIMIT_PENDING_BYTES);
    host_expect_part("too many calls of this server are waiting");
    host_expect_part(part);
    host_as(host_owner);
    host_call_in("other", 1, "2");
    host_wait(1);
    assert_string_equal(host_answer.p, "=> 2");
    guest_leaves();
    host_expect(2, "3", "=> 3");
}

/* The calls of all fronts together are limited, too. */
static void fronts_share_a_limit(void **state)
{
    enum { FRONTS = 4 };
    struct front *fronts[FRONTS];

    (void)state;
    host_call_and_see_it_run(1, "(loop)");
    for (size_t f = 0; f < FRONTS; f++) {
        host_as(fronts[f] = f == 0 ? host_guest : host_join(false));
        for (uint64_t i = 1; i <= LIMIT_PENDING_CALLS; i++)
            host_call(i, "1");
        while (front_is_busy(fronts[f]))
            host_turn(100);
    }
    host_wait(LIMIT_PENDING_CALLS); // the owner's call counts, too
    host_expect_part("of all who share the Lisp images are waiting");
    for (size_t f = 0; f < FRONTS; f++)
        host_leave(fronts[f]);
    host_as(host_owner);
    host_stop(1);
    host_wait(1);
    host_expect(2, "3", "=> 3");
}

static enum status hello(struct front *front, int64_t version, int64_t known)
{
    struct buf frame = BUF_EMPTY;
    enum status status;

    (void)wire_begin(&frame, WIRE_HELLO, 0, 0);
    wire_put_int(&frame, version);
    wire_put_string(&frame, STR("9.9"));
    wire_put_int(&frame, known);
    wire_end(&frame, 0);
    status = intake_feed(front, frame.p, frame.n, 0);
    buf_release(&frame);
    return status;
}

/* FRONT has received a WELCOME with REFUSAL; returns the name in it. */
static int64_t expect_welcome(struct front *front, const char *refusal)
{
    struct buf *out = front_output(front);
    struct wire_head head;
    struct str body;
    struct str text;
    int64_t n;

    assert_ok(wire_frame(buf_view(out), &head, &body));
    assert_int_equal(head.kind, WIRE_WELCOME);
    assert_ok(wire_take_int(&body, &n));
    assert_int_equal(n, WIRE_VERSION);
    assert_ok(wire_take_string(&body, &text));
    assert_ok(wire_take_string(&body, &text));
    assert_true(str_eq(text, str_from(refusal)));
    assert_ok(wire_take_int(&body, &n));
    buf_consume(out, WIRE_HEAD + head.size);
    return n;
}

static void front_says_which_version_it_speaks(void **state)
{
    struct front *front = front_open(host, false);

    (void)state;
    assert_int_equal(hello(front, WIRE_VERSION + 1, 0), ST_INVALID);
    (void)expect_welcome(front, "it speaks another version");
    host_leave(front);
    front = front_open(host, false);
    assert_ok(hello(front, WIRE_VERSION, 0));
    assert_int_not_equal(expect_welcome(front, ""), 0);
    assert_int_equal(hello(front, WIRE_VERSION, 0), ST_INVALID); // once
    host_leave(front);
}

static void front_is_told_of_new_images(void **state)
{
    struct front *front = front_open(host, false);
    int64_t name;

    (void)state;
    assert_ok(hello(front, WIRE_VERSION, 1234));
    name = expect_welcome(front, "");
    host_as(front);
    host_call(1, "(+ 1 1)");
    host_wait(1);
    host_expect_part("[notice]\nThe Lisp images that this server used before "
                     "have ended");
    host_expect_part("=> 2");
    host_expect(2, "(+ 1 1)", "=> 2");
    host_leave(front);
    host_as(front = front_open(host, false));
    assert_ok(hello(front, WIRE_VERSION, name));
    (void)expect_welcome(front, "");
    host_expect(1, "(+ 1 1)", "=> 2"); // the front knows these images
    host_as(host_owner);
    host_leave(front);
}

/* A front sends what it must not; the others do not notice. */
static void front_that_sends_nonsense_is_refused(void **state)
{
    static const char before[][WIRE_HEAD] = {
        {0, 0, 0, 0, WIRE_CALL},  // no HELLO
        {0, 0, 0, 0, WIRE_REPLY}, // the wrong direction
        {0, 0, 0, 1, WIRE_HELLO}, // a HELLO of 16 MB
        "GET / HTTP/1.1\r",       // size and kind are letters
        {0, 0, 0, 0, WIRE_HELLO}, // without a version
        {'\377', '\377', '\377', '\377', WIRE_HELLO},
    };
    static const char after[][WIRE_HEAD] = {
        {0, 0, 0, 0, WIRE_CALL},   {0, 0, 0, 0, WIRE_READ},
        {0, 0, 0, 0, WIRE_FINISH}, {0, 0, 0, 0, WIRE_KEEP},
        {0, 0, 0, 0, WIRE_REPLY},  {0, 0, 0, 0, WIRE_WELCOME},
        {0, 0, 0, 0, 99},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(before); i++) {
        struct front *front = front_open(host, false);

        assert_int_equal(intake_feed(front, before[i], WIRE_HEAD, 0),
                         ST_INVALID);
        host_leave(front);
    }
    for (size_t i = 0; i < COUNT(after); i++) {
        struct front *front = host_join(false);

        assert_int_equal(intake_feed(front, after[i], WIRE_HEAD, 0),
                         ST_INVALID);
        host_leave(front);
    }
    host_expect(1, "(+ 1 1)", "=> 2");
}

static void many_fronts_come_and_go(void **state)
{
    enum { FRONTS = 100 };
    struct front *fronts[FRONTS];
    char text[32];

    (void)state;
    host_expect(1, "(defvar *n* 0)", "=> *N*");
    for (size_t i = 0; i < FRONTS; i++) {
        host_as(fronts[i] = host_join(false));
        host_call(1, "(incf *n*)");
    }
    for (size_t i = 0; i < FRONTS; i++) {
        host_as(fronts[i]);
        host_wait(1);
        (void)snprintf(text, sizeof text, "=> %d", (int)i + 1);
        assert_string_equal(host_answer.p, text);
        if (i % 2 == 0)
            host_leave(fronts[i]);
    }
    host_as(host_owner);
    host_expect(2, "*n*", "=> 100"); // the teardown frees the other half
}

#define TEST(f)                                                                \
    cmocka_unit_test_setup_teardown(f, host_setup_two, host_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(fronts_share_sessions),
        TEST(fronts_take_turns),
        TEST(fronts_stop_their_own_calls_only),
        TEST(owner_stops_the_calls_of_others),
        TEST(front_leaves_in_a_call),
        TEST(front_leaves_a_call_that_does_not_stop),
        TEST(fronts_are_told_of_deaths),
        TEST(fronts_are_told_of_restores),
        TEST(front_leaves_at_any_time),
        TEST(front_finishes_alone),
        TEST(owner_finishes_for_all),
        TEST(fronts_have_their_own_limits),
        TEST(fronts_share_a_limit),
        TEST(front_says_which_version_it_speaks),
        TEST(front_is_told_of_new_images),
        TEST(front_that_sends_nonsense_is_refused),
        TEST(many_fronts_come_and_go),
    };

    host_use(argc, argv);
    return RUN_TESTS("fronts", tests);
}
