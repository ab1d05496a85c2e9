/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process_limit.c: see process_limit.h. */
#include "supervisor/process_limit.h"

#include <signal.h>

#include "image/control.h"
#include "image/family.h"
#include "image/linux.h"

/* Milliseconds between two counts. */
#define PAUSE_MS 100

/* Rounds of killing the programs of a call. */
#define ROUNDS 4

/* Sends MESSAGE to the keeper. False when it is gone, which is noticed when it
   is read, or does not read. */
static bool tell(const struct session *session,
                 const struct control_message *message)
{
    return session->image.keeper >= 0 &&
           control_send(session->image.keeper, message, NULL) == ST_OK;
}

void process_limit_tend(struct session *session, int64_t now)
{
    const struct control_message message = {.kind = CONTROL_COUNT};
    struct image_process *image = &session->image;
    bool busy = session->calls.sent > 0;

    if (image->pid <= 0 || image->dying || image->unsettled)
        return;
    if (image->count_at < 0 && busy)
        image->count_at = now + PAUSE_MS;
    if (image->count_at < 0 || now < image->count_at)
        return;
    (void)tell(session, &message); // else it counts the next time
    image->count_at = busy ? now + PAUSE_MS : -1;
}

int64_t process_limit_deadline(const struct session *session)
{
    return session->image.pid > 0 && !session->image.dying
               ? session->image.count_at
               : -1;
}

/* Fills PIDS with the sleeping copies, checkpoints and frozen errors; returns
   their number. */
static uint32_t find_copies(const struct session *session,
                            int32_t pids[CONTROL_SPARED_MAX])
{
    const struct checkpoint *checkpoint = session->keeping.checkpoints.newest;
    const struct frozen_errors *frozen = &session->keeping.frozen;
    uint32_t n = 0;

    for (size_t i = 0; i < frozen->n; i++)
        if (frozen->list[i].known)
            pids[n++] = frozen->list[i].pid;
    for (; checkpoint && n < CONTROL_SPARED_MAX; checkpoint = checkpoint->next)
        pids[n++] = checkpoint->pid;
    return n;
}

void process_limit_note_copies(const struct session *session)
{
    struct control_message message = {.kind = CONTROL_COPIES};

    message.spared_n = find_copies(session, message.spared);
    (void)tell(session, &message); // else they count, until the next change
}

void process_limit_begin_anew(struct session *session)
{
    struct control_message message = {.kind = CONTROL_SPARE,
                                      .pid = session->image.pid};

    message.spared_n = find_copies(session, message.spared);
    // one may have been none, and have become another program since
    for (uint32_t i = 0; i < message.spared_n;)
        if (linux_is_fork(message.spared[i], session->image.keeper_pid))
            i++;
        else
            message.spared[i] = message.spared[--message.spared_n];
    session->image.unsettled = tell(session, &message);
}

/* Kills the programs of the session that were started between FROM and TO, in
   clock ticks; returns how many. */
static size_t kill_programs(const struct session *session, int64_t from,
                            int64_t to)
{
    int32_t pids[CONTROL_SPARED_MAX + 1];
    struct family_spared spared = {.pids = pids,
                                   .n = find_copies(session, pids)};
    struct family family = {NULL, 0, 0};
    size_t n = 0;
    pid_t parent;
    int64_t began;

    pids[spared.n++] = session->image.pid;
    family_find(&family, session->image.keeper_pid, &spared);
    for (size_t i = 0; i < family.n; i++) {
        const struct family_member *member = &family.list[i];

        if (member->spared || !linux_find(member->pid, &parent, &began) ||
            began < from || began > to)
            continue;
        (void)kill(member->pid, SIGKILL); // it may just have ended
        n++;
    }
    family_release(&family);
    return n;
}

static void end_programs(const struct session *session, int64_t from,
                         int64_t to)
{
    bool more = session->image.pid > 0 && session->image.keeper_pid > 0;

    for (int round = 0; more && round < ROUNDS; round++)
        more = kill_programs(session, from, to) > 0;
}

void process_limit_end_programs(const struct session *session,
                                const struct call *call)
{
    if (call->started_at >= 0)
        end_programs(session, linux_ticks(call->started_at), INT64_MAX);
}

void process_limit_end_earlier(const struct session *session,
                               const struct call *call)
{
    if (call->started_at >= 0)
        end_programs(session, 0, linux_ticks(call->started_at));
}
