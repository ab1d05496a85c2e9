/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of session.c, the supervisor's end of a live image: which output
   belongs to which call, and which calls were read. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"
#include "support/imageend.h"

static struct buf captured;
static const struct log no_log = {LOG_ERROR, NULL, NULL};

static int tear_down(void **state)
{
    buf_release(&captured);
    return image_tear_down(state);
}

static void session_drains_for_a_lone_call(void **state)
{
    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_writes(CAPTURE_STDOUT, "abc", 3);
    assert_null(session_take_finished(&session));
    image_replies(1, "=> 1");
    assert_ok(session_read(&session));
    image_expect_call(1, "abc");
    assert_null(session_take_finished(&session));
}

static void session_waits_for_the_mark(void **state)
{
    (void)state;
    image_add_call(1);
    image_add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_writes(CAPTURE_STDOUT, "one", 3);
    image_replies(1, "=> 1");
    assert_ok(session_read(&session));
    image_read_pipes();
    assert_null(session_take_finished(&session));
    image_marks(1);
    image_writes(CAPTURE_STDOUT, "two", 3);
    image_read_pipes();
    image_expect_call(1, "one");
    image_replies(2, "=> 2");
    assert_ok(session_read(&session));
    image_expect_call(2, "two");
}

static void session_finds_split_marks(void **state)
{
    char bytes[64];
    size_t n = 0;

    (void)state;
    image_add_call(1);
    image_add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    memcpy(bytes, "0123-012345", 11); // not a mark
    n = 11;
    wire_mark(session.image.output.key, 1, bytes + n);
    n += WIRE_MARK;
    memcpy(bytes + n, "01", 2);
    n += 2;
    for (size_t i = 0; i < n; i++) {
        image_writes(CAPTURE_STDOUT, bytes + i, 1);
        session_read_pipe(&session, CAPTURE_STDOUT, &no_log);
    }
    wire_mark(session.image.output.key, 1, bytes);
    image_writes(CAPTURE_STDERR, bytes, WIRE_MARK);
    session_read_pipe(&session, CAPTURE_STDERR, &no_log);
    image_replies(1, "=> 1");
    image_replies(2, "=> 2");
    assert_ok(session_read(&session));
    image_expect_call(1, "0123-012345");
    image_expect_call(2, "01");
}

static void session_keeps_all_of_a_dead_image(void **state)
{
    (void)state;
    image_add_call(1);
    image_add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_writes(CAPTURE_STDOUT, "abc012", 6); // the key begins with 012
    image_read_pipes();
    session_drain(&session); // a mark can still come
    assert_int_equal(session.image.output.carried[CAPTURE_STDOUT], 3);
    assert_false(session.image.death.unread);
    session_drain_dead(&session);
    assert_true(session.image.death.unread); // nobody has read the two calls
    (void)capture_text(&session.calls.first->captures[CAPTURE_STDOUT],
                       &captured);
    assert_memory(!buf_failed(&captured));
    assert_memory(str_eq(buf_view(&captured), STR("abc012")));
}

static void session_knows_which_calls_were_read(void **state)
{
    char bytes[4096];

    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    assert_true(read(image_socket, bytes, sizeof bytes) > 0);
    session_drain_dead(&session);
    assert_false(session.image.death.unread);
}

static void session_keeps_output_between_calls(void **state)
{
    (void)state;
    image_writes(CAPTURE_STDOUT, "late", 4);
    image_read_pipes();
    assert_int_equal(session.earlier.chars, 4);
}

static void session_bounds_calls_sent_ahead(void **state)
{
    (void)state;
    for (int i = 0; i < LIMIT_AHEAD + 5; i++)
        image_add_call((uint64_t)i + 1);
    assert_ok(session_send(&session));
    session_flush(&session);
    assert_int_equal(session.calls.sent, LIMIT_AHEAD);
}

static void session_stops_nothing_in_a_dying_image(void **state)
{
    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    assert_int_equal(shutdown(image_socket, SHUT_RD), 0);
    session.image.dying = true;
    session_send_stop(&session, 1);
    assert_false(session.image.death.unread);
}

static void session_reports_the_end_of_the_image(void **state)
{
    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_replies(1, "=> 1");
    assert_int_equal(shutdown(image_socket, SHUT_WR), 0);
    assert_status(session_read(&session), ST_OK);
    assert_status(session_read(&session), ST_IO);
    image_expect_call(1, ""); // an answer from before the end counts
}

static void session_sends_again_after_a_loss(void **state)
{
    struct call *call;

    (void)state;
    image_add_call(1);
    image_add_call(2);
    image_add_call(3);
    assert_ok(session_send(&session));
    session_flush(&session);
    call = session_take_first(&session);
    assert_int_equal(call->id, 1);
    call_free(call);
    session_disconnect(&session);
    assert_int_equal(session.calls.sent, 0);
    assert_int_equal(session.calls.first->id, 2);
    assert_int_equal(session.calls.first->next->id, 3);
    assert_null(session.calls.first->next->next);
    assert_false(session.calls.first->sent);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, image_set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(session_drains_for_a_lone_call),
        TEST(session_waits_for_the_mark),
        TEST(session_finds_split_marks),
        TEST(session_keeps_all_of_a_dead_image),
        TEST(session_knows_which_calls_were_read),
        TEST(session_keeps_output_between_calls),
        TEST(session_bounds_calls_sent_ahead),
        TEST(session_reports_the_end_of_the_image),
        TEST(session_sends_again_after_a_loss),
        TEST(session_stops_nothing_in_a_dying_image),
    };

    return RUN_TESTS("session", tests);
}
