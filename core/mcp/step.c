/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.c: see step.h. */
#include "mcp/step.h"

#include "base/limits.h"
#include "base/utf8.h"

void step_report(const struct step *t, struct str text)
{
    struct pending *pending = t->pending;
    struct buf *output = t->table->output;

    if (!pending->remembered || pending->token.n == 0 ||
        output->n >= LIMIT_OUTPUT_BACKLOG)
        return;
    pending->progress++;
    enum status status =
        result_progress(output, pending->version, pending->token,
                        pending->progress, utf8_tail(text, LIMIT_PROGRESS));
    if (status != ST_OK)
        log_line(t->table->log, LOG_WARN, "mcp: no memory to report progress");
}

void step_ask_input(const struct step *t)
{
    struct pending *pending = t->pending;

    if (!pending->remembered || pending->token.n == 0)
        return;
    pending->progress++;
    enum status status = result_progress_input(t->table->output, pending->token,
                                               pending->progress);
    if (status != ST_OK)
        log_line(t->table->log, LOG_WARN, "mcp: no memory to ask for a line");
}

void step_end(struct step *t)
{
    pending_free(t->table, t->pending);
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

/* What the host has to say first. Emacs looks things up by itself; nobody would
   read it there. */
static struct str notice_of(const struct step *t)
{
    const struct buf *notices = t->gate.gate->notices;

    return notices && !t->pending->tool.tool->look_up
               ? str_trim(buf_view(notices))
               : STR("");
}

static enum status write_call_result(const struct step *t,
                                     const struct tool_answer *answer)
{
    const struct pending *pending = t->pending;
    struct str notice = notice_of(t);
    enum status status =
        result_of_call(&pending->to, pending->version, &pending->tool, answer,
                       notice, t->gate.now_ms);

    if (notice.n > 0 && status == ST_OK)
        buf_reset(t->gate.gate->notices);
    return status;
}

/* Writes the answer in the form that the request wants. */
static enum status write_answer(const struct step *t)
{
    const struct pending *pending = t->pending;
    const struct tool_answer *answer = &t->gate.answer;

    if (answer->requires && result_is_modern(pending->version))
        return result_missing_capability(&pending->to, answer->requires,
                                         answer->text);
    if (pending->completion)
        return result_of_completion(&pending->to, pending->version,
                                    answer->structured);
    if (pending->uri.n > 0)
        return write_resource(t);
    return write_call_result(t, answer);
}

static void send_now(struct step *t)
{
    rpc_check_sent(t->table->log, write_answer(t));
    step_end(t);
}

/* Keeps the answer until LINE of the log is on the disk. */
static enum status keep_answer(struct step *t, uint64_t line)
{
    struct pending *pending = t->pending;
    struct arena *arena = &pending->answer_arena;
    struct tool_answer *kept = &pending->answer;
    enum status status = ST_OK;

    *kept = t->gate.answer;
    status = arena_str(arena, kept->text, &kept->text);
    if (status == ST_OK)
        status = arena_str(arena, kept->structured, &kept->structured);
    if (status == ST_OK)
        status = arena_str(arena, kept->content, &kept->content);
    if (status != ST_OK)
        return status;
    pending->line = line;
    pending_set_state(t->table, pending, PENDING_SETTLING);
    return ST_OK;
}

void step_send(struct step *t)
{
    const struct audit *audit = t->table->audit;
    bool lasting = t->pending->tool.tool->level == TOOL_DANGEROUS;
    uint64_t line = lasting && audit ? audit_unsettled(audit) : 0;

    if (line == 0) {
        send_now(t);
        return;
    }
    if (keep_answer(t, line) == ST_OK)
        return;
    rpc_check_sent(t->table->log, rpc_error(&t->pending->to, RPC_INTERNAL_ERROR,
                                            STR("out of memory")));
    step_end(t);
}

void step_settle(struct step *t, bool anyway)
{
    if (!anyway && !audit_is_settled(t->table->audit, t->pending->line))
        return;
    t->gate.answer = t->pending->answer;
    send_now(t);
}

void step_give_up(struct step *t, struct str text)
{
    t->gate.answer = (struct tool_answer){.state = TOOL_FAILED, .text = text};
    gate_end(&t->gate);
}

void step_fail(struct step *t, struct str text)
{
    step_give_up(t, text);
    step_send(t);
}

enum status step_decide_without(struct step *t, struct str why)
{
    return gate_decide(&t->gate, (struct json){0}, why);
}
