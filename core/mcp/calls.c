/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.c: finds the call that an event is about (for replies image.c does it)
   and hands it on to the gate, to ask.c and to step.c. */
#include "mcp/calls.h"

#include <inttypes.h>

#include "base/deadline.h"
#include "gate/stint.h"
#include "mcp/ask_again.h"
#include "mcp/ask_editor.h"
#include "mcp/step.h"

void calls_init(struct calls *calls, struct gate *gate, struct buf *output,
                struct editor *editor, int64_t approval_ms,
                const unsigned char *key)
{
    *calls = (struct calls){
        .gate = gate,
        .pending = {.log = gate->log, .output = output, .audit = gate->audit}};
    ask_init(&calls->ask, editor, approval_ms, key);
}

void calls_release(struct calls *calls)
{
    struct pending_table *table = &calls->pending;
    struct image_call *waiting;

    if (!calls->gate)
        return;
    table->output = NULL; // no answers
    while ((waiting = image_take(calls->gate->image)) != NULL)
        pending_free(table, waiting->owner);
    for (enum pending_state state = PENDING_NEW; state < PENDING_OVER; state++)
        while (table->first[state])
            pending_free(table, table->first[state]);
}

size_t calls_waiting(const struct calls *calls)
{
    return calls->pending.remembered;
}

static struct step step_of(struct calls *calls, struct arena *arena,
                           struct pending *pending, int64_t now_ms)
{
    return (struct step){.table = &calls->pending,
                         .pending = pending,
                         .gate = {.gate = calls->gate,
                                  .arena = arena,
                                  .call = &pending->tool,
                                  .now_ms = now_ms}};
}

/* Calls RUN for each call that is in STATE now. */
static void for_each(struct calls *calls, enum pending_state state,
                     struct arena *arena, int64_t now_ms,
                     void (*run)(struct calls *calls, struct step *t))
{
    struct pending *pending = calls->pending.first[state];

    while (pending) {
        struct pending *next = pending->list_next;
        struct step step = step_of(calls, arena, pending, now_ms);
        run(calls, &step);
        arena_release(arena);
        pending = next;
    }
}

/* --- The start of a call ------------------------------------------------ */

static enum status run_step(struct calls *calls, struct step *t,
                            const struct calls_request *request,
                            const struct ask_again *again)
{
    struct ask *ask = &calls->ask;
    struct tool_call *call = &t->pending->tool;

    call->tool = request->tool;
    call->can_ask = request->can_ask;
    // a user who was asked through the client has answered there
    call->editor = !again->has_ticket && ask_has_editor(ask);
    if (again->has_ticket)
        ask_again_set_reply(call, request->arguments, again);
    enum status status =
        gate_start(&t->gate, request->arguments, request->values);
    if (status == ST_OK && t->gate.answer.state == TOOL_ASKS)
        status = ask_again_resume(t, &ask->tickets, again);
    else if (status == ST_OK && t->gate.answer.state == TOOL_WORKS)
        status = ask_again_keep(t, again); // until it asks
    return ask_go_on(ask, t, status);
}

enum status calls_start(struct calls *calls,
                        const struct calls_request *request)
{
    struct ask_again again = {.replies = request->replies};

    if (request->state.p) {
        enum status status =
            ask_read_state(&calls->ask, request->arena, request->state,
                           request->now_ms, &again);
        if (status != ST_OK)
            return status;
    }
    struct pending *pending =
        pending_new(&request->to, request->version, &request->texts);
    if (!pending)
        return ST_NOMEM;
    pending->editor_tools = request->editor_tools;
    editor_tools_hold(pending->editor_tools);
    struct step step = step_of(calls, request->arena, pending, request->now_ms);
    enum status status = run_step(calls, &step, request, &again);
    if (status != ST_OK)
        step_end(&step);
    return status;
}

/* --- What happens to calls ---------------------------------------------- */

/* Ends a call of which the client hears no more. */
static void drop(struct calls *calls, struct step *t, struct str why)
{
    struct pending *pending = t->pending;

    if (pending->state == PENDING_SETTLING) {
        step_end(t); // the hooks know of it
        return;
    }
    if (pending->state == PENDING_IN_IMAGE) {
        image_stop(calls->gate->image, &pending->tool.image);
        pending_forget(&calls->pending, pending);
        return; // its reply still comes
    }
    ask_withdraw(&calls->ask, t, why);
    tool_call_stop_work(&pending->tool);
    if (pending_is_running(pending->state) && pending->tool.approved)
        step_give_up(t, why);
    else if (step_decide_without(t, why) != ST_OK)
        log_line(calls->gate->log, LOG_WARN, "mcp: out of memory");
    step_end(t);
}

void calls_cancel(struct calls *calls, struct arena *arena, struct str id,
                  int64_t now_ms)
{
    struct pending *pending;

    while ((pending = pending_find(&calls->pending, id)) != NULL) {
        struct step step = step_of(calls, arena, pending, now_ms);
        log_line(calls->gate->log, LOG_INFO, "mcp: %s is cancelled",
                 pending->tool.tool->name);
        drop(calls, &step, STR("the call was cancelled"));
    }
}

void calls_input(struct calls *calls, struct str id, struct str line)
{
    struct pending *pending = pending_find(&calls->pending, id);

    if (pending && pending->state == PENDING_IN_IMAGE)
        image_supply(calls->gate->image, &pending->tool.image, line);
}

void calls_answer(struct calls *calls, struct arena *arena,
                  const struct rpc_message *response, int64_t now_ms)
{
    struct pending *pending = ask_find(&calls->pending, response->id);

    if (!pending)
        return;
    struct step step = step_of(calls, arena, pending, now_ms);
    ask_answer(&calls->ask, &step, response);
}

static void answer_call(struct step *t, const struct image_reply *reply)
{
    t->gate.answer.state = reply->error ? TOOL_FAILED : TOOL_ANSWERED;
    t->gate.answer.missing = reply->missing;
    t->gate.answer.text = reply->text;
    gate_end(&t->gate);
    if (t->pending->remembered)
        step_send(t);
    else
        step_end(t);
}

bool calls_take_reply(struct calls *calls, int64_t now_ms)
{
    struct image_reply reply;

    if (!image_next(calls->gate->image, &reply))
        return false;
    struct step step = step_of(calls, NULL, reply.call->owner, now_ms);
    if (reply.wants)
        step_ask_input(&step);
    else if (reply.running)
        step_report(&step, reply.text);
    else
        answer_call(&step, &reply);
    return true;
}

void calls_take_replies(struct calls *calls, int64_t now_ms)
{
    while (calls_take_reply(calls, now_ms))
        continue;
}

void calls_editor(struct calls *calls, struct arena *arena,
                  const struct editor_message *message, int64_t now_ms)
{
    struct pending *pending = ask_editor_find(&calls->pending, message->id);

    if (!pending) {
        log_line(calls->gate->log, LOG_DEBUG,
                 "editor: nobody waits for request %" PRIu64, message->id);
        return;
    }
    if (message->kind == EDITOR_RECEIVED) {
        ask_editor_note_receipt(pending);
        return;
    }
    struct step step = step_of(calls, arena, pending, now_ms);
    if (message->kind == EDITOR_WORKING)
        ask_prolong(&calls->ask, &step);
    else
        ask_go_on_alone(&calls->ask, &step, ask_editor_answer(&step, message));
}

static void lose_editor(struct calls *calls, struct step *t)
{
    ask_go_on_alone(&calls->ask, t, ask_editor_lose(t));
}

void calls_editor_gone(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, PENDING_ASKING_EDITOR, arena, now_ms, lose_editor);
    for_each(calls, PENDING_READING_BUFFER, arena, now_ms, lose_editor);
    for_each(calls, PENDING_IN_EDITOR, arena, now_ms, lose_editor);
}

/* --- Time and end ------------------------------------------------------- */

/* Of the calls in STATE. */
static int64_t deadline_of(const struct calls *calls, enum pending_state state)
{
    const struct pending *pending = calls->pending.first[state];
    int64_t deadline = DEADLINE_NEVER;

    for (; pending; pending = pending->list_next)
        deadline = deadline_earlier(deadline, ask_deadline(pending));
    return deadline;
}

/* The call whose turn it is: of those that work, the one that has waited
   longest, for a step puts a call first in its list. NULL: there is none. */
static struct pending *next_at_work(const struct calls *calls)
{
    struct pending *pending = calls->pending.first[PENDING_WORKING];

    while (pending && pending->list_next)
        pending = pending->list_next;
    while (pending && !stint_can_go_on(calls->gate, &pending->tool))
        pending = pending->list_previous;
    return pending;
}

/* When a call that waits for nobody has something to do: now, or when the disk
   may be ready, of which the host will know. */
static int64_t deadline_of_work(const struct calls *calls, int64_t now_ms)
{
    const struct pending_table *table = &calls->pending;
    const struct pending *settling = table->first[PENDING_SETTLING];
    bool waits = table->first[PENDING_WORKING] != NULL || settling != NULL;

    if (next_at_work(calls))
        return now_ms;
    for (; settling; settling = settling->list_next)
        if (audit_is_settled(table->audit, settling->line))
            return now_ms;
    return waits ? now_ms + LIMIT_DISK_MS : DEADLINE_NEVER;
}

int64_t calls_deadline(const struct calls *calls, int64_t now_ms)
{
    int64_t deadline = deadline_of_work(calls, now_ms);

    for (enum pending_state state = PENDING_NEW; state < PENDING_OVER; state++)
        if (pending_has_request(state))
            deadline = deadline_earlier(deadline, deadline_of(calls, state));
    return deadline;
}

static void tick(struct calls *calls, struct step *t)
{
    ask_tick(&calls->ask, t);
}

/* Answers the call if it may be answered by now. */
static void settle(struct calls *calls, struct step *t)
{
    (void)calls;
    step_settle(t, false);
}

/* One step of one call: then other things have their turn. */
static void work(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    struct pending *pending = next_at_work(calls);

    if (!pending)
        return;
    struct step t = step_of(calls, arena, pending, now_ms);
    enum status status = gate_work(&t.gate);
    if (status == ST_OK && t.gate.answer.state == TOOL_ASKS)
        status = ask_again_go_on(&t, &calls->ask.tickets);
    ask_go_on_alone(&calls->ask, &t, status);
    arena_release(arena);
}

void calls_tick(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, PENDING_ASKING_CLIENT, arena, now_ms, tick);
    for_each(calls, PENDING_ASKING_EDITOR, arena, now_ms, tick);
    for_each(calls, PENDING_READING_BUFFER, arena, now_ms, tick);
    for_each(calls, PENDING_IN_EDITOR, arena, now_ms, tick);
    for_each(calls, PENDING_SETTLING, arena, now_ms, settle);
    work(calls, arena, now_ms);
}

static void refuse(struct calls *calls, struct step *t)
{
    ask_refuse(&calls->ask, t);
}

void calls_finish(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    ask_finish(&calls->ask);
    for_each(calls, PENDING_ASKING_CLIENT, arena, now_ms, refuse);
    for_each(calls, PENDING_ASKING_EDITOR, arena, now_ms, refuse);
    for_each(calls, PENDING_READING_BUFFER, arena, now_ms, refuse);
}

static void stop(struct calls *calls, struct step *t)
{
    struct str why = STR("Stopped: the server is shutting down.");

    ask_withdraw(&calls->ask, t, why);
    tool_call_stop_work(&t->pending->tool);
    step_fail(t, why);
}

/* The disk has had its time. */
static void settle_anyway(struct calls *calls, struct step *t)
{
    (void)calls;
    step_settle(t, true);
}

void calls_stop_work(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, PENDING_SETTLING, arena, now_ms, settle_anyway);
    for_each(calls, PENDING_WORKING, arena, now_ms, stop);
    for_each(calls, PENDING_READING_BUFFER, arena, now_ms, stop);
    for_each(calls, PENDING_IN_EDITOR, arena, now_ms, stop);
}
