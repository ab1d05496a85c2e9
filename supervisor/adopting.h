/* SPDX-License-Identifier: GPL-3.0-or-later */
/* adopting.h: the outcome of a frozen error becomes the session: the process in
   which it was reached is woken as a checkpoint is, and replaces the image. */
#ifndef SUPERVISOR_ADOPTING_H
#define SUPERVISOR_ADOPTING_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/checkpoint.h"
#include "supervisor/session.h"

struct supervisor;

/* Begins to wake the outcome that came with the answer of the first call of
   SESSION, if one came. True: that call is not to be answered yet. */
bool adopting_begin(struct supervisor *s, struct session *session, int64_t now);

/* The outcome CHECKPOINT is AWAKE, or did not wake. Answers the first call of
   SESSION, which asked for it; the caller frees CHECKPOINT. */
void adopting_take_woken(struct supervisor *s, struct session *session,
                         struct checkpoint *checkpoint, bool awake,
                         int64_t now);

#endif
