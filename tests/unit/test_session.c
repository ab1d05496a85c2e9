/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of session.c, the supervisor's end of a live image: which output
   belongs to which call. The sockets and pipes are real, and the test holds the
   other ends. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/session.h"
#include "support/check.h"
#include "support/sending.h"

static struct session session;
static int image_socket = -1;
static int image_pipes[CAPTURE_PIPES] = {-1, -1};
static struct buf captured;
static const struct log no_log = {LOG_ERROR, NULL, NULL};

static int setup(void **state)
{
    int pair[2];
    int ours[CAPTURE_PIPES];
    int socket;

    (void)state;
    session_init(&session, "main");
    memcpy(session.image.output.key, "0123456789abcdef",
           sizeof session.image.output.key);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return -1;
    socket = pair[0];
    image_socket = pair[1];
    if (fcntl(socket, F_SETFL, O_NONBLOCK) < 0)
        return -1;
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        if (pipe(pair) < 0 || fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
            return -1;
        ours[i] = pair[0];
        image_pipes[i] = pair[1];
    }
    int fds[CONTROL_FDS] = {[CONTROL_SOCKET] = socket,
                            [CONTROL_STDOUT] = ours[CAPTURE_STDOUT],
                            [CONTROL_STDERR] = ours[CAPTURE_STDERR],
                            [CONTROL_KEEPER] = -1};
    session_connect(&session, fds);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    session_release(&session);
    buf_release(&captured);
    (void)close(image_socket);
    for (int i = 0; i < CAPTURE_PIPES; i++)
        (void)close(image_pipes[i]);
    return 0;
}

static void add_call(uint64_t id)
{
    struct call *call = call_new(id, 0, STR("evaluate"), STR(""));

    assert_memory(call);
    if (!call)
        return;
    call->front_id = id;
    call_queue_add(&session.calls, call);
}

static void image_writes(int i, const char *bytes, size_t n)
{
    assert_int_equal(write(image_pipes[i], bytes, n), n);
}

static void image_marks(uint64_t id)
{
    char mark[WIRE_MARK];

    wire_mark(session.image.output.key, id, mark);
    image_writes(CAPTURE_STDOUT, mark, sizeof mark);
    image_writes(CAPTURE_STDERR, mark, sizeof mark);
}

static void image_replies(uint64_t id, const char *text)
{
    struct buf frame = BUF_EMPTY;
    size_t start = wire_begin(&frame, WIRE_REPLY, 0, id);
    bool ok;

    wire_put_string(&frame, str_from(text));
    wire_end(&frame, start);
    ok = !buf_failed(&frame) &&
         write(image_socket, frame.p, frame.n) == (ssize_t)frame.n;
    buf_release(&frame);
    assert_memory(ok);
}

static void read_pipes(void)
{
    session_read_pipe(&session, CAPTURE_STDOUT, &no_log);
    session_read_pipe(&session, CAPTURE_STDERR, &no_log);
}

/* Checks that the next finished call has ID and printed OUT. */
static void expect_call(uint64_t id, const char *out)
{
    struct call *call = session_take_finished(&session);
    struct buf text = BUF_EMPTY;
    bool same;

    assert_non_null(call);
    assert_int_equal(call->id, id);
    (void)capture_text(&call->captures[CAPTURE_STDOUT], &text);
    same = str_eq(buf_view(&text), str_from(out));
    call_free(call);
    buf_release(&text);
    assert_memory(same);
}

static void session_drains_for_a_lone_call(void **state)
{
    (void)state;
    add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_writes(CAPTURE_STDOUT, "abc", 3);
    assert_null(session_take_finished(&session));
    image_replies(1, "=> 1");
    assert_ok(session_read(&session));
    expect_call(1, "abc");
    assert_null(session_take_finished(&session));
}

static void session_waits_for_the_mark(void **state)
{
    (void)state;
    add_call(1);
    add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_writes(CAPTURE_STDOUT, "one", 3);
    image_replies(1, "=> 1");
    assert_ok(session_read(&session));
    read_pipes();
    assert_null(session_take_finished(&session));
    image_marks(1);
    image_writes(CAPTURE_STDOUT, "two", 3);
    read_pipes();
    expect_call(1, "one");
    image_replies(2, "=> 2");
    assert_ok(session_read(&session));
    expect_call(2, "two");
}

/* A mark is found however its bytes are split, and after bytes that look like
   the start of one. */
static void session_finds_split_marks(void **state)
{
    char bytes[64];
    size_t n = 0;

    (void)state;
    add_call(1);
    add_call(2);
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
    expect_call(1, "0123-012345");
    expect_call(2, "01");
}

/* A dead image sends no marks. Output that looked like the start of a mark used
   to be lost. */
static void session_keeps_all_of_a_dead_image(void **state)
{
    (void)state;
    add_call(1);
    add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_writes(CAPTURE_STDOUT, "abc012", 6); // the key begins with 012
    read_pipes();
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

/* A call that was read is not sent again. */
static void session_knows_which_calls_were_read(void **state)
{
    char bytes[4096];

    (void)state;
    add_call(1);
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
    read_pipes();
    assert_int_equal(session.earlier.chars, 4);
}

static void session_bounds_calls_sent_ahead(void **state)
{
    (void)state;
    for (int i = 0; i < LIMIT_AHEAD + 5; i++)
        add_call((uint64_t)i + 1);
    assert_ok(session_send(&session));
    session_flush(&session);
    assert_int_equal(session.calls.sent, LIMIT_AHEAD);
}

/* The image sends the head of a frame, and no more. */
static void image_heads(unsigned kind, uint64_t id, uint32_t size)
{
    struct buf frame = BUF_EMPTY;
    bool ok;

    (void)wire_begin(&frame, (enum wire_kind)kind, 0, id);
    for (int i = 0; !buf_failed(&frame) && i < 4; i++)
        frame.p[i] = (char)(size >> 8 * i);
    ok = !buf_failed(&frame) &&
         write(image_socket, frame.p, frame.n) == (ssize_t)frame.n;
    buf_release(&frame);
    assert_memory(ok);
}

/* Sends a REPLY with N letters in pieces, and reads it. */
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

/* The supervisor used to keep the body of any frame of 1 GiB, whatever it
   was, until the image died, and longer. */
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
        add_call(1);
        add_call(2);
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

/* As long as an answer may be, it arrives whole, and leaves no memory. */
static void session_takes_the_longest_answer(void **state)
{
    struct call *call;

    (void)state;
    add_call(1);
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

/* The text aside counts as held, and goes with the call. */
static void session_takes_a_text_aside(void **state)
{
    struct buf frame = BUF_EMPTY;
    struct call *call;
    size_t start;

    (void)state;
    add_call(1);
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

/* What has been admitted counts before it comes. */
static void session_counts_what_will_come(void **state)
{
    (void)state;
    add_call(1);
    add_call(2);
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

/* An answer without room is dropped; the call says so, and the next one is not
   concerned. A short one needs no room. */
static void session_drops_answers_without_room(void **state)
{
    struct call *call;
    bool explained;

    (void)state;
    add_call(1);
    add_call(2);
    assert_ok(session_send(&session));
    session_flush(&session);
    session.room = 50 * 1024;
    assert_ok(send_long_reply(1, 100 * 1024));
    assert_true(session_held(&session) < 1000);
    session.room = 0;
    image_replies(2, "=> 2");
    assert_ok(session_read(&session));
    image_marks(1);
    read_pipes();
    call = session_take_finished(&session);
    assert_non_null(call);
    assert_true(call->error);
    buf_byte(&call->text, '\0');
    explained =
        !buf_failed(&call->text) && strstr(call->text.p, "102405 bytes");
    call_free(call);
    assert_memory(explained);
    expect_call(2, "");
}

/* An image that floods the supervisor does not keep it busy; of a dead one, all
   is read that has come. */
static void session_reads_in_turns(void **state)
{
    const int room = 1024 * 1024;
    char text[150 * 1024];

    (void)state;
    add_call(1);
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

/* A lost STOP must not look as if the image had not read its calls. */
static void session_stops_nothing_in_a_dying_image(void **state)
{
    (void)state;
    add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    assert_int_equal(shutdown(image_socket, SHUT_RD), 0);
    session.image.dying = true;
    session_send_stop(&session, 1);
    assert_false(session.image.death.unread);
}

/* An answer that nobody expects, one that comes twice or out of order, and an
   invalid frame are refused. */
static void session_refuses_strange_answers(void **state)
{
    (void)state;
    image_replies(1, "=> 1");
    assert_status(session_read(&session), ST_INVALID);
    add_call(1);
    add_call(2);
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

static void session_reports_the_end_of_the_image(void **state)
{
    (void)state;
    add_call(1);
    assert_ok(session_send(&session));
    session_flush(&session);
    image_replies(1, "=> 1");
    assert_int_equal(shutdown(image_socket, SHUT_WR), 0);
    assert_status(session_read(&session), ST_OK);
    assert_status(session_read(&session), ST_IO);
    expect_call(1, ""); // an answer from before the end counts
}

static void session_sends_again_after_a_loss(void **state)
{
    struct call *call;

    (void)state;
    add_call(1);
    add_call(2);
    add_call(3);
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

/* An image could fill the supervisor's table with descriptors that nobody has
   asked for. */
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

/* What an image never sends ends it, even where a copy is expected. */
static void session_refuses_two_descriptors(void **state)
{
    int pair[2];

    (void)state;
    add_call(1);
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

/* A process that shares an image's socket can make it blocking. */
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
        TEST(session_refuses_strange_answers),
        TEST(session_reports_the_end_of_the_image),
        TEST(session_sends_again_after_a_loss),
        TEST(session_refuses_frames_by_their_heads),
        TEST(session_takes_the_longest_answer),
        TEST(session_takes_a_text_aside),
        TEST(session_counts_what_will_come),
        TEST(session_drops_answers_without_room),
        TEST(session_reads_in_turns),
        TEST(session_stops_nothing_in_a_dying_image),
        TEST(session_takes_a_descriptor_it_expects),
        TEST(session_refuses_two_descriptors),
        TEST(session_never_waits),
    };

    return RUN_TESTS("session", tests);
}
