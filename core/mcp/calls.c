/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.c: the calls that wait, found by the image's id (image.c keeps that
   table), by the client's, and by that of the question to a human. */
#include "mcp/calls.h"

#include <inttypes.h>

#include "base/deadline.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "mcp/ask.h"
#include "mcp/ask_again.h"

void calls_init(struct calls *calls, struct gate *gate, struct buf *output,
                struct editor *editor, int64_t approval_ms,
                const unsigned char *key)
{
    *calls = (struct calls){.log = gate->log,
                            .gate = gate,
                            .image = gate->image,
                            .output = output,
                            .editor = editor,
                            .approval_ms = approval_ms,
                            .pending.log = gate->log};
    memcpy(calls->tickets.key, key, TICKET_KEY);
}

/* Without an answer. */
static void end_silently(struct calls *calls, struct pending *pending)
{
    pending_free(&calls->pending, pending, NULL);
}

void calls_release(struct calls *calls)
{
    struct image_call *waiting;
    while (calls->image && (waiting = image_take(calls->image)) != NULL)
        end_silently(calls, waiting->owner);
    while (calls->pending.asking != NULL)
        end_silently(calls, calls->pending.asking);
    while (calls->pending.working != NULL)
        end_silently(calls, calls->pending.working);
    while (calls->pending.away != NULL)
        end_silently(calls, calls->pending.away);
}

size_t calls_waiting(const struct calls *calls)
{
    return calls->pending.remembered;
}

/* --- The start of a call ------------------------------------------------ */

static enum status run_pending(struct step *t,
                               const struct calls_request *request,
                               const struct ticket *ticket)
{
    struct tool_call *call = &t->pending->tool;

    call->tool = request->tool;
    call->can_ask = request->can_ask;
    // who was asked through the client has answered there
    call->editor =
        ticket == NULL && t->calls->editor != NULL && t->calls->editor->there;
    if (ticket != NULL)
        again_set_reply(call, request, ticket);
    enum status status =
        gate_start(&t->gate, request->arguments, request->values);
    if (status == ST_OK && t->gate.answer.state == TOOL_ASKS)
        status = again_resume(t, request, ticket);
    return course_go_on(t, status);
}

enum status calls_start(struct calls *calls,
                        const struct calls_request *request)
{
    struct ticket ticket;
    bool again = request->state.p != NULL;

    if (again) {
        enum status status = ticket_read(&calls->tickets, request->arena,
                                         request->state, &ticket);
        if (status != ST_OK)
            return status;
    }
    struct pending *pending =
        pending_new(&request->to, request->version, &request->texts);
    if (pending == NULL)
        return ST_NOMEM;
    pending->editor_tools = request->editor_tools;
    editor_tools_hold(pending->editor_tools);
    struct step step = step_of(calls, request->arena, pending, request->now_ms);
    enum status status = run_pending(&step, request, again ? &ticket : NULL);
    if (status != ST_OK)
        step_end(calls, pending);
    return status;
}

/* --- What happens to calls ---------------------------------------------- */

/* Ends the work of a call; WHY is its answer. */
static void stop_work(struct step *t, struct str why)
{
    t->gate.answer = (struct tool_answer){.state = TOOL_FAILED, .text = why};
    gate_end(&t->gate);
}

/* Whether PENDING, which is in a list, does no more than run: the editor does
   it, or it works in steps. */
static bool is_at_work(const struct calls *calls, const struct pending *pending)
{
    return pending->list != &calls->pending.asking && pending->tool.approved;
}

/* Ends a call of which the client hears no more. */
static void drop(struct step *t, struct str why)
{
    struct calls *calls = t->calls;

    if (t->pending->list == NULL) {
        image_stop(calls->image, &t->pending->tool.image);
        pending_forget(&calls->pending, t->pending, calls->output);
        return; // its reply still comes
    }
    bool runs = is_at_work(t->calls, t->pending);
    if (!runs || t->pending->editor_request != 0)
        course_withdraw(calls, t->pending, why);
    if (runs)
        stop_work(t, why);
    else if (step_decide_without(t, why) != ST_OK)
        log_line(calls->log, LOG_WARN, "mcp: out of memory");
    step_end(calls, t->pending);
}

void calls_cancel(struct calls *calls, struct arena *arena, struct str id,
                  int64_t now_ms)
{
    struct pending *pending;

    while ((pending = pending_find(&calls->pending, id)) != NULL) {
        struct step step = step_of(calls, arena, pending, now_ms);
        log_line(calls->log, LOG_INFO, "mcp: %s is cancelled",
                 pending->tool.tool->name);
        drop(&step, STR("the call was cancelled"));
    }
}

/* The words of a client that could not ask. */
static struct str error_text(struct arena *arena, struct json error)
{
    struct str message;

    if (json_string(arena, json_get(error, "message"), &message) != ST_OK)
        return STR("the client could not ask its user");
    message = utf8_head(message, LIMIT_REASON);
    return arena_printf(arena, "the client could not ask its user (%.*s)",
                        STR_ARG(message));
}

void calls_answer(struct calls *calls, struct arena *arena,
                  const struct rpc_message *response, int64_t now_ms)
{
    struct pending *pending = course_find_question(calls, response->id);

    if (pending == NULL)
        return;
    struct step step = step_of(calls, arena, pending, now_ms);
    if (json_is_absent(response->result))
        course_go_on_alone(
            &step,
            step_decide_without(&step, error_text(arena, response->error)));
    else
        course_go_on_alone(&step,
                           gate_decide(&step.gate, response->result, STR("")));
}

static void answer_call(struct calls *calls, struct pending *pending,
                        const struct image_reply *reply, int64_t now_ms)
{
    struct step step = step_of(calls, NULL, pending, now_ms);
    step.gate.answer.state = reply->error ? TOOL_FAILED : TOOL_ANSWERED;
    step.gate.answer.missing = reply->missing;
    step.gate.answer.text = reply->text;
    gate_end(&step.gate);
    if (pending->remembered)
        step_send(&step);
    else
        step_end(calls, pending);
}

void calls_take_replies(struct calls *calls, int64_t now_ms)
{
    struct image_reply reply;
    while (image_next(calls->image, &reply)) {
        if (reply.running)
            step_report(calls, reply.call->owner, reply.text);
        else
            answer_call(calls, reply.call->owner, &reply, now_ms);
    }
}

/* --- The editor ---------------------------------------------------------- */

/* The editor has not received what it was asked in time, or does not exist any
   more: WHY. */
static void do_without_editor(struct step *t, struct str why)
{
    course_withdraw(t->calls, t->pending, why);
    if (!is_at_work(t->calls, t->pending))
        course_go_on_alone(t, gate_without_editor(&t->gate));
    else
        step_fail(t, arena_printf(t->gate.arena,
                                  "%s did not run to its end: %.*s.",
                                  t->pending->tool.tool->name, STR_ARG(why)));
}

/* As much of TEXT as a model reads. */
static struct str shorten(const struct step *t, struct str text)
{
    struct str head = utf8_head(text, t->calls->gate->limits.max_output);

    if (head.n == text.n)
        return text;
    return arena_printf(t->gate.arena,
                        "%.*s\n[… %zu of %zu bytes; ask for less …]",
                        STR_ARG(head), head.n, text.n);
}

/* The editor has done a call. */
static void take_result(struct step *t, const struct editor_message *message)
{
    struct json text = json_get(message->value, "text");
    struct json error = json_get(message->value, "error");
    struct tool_answer *answer = &t->gate.answer;
    bool sound = json_type(text) == JSON_STRING;

    if (!sound)
        text = json_get(message->error, "message");
    *answer = (struct tool_answer){.state = TOOL_FAILED};
    if (json_string(t->gate.arena, text, &answer->text) != ST_OK)
        answer->text = STR("The editor gave no answer that makes sense.");
    answer->text = shorten(t, answer->text);
    if (sound && json_type(error) != JSON_TRUE)
        answer->state = TOOL_ANSWERED;
    gate_end(&t->gate);
    step_send(t);
}

void calls_editor(struct calls *calls, struct arena *arena,
                  const struct editor_message *message, int64_t now_ms)
{
    struct pending *pending =
        pending_of_editor_request(&calls->pending, message->id);

    if (pending == NULL) {
        log_line(calls->log, LOG_DEBUG,
                 "editor: nobody waits for request %" PRIu64, message->id);
        return;
    }
    struct step step = step_of(calls, arena, pending, now_ms);
    if (message->kind == EDITOR_RECEIVED)
        pending->received = true;
    else if (is_at_work(calls, pending))
        take_result(&step, message);
    else if (pending->list == &calls->pending.away)
        course_go_on_alone(&step, gate_look(&step.gate, message->value));
    else
        course_go_on_alone(&step,
                           gate_decide_there(&step.gate, message->value));
}

/* The editor of T is gone. */
static void lose_editor(struct step *t)
{
    struct str why = STR("the editor went away");

    if (t->pending->editor_request == 0)
        return;
    if (t->pending->list == &t->calls->pending.asking && t->pending->received)
        course_go_on_alone(t, step_decide_without(t, why));
    else
        do_without_editor(t, why);
}

/* Does RUN with each call of a list, as it is now. */
static void for_each(struct calls *calls, struct pending *pending,
                     struct arena *arena, int64_t now_ms,
                     void (*run)(struct step *t))
{
    while (pending != NULL) {
        struct pending *next = pending->list_next;
        struct step step = step_of(calls, arena, pending, now_ms);
        run(&step);
        arena_release(arena);
        pending = next;
    }
}

void calls_editor_gone(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, calls->pending.asking, arena, now_ms, lose_editor);
    for_each(calls, calls->pending.away, arena, now_ms, lose_editor);
}

/* --- Time --------------------------------------------------------------- */

static int64_t deadline_of(const struct pending *pending)
{
    int64_t next = pending->expires_ms;

    if (pending->editor_request != 0 && !pending->received)
        next = deadline_earlier(next, pending->receive_by_ms);
    return next;
}

int64_t calls_deadline(const struct calls *calls, int64_t now_ms)
{
    const struct pending *pending;
    int64_t deadline = DEADLINE_NEVER;

    if (calls->pending.working != NULL)
        return now_ms;
    for (pending = calls->pending.asking; pending != NULL;
         pending = pending->list_next) {
        deadline = deadline_earlier(deadline, deadline_of(pending));
        if (pending->token.n > 0)
            deadline = deadline_earlier(deadline, pending->next_report_ms);
    }
    for (pending = calls->pending.away; pending != NULL;
         pending = pending->list_next)
        deadline = deadline_earlier(deadline, deadline_of(pending));
    return deadline;
}

/* Whether the editor should have received what it was asked for T. */
static bool is_unheard(const struct step *t)
{
    const struct pending *pending = t->pending;

    return pending->editor_request != 0 && !pending->received &&
           t->gate.now_ms >= pending->receive_by_ms;
}

static struct str text_of_silence(const struct step *t)
{
    return arena_printf(t->gate.arena, "the editor did not answer within %d s",
                        LIMIT_EDITOR_RECEIVE_MS / 1000);
}

static void wait_on(struct step *t)
{
    if (is_unheard(t)) {
        do_without_editor(t, text_of_silence(t));
    } else if (t->gate.now_ms >= t->pending->expires_ms) {
        struct str why = step_expiry(t);
        course_withdraw(t->calls, t->pending, why);
        course_go_on_alone(t, step_decide_without(t, why));
    } else if (t->gate.now_ms >= t->pending->next_report_ms) {
        step_report_waiting(t->calls, t->pending, t->gate.now_ms);
    }
}

/* The editor takes too long for a call. */
static void end_lent(struct step *t)
{
    int64_t timeout_ms = t->calls->gate->limits.timeout_ms;
    struct str why = arena_printf(t->gate.arena,
                                  "Stopped after %" PRId64
                                  " s, the time limit. configure-limits "
                                  "changes it.",
                                  timeout_ms / 1000);

    course_withdraw(t->calls, t->pending, why);
    step_fail(t, why);
}

static void wait_away(struct step *t)
{
    if (is_unheard(t)) {
        do_without_editor(t, text_of_silence(t));
    } else if (!deadline_has_passed(t->pending->expires_ms, t->gate.now_ms)) {
        return;
    } else if (is_at_work(t->calls, t->pending)) {
        end_lent(t);
    } else {
        course_withdraw(t->calls, t->pending, STR("it took too long"));
        course_go_on_alone(t, gate_look(&t->gate, (struct json){0}));
    }
}

static void work_on(struct step *t)
{
    course_go_on_alone(t, gate_work(&t->gate));
}

static void refuse(struct step *t)
{
    struct str why = course_fault(t);

    if (is_at_work(t->calls, t->pending))
        return; // it may still be done
    if (t->pending->editor_request != 0)
        course_withdraw(t->calls, t->pending, why);
    course_go_on_alone(t, step_decide_without(t, why));
}

static void stop(struct step *t)
{
    struct str why = STR("Stopped: the server ends.");

    if (t->pending->editor_request != 0)
        course_withdraw(t->calls, t->pending, why);
    step_fail(t, why);
}

void calls_tick(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, calls->pending.asking, arena, now_ms, wait_on);
    for_each(calls, calls->pending.away, arena, now_ms, wait_away);
    for_each(calls, calls->pending.working, arena, now_ms, work_on);
}

void calls_finish(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    calls->finished = true;
    for_each(calls, calls->pending.asking, arena, now_ms, refuse);
    for_each(calls, calls->pending.away, arena, now_ms, refuse);
}

void calls_stop_work(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, calls->pending.working, arena, now_ms, stop);
    for_each(calls, calls->pending.away, arena, now_ms, stop);
}
