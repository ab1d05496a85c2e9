/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ending.h: times by which calls have to end: those of one front, or all. */
#ifndef SUPERVISOR_ENDING_H
#define SUPERVISOR_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/state.h"

/* FRONT has asked for the end of its calls, or an owner for the end of all, at
   time AT: the earliest of several holds. */
void ending_set(struct front *front, int64_t at);

/* Whether a call that FRONT makes now comes too late. */
bool ending_is_over(const struct front *front, int64_t now);

/* Whether CALL has to end soon, or everything (NULL: only that). */
bool ending_concerns(const struct supervisor *s, const struct call *call);

/* Stops the calls whose time is up, and when that is; -1: no call has a time by
   which it has to end. */
void ending_tend(struct supervisor *s, int64_t now);
int64_t ending_deadline(const struct supervisor *s);

#endif
