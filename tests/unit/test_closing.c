/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of closing.c and of what image_process.c does with descriptors: an
   image can send some whose last close takes long. Here they are connections
   that linger: a close waits until the other end has read everything, which
   this thread does afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "supervisor/closing.h"
#include "supervisor/image_process.h"
#include "support/check.h"
#include "support/lingering.h"
#include "support/sending.h"

/* Seconds for which a close would wait, and after which a test has failed. */
#define LINGER 60
#define PATIENCE 30

#define MOST 4

/* Numbers of descriptors among which the thread's are found. */
#define NUMBERS 256

/* Options of a socket that let more come along: the numbers of who sends, its
   label, and a descriptor of its process (SO_PASSCRED, SO_PASSSEC,
   SO_PASSPIDFD), which POSIX and older headers do not name. */
static const int options[] = {16, 34, 76};

static struct image_process image;
static int theirs; /* the image's end of its socket */
static int far[MOST];
static size_t far_n;
static int queue; /* the end of the thread's pipe into which is written */

/* A connection whose close waits, with its other end in FAR. */
static int lingering(void)
{
    return lingering_open(&far[far_n++], LINGER);
}

/* Sends N descriptors to SOCKET, and closes them. */
static void put(int socket, const int *fds, size_t n)
{
    assert_true(sending_descriptors(socket, STR("x"), fds, n, 0));
    for (size_t i = 0; i < n; i++)
        (void)close(fds[i]); // it is on its way
}

/* All connections are closed in the end, in their order, once everything is
   read. */
static void expect_closed(void)
{
    char block[65536];

    for (size_t i = 0; i < far_n; i++) {
        while (read(far[i], block, sizeof block) > 0)
            continue;
        (void)close(far[i]);
    }
    far_n = 0;
}

static int setup(void **state)
{
    int pair[2];

    (void)state;
    (void)alarm(PATIENCE);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    image_process_init(&image);
    image.socket = pair[0];
    theirs = pair[1];
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    image_process_release(&image);
    expect_closed(); // what a test without memory has left
    (void)alarm(0);
    return close(theirs);
}

static enum status receive(int *fd)
{
    bool more;
    enum status status = image_process_receive(&image, &more);

    *fd = image.came;
    image.came = -1;
    return status;
}

static void descriptors_that_nobody_needs_are_refused(void **state)
{
    int fds[MOST];
    int fd = -1;

    (void)state;
    for (size_t n = 1; n <= MOST; n++) {
        for (size_t i = 0; i < n; i++)
            fds[i] = lingering();
        put(theirs, fds, n);
        assert_status(receive(&fd), ST_INVALID);
        assert_int_equal(fd, -1);
        expect_closed();
    }
}

static void descriptors_that_wait_go_with_their_image(void **state)
{
    int fd = lingering();

    (void)state;
    put(theirs, &fd, 1);
    image_process_disconnect(&image);
    expect_closed();
}

static void descriptors_in_a_socket_go_with_it(void **state)
{
    int pair[2];
    int fd = -1;
    int inner = lingering();

    (void)state;
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    put(pair[1], &inner, 1);
    put(theirs, pair, 1);
    assert_status(receive(&fd), ST_OK);
    assert_true(fd >= 0);
    closing_socket(fd);
    assert_int_equal(send(pair[1], "x", 1, MSG_NOSIGNAL), -1); // it is shut
    expect_closed();
    (void)close(pair[1]);
}

/* The other end of a socket says when nobody has it any longer. */
static void expect_end(int fd)
{
    char byte;

    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    (void)close(fd);
}

static void nothing_comes_beside_a_descriptor(void **state)
{
    const int on = 1;
    int fds[MOST];
    int pair[2];
    int fd = -1;

    (void)state;
    for (size_t i = 0; i < COUNT(options); i++) {
        if (setsockopt(image.socket, SOL_SOCKET, options[i], &on, sizeof on) <
            0) {
            assert_int_equal(errno, ENOPROTOOPT); // an older kernel
            continue;
        }
        for (size_t n = 1; n <= MOST; n++) {
            for (size_t k = 0; k < n; k++)
                fds[k] = lingering();
            put(theirs, fds, n);
            assert_status(receive(&fd), ST_INVALID);
            assert_int_equal(fd, -1);
            expect_closed();
        }
        // not even beside one that is wanted
        assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        put(theirs, pair, 1);
        assert_status(receive(&fd), ST_INVALID);
        assert_int_equal(fd, -1);
        expect_end(pair[1]);
    }
    assert_int_equal(send(theirs, "x", 1, 0), 1); // nor beside none
    assert_status(receive(&fd), ST_INVALID);
}

static void there_is_room_for_all_that_can_come(void **state)
{
    const int on = 1;
    int fds[SENDING_MOST];
    int pair[2];
    int fd = -1;
    int inner = lingering();

    (void)state;
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (size_t i = 0; i < COUNT(options); i++) // some may be unknown
        (void)setsockopt(image.socket, SOL_SOCKET, options[i], &on, sizeof on);
    for (size_t i = 0; i + 1 < COUNT(fds); i++)
        fds[i] = pair[0];
    fds[COUNT(fds) - 1] = inner; // what has no room is closed at once
    assert_true(sending_descriptors(theirs, STR("x"), fds, COUNT(fds), 0));
    (void)close(pair[0]);
    (void)close(inner);
    assert_status(receive(&fd), ST_INVALID);
    assert_int_equal(fd, -1);
    expect_end(pair[1]);
    expect_closed();
}

/* A socket that listens, and one that is connected to it, with a descriptor on
   its way. */
static void listening(int pair[2])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t n = sizeof address.sun_family; // the system names it
    int inner = lingering();

    for (int i = 0; i < 2; i++) {
        pair[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_true(pair[i] >= 0);
    }
    assert_return_code(bind(pair[0], (struct sockaddr *)&address, n), 0);
    assert_return_code(listen(pair[0], 1), 0);
    n = sizeof address;
    assert_return_code(getsockname(pair[0], (struct sockaddr *)&address, &n),
                       0);
    assert_return_code(connect(pair[1], (struct sockaddr *)&address, n), 0);
    put(pair[1], &inner, 1);
}

static void a_stream_must_be_connected(void **state)
{
    int pair[2];
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int got = -1;

    (void)state;
    put(theirs, &fd, 1);
    assert_status(receive(&got), ST_INVALID);
    assert_int_equal(got, -1);
    listening(pair);
    put(theirs, pair, 1);
    assert_status(receive(&got), ST_INVALID);
    assert_int_equal(got, -1);
    expect_closed();
    (void)close(pair[1]);
}

/* What was taken can change: others have it, too. */
static void a_socket_that_listens_closes_elsewhere(void **state)
{
    int pair[2];

    (void)state;
    listening(pair);
    closing_socket(pair[0]);
    expect_closed();
    (void)close(pair[1]);
}

/* Its urgent byte was read, so nothing seems to wait in the socket. */
static void an_urgent_descriptor_goes_with_its_socket(void **state)
{
    int pair[2];
    char byte;
    int inner = lingering();

    (void)state;
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    if (sending_descriptors(pair[1], STR("x"), &inner, 1, MSG_OOB))
        assert_int_equal(recv(pair[0], &byte, 1, MSG_OOB), 1);
    else
        assert_int_equal(errno, EOPNOTSUPP); // an older kernel
    (void)close(inner);
    closing_socket(pair[0]);
    expect_closed();
    (void)close(pair[1]);
}

/* The thread closes what takes long, and has nothing else. */
static void hold_up_thread(void)
{
    int left;

    closing_any(lingering());
    do
        assert_return_code(ioctl(queue, FIONREAD, &left), 0);
    while (left > 0 && poll(NULL, 0, 1) == 0);
    assert_int_equal(left, 0);
}

static void who_finds_the_pipe_full_closes(void **state)
{
    struct pollfd event = {.fd = queue, .events = POLLOUT};
    char none[PIPE_BUF];
    int pair[2];

    (void)state;
    memset(none, 0xff, sizeof none); // no descriptor is -1
    hold_up_thread();
    for (size_t n = sizeof none; n >= sizeof(int); n /= 2)
        while (write(queue, none, n) == (ssize_t)n)
            continue;
    assert_int_equal(errno, EAGAIN);
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    closing_any(pair[0]);
    assert_int_equal(fcntl(pair[0], F_GETFD), -1);
    expect_end(pair[1]);
    expect_closed();
    // the thread goes on, and this comes last
    assert_int_equal(poll(&event, 1, -1), 1);
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    closing_any(pair[0]);
    expect_end(pair[1]);
}

/* Finds QUEUE, which comes with a thread. */
static void find_queue(void)
{
    bool before[NUMBERS];

    queue = -1;
    for (int fd = 0; fd < NUMBERS; fd++)
        before[fd] = fcntl(fd, F_GETFD) >= 0;
    closing_any(-1);
    for (int fd = 0; fd < NUMBERS; fd++)
        if (!before[fd] && fcntl(fd, F_GETFD) >= 0 &&
            (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
            queue = fd;
    assert_true(queue >= 0);
}

/* Half a number comes, which no thread can go on from. */
static void end_thread(void)
{
    struct pollfd event = {.fd = queue};

    assert_int_equal(write(queue, "", 1), 1);
    assert_int_equal(poll(&event, 1, -1), 1); // nobody reads any longer
    assert_true(event.revents & POLLERR);
}

/* What a thread leaves in its pipe when it ends does not wait for ever. Behind
   half a number, which is read alone, come more than may wait. */
static void what_no_thread_closes_does_not_wait(void **state)
{
    struct pollfd event;

    (void)state;
    end_thread();
    closing_any(-1);
    find_queue();
    hold_up_thread();
    event = (struct pollfd){.fd = queue};
    assert_return_code(fcntl(queue, F_SETFL, O_NONBLOCK | O_DIRECT), 0);
    assert_int_equal(write(queue, "", 1), 1); // a packet
    assert_return_code(fcntl(queue, F_SETFL, O_NONBLOCK), 0);
    for (int i = 1; i < LIMIT_CLOSING; i++)
        closing_any(-1);
    assert_false(closing_is_full()); // the first one waits, too
    closing_any(-1);
    assert_true(closing_is_full());
    expect_closed();
    assert_int_equal(poll(&event, 1, -1), 1); // nobody reads any longer
    assert_true(event.revents & POLLERR);
    closing_any(-1);
    assert_false(closing_is_full());
    find_queue();
}

static void a_thread_that_ends_is_replaced(void **state)
{
    int fds[2];

    (void)state;
    end_thread();
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    closing_any(fds[0]);
    assert_int_equal(fcntl(fds[0], F_GETFD), -1); // who calls has closed it
    expect_end(fds[1]);
    find_queue();
    closing_any(lingering());
    expect_closed();
}

static void one_stream_at_a_time_is_taken(void **state)
{
    int pair[2];
    int fd = -1;

    (void)state;
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    put(theirs, pair, 2);
    assert_status(receive(&fd), ST_INVALID);
    assert_int_equal(fd, -1);
    assert_return_code(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    put(theirs, pair, 1);
    assert_status(receive(&fd), ST_INVALID);
    assert_int_equal(fd, -1);
    (void)close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            descriptors_that_nobody_needs_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(
            descriptors_that_wait_go_with_their_image, setup, teardown),
        cmocka_unit_test_setup_teardown(descriptors_in_a_socket_go_with_it,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(one_stream_at_a_time_is_taken, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nothing_comes_beside_a_descriptor,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(there_is_room_for_all_that_can_come,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_must_be_connected, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_socket_that_listens_closes_elsewhere,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_urgent_descriptor_goes_with_its_socket, setup, teardown),
        cmocka_unit_test_setup_teardown(who_finds_the_pipe_full_closes, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_ends_is_replaced, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_no_thread_closes_does_not_wait,
                                        setup, teardown),
    };

    (void)signal(SIGPIPE, SIG_IGN); // as in the server
    find_queue();
    return RUN_TESTS("closing", tests);
}
