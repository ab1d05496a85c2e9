/* SPDX-License-Identifier: GPL-3.0-or-later */
/* intake.h: takes in what comes from a front: its frames, and its end. */
#ifndef SUPERVISOR_INTAKE_H
#define SUPERVISOR_INTAKE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct front;

/* Frames from FRONT. ST_INVALID: they are not frames that it may send, and
   nothing after them can be understood; front_output may have the reason.
   ST_NOMEM: some are lost. In both cases the host passes on what it has and
   closes the front. Frames of a front that does not own the images wait while
   LIMIT_OUTPUT_BACKLOG bytes of answers do: the host feeds 0 bytes when it has
   passed some on. What takes longer than a step (LIMIT_STEP) is done in the
   next turns (supervisor_run). */
enum status MUST_CHECK intake_feed(struct front *front, const void *p, size_t n,
                                   int64_t now_ms);

/* The next turn: what waits for it in FRONT is done, or a step of that. What is
   wrong with it, the next intake_feed says. */
void intake_go_on(struct front *front, int64_t now_ms);

/* FRONT is gone: stops those of its calls that run and withdraws the others,
   without answers. Sessions stay. Frees FRONT, which may be NULL. */
void intake_close(struct front *front, int64_t now_ms);

#endif
