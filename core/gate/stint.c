/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stint.c: see stint.h. */
#include "gate/stint.h"

#include <stdlib.h>
#include <string.h>

#include "base/strand.h"

struct stint {
    struct tool_work work; /* first */
    struct strand *strand;
    struct arena arena; /* of all that it makes */
    struct gate_step step;
    stint_run *run;
    struct str reply; /* JSON text; empty: absent */
    bool begun;
    size_t counted; /* bytes, of those of the gate; 0: it has ended */
    enum status status;
};

/* STINT is under way no more. */
static void forget(struct stint *stint)
{
    struct gate *gate = stint->step.gate;

    gate->stint_count -= stint->counted > 0;
    gate->stint_bytes -= stint->counted;
    stint->counted = 0;
}

static void stint_free(struct tool_work *work)
{
    struct stint *stint = (struct stint *)work;

    strand_free(stint->strand); // which uses the rest
    forget(stint);
    arena_release(&stint->arena);
    free(stint);
}

/* What the call has kept since an earlier stint. */
static void lend_strand(const struct tool_call *call, struct strand *strand)
{
    if (call->plan && call->plan->arena)
        call->plan->arena->strand = strand;
    for (size_t i = 0; i < call->part_count; i++)
        lend_strand(&call->parts[i], strand);
}

static enum status work_on(struct stint *stint)
{
    struct gate_step *t = &stint->step;
    struct json reply = {0};
    struct json_error error;
    struct str problem;
    enum status status =
        arguments_view(t->arena, t->call->tool, buf_view(&t->call->arguments),
                       &t->arguments, &problem);

    if (status == ST_OK && stint->reply.n > 0)
        status = json_parse(t->arena, stint->reply, &reply, &error);
    if (status == ST_OK)
        return stint->run(t, reply);
    return ST_NOMEM; // both were right before
}

static void run_stint(void *context)
{
    struct stint *stint = context;

    stint->begun = true;
    stint->step.gate->stints++;
    stint->arena.strand = stint->strand;
    lend_strand(stint->step.call, stint->strand);
    stint->status = work_on(stint);
    lend_strand(stint->step.call, NULL);
    stint->arena.strand = NULL;
    stint->step.gate->stints--;
}

/* Keeps REPLY, which may be long, as text. The strand that runs pauses: not
   that of the stint, which has not begun. */
static enum status keep_reply(struct stint *stint, struct json reply)
{
    const size_t piece = (size_t)64 * 1024;
    struct str text;
    char *copy;

    if (json_is_absent(reply))
        return ST_OK;
    text = json_raw(reply);
    copy = arena_alloc(&stint->arena, text.n + 1);
    if (!copy)
        return ST_NOMEM;
    for (size_t at = 0; at < text.n; at += piece) {
        size_t n = text.n - at < piece ? text.n - at : piece;

        memcpy(copy + at, text.p + at, n);
        (void)strand_pause(n / 8); // when it is stopped, nobody reads it
    }
    copy[text.n] = '\0';
    stint->reply = str_make(copy, text.n);
    return ST_OK;
}

static struct stint *stint_new(const struct gate_step *t, stint_run *run,
                               struct json reply)
{
    struct stint *stint = calloc(1, sizeof *stint);

    if (!stint)
        return NULL;
    stint->work.free = stint_free;
    stint->run = run;
    stint->step = (struct gate_step){.gate = t->gate,
                                     .arena = &stint->arena,
                                     .call = t->call,
                                     .now_ms = t->now_ms};
    stint->strand = strand_new(run_stint, stint);
    if (stint->strand && keep_reply(stint, reply) == ST_OK)
        return stint;
    arena_release(&stint->arena);
    strand_free(stint->strand);
    free(stint);
    return NULL;
}

bool stint_can_go_on(const struct gate *gate, const struct tool_call *call)
{
    const struct stint *stint = (const struct stint *)call->work;

    if (!stint->begun)
        return gate->stints < LIMIT_STINTS;
    return !strand_is_waiting(stint->strand);
}

enum status stint_go_on(struct gate_step *t)
{
    struct stint *stint = (struct stint *)t->call->work;

    stint->step.now_ms = t->now_ms;
    t->answer = (struct tool_answer){.state = TOOL_WORKS};
    if (!stint_can_go_on(t->gate, t->call) || !strand_go_on(stint->strand))
        return ST_OK;
    forget(stint);
    t->answer = stint->step.answer;
    return stint->status;
}

enum status stint_begin(struct gate_step *t, stint_run *run, struct json reply)
{
    struct gate *gate = t->gate;
    size_t bytes = sizeof(struct stint) + t->call->arguments.n;

    tool_call_stop_work(t->call);
    if (gate->stint_count == LIMIT_PENDING_CALLS ||
        (gate->stint_count > 0 &&
         gate->stint_bytes + bytes > LIMIT_PENDING_BYTES))
        return ST_LIMIT;
    struct stint *stint = stint_new(t, run, reply);
    if (!stint)
        return ST_NOMEM;
    stint->counted = bytes + stint->reply.n;
    gate->stint_count++;
    gate->stint_bytes += stint->counted;
    t->call->work = &stint->work;
    enum status status = stint_go_on(t);
    if (status == ST_OK && t->answer.state == TOOL_WORKS)
        (void)strand_pause(LIMIT_STEP); // a step has been done
    return status;
}
