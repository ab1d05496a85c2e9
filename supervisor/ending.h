/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ending.h: times by which calls have to end: the calls of one front, or all.
 */
#ifndef SUPERVISOR_ENDING_H
#define SUPERVISOR_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/state.h"

/* FRONT has asked for the end of its calls, or an owner for the end of all, at
   time AT: the earliest of several holds. */
void ending_set(struct front *front, int64_t at);

/* Whether such a time has passed for calls of FRONT. */
bool ending_is_over(const struct front *front, int64_t now);

/* Whether CALL has to end soon, because its front does or everything does.
   CALL may be NULL: then whether everything does. */
bool ending_concerns(const struct supervisor *s, const struct call *call);

/* Stops the calls whose time is up. */
void ending_tend(struct supervisor *s, int64_t now);

/* When ending_tend must be called again; -1: no call has such a time. */
int64_t ending_deadline(const struct supervisor *s);

#endif
