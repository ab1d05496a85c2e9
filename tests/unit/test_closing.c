/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of closing.c and of what image_process.c does with descriptors: an
   image can send some whose last close takes long. Here they are connections
   that linger: a close waits until the other end has read everything, which
   this thread does afterwards. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/closing.h"
#include "supervisor/image_process.h"
#include "support/check.h"

/* Seconds for which a close would wait, and after which a test has failed. */
#define LINGER 60
#define PATIENCE 30

#define MOST 4

static struct image_process image;
static int theirs; /* the image's end of its socket */
static int far[MOST];
static size_t far_n;

/* A connection whose close waits, with its other end in FAR. */
static int lingering(void)
{
    const struct linger linger = {1, LINGER};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof address;
    char block[4096] = "";
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(listener >= 0 && fd >= 0);
    assert_return_code(bind(listener, (struct sockaddr *)&address, n), 0);
    assert_return_code(listen(listener, 1), 0);
    assert_return_code(getsockname(listener, (struct sockaddr *)&address, &n),
                       0);
    assert_return_code(connect(fd, (struct sockaddr *)&address, n), 0);
    far[far_n] = accept(listener, NULL, NULL);
    assert_true(far[far_n++] >= 0);
    (void)close(listener);
    while (send(fd, block, sizeof block, MSG_DONTWAIT) > 0)
        continue;
    assert_return_code(
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    return fd;
}

/* Sends N descriptors to SOCKET, and closes them. */
static void put(int socket, int *fds, size_t n)
{
    union {
        char bytes[CMSG_SPACE(MOST * sizeof(int))];
        struct cmsghdr align;
    } extra;
    char byte = 'x';
    struct iovec part = {&byte, 1};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = CMSG_SPACE(n * sizeof(int))};
    struct cmsghdr *cmsg;

    memset(&extra, 0, sizeof extra);
    cmsg = CMSG_FIRSTHDR(&header);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(cmsg), fds, n * sizeof(int));
    assert_int_equal(sendmsg(socket, &header, 0), 1);
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
    (void)alarm(0);
    return close(theirs);
}

static enum status receive(int *fd)
{
    bool more;

    return image_process_receive(&image, fd, &more);
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
    };

    return RUN_TESTS("closing", tests);
}
