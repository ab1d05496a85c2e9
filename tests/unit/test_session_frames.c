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

/* Bytes of a frame with N numbers, and with three. */
#define SIZE(n) (WIRE_HEAD + (n)*WIRE_NUMBER_BYTES)
#define NUMBERS_BYTES SIZE(3)

/* Writes a frame of KIND about ID with N numbers to BYTES. */
static void make_numbers(char bytes[NUMBERS_BYTES], unsigned kind, uint64_t id,
                         size_t n)
{
    memset(bytes, 0, NUMBERS_BYTES);
    bytes[0] = (char)(n * WIRE_NUMBER_BYTES);
    bytes[4] = (char)kind;
    bytes[8] = (char)id;
    for (size_t i = 0; i < n; i++) {
        bytes[SIZE(i)] = WIRE_INT;
        bytes[SIZE(i) + 1] = (char)(i + 1);
    }
}

/* The image sends N BYTES and a stream along with them. Returns the other end
   of that. */
static int send_stream(const char *bytes, size_t n)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_true(
        sending_descriptors(image_socket, str_make(bytes, n), pair, 1, 0));
    (void)close(pair[0]);
    return pair[1];
}

static void expect_closed(int far)
{
    char byte;

    assert_int_equal(recv(far, &byte, 1, 0), 0);
    (void)close(far);
}

/* A copy is expected, and an outcome of call 1. */
static bool expect_two(void)
{
    image_add_call(1);
    if (!session.calls.first)
        return false; // without memory
    session.calls.first->adopts = true;
    assert_ok(session_send(&session));
    session_flush(&session);
    session.keeping.number = 7;
    return true;
}

/* What comes with a KEPT belongs to it, in however many pieces it comes; what
   comes right behind it, with an outcome, to that. */
static void session_takes_descriptors_it_expects(void **state)
{
    const size_t size = SIZE(1);
    struct keeping *keeping = &session.keeping;
    char kept[NUMBERS_BYTES];
    char outcome[NUMBERS_BYTES];
    int far[2];

    (void)state;
    make_numbers(kept, WIRE_KEPT, 7, 1);
    make_numbers(outcome, WIRE_OUTCOME, 1, 2);
    if (!expect_two())
        return;
    for (size_t n = 1; n <= size; n++) {
        keeping->number = 7;
        far[0] = send_stream(kept, n);
        assert_ok(session_read(&session));
        assert_int_equal(write(image_socket, kept + n, size - n), size - n);
        far[1] = send_stream(outcome, SIZE(2));
        for (int i = 0; i < 3; i++) // the rest of a head, of a frame, and more
            assert_ok(session_read(&session));
        assert_true(keeping->copy.arrived);
        assert_int_equal(write(far[0], "k", 1), 1);
        assert_int_equal(write(far[1], "o", 1), 1);
        assert_int_equal(read(keeping->copy.socket, kept + size, 1), 1);
        assert_int_equal(kept[size], 'k');
        assert_int_equal(read(keeping->frozen.outcome.socket, kept + size, 1),
                         1);
        assert_int_equal(kept[size], 'o');
        keeping_disconnect(keeping);
        expect_closed(far[0]);
        expect_closed(far[1]);
    }
}

/* A KEPT that brings nothing, as one that answers a PREPARE, takes nothing of
   an outcome that comes at once with it. */
static void session_gives_a_descriptor_to_its_frame(void **state)
{
    const size_t size = SIZE(1);
    char kept[NUMBERS_BYTES];
    char outcome[NUMBERS_BYTES];
    int far;

    (void)state;
    make_numbers(kept, WIRE_KEPT, 7, 1);
    make_numbers(outcome, WIRE_OUTCOME, 1, 2);
    if (!expect_two())
        return;
    assert_int_equal(write(image_socket, kept, size), size);
    far = send_stream(outcome, SIZE(2));
    assert_ok(session_read(&session));
    assert_true(session.keeping.copy.arrived);
    assert_int_equal(session.keeping.copy.socket, -1);
    assert_true(session.keeping.frozen.outcome.socket >= 0);
    keeping_disconnect(&session.keeping);
    expect_closed(far);
}

/* Frames that are as they should be, but have none. */
static void session_refuses_descriptors_it_does_not_expect(void **state)
{
    static const struct {
        unsigned kind;
        uint64_t id;
        size_t n;
    } frames[] = {{WIRE_WANT, 1, 1}, {WIRE_FROZEN, 1, 3}, {WIRE_NATIVE, 0, 3}};
    static const char reply[] = "\5\0\0\0\x10\0\0\0\1\0\0\0\0\0\0\0S\0\0\0\0";
    const size_t n = sizeof frames / sizeof *frames;

    (void)state;
    for (size_t i = 0; i < 2 * (n + 1); i++) {
        char bytes[NUMBERS_BYTES];
        size_t size = sizeof reply - 1;
        int far = -1;

        image_add_call(1);
        if (!session.calls.first)
            return; // without memory
        assert_ok(session_send(&session));
        session_flush(&session);
        memcpy(bytes, reply, size);
        if (i / 2 < n) {
            make_numbers(bytes, frames[i / 2].kind, frames[i / 2].id,
                         frames[i / 2].n);
            bytes[SIZE(2) + 1] = frames[i / 2].kind == WIRE_FROZEN;
            size = SIZE(frames[i / 2].n);
        }
        if (i % 2 == 0) { // the control
            assert_int_equal(write(image_socket, bytes, size), size);
            assert_ok(session_read(&session));
        } else {
            far = send_stream(bytes, size);
            assert_status(session_read(&session), ST_INVALID);
        }
        (void)image_tear_down(state);
        if (far >= 0)
            expect_closed(far);
        assert_int_equal(image_set_up(state), 0);
    }
}

/* The answer to a PREPARE brings nothing. */
static void session_refuses_a_descriptor_of_a_load(void **state)
{
    char bytes[NUMBERS_BYTES];
    int far;

    (void)state;
    make_numbers(bytes, WIRE_KEPT, 7, 1);
    session.keeping.number = 7;
    session.keeping.preparing.asked = true;
    far = send_stream(bytes, SIZE(1));
    assert_status(session_read(&session), ST_INVALID);
    (void)image_tear_down(state);
    expect_closed(far);
    assert_int_equal(image_set_up(state), 0);
}

/* What is no frame yet: the second one is too many. */
static void session_refuses_one_descriptor_after_the_other(void **state)
{
    char bytes[NUMBERS_BYTES];
    int far[2];

    (void)state;
    make_numbers(bytes, WIRE_KEPT, 7, 1);
    session.keeping.number = 7;
    for (int i = 0; i < 2; i++)
        far[i] = send_stream(bytes + i, 1);
    assert_ok(session_read(&session));
    assert_status(session_read(&session), ST_INVALID);
    session_disconnect(&session);
    for (int i = 0; i < 2; i++)
        expect_closed(far[i]);
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
        TEST(session_takes_descriptors_it_expects),
        TEST(session_gives_a_descriptor_to_its_frame),
        TEST(session_refuses_descriptors_it_does_not_expect),
        TEST(session_refuses_a_descriptor_of_a_load),
        TEST(session_refuses_one_descriptor_after_the_other),
        TEST(session_refuses_two_descriptors),
        TEST(session_never_waits),
    };

    return RUN_TESTS("session_frames", tests);
}
