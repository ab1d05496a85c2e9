/* SPDX-License-Identifier: GPL-3.0-or-later */
/* peer.c: see peer.h. */
#include "bench/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds without a byte after which the bench gives up on a peer. */
#define DEADLINE_MS 60000

#define CHUNK (64u * 1024)

double peer_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t); // cannot fail
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void peer_fail(const struct peer *peer, const char *what)
{
    (void)fprintf(stderr, "bench: %s: %s\n", peer->name, what);
    if (peer->pid > 0)
        (void)kill(peer->pid, SIGTERM);
    exit(1);
}

/* Starts COMMAND as clients do, without a copy of this process, whose pages
   would be copied at the cost of the one that starts. posix_spawn does not
   change COMMAND, it only lacks the const. */
static pid_t spawn(const char *const *command, int in, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    bool ready = posix_spawn_file_actions_init(&actions) == 0;

    if (ready && posix_spawn_file_actions_adddup2(&actions, in, 0) == 0 &&
        posix_spawn_file_actions_adddup2(&actions, out, 1) == 0 &&
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
                                         0) == 0 &&
        posix_spawnp(&pid, command[0], &actions, NULL,
                     (char *const *)(uintptr_t)command, environ) != 0)
        pid = -1;
    if (ready)
        (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

void peer_start(struct peer *peer, const char *const *command)
{
    int in[2];
    int out[2];
    int i;

    memset(peer, 0, sizeof *peer);
    peer->name = command[0];
    if (pipe(in) < 0 || pipe(out) < 0)
        peer_fail(peer, "no pipes");
    for (i = 0; i < 2; i++)
        if (fcntl(in[i], F_SETFD, FD_CLOEXEC) < 0 ||
            fcntl(out[i], F_SETFD, FD_CLOEXEC) < 0)
            peer_fail(peer, "no pipes");
    peer->pid = spawn(command, in[0], out[1]);
    if (peer->pid < 0)
        peer_fail(peer, "no process");
    (void)close(in[0]);
    (void)close(out[1]);
    peer->in = in[1];
    peer->out = out[0];
    if (fcntl(peer->in, F_SETFL, O_NONBLOCK) < 0)
        peer_fail(peer, "no pipes");
}

static void take(struct peer *peer)
{
    char *room;
    ssize_t n;

    if (peer->taken == peer->buf.n) {
        buf_reset(&peer->buf);
        peer->taken = 0;
    }
    room = buf_reserve(&peer->buf, CHUNK);
    if (!room)
        peer_fail(peer, "out of memory");
    do
        n = read(peer->out, room, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        peer_fail(peer, "ended before it was asked to");
    peer->buf.n += (size_t)n;
}

void peer_send(struct peer *peer, struct str bytes)
{
    while (bytes.n > 0) {
        ssize_t n = write(peer->in, bytes.p, bytes.n);
        struct pollfd fds[] = {{peer->in, POLLOUT, 0}, {peer->out, POLLIN, 0}};

        if (n > 0) {
            bytes = str_make(bytes.p + n, bytes.n - (size_t)n);
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            peer_fail(peer, "closed its input");
        if (poll(fds, 2, DEADLINE_MS) == 0)
            peer_fail(peer, "takes no input");
        if (fds[1].revents)
            take(peer);
    }
}

static void wait_for_output(struct peer *peer)
{
    struct pollfd fd = {peer->out, POLLIN, 0};

    if (poll(&fd, 1, DEADLINE_MS) == 0)
        peer_fail(peer, "does not answer");
    take(peer);
}

struct str peer_line(struct peer *peer)
{
    size_t scanned = 0;

    for (;;) {
        const char *start = peer->buf.p + peer->taken;
        size_t n = peer->buf.n - peer->taken;
        const char *end =
            n > scanned ? memchr(start + scanned, '\n', n - scanned) : NULL;

        if (end) {
            size_t length = (size_t)(end - start);

            peer->taken += length + 1;
            return str_make(start, length);
        }
        scanned = n;
        wait_for_output(peer);
    }
}

void peer_expect(struct peer *peer, const char *text)
{
    do {
        wait_for_output(peer);
        buf_byte(&peer->buf, '\0');
        peer->buf.n--;
    } while (!strstr(peer->buf.p, text));
}

/* Reads the peer's output to the end and drops it. */
static void drain(struct peer *peer)
{
    char chunk[CHUNK];
    ssize_t n;

    do
        n = read(peer->out, chunk, sizeof chunk);
    while (n > 0 || (n < 0 && errno == EINTR));
}

void peer_stop(struct peer *peer)
{
    int status;

    (void)close(peer->in);
    drain(peer);
    while (waitpid(peer->pid, &status, 0) < 0)
        if (errno != EINTR)
            peer_fail(peer, "cannot be waited for");
    (void)close(peer->out);
    buf_release(&peer->buf);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        peer->pid = 0;
        peer_fail(peer, "did not end with status 0");
    }
}

void peer_adopt(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); // Linux has had it long
}

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

double peer_used(void)
{
    struct rusage usage = {.ru_maxrss = 0};

    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        continue;
    (void)getrusage(RUSAGE_CHILDREN, &usage); // cannot fail
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

void peer_pin(bool one)
{
    static cpu_set_t all;
    cpu_set_t first;

    if (one) {
        (void)sched_getaffinity(0, sizeof all, &all); // fails nowhere
        CPU_ZERO(&first);
        CPU_SET((size_t)sched_getcpu(), &first);
    }
    if (sched_setaffinity(0, sizeof first, one ? &first : &all) < 0)
        perror("bench: sched_setaffinity");
}
