/* SPDX-License-Identifier: GPL-3.0-or-later */
/* adopted.h: processes that have become children of this one because both their
   keeper and the zygote are gone. */
#ifndef SUPERVISOR_ADOPTED_H
#define SUPERVISOR_ADOPTED_H

#include "supervisor/state.h"

/* From now on this process adopts orphans. Must be called before it starts any:
   if it has other children already, or is the first process of the system, it
   also adopts processes that are not ours, and spares those that it does not
   know. */
void adopted_begin(struct supervisor *s);

/* The keeper of a session was lost: begins to kill what was adopted. */
void adopted_end(struct supervisor *s);

/* Kills what was adopted since, until there is nothing left. Must be called
   when children have ended. */
void adopted_tend(struct supervisor *s);

/* Once all sessions are released: waits until those who end their families,
   ENDERS of number N (keepers and zygote), and everything else that was adopted
   are gone; 2 seconds at most. ENDERS that are not done by then go on alone. */
void adopted_await(struct supervisor *s, const pid_t *enders, size_t n);

#endif
