/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process_limit.c: see process_limit.h. */
#include "supervisor/process_limit.h"

#include <signal.h>

#include "base/limits.h"
#include "image/linux.h"

/* Milliseconds between two counts. */
#define PAUSE_MS 100

/* Rounds of killing after which all of them must be gone. */
#define ROUNDS 20

/* Kills every process of the image's family, repeatedly: a process that is left
   may make new ones. */
static void end_all(pid_t image)
{
    (void)kill(-image, SIGKILL); // most are in this group: all at once
    for (int round = 0; round < ROUNDS; round++)
        if (linux_family(image, -1, SIGKILL) == 0)
            return;
}

bool process_limit_tend(struct session *session, int64_t now)
{
    struct image_process *image = &session->image;
    bool busy = session->calls.sent > 0;
    size_t n;

    if (image->pid <= 0 || image->dying)
        return false;
    if (image->count_at < 0 && busy)
        image->count_at = now + PAUSE_MS;
    if (image->count_at < 0 || now < image->count_at)
        return false;
    n = linux_family(image->pid, -1, 0);
    image->count_at = busy || n > 1 ? now + PAUSE_MS : -1;
    if (n <= LIMIT_PROCESSES)
        return false;
    image->death.crowded = true;
    end_all(image->pid);
    return true;
}

void process_limit_end_programs(const struct session *session,
                                const struct call *call)
{
    if (session->image.pid > 0 && call->started_at >= 0)
        (void)linux_family(session->image.pid, call->started_at, SIGKILL);
}

int64_t process_limit_deadline(const struct session *session)
{
    return session->image.pid > 0 && !session->image.dying
               ? session->image.count_at
               : -1;
}
