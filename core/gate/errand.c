/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errand.c: see errand.h. */
#include "gate/errand.h"

#include <stdlib.h>

#include "base/strand.h"

struct errand {
    struct tool_work work; /* first */
    struct strand *strand;
    struct arena arena; /* of all that it makes */
    struct gate_step step;
    errand_run *run;
    struct str reply; /* JSON text; empty: absent */
    bool begun;
    size_t counted; /* bytes, of those of the gate; 0: it has ended */
    enum status status;
};

/* ERRAND is under way no more. */
static void forget(struct errand *errand)
{
    struct gate *gate = errand->step.gate;

    gate->errand_count -= errand->counted > 0;
    gate->errand_bytes -= errand->counted;
    errand->counted = 0;
}

static void errand_free(struct tool_work *work)
{
    struct errand *errand = (struct errand *)work;

    strand_free(errand->strand); // which uses the rest
    forget(errand);
    arena_release(&errand->arena);
    free(errand);
}

/* What the call has kept since an earlier errand. */
static void lend_strand(const struct errand *errand, struct strand *strand)
{
    struct tool_plan *plan = errand->step.call->plan;

    if (plan && plan->arena)
        plan->arena->strand = strand;
}

static enum status work_on(struct errand *errand)
{
    struct gate_step *t = &errand->step;
    struct json reply = {0};
    struct json_error error;
    struct str problem;
    enum status status =
        arguments_read(t->arena, t->call->tool, buf_view(&t->call->arguments),
                       &t->arguments, &problem);

    if (status == ST_OK && errand->reply.n > 0)
        status = json_parse(t->arena, errand->reply, &reply, &error);
    if (status == ST_OK)
        return errand->run(t, reply);
    return ST_NOMEM; // both were right before
}

static void run_errand(void *context)
{
    struct errand *errand = context;

    errand->begun = true;
    errand->step.gate->errands++;
    errand->arena.strand = errand->strand;
    lend_strand(errand, errand->strand);
    errand->status = work_on(errand);
    lend_strand(errand, NULL);
    errand->arena.strand = NULL;
    errand->step.gate->errands--;
}

static struct errand *errand_new(const struct gate_step *t, errand_run *run,
                                 struct json reply)
{
    struct errand *errand = calloc(1, sizeof *errand);

    if (!errand)
        return NULL;
    errand->work.free = errand_free;
    errand->run = run;
    errand->step = (struct gate_step){.gate = t->gate,
                                      .arena = &errand->arena,
                                      .call = t->call,
                                      .now_ms = t->now_ms};
    errand->strand = strand_new(run_errand, errand);
    if (errand->strand &&
        (json_is_absent(reply) ||
         arena_str(&errand->arena, json_raw(reply), &errand->reply) == ST_OK))
        return errand;
    arena_release(&errand->arena);
    strand_free(errand->strand);
    free(errand);
    return NULL;
}

bool errand_can_go_on(const struct gate *gate, const struct tool_call *call)
{
    const struct errand *errand = (const struct errand *)call->work;

    return errand->begun || gate->errands < LIMIT_ERRANDS;
}

enum status errand_go_on(struct gate_step *t)
{
    struct errand *errand = (struct errand *)t->call->work;

    errand->step.now_ms = t->now_ms;
    t->answer = (struct tool_answer){.state = TOOL_WORKS};
    if (t->arena->strand) // this is a step already
        return ST_OK;
    if (!errand_can_go_on(t->gate, t->call) || !strand_go_on(errand->strand))
        return ST_OK;
    forget(errand);
    t->answer = errand->step.answer;
    return errand->status;
}

enum status errand_begin(struct gate_step *t, errand_run *run,
                         struct json reply)
{
    struct gate *gate = t->gate;
    size_t bytes = sizeof(struct errand) + t->call->arguments.n;

    tool_call_stop_work(t->call);
    if (gate->errand_count == LIMIT_PENDING_CALLS ||
        (gate->errand_count > 0 &&
         gate->errand_bytes + bytes > LIMIT_PENDING_BYTES))
        return ST_LIMIT;
    struct errand *errand = errand_new(t, run, reply);
    if (!errand)
        return ST_NOMEM;
    errand->counted = bytes + errand->reply.n;
    gate->errand_count++;
    gate->errand_bytes += errand->counted;
    t->call->work = &errand->work;
    return errand_go_on(t);
}
