/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of who asks frozen errors and checkpoints: descriptors that are not
   wanted, requests that come in parts, and limits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "image/connection.h"
#include "image/frozen.h"
#include "image/linux.h"

/* Milliseconds after which a test has failed. */
#define PATIENCE_MS 20000

/* The head of a request (frozen.c). */
struct head {
    uint64_t text;
    uint64_t rest[2];
    int32_t more[4];
};

static void make_pair(int type, int pair[2])
{
    assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair), 0);
}

/* Sends the byte that asks for a copy with N descriptors, all of them FD. */
static void ask_with(int socket, int fd, size_t n)
{
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part = {&(char){'w'}, 1};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = CMSG_SPACE(n * sizeof fd)};
    struct cmsghdr *cmsg;

    memset(&extra, 0, sizeof extra);
    cmsg = CMSG_FIRSTHDR(&header);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(n * sizeof fd);
    for (size_t i = 0; i < n; i++)
        memcpy(CMSG_DATA(cmsg) + i * sizeof fd, &fd, sizeof fd);
    assert_int_equal(sendmsg(socket, &header, MSG_NOSIGNAL), 1);
}

/* A checkpoint that waits over ASKER and SOCKET, and then for ever. */
static _Noreturn void be_checkpoint(int asker, int socket)
{
    static struct frozen frozen;
    static struct connection connection;
    sigset_t none;

    linux_signal_on_orphaned(SIGKILL); // when a test fails
    (void)sigemptyset(&none);
    connection.socket = socket;
    connection.asker = asker;
    if (!frozen_begin(&frozen) ||
        frozen_await(&frozen, &connection, &none)) // nobody asks rightly
        _exit(1);
    for (;;)
        (void)pause();
}

/* What comes with a message that asks for nothing is closed: the pipe has no
   other writers then, though the checkpoint lives on. */
static void check_unwanted(size_t n)
{
    struct pollfd end;
    int asker[2];
    int socket[2];
    int pipes[2];
    pid_t pid;

    make_pair(SOCK_SEQPACKET, asker);
    make_pair(SOCK_STREAM, socket);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(pipes[0]);
        (void)close(pipes[1]);
        be_checkpoint(asker[1], socket[1]);
    }
    ask_with(asker[0], pipes[1], n);
    assert_int_equal(close(pipes[1]), 0);
    end = (struct pollfd){pipes[0], POLLIN, 0};
    assert_int_equal(poll(&end, 1, PATIENCE_MS), 1);
    assert_true(end.revents & POLLHUP);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0); // it lives
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (int i = 0; i < 2; i++) {
        (void)close(asker[i]);
        (void)close(socket[i]);
    }
    (void)close(pipes[0]);
}

static void unwanted_descriptors_are_closed(void **state)
{
    (void)state;
    check_unwanted(1);
}

static volatile sig_atomic_t signals;

static void count(int signal)
{
    (void)signal;
    signals++;
}

/* The other process: sends the N bytes of REQUEST, each with a signal before.
 */
static _Noreturn void send_parts(int link, const char *request, size_t n)
{
    struct timespec moment = {0, 1000000};

    for (size_t i = 0; i < n; i++) {
        (void)kill(getppid(), SIGUSR1);
        (void)nanosleep(&moment, NULL);
        if (send(link, request + i, 1, MSG_NOSIGNAL) != 1)
            _exit(1);
    }
    _exit(0);
}

static void a_request_outlives_signals(void **state)
{
    const struct head head = {.text = 5};
    char request[sizeof head + 5];
    struct sigaction action = {.sa_handler = count}; // no SA_RESTART
    struct sigaction before;
    struct frozen frozen;
    struct buf text = BUF_EMPTY;
    int link[2];
    pid_t pid;

    (void)state;
    assert_true(frozen_begin(&frozen));
    make_pair(SOCK_STREAM, link);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        memset(request, 'x', sizeof request);
        memcpy(request, &head, sizeof head);
        send_parts(link[1], request, sizeof request);
    }
    frozen.link = link[0];
    assert_int_equal(frozen_request(&frozen, &text), ST_OK);
    assert_true(signals > 0);
    assert_int_equal(text.n, 5);
    assert_memory_equal(text.p, "xxxxx", 5);
    buf_release(&text);
    while (waitpid(pid, NULL, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    (void)close(link[0]);
    (void)close(link[1]);
}

/* What REQUEST with a head that says N bytes comes to when nothing follows. */
static enum status request_of(uint64_t n, size_t *cap)
{
    const struct head head = {.text = n};
    struct frozen frozen;
    struct buf text = BUF_EMPTY;
    enum status status;
    int link[2];

    assert_true(frozen_begin(&frozen));
    make_pair(SOCK_STREAM, link);
    assert_int_equal(send(link[1], &head, sizeof head, 0), sizeof head);
    (void)close(link[1]);
    frozen.link = link[0];
    status = frozen_request(&frozen, &text);
    *cap = text.cap;
    buf_release(&text);
    (void)close(link[0]);
    return status;
}

/* Whether this process, whose memory may be limited, has room for the longest
   request. */
static bool has_room(void)
{
    struct buf text = BUF_EMPTY;
    bool room = buf_reserve(&text, (size_t)LIMIT_FRAME + 1);

    buf_release(&text);
    return room;
}

/* A head alone costs no memory. */
static void a_request_is_bounded(void **state)
{
    size_t cap;

    (void)state;
    assert_int_equal(request_of(0, &cap), ST_OK);
    assert_int_equal(request_of(LIMIT_FRAME, &cap), ST_IO); // it ends too soon
    assert_true(has_room() ? cap > LIMIT_FRAME : cap == 0);
    assert_int_equal(request_of(LIMIT_FRAME + 1, &cap), ST_IO);
    assert_int_equal(cap, 0);
    assert_int_equal(request_of(UINT64_MAX, &cap), ST_IO);
    assert_int_equal(cap, 0);
}

/* A pair is hidden as a whole, or not there. */
static void a_pair_is_private_or_closed(void **state)
{
    struct rlimit limit;
    struct rlimit less;
    int pair[2];
    int copy[2];

    (void)state;
    make_pair(SOCK_SEQPACKET, pair);
    assert_true(connection_hide_pair(pair));
    assert_true(pair[0] >= CONNECTION_PRIVATE_FD);
    assert_true(pair[1] >= CONNECTION_PRIVATE_FD);
    (void)close(pair[0]);
    (void)close(pair[1]);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (rlim_t room = 0; room < 2; room++) { // for none, and for one
        make_pair(SOCK_SEQPACKET, pair);
        memcpy(copy, pair, sizeof copy);
        less = (struct rlimit){CONNECTION_PRIVATE_FD + room, limit.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
        assert_false(connection_hide_pair(pair));
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pair[i], -1);
            assert_int_equal(fcntl(copy[i], F_GETFD), -1);
        }
        assert_int_equal(fcntl(CONNECTION_PRIVATE_FD, F_GETFD), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unwanted_descriptors_are_closed),
        cmocka_unit_test(a_request_outlives_signals),
        cmocka_unit_test(a_request_is_bounded),
        cmocka_unit_test(a_pair_is_private_or_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
