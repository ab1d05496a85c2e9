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

void watch_tend(struct supervisor *s, struct channel *channel, int64_t now)
{
    size_t n;

    if (channel->pid <= 0 || channel->dying)
        return;
    if (channel->watch_at < 0 && channel->sent > 0)
        channel->watch_at = now + PAUSE_MS;
    if (channel->watch_at < 0 || now < channel->watch_at)
        return;
    n = linux_family(channel->pid, -1, 0);
    channel->watch_at = channel->sent > 0 || n > 1 ? now + PAUSE_MS : -1;
    if (n <= LIMIT_PROCESSES)
        return;
    channel->crowded = true;
    end_all(channel->pid);
    life_lost(s, channel, now);
}

void watch_end_programs(const struct channel *channel, const struct call *call)
{
    if (channel->pid > 0 && call->started_at >= 0)
        (void)linux_family(channel->pid, call->started_at, SIGKILL);
}

int64_t watch_deadline(const struct channel *channel)
{
    return channel->pid > 0 && !channel->dying ? channel->watch_at : -1;
}
