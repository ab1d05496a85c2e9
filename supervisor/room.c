/* SPDX-License-Identifier: GPL-3.0-or-later */
/* room.c: see room.h. */
#include "supervisor/room.h"

#include <malloc.h>

#include "base/limits.h"

/* Bytes from which on a buffer has pages of its own. */
#define LARGE (256 * 1024)

void room_prepare(void)
{
    // otherwise malloc(3) takes 32 MiB for small once it has seen that much
    (void)mallopt(M_MMAP_THRESHOLD,
                  LARGE); // without it, memory comes back late
}

/* LIMIT less what is USED of it. */
static size_t rest(size_t limit, size_t used)
{
    return used < limit ? limit - used : 0;
}

size_t room_shared(const struct supervisor *s)
{
    size_t used = 0;

    // one that sleeps holds no more than its share
    for (const struct session *session = s->awake; session;
         session = session->next_awake)
        used += rest(session_held(session), LIMIT_SESSION_SHARE);
    return rest(LIMIT_SESSIONS_HELD, used);
}

size_t room_offer(struct session *session, size_t shared)
{
    size_t held = session_held(session);
    size_t own = rest(LIMIT_SESSION_SHARE, held);
    size_t most = rest(LIMIT_SESSION_HELD, held);

    session->room = own + shared < most ? own + shared : most;
    return own;
}
