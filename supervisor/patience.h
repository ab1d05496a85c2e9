/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patience.h: what a session may wait for besides its code, and for how long: a
   copy that its image must make, what that loads ahead, its keeper, the opening
   of its image, and what the system needs for that. Anybody can stop these
   processes (SIGSTOP), and evaluated code its own image. Calls that an image
   runs have time limits of their own (stop.h). */
#ifndef SUPERVISOR_PATIENCE_H
#define SUPERVISOR_PATIENCE_H

#include <stdint.h>

#include "supervisor/session.h"

struct supervisor;

/* Looks what SESSION waits for. The process that is late is told to continue,
   for it may have been stopped; one that is much too late is killed, and
   replaced. Calls for which no image can be opened are refused. */
void patience_tend(struct supervisor *s, struct session *session, int64_t now);

/* When patience_tend must be called again; -1: SESSION waits for none of
   these. */
int64_t patience_deadline(const struct supervisor *s,
                          const struct session *session);

#endif
