/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sleeper.c: see sleeper.h. */
#include "image/sleeper.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/linux.h"
#include "image/names.h"

/* Sends one byte through SOCKET; false when the other end is gone. */
static bool send_byte(int socket)
{
    ssize_t n;

    do
        n = send(socket, "", 1, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* Waits for one byte from SOCKET; false when the other end is gone. */
static bool wait_byte(int socket)
{
    char byte;
    ssize_t n;

    do
        n = recv(socket, &byte, 1, 0);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* Drops the signals of SET that have come. */
static void drop_signals(const sigset_t *set)
{
    const struct timespec none = {0, 0};

    while (sigtimedwait(set, NULL, &none) > 0 || errno == EINTR)
        continue;
}

/* In the copy: sleeps until the supervisor wakes it with one byte, and is the
   live image then; ends when the supervisor closes the other end. Signals that
   are sent to it meanwhile are meant for other processes: it drops them. */
static void sleep_until_woken(struct connection *connection, int socket,
                              sleeper_guest *guest)
{
    sigset_t signals;
    sigset_t before;

    (void)sigfillset(&signals);
    (void)sigdelset(&signals, SIGRTMAX); // the original has ended
    (void)sigdelset(&signals, SIGCONT);  // comes before it is woken
    (void)sigprocmask(SIG_SETMASK, &signals, &before); // cannot fail
    connection_replace(connection, socket);
    (void)setpgid(0, 0); // the end of the original must not reach this copy
    linux_set_name(NAME_SLEEPER);
    linux_signal_on_orphaned(SIGRTMAX);
    // from here on this copy counts as asleep
    if (!send_byte(connection->socket))
        _exit(0);
    if (guest)
        guest(connection);
    if (!wait_byte(connection->socket))
        _exit(0);
    drop_signals(&signals);
    (void)sigprocmask(SIG_SETMASK, &before, NULL); // cannot fail
    linux_set_name(NAME_LIVE);
    connection_send(connection, WIRE_WOKEN, 0, getpid(), -1);
}

void sleepers_reap(struct sleepers *sleepers)
{
    size_t i = 0;

    while (i < sleepers->n) {
        if (waitpid(sleepers->pids[i], NULL, WNOHANG) == 0)
            i++;
        else
            sleepers->pids[i] = sleepers->pids[--sleepers->n];
    }
}

bool sleeper_make(struct sleepers *sleepers, struct connection *connection,
                  sleeper_guest *guest, pid_t *pid, int *socket)
{
    int pair[2] = {-1, -1};

    sleepers_reap(sleepers);
    *pid = -1;
    *socket = -1;
    if (sleepers->n < SLEEPER_MAX &&
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0)
        *pid = fork();
    if (*pid == 0) {
        (void)close(pair[0]); // the supervisor's
        sleepers->n = 0;      // they are the original's
        sleep_until_woken(connection, pair[1], guest);
        return true;
    }
    if (pair[1] >= 0)
        (void)close(pair[1]); // the copy has it
    if (*pid > 0)
        sleepers->pids[sleepers->n++] = *pid;
    // asleep, the copy no longer depends on this process
    if (*pid > 0 && wait_byte(pair[0])) {
        *socket = pair[0];
        return false;
    }
    *pid = 0;
    if (pair[0] >= 0)
        (void)close(pair[0]); // it leads to nothing
    return false;
}

bool sleeper_leave(struct sleepers *sleepers, struct connection *connection,
                   uint64_t id, sleeper_guest *guest)
{
    pid_t pid;
    int socket;

    if (sleeper_make(sleepers, connection, guest, &pid, &socket))
        return false;
    connection_send(connection, WIRE_KEPT, id, pid, socket);
    if (socket >= 0)
        (void)close(socket); // the supervisor has it
    return pid > 0;
}
