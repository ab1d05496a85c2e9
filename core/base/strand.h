/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strand.h: a long piece of work that is done in steps, so that nothing else
   has to wait. It has a stack of its own, on which it pauses wherever it says
   how much it has done. There are no threads: a strand runs only inside of
   strand_go_on. One may run in a step of another, which it does not fill. */
#ifndef BASE_STRAND_H
#define BASE_STRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strand;

typedef void strand_run(void *context);

/* Microseconds of a clock that does not go back. */
typedef int64_t strand_clock(void);

/* From now on a step also ends when, by CLOCK, LIMIT_STEP_US have passed since
   the outermost strand went on. NULL: only when so much work has been done. */
void strand_use_clock(strand_clock *clock);

/* A strand that will run RUN, once, from the first strand_go_on on. NULL when
   memory runs out. */
struct strand *strand_new(strand_run *run, void *context);

/* Runs STRAND until it ends, or has done a step: LIMIT_STEP of work, or less if
   that takes long. Returns whether it has ended. */
bool strand_go_on(struct strand *strand);

/* Lets STRAND, which has ended, begin once more. */
void strand_restart(struct strand *strand);

/* Frees STRAND, or NULL. When it has begun and not ended, it is stopped and
   runs to its end first: strand_spend is false and its arenas (arena.h) give no
   more memory, so this takes no time. */
void strand_free(struct strand *strand);

/* Inside of STRAND: WORK more has been done, about as much as looking at that
   many bytes, and at most a part of LIMIT_STEP. When the step is full, STRAND
   pauses here. False: it is stopped, and must come to its end. NULL, for work
   that is not done in steps, is always true. */
bool strand_spend(struct strand *strand, size_t work);

/* Whether what a strand waits for has come about. */
typedef bool strand_is_over(void *context);

/* Inside of STRAND: pauses until IS_OVER, which is asked from outside, says so.
   False: it is stopped, and must come to its end. */
bool strand_wait(struct strand *strand, strand_is_over *is_over, void *context);

/* Whether strand_go_on would do nothing, as STRAND waits still. */
bool strand_is_waiting(const struct strand *strand);

/* The same in the strand that runs now, if there is one: for what takes no
   arena. Whatever calls it may be half done, so in no other strand may anything
   be done about the same data meanwhile. */
bool strand_pause(size_t work);

/* The same for a loop over bytes that is at the byte AT, and has said so up to
 *TOLD; it stops by itself, as nobody needs what comes of it. */
static inline void strand_pace(size_t *told, size_t at)
{
    size_t piece = (size_t)64 * 1024;

    if (at - *told < piece)
        return;
    (void)strand_pause(at - *told);
    *told = at;
}

/* Whether STRAND, or NULL, is to come to its end. */
bool strand_is_stopped(const struct strand *strand);

#endif
