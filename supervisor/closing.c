/* SPDX-License-Identifier: GPL-3.0-or-later */
/* closing.c: see closing.h. A thread gets the numbers of the descriptors
   through a pipe. There is none before it is needed. */
#include "supervisor/closing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/linux.h"

/* The ends of the pipe; -1: there is no thread. */
static int queue[2] = {-1, -1};

static void *run(void *context)
{
    int fd;

    while (read(queue[0], &fd, sizeof fd) == (ssize_t)sizeof fd)
        (void)close(fd); // nothing of ours is in it
    return context;
}

/* A thread that takes no signals: they belong to the loop. */
static bool start_thread(void)
{
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    bool made;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    made = pthread_create(&thread, NULL, run, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        (void)pthread_detach(thread);
    return made;
}

/* Whether there is a thread. */
static bool prepare(void)
{
    if (queue[0] >= 0)
        return true;
    if (pipe2(queue, O_CLOEXEC) < 0)
        return false;
    // who finds the pipe full closes by itself
    if (fcntl(queue[1], F_SETFL, O_NONBLOCK) == 0 && start_thread())
        return true;
    (void)close(queue[0]);
    (void)close(queue[1]);
    queue[0] = queue[1] = -1;
    return false;
}

void closing_any(int fd)
{
    if (!prepare() || write(queue[1], &fd, sizeof fd) != (ssize_t)sizeof fd)
        (void)close(fd);
}

void closing_socket(int fd)
{
    (void)shutdown(fd, SHUT_RDWR); // nothing more gets into it
    if (linux_waiting(fd) > 0)
        closing_any(fd);
    else
        (void)close(fd);
}
