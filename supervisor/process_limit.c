/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c: bounds the number of processes that the code of a session has
   running. They are counted, since no limit of the system holds for root: often
   while a call runs, and as long as there are some afterwards (see state.h). */
#include <signal.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/state.h"

/* Milliseconds between two counts. */
#define PAUSE_MS 100

/* Rounds in which all of them must be gone. */
#define ROUNDS 20

/* Ends every process of the image's family; while one of them is left, it may
   make new ones. */
static void end_all(pid_t image)
{
    int round;

    (void)kill(-image, SIGKILL); // most are in this group: all at once
    for (round = 0; round < ROUNDS; round++)
        if (linux_family(image, -1, SIGKILL) == 0)
            return;
}

void watch_tend(struct supervisor *s, struct session *session, int64_t now)
{
    size_t n;

    if (session->image.pid <= 0 || session->image.dying)
        return;
    if (session->image.count_at < 0 && session->calls.sent > 0)
        session->image.count_at = now + PAUSE_MS;
    if (session->image.count_at < 0 || now < session->image.count_at)
        return;
    n = linux_family(session->image.pid, -1, 0);
    session->image.count_at =
        session->calls.sent > 0 || n > 1 ? now + PAUSE_MS : -1;
    if (n <= LIMIT_PROCESSES)
        return;
    session->image.death.crowded = true;
    end_all(session->image.pid);
    life_lost(s, session, now);
}

void watch_end_programs(const struct session *session, const struct call *call)
{
    if (session->image.pid > 0 && call->started_at >= 0)
        (void)linux_family(session->image.pid, call->started_at, SIGKILL);
}

int64_t watch_deadline(const struct session *session)
{
    return session->image.pid > 0 && !session->image.dying
               ? session->image.count_at
               : -1;
}
