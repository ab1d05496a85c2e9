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

static size_t find_grant(const struct gate *gate, const struct tool *tool)
{
    size_t i = 0;
    while (i < gate->grant_count && gate->grants[i] != tool)
        i++;
    return i;
}

enum status gate_grant(struct gate *gate, const struct tool *tool)
{
    if (gate_has_grant(gate, tool))
        return ST_OK;
    if (gate->grant_count == LIMIT_GRANTS)
        return ST_LIMIT;
    gate->grants[gate->grant_count++] = tool;
    return ST_OK;
}

void gate_revoke(struct gate *gate, const struct tool *tool)
{
    if (gate_has_grant(gate, tool))
        gate->grants[find_grant(gate, tool)] =
            gate->grants[--gate->grant_count];
}

bool gate_has_grant(const struct gate *gate, const struct tool *tool)
{
    return find_grant(gate, tool) < gate->grant_count;
}

static void tell_hooks(const struct gate *gate, const struct tool_call *call,
                       enum gate_phase phase, struct str text, int64_t now_ms)
{
    const struct gate_event event = {.phase = phase,
                                     .call = call,
                                     .arguments = buf_view(&call->arguments),
                                     .text = text,
                                     .now_ms = now_ms};

    for (size_t i = 0; i < gate->hook_count; i++)
        gate->hooks[i].hook(gate->hooks[i].context, &event);
}

static void decide(const struct gate *gate, struct tool_call *call,
                   int64_t now_ms)
{
    call->approved = true;
    call->decision = "allowed";
    call->decided_ms = now_ms;
    if (call->tool->level == TOOL_SAFE || call->tool->level == TOOL_CAUTIOUS) {
        call->decided_by = "level";
    } else if (gate_has_grant(gate, call->tool)) {
        call->decided_by = "grant";
    } else {
        call->approved = false;
        call->decision = "refused";
        call->decided_by = "level, no approver";
    }
    log_line(gate->log, LOG_INFO, "gate: %s (%s) %s by %s, %" PRId64 " ms",
             call->tool->name, tool_level_name(call->tool->level),
             call->decision, call->decided_by, now_ms - call->started_ms);
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
                       const struct schema_value *values, int64_t now_ms,
                       struct tool_answer *answer)
{
    struct tool_request request = {
        .arena = arena,
        .image = gate->image,
        .files = gate->files,
        .limits = &gate->limits,
        .values = values,
        .call = call,
    };
    enum status status;

    tell_hooks(gate, call, GATE_BEFORE, STR(""), now_ms);
    answer->state = TOOL_WAITS;
    if (call->tool->operation)
        status = tool_send(&request);
    else
        status = call->tool->handler(&request, answer);
    return explain(arena, status, answer);
}

/* The arguments outlive the request, for the hooks and for what is still to be
   decided. */
static enum status keep_arguments(struct tool_call *call, struct json arguments)
{
    struct str text =
        json_is_absent(arguments) ? STR("{}") : json_raw(arguments);

    if (buf_reserve_exact(&call->arguments, text.n) == NULL)
        return ST_NOMEM;
    buf_str(&call->arguments, text);
    call->image.owner_bytes += text.n;
    return ST_OK;
}

enum status gate_start(struct gate *gate, struct arena *arena,
                       struct tool_call *call, struct json arguments,
                       const struct schema_value *values, int64_t now_ms,
                       struct tool_answer *answer)
{
    enum status status;

    *answer = (struct tool_answer){0};
    call->started_ms = now_ms;
    decide(gate, call, now_ms);
    status = keep_arguments(call, arguments);
    if (status == ST_OK && call->approved)
        status = run(gate, arena, call, values, now_ms, answer);
    else if (status == ST_OK)
        status = refuse(arena, call->tool, answer);
    if (status == ST_NOMEM) {
        answer->state = TOOL_FAILED;
        answer->text = STR("Out of memory.");
    }
    if (answer->state != TOOL_WAITS)
        gate_end(gate, call, answer, now_ms);
    return status;
}

void gate_end(struct gate *gate, struct tool_call *call,
              struct tool_answer *answer, int64_t now_ms)
{
    bool failed = answer->state == TOOL_FAILED;

    log_line(gate->log, LOG_DEBUG, "gate: %s %s after %" PRId64 " ms",
             call->tool->name, failed ? "failed" : "succeeded",
             now_ms - call->started_ms);
    tell_hooks(gate, call, failed ? GATE_ERROR : GATE_AFTER, answer->text,
               now_ms);
}
