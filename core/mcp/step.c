/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.c: see step.h. */
#include "mcp/step.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

void step_report(struct calls *calls, struct pending *pending, struct str text)
{
    if (!pending->remembered || pending->token.n == 0 ||
        calls->output->n >= LIMIT_OUTPUT_BACKLOG)
        return;
    pending->progress++;
    enum status status =
        result_progress(calls->output, pending->version, pending->token,
                        pending->progress, utf8_tail(text, LIMIT_PROGRESS));
    if (status != ST_OK)
        log_line(calls->log, LOG_WARN, "mcp: no memory to report progress");
}

void step_report_waiting(struct calls *calls, struct pending *pending,
                         int64_t now_ms)
{
    char text[100];
    int64_t seconds = (now_ms - pending->tool.started_ms) / 1000;
    int n =
        snprintf(text, sizeof text, "waiting for the user, %d s", (int)seconds);
    pending->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
    step_report(calls, pending, str_make(text, (size_t)n));
}

void step_end(struct calls *calls, struct pending *pending)
{
    pending_free(&calls->pending, pending, calls->output);
}

struct step step_of(struct calls *calls, struct arena *arena,
                    struct pending *pending, int64_t now_ms)
{
    return (struct step){.calls = calls,
                         .pending = pending,
                         .gate = {.gate = calls->gate,
                                  .arena = arena,
                                  .call = &pending->tool,
                                  .now_ms = now_ms}};
}

/* The answer of a view is a resource. */
static enum status write_resource(const struct step *t)
{
    const struct pending *pending = t->pending;
    const struct tool_answer *answer = &t->gate.answer;

    if (answer->missing)
        return result_no_resource(&pending->to, pending->version, pending->uri,
                                  answer->text);
    if (answer->state == TOOL_FAILED)
        return rpc_error(&pending->to, RPC_INTERNAL_ERROR, answer->text);
    if (answer->content.n > 0)
        return result_of_contents(&pending->to, pending->version,
                                  answer->content);
    return result_of_text(&pending->to, pending->version, pending->uri,
                          pending->type, answer->text);
}

/* Writes the answer in the form that the request wants. */
static enum status write_answer(const struct step *t)
{
    const struct pending *pending = t->pending;
    const struct tool_answer *answer = &t->gate.answer;

    if (answer->requires != NULL && result_is_modern(pending->version))
        return result_missing_capability(&pending->to, answer->requires,
                                         answer->text);
    if (pending->uri.n > 0)
        return write_resource(t);
    return result_of_call(&pending->to, pending->version, &pending->tool,
                          answer, t->gate.now_ms);
}

void step_send(struct step *t)
{
    rpc_check_sent(t->calls->log, write_answer(t));
    step_end(t->calls, t->pending);
}

enum status step_decide_without(struct step *t, struct str why)
{
    return gate_decide(&t->gate, (struct json){0}, why);
}

void step_fail(struct step *t, struct str text)
{
    t->gate.answer = (struct tool_answer){.state = TOOL_FAILED, .text = text};
    gate_end(&t->gate);
    step_send(t);
}

struct str step_expiry(const struct step *t)
{
    return arena_printf(t->gate.arena, "the user did not answer within %d s",
                        (int)(t->calls->approval_ms / 1000));
}
