/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strand.h: a long piece of work that is done in steps, so that nothing else
   has to wait. It has a stack of its own, on which it pauses wherever it says
   how much it has done. There are no threads: a strand runs only inside of
   strand_go_on. */
#ifndef BASE_STRAND_H
#define BASE_STRAND_H

#include <stdbool.h>
#include <stddef.h>

struct strand;

typedef void strand_run(void *context);

/* A strand that will run RUN, once, from the first strand_go_on on. NULL when
   memory runs out. */
struct strand *strand_new(strand_run *run, void *context);

/* Runs STRAND until it ends, or has done a step: LIMIT_STEP of work. Returns
   whether it has ended. It must not be called inside of a strand. */
bool strand_go_on(struct strand *strand);

/* Frees STRAND, or NULL. When it has begun and not ended, it is stopped and
   runs to its end first: strand_spend is false and its arenas (arena.h) give no
   more memory, so this takes no time. */
void strand_free(struct strand *strand);

/* Inside of STRAND: WORK more has been done, about as much as looking at that
   many bytes, and at most a part of LIMIT_STEP. When the step is full, STRAND
   pauses here. False: it is stopped, and must come to its end. NULL, for work
   that is not done in steps, is always true. */
bool strand_spend(struct strand *strand, size_t work);

/* Whether STRAND, or NULL, is to come to its end. */
bool strand_is_stopped(const struct strand *strand);

#endif
