/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strand.c: see strand.h. */
#include "base/strand.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/stacks.h"

/* The strand that runs, the innermost one. */
static struct strand *running;

/* NULL: there is none. */
static strand_clock *clock_us;
static int64_t began; /* of the outermost strand that runs: its step */
static size_t unseen; /* work since the clock was looked at */

struct strand {
    struct stacks_place inside;  /* while it pauses */
    struct stacks_place outside; /* while it runs */
    strand_run *run;
    void *context;
    size_t left; /* of the step */
    bool begun;
    bool ended;
    bool stopped;
    strand_is_over *is_over; /* what it waits for; NULL: nothing */
    void *waits_for;
    char stack[LIMIT_STRAND_STACK];
};

void strand_use_clock(strand_clock *clock)
{
    clock_us = clock;
}

/* WORK more has been done: whether the step has taken too long. */
static bool is_late(size_t work)
{
    unseen += work;
    if (!clock_us || unseen < LIMIT_STEP_LOOK)
        return false;
    unseen = 0;
    return clock_us() - began > LIMIT_STEP_US;
}

/* From STRAND to where it was let go on. */
static void leave(struct strand *strand)
{
    stacks_change(&strand->inside, &strand->outside);
}

/* On the stack of a strand that goes on for the first time. */
static void start(void)
{
    struct strand *strand = running;

    for (;;) { // again when it is restarted
        strand->run(strand->context);
        strand->ended = true;
        leave(strand);
    }
}

struct strand *strand_new(strand_run *run, void *context)
{
    struct strand *strand = malloc(sizeof *strand);

    if (!strand)
        return NULL;
    strand->run = run;
    strand->context = context;
    strand->begun = false;
    strand->ended = false;
    strand->stopped = false;
    strand->is_over = NULL;
    stacks_prepare(&strand->inside, start, strand->stack, sizeof strand->stack);
    return strand;
}

bool strand_go_on(struct strand *strand)
{
    struct strand *outer = running;

    strand->begun = true;
    strand->left = LIMIT_STEP;
    running = strand;
    if (!outer && clock_us)
        began = clock_us();
    if (!strand->ended)
        stacks_change(&strand->outside, &strand->inside);
    running = outer;
    return strand->ended;
}

void strand_restart(struct strand *strand)
{
    strand->ended = false;
}

void strand_free(struct strand *strand)
{
    if (!strand)
        return;
    strand->stopped = true;
    while (strand->begun && !strand_go_on(strand))
        continue;
    free(strand);
}

bool strand_spend(struct strand *strand, size_t work)
{
    if (!strand || strand->stopped)
        return !strand;
    if (work < strand->left && !is_late(work)) {
        strand->left -= work;
        return true;
    }
    leave(strand);
    return !strand->stopped;
}

bool strand_wait(struct strand *strand, strand_is_over *is_over, void *context)
{
    strand->is_over = is_over;
    strand->waits_for = context;
    while (!strand->stopped && !is_over(context))
        leave(strand);
    strand->is_over = NULL;
    return !strand->stopped;
}

bool strand_is_waiting(const struct strand *strand)
{
    return strand->is_over && !strand->is_over(strand->waits_for);
}

bool strand_pause(size_t work)
{
    return strand_spend(running, work);
}

bool strand_is_stopped(const struct strand *strand)
{
    return strand && strand->stopped;
}
