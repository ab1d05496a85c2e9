/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tier.h: functions become native while the session goes on. A copy of the live
   image, which is made to sleep anyway, starts a process that compiles what
   waits; its result comes through a pipe, and is taken over when no call waits.
   An evaluation that goes on for long is interrupted for both (middle.h). What
   is compiled and how is in lisp/tier.lisp. */
#ifndef IMAGE_TIER_H
#define IMAGE_TIER_H

#include "image/connection.h"

/* Once, after Lisp was booted. */
void tier_prepare(void);

/* When the live image begins: says whether functions become native. */
void tier_begin(struct connection *connection);

/* Before a copy is made: chooses what it has compiled. */
void tier_before_copy(void);

/* In the copy, which counts as asleep: starts the compiler. */
void tier_in_copy(const struct connection *connection);

/* Around a call. A process that compiles may be started in the middle of it: it
   leaves Lisp for the frame of Lisp's stack that is the top when the call
   begins, and tier_left_call, which is called there, does not return. */
void tier_begin_call(void);
void tier_end_call(void);
void tier_left_call(void);

/* After a copy was made; also in the copy, when it was woken. */
void tier_after_copy(struct connection *connection);

#endif
