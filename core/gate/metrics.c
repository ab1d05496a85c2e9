/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metrics.c: see metrics.h. */
#include "gate/metrics.h"

#include "gate/policy.h"

/* The record of TOOL, a new one if there is none; that of all others when there
   is no room for one. */
static struct metrics_tool *find(struct metrics *metrics,
                                 const struct tool *tool)
{
    size_t i = 0;

    while (i < metrics->count &&
           strcmp(metrics->tools[i].name, tool->name) != 0)
        i++;
    if (i == LIMIT_METRICS)
        return &metrics->others;
    if (i == metrics->count) {
        metrics->tools[i] = (struct metrics_tool){.level = tool->level};
        memcpy(metrics->tools[i].name, tool->name, strlen(tool->name) + 1);
        metrics->count++;
    }
    return &metrics->tools[i];
}

void metrics_event(void *context, const struct gate_event *event)
{
    struct metrics *metrics = context;
    const struct tool_call *call = event->call;
    int64_t decided_ms = call->decision ? call->decided_ms : event->now_ms;
    int64_t run_ms = event->now_ms - decided_ms;

    if (event->phase == GATE_BEFORE)
        return;
    struct metrics_tool *record =
        find(metrics, call->tool->rules_of ? call->tool->rules_of : call->tool);
    record->calls++;
    record->errors += event->phase == GATE_ERROR && call->approved;
    record->refused += event->phase == GATE_ERROR && !call->approved;
    record->argument_bytes += event->arguments.n;
    record->answer_bytes += event->text.n;
    record->decision_ms += decided_ms - call->started_ms;
    record->run_ms += run_ms;
    if (run_ms > record->longest_ms)
        record->longest_ms = run_ms;
}

void metrics_turn(struct metrics *metrics, int64_t us, int64_t cpu_us)
{
    metrics->turns++;
    if (us > metrics->longest_turn_us)
        metrics->longest_turn_us = us;
    if (cpu_us > metrics->longest_turn_cpu_us)
        metrics->longest_turn_cpu_us = cpu_us;
}

static void write_counts(struct jsonw *w, const struct metrics_tool *record)
{
    jsonw_member_int(w, "calls", (int64_t)record->calls);
    jsonw_member_int(w, "errors", (int64_t)record->errors);
    jsonw_member_int(w, "refused", (int64_t)record->refused);
    jsonw_member_int(w, "decisionMs", record->decision_ms);
    jsonw_member_int(w, "runMs", record->run_ms);
    jsonw_member_int(w, "longestRunMs", record->longest_ms);
    jsonw_member_int(w, "argumentBytes", (int64_t)record->argument_bytes);
    jsonw_member_int(w, "answerBytes", (int64_t)record->answer_bytes);
}

static void write_tool(struct jsonw *w, const struct metrics_tool *record)
{
    jsonw_object(w);
    jsonw_member(w, "name", str_from(record->name));
    jsonw_member(w, "level", str_from(tool_level_name(record->level)));
    write_counts(w, record);
    jsonw_end_object(w);
}

/* Nothing as long as each tool has a record of its own. */
static void write_others(struct jsonw *w, const struct metrics_tool *others)
{
    if (others->calls == 0)
        return;
    jsonw_name(w, "otherTools");
    jsonw_object(w);
    write_counts(w, others);
    jsonw_end_object(w);
}

static struct metrics_tool sum(const struct metrics *metrics)
{
    struct metrics_tool all = metrics->others;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct metrics_tool *one = &metrics->tools[i];
        all.calls += one->calls;
        all.errors += one->errors;
        all.refused += one->refused;
        all.argument_bytes += one->argument_bytes;
        all.answer_bytes += one->answer_bytes;
        all.decision_ms += one->decision_ms;
        all.run_ms += one->run_ms;
        if (one->longest_ms > all.longest_ms)
            all.longest_ms = one->longest_ms;
    }
    return all;
}

static void write_rules(struct jsonw *w, const struct gate *gate)
{
    static const struct policy none;
    const struct policy *policy = gate->policy ? gate->policy : &none;

    jsonw_name(w, "grants");
    jsonw_array(w);
    for (size_t i = 0; i < gate->grants.count; i++)
        jsonw_string(w, str_from(gate->grants.tools[i]->name));
    jsonw_end_array(w);
    jsonw_name(w, "rules");
    policy_write(w, policy);
    jsonw_name(w, "rulesFault");
    if (policy->fault.n > 0)
        jsonw_string(w, policy->fault);
    else
        jsonw_null(w);
}

static void write_limits(struct jsonw *w, const struct tool_limits *limits)
{
    jsonw_name(w, "limits");
    jsonw_object(w);
    jsonw_member_int(w, "timeoutMs", limits->timeout_ms);
    jsonw_member_int(w, "maxOutput", (int64_t)limits->max_output);
    jsonw_name(w, "memoryBytes");
    if (limits->memory > 0)
        jsonw_int(w, limits->memory);
    else
        jsonw_null(w); // only the supervisor of the images knows
    jsonw_end_object(w);
}

/* Nothing where the host counts no turns: the loop of Emacs is its own. */
static void write_loop(struct jsonw *w, const struct metrics *metrics)
{
    if (metrics->turns == 0)
        return;
    jsonw_name(w, "loop");
    jsonw_object(w);
    jsonw_member_int(w, "turns", (int64_t)metrics->turns);
    jsonw_member_int(w, "longestUs", metrics->longest_turn_us);
    jsonw_member_int(w, "longestCpuUs", metrics->longest_turn_cpu_us);
    jsonw_end_object(w);
}

void metrics_write(struct jsonw *w, const struct metrics *metrics,
                   const struct gate *gate, size_t waiting)
{
    const struct metrics_tool all = sum(metrics);

    jsonw_object(w);
    jsonw_member_int(w, "waiting", (int64_t)waiting);
    write_counts(w, &all);
    jsonw_name(w, "tools");
    jsonw_array(w);
    for (size_t i = 0; i < metrics->count; i++)
        write_tool(w, &metrics->tools[i]);
    jsonw_end_array(w);
    write_others(w, &metrics->others);
    write_rules(w, gate);
    write_limits(w, &gate->limits);
    write_loop(w, metrics);
    jsonw_end_object(w);
}
