/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The supervisor's end of a live image, against real sockets and pipes whose
   other ends the test holds: which output belongs to which call. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/session.h"
#include "support/check.h"

static struct channel channel;
static int image_socket = -1;
static int image_pipes[CHANNEL_PIPES] = {-1, -1};
static struct buf captured;
static const struct log no_log = {LOG_ERROR, NULL, NULL};

static int setup(void **state)
{
    int pair[2];
    int ours[CHANNEL_PIPES];
    int socket;
    int i;

    (void)state;
    channel_init(&channel, "main");
    memcpy(channel.key, "0123456789abcdef", sizeof channel.key);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return -1;
    socket = pair[0];
    image_socket = pair[1];
    if (fcntl(socket, F_SETFL, O_NONBLOCK) < 0)
        return -1;
    for (i = 0; i < CHANNEL_PIPES; i++) {
        if (pipe(pair) < 0 || fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
            return -1;
        ours[i] = pair[0];
        image_pipes[i] = pair[1];
    }
    channel_connect(&channel, socket, ours);
    return 0;
}

static int teardown(void **state)
{
    int i;

    (void)state;
    channel_release(&channel);
    buf_release(&captured);
    (void)close(image_socket);
    for (i = 0; i < CHANNEL_PIPES; i++)
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
    channel_add(&channel, call);
}

static void image_writes(int i, const char *bytes, size_t n)
{
    assert_int_equal(write(image_pipes[i], bytes, n), n);
}

static void image_marks(uint64_t id)
{
    char mark[WIRE_MARK];

    wire_mark(channel.key, id, mark);
    image_writes(CHANNEL_STDOUT, mark, sizeof mark);
    image_writes(CHANNEL_STDERR, mark, sizeof mark);
}

static void image_replies(uint64_t id, const char *text)
{
    struct buf frame = BUF_EMPTY;
    bool ok;

    wire_end(&frame, wire_begin(&frame, WIRE_REPLY, 0, id));
    buf_reset(&frame);
    {
        size_t start = wire_begin(&frame, WIRE_REPLY, 0, id);

        wire_put_string(&frame, str_from(text));
        wire_end(&frame, start);
    }
    ok = !buf_failed(&frame) &&
         write(image_socket, frame.p, frame.n) == (ssize_t)frame.n;
    buf_release(&frame);
    assert_memory(ok);
}

static void read_pipes(void)
{
    channel_read_pipe(&channel, CHANNEL_STDOUT, &no_log);
    channel_read_pipe(&channel, CHANNEL_STDERR, &no_log);
}

/* The next finished call has ID, and printed OUT. */
static void expect_call(uint64_t id, const char *out)
{
    struct call *call = channel_take_finished(&channel);
    struct buf text = BUF_EMPTY;
    bool same;

    assert_non_null(call);
    assert_int_equal(call->id, id);
    (void)capture_text(&call->captures[CHANNEL_STDOUT], &text);
    same = str_eq(buf_view(&text), str_from(out));
    call_free(call);
    buf_release(&text);
    assert_memory(same);
}

static void channel_drains_for_a_lone_call(void **state)
{
    (void)state;
    add_call(1);
    assert_ok(channel_send(&channel));
    image_writes(CHANNEL_STDOUT, "abc", 3);
    assert_null(channel_take_finished(&channel));
    image_replies(1, "=> 1");
    assert_ok(channel_read(&channel));
    expect_call(1, "abc");
    assert_null(channel_take_finished(&channel));
}

static void channel_waits_for_the_mark(void **state)
{
    (void)state;
    add_call(1);
    add_call(2);
    assert_ok(channel_send(&channel));
    image_writes(CHANNEL_STDOUT, "one", 3);
    image_replies(1, "=> 1");
    assert_ok(channel_read(&channel));
    read_pipes();
    assert_null(channel_take_finished(&channel));
    image_marks(1);
    image_writes(CHANNEL_STDOUT, "two", 3);
    read_pipes();
    expect_call(1, "one");
    image_replies(2, "=> 2");
    assert_ok(channel_read(&channel));
    expect_call(2, "two");
}

/* However the bytes are cut, and whatever looks like the start of a mark. */
static void channel_finds_split_marks(void **state)
{
    char bytes[64];
    size_t n = 0;
    size_t i;

    (void)state;
    add_call(1);
    add_call(2);
    assert_ok(channel_send(&channel));
    memcpy(bytes, "0123-012345", 11); // no mark
    n = 11;
    wire_mark(channel.key, 1, bytes + n);
    n += WIRE_MARK;
    memcpy(bytes + n, "01", 2);
    n += 2;
    for (i = 0; i < n; i++) {
        image_writes(CHANNEL_STDOUT, bytes + i, 1);
        channel_read_pipe(&channel, CHANNEL_STDOUT, &no_log);
    }
    wire_mark(channel.key, 1, bytes);
    image_writes(CHANNEL_STDERR, bytes, WIRE_MARK);
    channel_read_pipe(&channel, CHANNEL_STDERR, &no_log);
    image_replies(1, "=> 1");
    image_replies(2, "=> 2");
    assert_ok(channel_read(&channel));
    expect_call(1, "0123-012345");
    expect_call(2, "01");
}

/* No mark comes from a dead image: the start of one was lost once. */
static void channel_keeps_all_of_a_dead_image(void **state)
{
    (void)state;
    add_call(1);
    add_call(2);
    assert_ok(channel_send(&channel));
    image_writes(CHANNEL_STDOUT, "abc012", 6); // the key begins with 012
    read_pipes();
    channel_drain(&channel); // a mark is awaited, behind which is more
    assert_int_equal(channel.carried[CHANNEL_STDOUT], 3);
    assert_false(channel.unread);
    channel_drain_dead(&channel);
    assert_true(channel.unread); // nobody has read the two calls
    (void)capture_text(&channel.first->captures[CHANNEL_STDOUT], &captured);
    assert_memory(!buf_failed(&captured));
    assert_memory(str_eq(buf_view(&captured), STR("abc012")));
}

/* What was read is not sent again. */
static void channel_knows_what_was_read(void **state)
{
    char bytes[4096];

    (void)state;
    add_call(1);
    assert_ok(channel_send(&channel));
    assert_true(read(image_socket, bytes, sizeof bytes) > 0);
    channel_drain_dead(&channel);
    assert_false(channel.unread);
}

static void channel_keeps_output_between_calls(void **state)
{
    (void)state;
    image_writes(CHANNEL_STDOUT, "late", 4);
    read_pipes();
    assert_int_equal(channel.earlier.chars, 4);
}

static void channel_bounds_what_is_sent_ahead(void **state)
{
    int i;

    (void)state;
    for (i = 0; i < LIMIT_AHEAD + 5; i++)
        add_call((uint64_t)i + 1);
    assert_ok(channel_send(&channel));
    assert_int_equal(channel.sent, LIMIT_AHEAD);
}

/* An answer that nobody asked for, twice, out of order, or no frame at all. */
static void channel_refuses_strange_answers(void **state)
{
    (void)state;
    image_replies(1, "=> 1");
    assert_status(channel_read(&channel), ST_INVALID);
    add_call(1);
    add_call(2);
    assert_ok(channel_send(&channel));
    image_replies(2, "=> 2");
    assert_status(channel_read(&channel), ST_INVALID);
    image_replies(1, "=> 1");
    assert_ok(channel_read(&channel));
    image_replies(1, "=> 1");
    assert_status(channel_read(&channel), ST_INVALID);
    assert_int_equal(write(image_socket, "\xff\xff\xff\xff garbage bytes", 18),
                     18);
    assert_status(channel_read(&channel), ST_INVALID);
}

static void channel_tells_the_end_of_the_image(void **state)
{
    (void)state;
    add_call(1);
    assert_ok(channel_send(&channel));
    image_replies(1, "=> 1");
    assert_int_equal(shutdown(image_socket, SHUT_WR), 0);
    assert_status(channel_read(&channel), ST_OK);
    assert_status(channel_read(&channel), ST_IO);
    expect_call(1, ""); // what was answered before counts
}

static void channel_sends_again_after_a_loss(void **state)
{
    struct call *call;

    (void)state;
    add_call(1);
    add_call(2);
    add_call(3);
    assert_ok(channel_send(&channel));
    call = channel_take_first(&channel);
    assert_int_equal(call->id, 1);
    call_free(call);
    channel_disconnect(&channel);
    assert_int_equal(channel.sent, 0);
    assert_int_equal(channel.calls, 2);
    assert_false(channel.first->sent);
}

static void channel_withdraws_a_waiting_call(void **state)
{
    struct call *call;

    (void)state;
    add_call(1);
    add_call(2);
    add_call(3);
    call = channel_find(&channel, NULL, 3);
    assert_non_null(call);
    channel_withdraw(&channel, call);
    call_free(call);
    assert_null(channel_find(&channel, NULL, 3));
    assert_int_equal(channel.last->id, 2);
    add_call(4);
    assert_int_equal(channel.last->id, 4);
    assert_null(channel_find(&channel, NULL, 9));
}

/* An image that sends two descriptors for one answer would fill up the table of
   the supervisor's. */
static void channel_takes_one_descriptor(void **state)
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } extra;
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = CMSG_LEN(2 * sizeof(int))};
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
    const int two[2] = {image_pipes[0], image_pipes[1]};
    int before = dup(image_socket);
    int after;

    (void)state;
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(sizeof two);
    memcpy(CMSG_DATA(cmsg), two, sizeof two);
    assert_int_equal(sendmsg(image_socket, &header, 0), 1);
    assert_ok(channel_read(&channel));
    assert_true(channel.kept_socket >= 0);
    after = dup(image_socket); // the lowest one that is free
    assert_int_equal(after, channel.kept_socket + 1);
    (void)close(before);
    (void)close(after);
}

/* Who shares the socket of a copy can make it wait again. */
static void channel_never_waits(void **state)
{
    char text[1000] = {0};
    int i;

    (void)state;
    assert_int_equal(fcntl(channel.socket, F_SETFL, 0), 0);
    assert_ok(channel_read(&channel)); // nothing is there
    for (i = 0; i < 1000; i++) {
        struct call *call =
            call_new((uint64_t)i, 0, STR("evaluate"), str_make(text, 1000));

        assert_memory(call);
        if (!call)
            return;
        channel_add(&channel, call);
        assert_ok(channel_send(&channel)); // nobody reads
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(channel_drains_for_a_lone_call),
        TEST(channel_waits_for_the_mark),
        TEST(channel_finds_split_marks),
        TEST(channel_keeps_all_of_a_dead_image),
        TEST(channel_knows_what_was_read),
        TEST(channel_keeps_output_between_calls),
        TEST(channel_bounds_what_is_sent_ahead),
        TEST(channel_refuses_strange_answers),
        TEST(channel_tells_the_end_of_the_image),
        TEST(channel_sends_again_after_a_loss),
        TEST(channel_withdraws_a_waiting_call),
        TEST(channel_takes_one_descriptor),
        TEST(channel_never_waits),
    };

    return RUN_TESTS("channel", tests);
}
