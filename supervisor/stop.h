/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stop.h: stops calls that are no longer wanted or run too long: first by a
   condition in the code that runs, then by a throw past its handlers, then past
   its cleanup forms, too, and at last by the end of the image. */
#ifndef SUPERVISOR_STOP_H
#define SUPERVISOR_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "image/control.h"
#include "supervisor/session.h"

struct front;
struct supervisor;

/* Stops CALL of SESSION because of WHY: if it has been sent, the next stop_tend
   interrupts it; if not, it is answered and freed. A copy that wakes for CALL
   is awaited all the same: the session must be in one state or the other. */
void stop_call(struct session *session, struct call *call, enum stop_why why);

/* The same for every call of FRONT, or of all (NULL), that is not stopping
   yet. */
void stop_calls(struct supervisor *s, const struct front *front,
                enum stop_why why);

/* The image of SESSION is gone, and no call is sent: answers the calls that are
   stopping. None of them was begun, and no other image need know them. */
void stop_unbegun(struct session *session);

/* Looks at the clock of the call that runs, stops it when a call waits that
   frees the session and it has had LIMIT_STUCK_MS, and takes the next stage of
   its stop when that is due; stages follow each other faster when the call is
   ENDING (ending.h). True: it has ignored all stages, and its image must end.
 */
bool MUST_CHECK stop_tend(struct session *session, bool ending, int64_t now);

/* Whether CALL of SESSION, which has returned a value, did so only because the
   programs that it had started were ended at its time limit: C code that waits
   for a program may hear no interrupt. */
bool stop_was_forced(const struct session *session, const struct call *call);

/* The first call that waits in SESSION and frees it (operation.h), or NULL. */
struct call *stop_freeing(const struct session *session);

/* When stop_tend must be called again; -1: not before something happens. */
int64_t stop_deadline(const struct session *session);

#endif
