/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask.c: see ask.h. */
#include "mcp/ask.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/deadline.h"
#include "base/limits.h"
#include "mcp/ask_again.h"

/* Bytes of the id of a request of ours, with its NUL. */
#define QUESTION_ID 32

struct str course_fault(const struct step *t)
{
    const struct pending_table *table = &t->calls->pending;

    if (t->calls->finished)
        return STR("the client has closed the connection");
    if (table->asking_count < LIMIT_APPROVALS &&
        table->asking_bytes + pending_bytes(t->pending) <= LIMIT_PENDING_BYTES)
        return STR("");
    return arena_printf(t->gate.arena,
                        "too much waits for the user already, the limit is %d "
                        "calls and %u bytes",
                        LIMIT_APPROVALS, LIMIT_PENDING_BYTES);
}

/* --- The client ---------------------------------------------------------- */

/* Our request with the question of PENDING. */
static struct str question_id(const struct pending *pending,
                              char text[QUESTION_ID])
{
    int n = snprintf(text, QUESTION_ID, "\"ecl-mcp-%llu\"",
                     (unsigned long long)pending->question);
    return str_make(text, (size_t)n);
}

struct pending *course_find_question(const struct calls *calls, struct str id)
{
    char text[QUESTION_ID];
    struct pending *pending = calls->pending.asking;

    while (pending != NULL && (pending->editor_request != 0 ||
                               !str_eq(question_id(pending, text), id)))
        pending = pending->list_next;
    return pending;
}

/* PENDING waits for a human from now on. */
static void wait_for_human(struct calls *calls, struct pending *pending,
                           int64_t now_ms)
{
    pending_remember(&calls->pending, pending);
    pending_ask(&calls->pending, pending);
    pending->expires_ms = now_ms + calls->approval_ms;
    pending->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
}

static enum status put_question(struct calls *calls, struct pending *pending,
                                int64_t now_ms)
{
    char id[QUESTION_ID];

    pending->question = ++calls->last_question;
    enum status status =
        result_elicit(calls->output, pending->version, question_id(pending, id),
                      &pending->tool);
    if (status != ST_OK)
        return status;
    wait_for_human(calls, pending, now_ms);
    return ST_OK;
}

/* A question that cannot be put is answered for the human, so that this comes
   to an end. */
static enum status ask_client(struct step *t, struct str fault)
{
    if (result_is_modern(t->pending->version))
        return again_require(t);
    if (fault.n == 0)
        return put_question(t->calls, t->pending, t->gate.now_ms);
    if (step_decide_without(t, fault) != ST_OK)
        return ST_NOMEM;
    step_send(t);
    return ST_OK;
}

/* --- The editor ---------------------------------------------------------- */

/* The editor got the request EDITOR_REQUEST about the call of T. */
static void send_away(struct step *t, uint64_t editor_request)
{
    t->pending->editor_request = editor_request;
    t->pending->received = false;
    t->pending->receive_by_ms = t->gate.now_ms + LIMIT_EDITOR_RECEIVE_MS;
}

/* There is an editor, but it is not to be reached. */
static enum status go_on_without_editor(struct step *t)
{
    return course_go_on(t, gate_without_editor(&t->gate));
}

/* Too much waits already, or nothing more is done; empty: it is not so. */
static struct str fault_of_editor_request(const struct step *t)
{
    const struct pending_table *table = &t->calls->pending;

    if (t->calls->finished)
        return STR("the client has closed the connection");
    if (table->away_count < LIMIT_EDITOR_CALLS &&
        table->asking_bytes + pending_bytes(t->pending) <= LIMIT_PENDING_BYTES)
        return STR("");
    return arena_printf(t->gate.arena,
                        "too much waits for the editor already, the limit is "
                        "%d calls and %u bytes",
                        LIMIT_EDITOR_CALLS, LIMIT_PENDING_BYTES);
}

/* Asks for the text of a buffer. */
static enum status look(struct step *t)
{
    struct pending_table *table = &t->calls->pending;
    uint64_t editor_request = 0;

    if (fault_of_editor_request(t).n == 0)
        editor_request = editor_text(t->calls->editor, t->gate.answer.text);
    if (editor_request == 0)
        return go_on_without_editor(t);
    pending_remember(table, t->pending);
    pending_send_away(table, t->pending);
    send_away(t, editor_request);
    t->pending->expires_ms = t->pending->receive_by_ms + LIMIT_EDITOR_LOOK_MS;
    return ST_OK;
}

static enum status ask_editor(struct step *t, struct str fault)
{
    uint64_t editor_request;

    if (fault.n > 0) {
        if (step_decide_without(t, fault) != ST_OK)
            return ST_NOMEM;
        step_send(t);
        return ST_OK;
    }
    editor_request = editor_approve(t->calls->editor, &t->pending->tool,
                                    t->calls->approval_ms / 1000);
    if (editor_request == 0)
        return go_on_without_editor(t);
    wait_for_human(t->calls, t->pending, t->gate.now_ms);
    send_away(t, editor_request);
    return ST_OK;
}

/* What a handler asks by itself is a form that only a client shows. */
static enum status ask(struct step *t)
{
    const struct tool_call *call = &t->pending->tool;
    struct str fault = course_fault(t);

    return call->editor && call->question.form.n == 0 ? ask_editor(t, fault)
                                                      : ask_client(t, fault);
}

/* Lets the editor do the call. */
static void lend(struct step *t)
{
    struct calls *calls = t->calls;
    int64_t timeout_ms = calls->gate->limits.timeout_ms;
    struct str fault = fault_of_editor_request(t);
    uint64_t editor_request = 0;

    if (fault.n == 0 && calls->editor != NULL)
        editor_request = editor_call(calls->editor, &t->pending->tool);
    if (editor_request == 0) {
        step_fail(t, fault.n > 0 ? fault
                                 : STR("The editor that has this tool is not "
                                       "there, or does not read."));
        return;
    }
    pending_remember(&calls->pending, t->pending);
    pending_send_away(&calls->pending, t->pending);
    send_away(t, editor_request);
    t->pending->expires_ms =
        timeout_ms > 0 ? t->gate.now_ms + timeout_ms : DEADLINE_NEVER;
}

void course_withdraw(struct calls *calls, struct pending *pending,
                     struct str why)
{
    char id[QUESTION_ID];

    if (pending->editor_request != 0) {
        editor_withdraw(calls->editor, pending->editor_request, why);
        return;
    }
    if (result_withdraw(calls->output, question_id(pending, id), why) != ST_OK)
        log_line(calls->log, LOG_WARN,
                 "mcp: no memory to take a question back");
}

/* --- All of it ----------------------------------------------------------- */

enum status course_go_on(struct step *t, enum status status)
{
    struct pending_table *table = &t->calls->pending;

    pending_leave(table, t->pending);
    t->pending->editor_request = 0;
    t->pending->received = false;
    if (status != ST_OK)
        return status;
    switch (t->gate.answer.state) {
    case TOOL_WAITS:
        pending_remember(table, t->pending);
        break;
    case TOOL_WORKS:
        pending_remember(table, t->pending);
        pending_work(table, t->pending);
        break;
    case TOOL_LOOKS:
        return look(t);
    case TOOL_ASKS:
        return ask(t);
    case TOOL_IN_EDITOR:
        lend(t);
        break;
    case TOOL_ANSWERED:
    case TOOL_FAILED:
        step_send(t);
        break;
    }
    return ST_OK;
}

void course_go_on_alone(struct step *t, enum status status)
{
    if (course_go_on(t, status) == ST_OK)
        return;
    rpc_check_sent(t->calls->log, rpc_error(&t->pending->to, RPC_INTERNAL_ERROR,
                                            STR("out of memory")));
    step_end(t->calls, t->pending);
}
