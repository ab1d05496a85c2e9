/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preparing.c: see preparing.h. The PREPARE takes the place of a KEEP, so calls
   and copies that come meanwhile wait as they do for a copy, and a death is
   that of an idle image. */
#include "supervisor/preparing.h"

#include <stddef.h>

#include "base/limits.h"
#include "supervisor/restore.h"
#include "supervisor/state.h"

/* Milliseconds until a session looks again whether another one is at it: what
   one takes that has nothing to load. Hundreds are soon done then, and are not
   looked at in each turn of the loop for long. */
#define BUSY_MS 10

/* Whether SESSION is to be prepared as soon as it has been idle long enough. */
static bool is_wanted(const struct session *session)
{
    const struct keeping_preparing *preparing = &session->keeping.preparing;

    return preparing->at > 0 && !preparing->done && !preparing->failed &&
           !session->closed && !session->keeping.changed &&
           restore_can_keep(session);
}

/* Whether another image is at it now. */
static bool is_busy(const struct supervisor *s)
{
    for (const struct session *other = s->sessions; other; other = other->next)
        if (other->keeping.preparing.asked)
            return true;
    return false;
}

/* Sessions besides SESSION that have loaded something ahead. */
static size_t count_others(const struct supervisor *s,
                           const struct session *session)
{
    size_t n = 0;

    for (const struct session *other = s->sessions; other; other = other->next)
        n += other != session && other->keeping.preparing.loaded;
    return n;
}

void preparing_tend(struct supervisor *s, struct session *session, int64_t now)
{
    struct keeping_preparing *preparing = &session->keeping.preparing;

    if (!is_wanted(session) || now < preparing->at)
        return;
    if (is_busy(s)) {
        preparing->at = now + BUSY_MS;
    } else if (s->ending.wanted || count_others(s, session) >= LIMIT_PREPARED) {
        preparing->done = true;
    } else {
        preparing->asked = true;
        restore_keep(s, session, str_make("", 0), now);
    }
}

int64_t preparing_deadline(const struct session *session)
{
    return is_wanted(session) ? session->keeping.preparing.at : -1;
}

void preparing_take(const struct supervisor *s, struct session *session,
                    int64_t now)
{
    struct keeping *keeping = &session->keeping;
    bool loaded = keeping->copy.pid > 0;

    keeping->copy.arrived = false;
    keeping->number = 0;
    keeping->preparing.asked = false;
    // a call came first, and the image did nothing
    keeping->preparing.done = loaded || !session->calls.first;
    if (keeping->preparing.done)
        log_line(&s->config.log, LOG_DEBUG,
                 "image: session %s: says that it has%s loaded ASDF ahead",
                 session->name, loaded ? "" : " not");
    if (!loaded)
        return;
    keeping->preparing.loaded = true;
    if (!keeping->checkpoints.newest)
        return; // there is no state to go back to
    keeping->due_at = now;
    keeping->preparing.renews = true;
    keeping->changed = true; // no call was answered meanwhile
}
