/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask.c: see ask.h. */
#include "mcp/ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "mcp/ask_editor.h"

void ask_init(struct ask *ask, struct editor *editor, int64_t approval_ms,
              const unsigned char *key)
{
    *ask = (struct ask){.editor = editor, .approval_ms = approval_ms};
    memcpy(ask->tickets.key, key, TICKET_KEY);
}

bool ask_has_editor(const struct ask *ask)
{
    return ask->editor != NULL && ask->editor->connected;
}

#define CLOSED STR("the client has closed the connection")

/* TEXT, or OTHERWISE when there was no memory for it: an empty reason would
   count as none. */
static struct str not_empty(struct str text, struct str otherwise)
{
    return text.n > 0 ? text : otherwise;
}

/* --- The human's time --------------------------------------------------- */

static int64_t end_of_time(const struct ask *ask, int64_t now_ms)
{
    return now_ms + ask->approval_ms;
}

/* A human is asked about PENDING from now on. */
static void start_clock(const struct ask *ask, struct pending *pending,
                        int64_t now_ms)
{
    pending->asked_ms = now_ms;
    pending->worked_on = false;
    pending->expires_ms = end_of_time(ask, now_ms);
    pending->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
}

static struct str text_of_end(const struct ask *ask, struct arena *arena)
{
    return not_empty(arena_printf(arena, "the user did not answer within %d s",
                                  (int)(ask->approval_ms / 1000)),
                     STR("the user did not answer in time"));
}

enum status ask_read_state(const struct ask *ask, struct arena *arena,
                           struct str state, int64_t now_ms,
                           struct ask_again *out)
{
    enum status status = ticket_read(&ask->tickets, arena, state, &out->ticket);

    if (status != ST_OK)
        return status;
    out->has_ticket = true;
    out->late =
        now_ms > out->ticket.expires_ms ? text_of_end(ask, arena) : STR("");
    return ST_OK;
}

int64_t ask_deadline(const struct pending *pending)
{
    int64_t deadline = DEADLINE_NEVER;

    if (pending_is_with_editor(pending->state))
        deadline = ask_editor_deadline(pending);
    if (!pending_asks(pending->state))
        return deadline;
    deadline = deadline_earlier(deadline, pending->expires_ms);
    if (pending->token.n > 0)
        deadline = deadline_earlier(deadline, pending->next_report_ms);
    return deadline;
}

static void end_of_thinking(struct ask *ask, struct step *t)
{
    struct str why = t->pending->worked_on
                         ? STR("the user worked on it and did not finish")
                         : text_of_end(ask, t->gate.arena);

    ask_withdraw(ask, t, why);
    ask_go_on_alone(ask, t, step_decide_without(t, why));
}

static void report_thinking(const struct step *t)
{
    char text[100];
    int64_t seconds = (t->gate.now_ms - t->pending->tool.started_ms) / 1000;
    int n = snprintf(text, sizeof text, "waiting for the user, %s%d s",
                     t->pending->worked_on ? "who is working on it, " : "",
                     (int)seconds);

    t->pending->next_report_ms = t->gate.now_ms + LIMIT_APPROVAL_PROGRESS_MS;
    step_report(t, str_make(text, (size_t)n));
}

void ask_prolong(struct ask *ask, struct step *t)
{
    struct pending *pending = t->pending;
    int64_t now_ms = t->gate.now_ms;

    if (pending->state != PENDING_ASKING_EDITOR)
        return;
    int64_t expires_ms = deadline_earlier(
        end_of_time(ask, now_ms), pending->asked_ms + LIMIT_APPROVAL_WORK_MS);
    if (expires_ms > pending->expires_ms)
        pending->expires_ms = expires_ms;
    pending->worked_on = true;
    editor_waits(ask->editor, pending->editor_request,
                 (pending->expires_ms - now_ms) / 1000);
}

void ask_tick(struct ask *ask, struct step *t)
{
    const struct pending *pending = t->pending;

    if (ask_editor_is_late(t))
        ask_go_on_alone(ask, t, ask_editor_time_out(ask->editor, t));
    else if (!pending_asks(pending->state))
        return;
    else if (deadline_has_passed(pending->expires_ms, t->gate.now_ms))
        end_of_thinking(ask, t);
    else if (deadline_has_passed(pending->next_report_ms, t->gate.now_ms))
        report_thinking(t);
}

/* --- The client --------------------------------------------------------- */

/* Bytes of the id of a request of ours, with its NUL. */
#define QUESTION_ID 32

/* The id of our request with the question of PENDING. */
static struct str question_id(const struct pending *pending,
                              char text[QUESTION_ID])
{
    int n = snprintf(text, QUESTION_ID, "\"ecl-mcp-%" PRIu64 "\"",
                     pending->question);
    return str_make(text, (size_t)n);
}

struct pending *ask_find(const struct pending_table *table, struct str id)
{
    char text[QUESTION_ID];
    struct pending *pending = table->first[PENDING_ASKING_CLIENT];

    while (pending && !str_eq(question_id(pending, text), id))
        pending = pending->list_next;
    return pending;
}

static enum status ask_client(struct ask *ask, struct step *t)
{
    char id[QUESTION_ID];
    struct pending *pending = t->pending;

    pending->question = ++ask->last_question;
    enum status status =
        result_elicit(t->table->output, pending->version,
                      question_id(pending, id), &pending->tool);
    if (status != ST_OK)
        return status;
    pending_set_state(t->table, pending, PENDING_ASKING_CLIENT);
    start_clock(ask, pending, t->gate.now_ms);
    return ST_OK;
}

/* The words of a client that could not ask. */
static struct str text_of_error(struct arena *arena, struct json error)
{
    struct str message;
    struct str text = STR("the client could not ask its user");

    if (json_string(arena, json_get(error, "message"), &message) != ST_OK)
        return text;
    message = utf8_head(message, LIMIT_REASON);
    return arena_printf(arena, "%.*s (%.*s)", STR_ARG(text), STR_ARG(message));
}

void ask_answer(struct ask *ask, struct step *t,
                const struct rpc_message *response)
{
    struct str why = STR("");

    if (json_is_absent(response->result))
        why = text_of_error(t->gate.arena, response->error);
    ask_go_on_alone(ask, t, gate_decide(&t->gate, response->result, why));
}

void ask_withdraw(struct ask *ask, const struct step *t, struct str why)
{
    char id[QUESTION_ID];
    const struct pending *pending = t->pending;

    if (pending_is_with_editor(pending->state))
        ask_editor_withdraw(ask->editor, pending, why);
    else if (pending->state == PENDING_ASKING_CLIENT &&
             result_withdraw(t->table->output, question_id(pending, id), why) !=
                 ST_OK)
        log_line(t->table->log, LOG_WARN,
                 "mcp: no memory to withdraw a question");
}

/* --- Whom to ask -------------------------------------------------------- */

/* Why the call of T cannot wait in STATE, for a human or the editor; empty: it
   can. */
static struct str fault_of(const struct ask *ask, const struct step *t,
                           enum pending_state state)
{
    if (ask->finished)
        return CLOSED;
    if (pending_fits(t->table, t->pending, state))
        return STR("");
    return not_empty(arena_printf(t->gate.arena,
                                  "too many calls already wait for the %s; the "
                                  "limit is %zu calls and %u bytes",
                                  pending_asks(state) ? "user" : "editor",
                                  pending_limit(state), LIMIT_PENDING_BYTES),
                     STR("too many calls wait already"));
}

static enum status go_on_without_editor(struct ask *ask, struct step *t)
{
    return ask_go_on(ask, t, gate_without_editor(&t->gate));
}

/* A question that cannot be put is answered for the human, so that this comes
   to an end. */
static enum status put_question(struct ask *ask, struct step *t,
                                enum pending_state state)
{
    struct str fault = fault_of(ask, t, state);

    if (fault.n > 0)
        return ask_go_on(ask, t, step_decide_without(t, fault));
    if (state == PENDING_ASKING_CLIENT)
        return ask_client(ask, t);
    if (!ask_editor_approve(ask->editor, t, ask->approval_ms / 1000))
        return go_on_without_editor(ask, t);
    start_clock(ask, t->pending, t->gate.now_ms);
    return ST_OK;
}

/* What a handler asks by itself is a form, which only a client shows. */
static enum status choose_human(struct ask *ask, struct step *t)
{
    const struct tool_call *call = &t->pending->tool;

    if (call->editor && call->question.form.n == 0)
        return put_question(ask, t, PENDING_ASKING_EDITOR);
    if (!result_is_modern(t->pending->version))
        return put_question(ask, t, PENDING_ASKING_CLIENT);
    return ask_again_require(t, &ask->tickets,
                             end_of_time(ask, t->gate.now_ms));
}

static enum status read_buffer(struct ask *ask, struct step *t)
{
    if (fault_of(ask, t, PENDING_READING_BUFFER).n > 0 ||
        !ask_editor_read(ask->editor, t))
        return go_on_without_editor(ask, t);
    return ST_OK;
}

static void run_in_editor(struct ask *ask, struct step *t)
{
    struct str fault = fault_of(ask, t, PENDING_IN_EDITOR);

    if (fault.n == 0 && !ask_editor_call(ask->editor, t))
        fault = STR("the editor is not connected, or does not read");
    if (fault.n > 0)
        step_fail(t, arena_printf(t->gate.arena, "%s was not run: %.*s.",
                                  t->pending->tool.tool->name, STR_ARG(fault)));
}

enum status ask_go_on(struct ask *ask, struct step *t, enum status status)
{
    if (status != ST_OK)
        return status;
    switch (t->gate.answer.state) {
    case TOOL_WAITS:
        pending_set_state(t->table, t->pending, PENDING_IN_IMAGE);
        break;
    case TOOL_WORKS:
        pending_set_state(t->table, t->pending, PENDING_WORKING);
        break;
    case TOOL_READS_BUFFER:
        return read_buffer(ask, t);
    case TOOL_ASKS:
        return choose_human(ask, t);
    case TOOL_IN_EDITOR:
        run_in_editor(ask, t);
        break;
    case TOOL_ANSWERED:
    case TOOL_FAILED:
        step_send(t);
        break;
    }
    return ST_OK;
}

void ask_go_on_alone(struct ask *ask, struct step *t, enum status status)
{
    if (ask_go_on(ask, t, status) == ST_OK)
        return;
    rpc_check_sent(t->table->log, rpc_error(&t->pending->to, RPC_INTERNAL_ERROR,
                                            STR("out of memory")));
    step_end(t);
}

/* --- The end ------------------------------------------------------------ */

void ask_finish(struct ask *ask)
{
    ask->finished = true;
}

void ask_refuse(struct ask *ask, struct step *t)
{
    if (pending_is_with_editor(t->pending->state))
        ask_withdraw(ask, t, CLOSED);
    ask_go_on_alone(ask, t, step_decide_without(t, CLOSED));
}
