/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.c: decides, runs, tells the hooks and the log. */
#include "gate.h"

#include <inttypes.h>

#include "limits.h"

void gate_init(struct gate *gate, const struct log *log, struct image *image,
               const struct tool_limits *limits)
{
    *gate = (struct gate){.log = log, .image = image, .limits = *limits};
}

enum status gate_add_hook(struct gate *gate, gate_hook *hook, void *context)
{
    if (gate->hook_count == GATE_HOOKS)
        return ST_LIMIT;
    gate->hooks[gate->hook_count].hook = hook;
    gate->hooks[gate->hook_count].context = context;
    gate->hook_count++;
    return ST_OK;
}

static void tell_hooks(const struct gate *gate, const struct gate_event *event)
{
    for (size_t i = 0; i < gate->hook_count; i++)
        gate->hooks[i].hook(gate->hooks[i].context, event);
}

struct verdict {
    bool allowed;
    const char *by;
};

static struct verdict decide(const struct tool *tool)
{
    switch (tool->level) {
    case TOOL_SAFE:
    case TOOL_CAUTIOUS:
        return (struct verdict){true, "level"};
    case TOOL_DANGEROUS:
        break;
    }
    return (struct verdict){false, "level, no approver"};
}

static void log_verdict(const struct gate *gate, const struct tool *tool,
                        struct verdict verdict)
{
    // Every decision is made at once so far: 0 milliseconds.
    log_line(gate->log, LOG_INFO, "gate: %s (%s) %s by %s, 0 ms", tool->name,
             tool_level_name(tool->level),
             verdict.allowed ? "allowed" : "refused", verdict.by);
}

static enum status refuse(struct arena *arena, const struct tool *tool,
                          struct tool_answer *answer)
{
    answer->state = TOOL_FAILED;
    answer->text = arena_printf(
        arena,
        "%s was not run: it is a dangerous tool and needs an approval, but "
        "nobody is connected who could give one.",
        tool->name);
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

/* A failure to run the tool that the model should read, as answer. */
static enum status explain(struct arena *arena, enum status status,
                           struct tool_answer *answer)
{
    if (status == ST_OK || status == ST_NOMEM)
        return status;
    answer->state = TOOL_FAILED;
    if (status == ST_LIMIT)
        answer->text = arena_printf(
            arena,
            "Too many calls are waiting: the limit is %d calls and %u bytes of "
            "arguments. Wait for an answer, then try again.",
            LIMIT_PENDING_CALLS, LIMIT_PENDING_BYTES);
    else
        answer->text = STR("The connection to the Lisp image is broken. "
                           "Restart the server.");
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

static enum status run(struct gate *gate, struct arena *arena,
                       struct tool_call *call,
                       const struct schema_value *values,
                       struct tool_answer *answer)
{
    struct tool_request request = {
        .arena = arena,
        .image = gate->image,
        .limits = &gate->limits,
        .values = values,
        .call = call,
    };
    enum status status;

    tell_hooks(gate, &(struct gate_event){.phase = GATE_BEFORE,
                                          .tool = call->tool,
                                          .values = values});
    answer->state = TOOL_WAITS;
    if (call->tool->operation)
        status = tool_send(&request);
    else
        status = call->tool->handler(&request, answer);
    return explain(arena, status, answer);
}

enum status gate_start(struct gate *gate, struct arena *arena,
                       struct tool_call *call,
                       const struct schema_value *values, int64_t now_ms,
                       struct tool_answer *answer)
{
    struct verdict verdict = decide(call->tool);
    enum status status;

    *answer = (struct tool_answer){0};
    call->started_ms = now_ms;
    call->approved = verdict.allowed;
    log_verdict(gate, call->tool, verdict);
    if (verdict.allowed)
        status = run(gate, arena, call, values, answer);
    else
        status = refuse(arena, call->tool, answer);
    if (status == ST_NOMEM) {
        answer->state = TOOL_FAILED;
        answer->text = STR("Out of memory.");
    }
    if (answer->state != TOOL_WAITS)
        gate_end(gate, call, answer, now_ms);
    return status;
}

void gate_end(struct gate *gate, const struct tool_call *call,
              const struct tool_answer *answer, int64_t now_ms)
{
    bool failed = answer->state == TOOL_FAILED;
    int64_t elapsed = now_ms - call->started_ms;

    log_line(gate->log, LOG_DEBUG, "gate: %s %s after %" PRId64 " ms",
             call->tool->name, failed ? "failed" : "succeeded", elapsed);
    tell_hooks(gate,
               &(struct gate_event){.phase = failed ? GATE_ERROR : GATE_AFTER,
                                    .tool = call->tool,
                                    .text = answer->text,
                                    .elapsed_ms = elapsed});
}
