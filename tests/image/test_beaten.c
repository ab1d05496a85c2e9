/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A keeper that cannot end its family, because the kernel holds a process or
   new ones come faster, by signals that do not arrive and a clock that runs
   ahead. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/control.h"
#include "image/keeper.h"
#include "image/linux.h"
#include "support/check.h"
#include "support/imagehost.h"

/* What the keeper and its family share with the test. */
static struct shared {
    volatile pid_t held;     /* no SIGKILL reaches it */
    volatile bool breeding;  /* each SIGKILL brings another process */
    volatile int64_t passed; /* looks at the clock, each of which takes a second
                                if it STARTED at some time */
    volatile int64_t started;
    volatile int64_t
        told; /* what had PASSED when the keeper last said something */
} * shared;

static int control = -1;
static pid_t keeper;

/* A process that ends with the keeper. */
static void breed(void)
{
    pid_t parent = getpid();

    if (fork() != 0)
        return;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        (void)pause();
    _exit(0);
}

/* In the place of the library's. A child that it kills has ended when this
   returns: on a busy machine, that takes longer than the clock allows. */
int kill(pid_t pid, int sig)
{
    siginfo_t end;
    int done;

    if (shared && sig == SIGKILL && pid == shared->held)
        return 0;
    if (shared && shared->breeding && sig == SIGKILL)
        breed();
    done = (int)syscall(SYS_kill, pid, sig);
    if (shared && sig == SIGKILL && done == 0)
        (void)waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT); // if it is one
    return done;
}

/* In the place of the library's. */
int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
    int done = (int)syscall(SYS_clock_gettime, clock_id, tp);

    if (shared && shared->started > 0)
        *tp = (struct timespec){shared->started + ++shared->passed, 0};
    return done;
}

/* The keeper speaks, or has nothing to say any more. */
static void note(int fd)
{
    struct stat at;

    if (shared && keeper == 0 && fstat(fd, &at) == 0 && S_ISSOCK(at.st_mode))
        shared->told = shared->passed;
}

/* In the place of the library's. */
ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    note(fd);
    return syscall(SYS_sendto, fd, buf, n, flags, NULL, 0);
}

/* In the place of the library's. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    note(fd);
    return syscall(SYS_sendmsg, fd, message, flags);
}

/* In the place of the library's. */
int close(int fd)
{
    note(fd);
    return (int)syscall(SYS_close, fd);
}

/* An image that starts a program. */
static void image(const struct control_message *message,
                  const int fds[CONTROL_FDS])
{
    pid_t pid = fork();

    (void)message;
    (void)fds;
    if (pid > 0)
        shared->held = pid;
    for (;;)
        (void)pause();
}

static bool confine(void)
{
    return true;
}

static struct control_message receive(enum status *status)
{
    struct pollfd fd = {control, POLLIN, 0};
    struct control_message message = {0};
    int fds[CONTROL_FDS];

    assert_int_equal(poll(&fd, 1, HOST_PATIENCE_MS), 1);
    *status = control_receive(control, &message, fds);
    return message;
}

static int set_up(void **state)
{
    struct control_message first = {.kind = CONTROL_OPEN, .serial = 1};
    int pair[2];
    int fds[CONTROL_FDS];

    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    control = pair[0];
    linux_adopt_orphans();
    (void)fflush(NULL);
    keeper = fork();
    if (keeper == 0) {
        (void)close(pair[0]); // the test's
        for (int i = 0; i < CONTROL_FDS; i++)
            fds[i] = i == CONTROL_KEEPER ? pair[1] : open("/dev/null", O_RDWR);
        keeper_run(&first, fds,
                   (struct keeper_manner){.confine = confine, .image = image});
    }
    return keeper > 0 ? close(pair[1]) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)close(control);
    if (shared->held > 0)
        (void)syscall(SYS_kill, shared->held, SIGKILL);
    (void)syscall(SYS_kill, keeper, SIGKILL); // it may have ended
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    (void)munmap(shared, sizeof *shared);
    shared = NULL;
    return 0;
}

/* Waits until the program of the image is there; from then on the clock runs
   ahead. */
static void begin(void)
{
    struct timespec now;
    enum status status;

    assert_int_equal(receive(&status).kind, CONTROL_OPENED);
    assert_ok(status);
    for (int ms = 0; shared->held == 0; ms++) {
        assert_in_range(ms, 0, HOST_PATIENCE_MS);
        (void)usleep(1000);
    }
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    shared->started = now.tv_sec + 1;
}

/* The image of the session is to be one that was not there: nothing stays. */
static void spare_nobody(void)
{
    struct control_message spare = {.kind = CONTROL_SPARE};

    begin();
    assert_ok(control_send(control, &spare, NULL));
}

/* It was killed, and ends when the kernel lets go. */
static void a_process_that_is_held_delays_a_keeper(void **state)
{
    enum status status;

    (void)state;
    spare_nobody();
    assert_int_equal(receive(&status).kind, CONTROL_SPARED);
    assert_ok(status);
    assert_in_range(shared->told, 5, 19); // seconds
    assert_int_equal(syscall(SYS_kill, shared->held, 0), 0);
}

/* Waits until the clock has been looked at for SECONDS more. */
static void let_pass(int64_t seconds)
{
    int64_t from = shared->passed;

    for (int ms = 0; shared->passed - from < seconds; ms++) {
        assert_in_range(ms, 0, HOST_PATIENCE_MS);
        (void)usleep(1000);
    }
}

/* The keeper still ends its family, longer than it tries for anybody who waits.
   It succeeds when no more processes come: then nobody is left, whom this
   process would have adopted. */
static void expect_it_goes_on(void)
{
    int end;

    let_pass(100);
    assert_int_equal(waitpid(keeper, &end, WNOHANG), 0);
    shared->breeding = false;
    assert_int_equal(waitpid(keeper, &end, 0), keeper);
    assert_int_equal(end, 0);
    for (int ms = 0; waitpid(-1, &end, WNOHANG) >= 0; ms++) {
        assert_in_range(ms, 0, HOST_PATIENCE_MS); // what was killed takes time
        (void)usleep(1000);
    }
}

static void a_keeper_that_is_beaten_says_so_and_goes_on(void **state)
{
    enum status status;

    (void)state;
    shared->breeding = true;
    spare_nobody();
    (void)receive(&status);
    assert_status(status, ST_IO);
    assert_in_range(shared->told, 12, 19); // seconds
    shared->held = -1;
    expect_it_goes_on();
}

/* So it does when there is no server any more. */
static void a_beaten_keeper_outlives_the_end_of_its_session(void **state)
{
    (void)state;
    shared->breeding = true;
    begin();
    shared->held = -1;
    assert_int_equal(shutdown(control, SHUT_RDWR), 0);
    expect_it_goes_on();
}

/* The end of a session does not wait for it, either. */
static void a_session_ends_with_a_process_that_is_held(void **state)
{
    int end;

    (void)state;
    begin();
    assert_int_equal(shutdown(control, SHUT_RDWR), 0);
    assert_int_equal(waitpid(keeper, &end, 0), keeper);
    assert_int_equal(end, 0);
    assert_in_range(shared->passed, 5, 19); // seconds
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_process_that_is_held_delays_a_keeper),
        TEST(a_keeper_that_is_beaten_says_so_and_goes_on),
        TEST(a_beaten_keeper_outlives_the_end_of_its_session),
        TEST(a_session_ends_with_a_process_that_is_held),
    };

    return RUN_TESTS("beaten", tests);
}
