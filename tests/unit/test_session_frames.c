/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of session.c: what it takes from the socket of an image, which is not
   trusted: frames, answers and descriptors. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"
#include "support/imageend.h"
#include "support/sending.h"

static enum status send_long_reply(uint64_t id, size_t n)
{
    static const char letters[32 * 1024] = {'a'};
    char field[WIRE_STRING_BYTES] = {WIRE_STRING};
    enum status status = ST_OK;

    image_heads(WIRE_REPLY, id, (uint32_t)n + WIRE_STRING_BYTES);
    for (int i = 0; i < 4; i++)
        field[1 + i] = (char)((uint32_t)n >> 8 * i);
    assert_int_equal(write(image_socket, field, sizeof field), sizeof field);
    while (n > 0 && status == ST_OK) {
        size_t part = n < sizeof letters ? n : sizeof letters;

        assert_int_equal(write(image_socket, letters, part), part);
        n -= part;
        status = session_read(&session);
    }
    return status;
}

static void session_refuses_frames_by_their_heads(void **state)
{
    static const struct {
        unsigned kind;
        uint64_t id;
        uint32_t size;
        enum status status;
    } heads[] = {
        {WIRE_REPLY, 1, WIRE_STRING_BYTES + LIMIT_OUTPUT_KEPT + 1, ST_LIMIT},
        {WIRE_REPLY, 1, LIMIT_FRAME, ST_LIMIT},
        {WIRE_REPLY, 1, UINT32_MAX, ST_LIMIT},
        {WIRE_REPLY, 2, 100, ST_INVALID},  // not asked yet
        {WIRE_KEPT, 7, 10, ST_INVALID},    // one number is expected
        {WIRE_KEPT, 8, 9, ST_INVALID},     // another KEEP than that
        {WIRE_WOKEN, 0, 9, ST_INVALID},    // only a copy says that
        {WIRE_WANT, 1, 10, ST_INVALID},    // one number is expected
        {WIRE_NATIVE, 0, 28, ST_INVALID},  // three numbers are expected
        {WIRE_WANT, 2, 9, ST_INVALID},     // a call that does not run
        {WIRE_CALL, 1, 100, ST_INVALID},   // goes the other way
        {WIRE_OUTPUT, 1, 100, ST_INVALID}, // goes to fronts
        {1000, 1, 100, ST_INVALID},
        {1000, 1, UINT32_MAX, ST_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        image_add_call(1);
        image_add_call(2);
        session.keeping.number = 7;
        assert_ok(session_send(&session));
        session_flush(&session);
        image_heads(heads[i].kind, heads[i].id, heads[i].size);
        assert_status(session_read(&session), heads[i].status);
        call_queue_release(&session.calls);
        buf_reset(&session.image.in);
        session.admitted = 0;
    }
}

static void session_takes_the_longest_answer(void **state)
{
    struct call *call;

    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    assert_ok(send_long_reply(1, LIMIT_OUTPUT_KEPT));
    assert_true(session.image.in.cap <= 128 * 1024);
    call = session_take_finished(&session);
    assert_non_null(call);
    assert_int_equal(call->text.n, LIMIT_OUTPUT_KEPT);
    call_free(call);
    assert_int_equal(session_held(&session), 0);
}

static void session_takes_a_text_aside(void **state)
{
    struct buf frame = BUF_EMPTY;
    struct call *call;
    size_t start;

    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    start = wire_begin(&frame, WIRE_REPLY, 0, 1);
    wire_put_string(&frame, STR("text"));
    wire_put_string(&frame, STR("aside"));
    wire_end(&frame, start);
    assert_int_equal(write(image_socket, frame.p, frame.n), frame.n);
    buf_release(&frame);
    assert_ok(session_read(&session));
    assert_memory(session_held(&session) == strlen("textaside"));
    call = session_take_finished(&session);
    assert_non_null(call);
    assert_memory(str_eq(buf_view(&call->text), STR("text")));
    assert_memory(str_eq(buf_view(&call->aside), STR("aside")));
    call_free(call);
}

static void session_counts_what_will_come(void **state)
{
    (void)state;
    image_add_call(1);
    image_add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    session.room = 100 * 1024;
    image_heads(WIRE_REPLY, 1, 100 * 1024);
    assert_ok(session_read(&session));
    assert_int_equal(session_held(&session), WIRE_HEAD + 100 * 1024);
    assert_int_equal(session.room, 0);
    session_disconnect(&session);
    assert_int_equal(session_held(&session), 0);
    assert_int_equal(session.image.in.cap, 0); // the memory is given back
}

static void session_drops_answers_without_room(void **state)
{
    struct call *call;
    bool explained;

    (void)state;
    image_add_call(1);
    image_add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    session.room = 50 * 1024;
    assert_ok(send_long_reply(1, 100 * 1024));
    assert_true(session_held(&session) < 1000);
    session.room = 0;
    image_replies(2, "=> 2");
    assert_ok(session_read(&session));
    image_marks(1);
    image_read_pipes();
    call = session_take_finished(&session);
    assert_non_null(call);
    assert_true(call->error);
    buf_byte(&call->text, '\0');
    explained =
        !buf_failed(&call->text) && strstr(call->text.p, "102405 bytes");
    call_free(call);
    assert_memory(explained);
    image_expect_call(2, "");
}

static void session_reads_in_turns(void **state)
{
    const int room = 1024 * 1024;
    char text[150 * 1024];

    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    assert_int_equal(
        setsockopt(image_socket, SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    image_replies(1, text);
    assert_ok(session_read(&session));
    assert_true(session.image.in.n > 0 && session.image.in.n <= 64 * 1024);
    session.image.death.exited = true;
    assert_ok(session_read(&session));
    assert_true(session.calls.first->replied);
}

static void session_refuses_strange_answers(void **state)
{
    (void)state;
    image_replies(1, "=> 1");
    assert_status(session_read(&session), ST_INVALID);
    image_add_call(1);
    image_add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_replies(2, "=> 2");
    assert_status(session_read(&session), ST_INVALID);
    image_replies(1, "=> 1");
    assert_ok(session_read(&session));
    image_replies(1, "=> 1");
    assert_status(session_read(&session), ST_INVALID);
    assert_int_equal(write(image_socket, "\xff\0\0\0 garbage bytes", 18), 18);
    assert_status(session_read(&session), ST_INVALID);
}

static void session_takes_a_descriptor_it_expects(void **state)
{
    int pair[2];
    int first;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    first = dup(image_socket); // the lowest free descriptor
    (void)close(first);
    session.keeping.number = 1; // a copy is expected
    assert_true(sending_descriptors(image_socket, STR("x"), pair, 1, 0));
    assert_ok(session_read(&session));
    assert_int_equal(session.keeping.copy.socket, first);
    // one that nobody expects is closed
    keeping_disconnect(&session.keeping);
    assert_true(sending_descriptors(image_socket, STR("x"), pair, 1, 0));
    assert_ok(session_read(&session));
    assert_int_equal(session.keeping.copy.socket, -1);
    (void)close(pair[0]);
    assert_int_equal(read(pair[1], &first, sizeof first), 0);
    (void)close(pair[1]);
}

static void session_refuses_two_descriptors(void **state)
{
    int pair[2];

    (void)state;
    image_add_call(1);
    assert_ok(session_send(&session));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    session.keeping.number = 1;
    assert_true(sending_descriptors(image_socket, STR("x"), pair, 2, 0));
    image_replies(1, "=> 1");
    assert_status(session_read(&session), ST_INVALID);
    assert_int_equal(session.keeping.copy.socket, -1);
    assert_false(session.calls.first->replied);
    (void)close(pair[0]);
    assert_int_equal(read(pair[1], pair, sizeof pair[0]), 0); // closed
    (void)close(pair[1]);
}

static void session_never_waits(void **state)
{
    char text[1000] = {0};

    (void)state;
    assert_int_equal(fcntl(session.image.socket, F_SETFL, 0), 0);
    assert_ok(session_read(&session)); // nothing has come
    for (int i = 0; i < 1000; i++) {
        struct call *call =
            call_new((uint64_t)i, 0, STR("evaluate"), str_make(text, 1000));

        assert_memory(call);
        if (!call)
            return;
        call_queue_add(&session.calls, call);
        assert_ok(session_send(&session)); // nobody reads
        session_flush(&session);
    }
}

#define TEST(f)                                                                \
    cmocka_unit_test_setup_teardown(f, image_set_up, image_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(session_refuses_strange_answers),
        TEST(session_refuses_frames_by_their_heads),
        TEST(session_takes_the_longest_answer),
        TEST(session_takes_a_text_aside),
        TEST(session_counts_what_will_come),
        TEST(session_drops_answers_without_room),
        TEST(session_reads_in_turns),
        TEST(session_takes_a_descriptor_it_expects),
        TEST(session_refuses_two_descriptors),
        TEST(session_never_waits),
    };

    return RUN_TESTS("session_frames", tests);
}
