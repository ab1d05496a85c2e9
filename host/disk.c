/* SPDX-License-Identifier: GPL-3.0-or-later */
/* disk.c: a thread for each job. It touches nothing but its job and its
   descriptor, and takes no signals: they belong to the loop. */
#include "host/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/strand.h"

/* Bytes of stack of such a thread, which calls the system and returns. */
#define STACK (256u * 1024)

enum work { SYNC, SYNC_DATA, CLOSE };

/* Who has left a job: the last of two frees it. */
enum { NOBODY, THREAD, OWNER };

struct disk_job {
    pthread_t thread;
    enum work work;
    int fd; /* its own */
    int error;
    int wake;
    atomic_int left;
};

static int wake_fd = -1;

void disk_use_threads(int wake)
{
    wake_fd = wake;
}

static int do_work(enum work work, int fd)
{
    int result = 0;

    if (work == SYNC)
        result = fsync(fd);
    else if (work == SYNC_DATA)
        result = fdatasync(fd);
    return result < 0 ? errno : 0;
}

static void *run(void *context)
{
    struct disk_job *job = context;
    int wake = job->wake;

    job->error = do_work(job->work, job->fd);
    (void)close(job->fd); // an error would have shown before
    if (atomic_exchange(&job->left, THREAD) == OWNER)
        free(job);
    (void)!write(wake, "", 1); // a full pipe wakes the loop, too
    return NULL;
}

/* False: no thread could be made. */
static bool start(struct disk_job *job)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    bool ok = pthread_attr_init(&attributes) == 0;

    if (!ok)
        return false;
    (void)sigfillset(&all);
    ok = pthread_attr_setstacksize(&attributes, STACK) == 0 &&
         pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    if (ok) {
        ok = pthread_create(&job->thread, &attributes, run, job) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    (void)pthread_attr_destroy(&attributes);
    return ok;
}

/* A thread works on FD, which becomes its own. NULL: there is none. */
static struct disk_job *begin(enum work work, int fd)
{
    struct disk_job *job = wake_fd >= 0 ? malloc(sizeof *job) : NULL;

    if (!job)
        return NULL;
    *job = (struct disk_job){.work = work, .fd = fd, .wake = wake_fd};
    atomic_init(&job->left, NOBODY);
    if (start(job))
        return job;
    free(job);
    return NULL;
}

/* The same for a copy of FD. */
static struct disk_job *begin_copy(enum work work, int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct disk_job *job = copy >= 0 ? begin(work, copy) : NULL;

    if (!job && copy >= 0)
        (void)close(copy);
    return job;
}

struct disk_job *disk_begin(int fd)
{
    return begin_copy(SYNC_DATA, fd);
}

bool disk_is_done(const struct disk_job *job)
{
    return atomic_load(&job->left) == THREAD;
}

int disk_end(struct disk_job *job)
{
    (void)pthread_join(job->thread, NULL); // it is a thread of ours
    int error = job->error;

    free(job);
    return error;
}

/* Nobody asks for JOB any more. */
static void leave(struct disk_job *job)
{
    (void)pthread_detach(job->thread);
    if (atomic_exchange(&job->left, OWNER) == THREAD)
        free(job);
}

static bool is_over(void *job)
{
    return disk_is_done(job);
}

int disk_sync(const struct arena *arena, int fd)
{
    struct disk_job *job = arena->strand ? begin_copy(SYNC, fd) : NULL;

    if (!job)
        return do_work(SYNC, fd);
    if (strand_wait(arena->strand, is_over, job))
        return disk_end(job);
    leave(job);
    return ECANCELED;
}

void disk_close(int fd)
{
    struct disk_job *job = begin(CLOSE, fd);

    if (job)
        leave(job);
    else
        (void)close(fd); // nothing was written
}
