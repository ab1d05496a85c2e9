/* SPDX-License-Identifier: GPL-3.0-or-later */
/* room.h: how many bytes of output and answers the sessions may make this
   process hold: LIMIT_SESSION_HELD each, and LIMIT_SESSIONS_HELD together. Each
   has LIMIT_SESSION_SHARE for itself, whatever the others do. */
#ifndef SUPERVISOR_ROOM_H
#define SUPERVISOR_ROOM_H

#include <stddef.h>

#include "supervisor/state.h"

/* From now on this process gives large buffers back to the system as soon as
   they are freed. */
void room_prepare(void);

/* Bytes that all sessions may still share. */
size_t room_shared(const struct supervisor *s);

/* Sets session->room, of which SHARED is for all. Returns how much of it
   belongs to SESSION alone, which takes that first. */
size_t room_offer(struct session *session, size_t shared);

#endif
