/* SPDX-License-Identifier: GPL-3.0-or-later */
/* adopted.c: see adopted.h. */
#include "supervisor/adopted.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/family.h"
#include "image/linux.h"

/* Milliseconds within which processes that were told to end must be gone, and
   between two looks at those that are not. */
#define AWAIT_MS 1000
#define LOOK_MS 100

/* Children examined at a time. */
#define CHILDREN_MAX 1024

void adopted_begin(struct supervisor *s)
{
    pid_t child;

    s->alone = getpid() != 1 && linux_children(&child, 1) == 0;
    linux_adopt_orphans();
}

static bool is_one_of(const pid_t *pids, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

static bool is_known(const struct supervisor *s, pid_t pid)
{
    for (const struct session *session = s->sessions; session;
         session = session->next)
        if (session->image.keeper_pid == pid)
            return true;
    return s->zygote.pid == pid || s->temporary.sweeper == pid;
}

/* Deals with children that are not known: sends them SIGNAL, or 0 to send none.
   Returns how many they are. */
static size_t signal_unknown(const struct supervisor *s, int signal)
{
    pid_t pids[CHILDREN_MAX];
    size_t n = s->alone ? linux_children(pids, CHILDREN_MAX) : 0;
    size_t unknown = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_known(s, pids[i]))
            continue;
        if (signal != 0)
            (void)kill(pids[i], signal); // it may just have ended
        unknown++;
    }
    return unknown;
}

void adopted_end(struct supervisor *s)
{
    s->adopting = true;
    adopted_tend(s);
}

void adopted_tend(struct supervisor *s)
{
    if (s->adopting)
        s->adopting = signal_unknown(s, SIGKILL) > 0;
}

/* Ends what has not ended in time: ENDERS that have nobody left to end, and
   other processes. */
static void end_late(struct supervisor *s, const pid_t *enders, size_t n)
{
    pid_t pids[CHILDREN_MAX];
    size_t children = s->alone ? linux_children(pids, CHILDREN_MAX) : 0;

    for (size_t i = 0; i < n; i++)
        if (waitpid(enders[i], NULL, WNOHANG) == 0)
            family_end_head(enders[i]);
    for (size_t i = 0; i < children; i++)
        if (!is_known(s, pids[i]) && !is_one_of(enders, n, pids[i]))
            (void)kill(pids[i], SIGKILL); // it may just have ended
}

/* Reaps what has ended; whether some of ENDERS, or other adopted ones, have
   not. */
static bool is_left(struct supervisor *s, const pid_t *enders, size_t n)
{
    pid_t pid;
    bool left = false;

    for (size_t i = 0; i < n; i++)
        left = waitpid(enders[i], NULL, WNOHANG) == 0 || left;
    if (!s->alone)
        return left;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        (void)temporary_note_exit(&s->temporary, pid);
    return signal_unknown(s, 0) > 0;
}

void adopted_await(struct supervisor *s, const pid_t *enders, size_t n)
{
    const struct timespec pause = {0, 2 * 1000 * 1000};
    const int64_t start = linux_now_ms();
    int64_t look = start + AWAIT_MS;

    // what is left then ends when the kernel lets go, or its family has ended
    while (is_left(s, enders, n) && linux_now_ms() < start + 2 * AWAIT_MS) {
        if (linux_now_ms() >= look) {
            end_late(s, enders, n);
            look = linux_now_ms() + LOOK_MS;
        }
        (void)nanosleep(&pause, NULL); // a signal only shortens it
    }
}
