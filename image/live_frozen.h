/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live_frozen.h: what Lisp does with frozen errors (frozen.h), as functions of
   Lisp that lisp/native-frozen.lisp describes. */
#ifndef IMAGE_LIVE_FROZEN_H
#define IMAGE_LIVE_FROZEN_H

#include <stdbool.h>
#include <stdint.h>

#include "image/connection.h"
#include "image/sleeper.h"

/* Defines these functions, in the process from which all images are forked. */
void live_frozen_prepare(void);

/* Begins an image; both arguments are its own. Without memory for it, nothing
   is frozen. */
void live_frozen_begin(struct connection *connection,
                       struct sleepers *sleepers);

/* The call ID begins, which is or would be EVALUATION. */
void live_frozen_call(uint64_t id, uint64_t evaluation);

/* Around making a checkpoint that contains EVALUATION: this image can ask it
   later. COPIED: it exists. */
void live_frozen_before_copy(uint64_t evaluation);
void live_frozen_after_copy(bool copied);

/* In that checkpoint: sleeps until the supervisor says something. True: this is
   a copy of it, which is asked for something (READ-REQUEST). */
bool live_frozen_await(void);

/* The call was answered: errors that are kept no longer end now. */
void live_frozen_answered(void);

/* Whether this process, a copy of a frozen error that was asked, has become the
   live image since this was called last. */
bool live_frozen_was_adopted(void);

#endif
