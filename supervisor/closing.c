/* SPDX-License-Identifier: GPL-3.0-or-later */
/* closing.c: see closing.h. A thread gets the numbers of the descriptors
   through a pipe. There is none before it is needed. */
#include "supervisor/closing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"

/* The end of the pipe into which the loop writes; -1: there is no thread. */
static int queue = -1;

/* How many descriptors the thread has not closed yet. */
static atomic_int waiting;

/* Closes what comes from CONTEXT, the other end. If that ends, nobody may
   believe that what is written is still closed. */
static void *run(void *context)
{
    int end = (int)(intptr_t)context;
    int fd;
    ssize_t n;

    do {
        n = read(end, &fd, sizeof fd);
        if (n == (ssize_t)sizeof fd) {
            (void)close(fd); // nothing of ours is in it
            (void)atomic_fetch_sub(&waiting, 1);
        }
    } while (n == (ssize_t)sizeof fd || (n < 0 && errno == EINTR));
    (void)close(end); // nothing is buffered in it
    return NULL;
}

/* Whether there is a thread. */
static bool prepare(void)
{
    pthread_t thread;
    int ends[2];

    if (queue >= 0)
        return true;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    // who finds the pipe full closes by itself
    if (fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 &&
        linux_start(&thread, run, (void *)(intptr_t)ends[0])) {
        (void)pthread_detach(thread); // it is never joined
        queue = ends[1];
        return true;
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
    return false;
}

/* Whether the thread will close FD. */
static bool hand_over(int fd)
{
    if (!prepare())
        return false;
    (void)atomic_fetch_add(&waiting, 1);
    if (write(queue, &fd, sizeof fd) == (ssize_t)sizeof fd)
        return true;
    (void)atomic_fetch_sub(&waiting, 1);
    if (errno == EPIPE) { // it has ended: the next one gets another
        (void)close(queue);
        queue = -1;
        atomic_store(&waiting, 0); // nobody closes what it has left
    }
    return false;
}

void closing_any(int fd)
{
    if (!hand_over(fd))
        (void)close(fd);
}

void closing_socket(int fd)
{
    (void)shutdown(fd, SHUT_RDWR); // nothing more gets into it
    closing_any(fd);
}

bool closing_is_full(void)
{
    return atomic_load(&waiting) > LIMIT_CLOSING;
}
