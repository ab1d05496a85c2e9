/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.c: see step.h. */
#include "mcp/step.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

void turn_report(struct calls *calls, struct entry *entry, struct str text)
{
    if (!entry->remembered || entry->token.n == 0 ||
        calls->output->n >= LIMIT_OUTPUT_BACKLOG)
        return;
    entry->progress++;
    enum status status =
        result_progress(calls->output, entry->version, entry->token,
                        entry->progress, utf8_tail(text, LIMIT_PROGRESS));
    if (status != ST_OK)
        log_line(calls->log, LOG_WARN, "mcp: no memory to report progress");
}

void turn_report_waiting(struct calls *calls, struct entry *entry,
                         int64_t now_ms)
{
    char text[100];
    int64_t seconds = (now_ms - entry->tool.started_ms) / 1000;
    int n =
        snprintf(text, sizeof text, "waiting for the user, %d s", (int)seconds);
    entry->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
    turn_report(calls, entry, str_make(text, (size_t)n));
}

void turn_end(struct calls *calls, struct entry *entry)
{
    entry_free(&calls->entries, entry, calls->output);
}

struct turn turn_of(struct calls *calls, struct arena *arena,
                    struct entry *entry, int64_t now_ms)
{
    return (struct turn){.calls = calls,
                         .entry = entry,
                         .gate = {.gate = calls->gate,
                                  .arena = arena,
                                  .call = &entry->tool,
                                  .now_ms = now_ms}};
}

/* The answer of a view is a resource. */
static enum status write_resource(const struct turn *t)
{
    const struct entry *entry = t->entry;
    const struct tool_answer *answer = &t->gate.answer;

    if (answer->missing)
        return result_no_resource(&entry->to, entry->version, entry->uri,
                                  answer->text);
    if (answer->state == TOOL_FAILED)
        return rpc_error(&entry->to, RPC_INTERNAL_ERROR, answer->text);
    if (answer->content.n > 0)
        return result_of_contents(&entry->to, entry->version, answer->content);
    return result_of_text(&entry->to, entry->version, entry->uri, entry->type,
                          answer->text);
}

/* Writes the answer in the form that the request wants. */
static enum status write_answer(const struct turn *t)
{
    const struct entry *entry = t->entry;
    const struct tool_answer *answer = &t->gate.answer;

    if (answer->requires != NULL && result_is_modern(entry->version))
        return result_missing_capability(&entry->to, answer->requires,
                                         answer->text);
    if (entry->uri.n > 0)
        return write_resource(t);
    return result_of_call(&entry->to, entry->version, &entry->tool, answer,
                          t->gate.now_ms);
}

void turn_send(struct turn *t)
{
    rpc_check_sent(t->calls->log, write_answer(t));
    turn_end(t->calls, t->entry);
}

enum status turn_decide_without(struct turn *t, struct str why)
{
    return gate_decide(&t->gate, (struct json){0}, why);
}

void turn_fail(struct turn *t, struct str text)
{
    t->gate.answer = (struct tool_answer){.state = TOOL_FAILED, .text = text};
    gate_end(&t->gate);
    turn_send(t);
}

struct str turn_expiry(const struct turn *t)
{
    return arena_printf(t->gate.arena, "the user did not answer within %d s",
                        (int)(t->calls->approval_ms / 1000));
}
