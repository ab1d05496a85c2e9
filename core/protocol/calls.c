/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.c: the calls that wait, found by the image's id (image.c keeps that
   table), by the client's, and by that of the question to a human. */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "limits.h"
#include "utf8.h"

/* Bytes of the id of a request of ours, with its NUL. */
#define QUESTION_ID 32

void calls_init(struct calls *calls, struct gate *gate, struct buf *output,
                int64_t approval_ms, const unsigned char *key)
{
    *calls = (struct calls){.log = gate->log,
                            .gate = gate,
                            .image = gate->image,
                            .output = output,
                            .approval_ms = approval_ms,
                            .entries.log = gate->log};
    memcpy(calls->tickets.key, key, TICKET_KEY);
}

/* Without an answer. */
static void end_silently(struct calls *calls, struct entry *entry)
{
    entry_free(&calls->entries, entry, NULL);
}

void calls_release(struct calls *calls)
{
    struct image_call *waiting;
    while (calls->image && (waiting = image_take(calls->image)) != NULL)
        end_silently(calls, waiting->owner);
    while (calls->entries.asking != NULL)
        end_silently(calls, calls->entries.asking);
    while (calls->entries.working != NULL)
        end_silently(calls, calls->entries.working);
}

size_t calls_waiting(const struct calls *calls)
{
    return calls->entries.remembered;
}

/* --- Progress ----------------------------------------------------------- */

/* A client that reads too slowly gets no more of these: what they say stands in
   the answer, too. */
static void report_progress(struct calls *calls, struct entry *entry,
                            struct str text)
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

static void report_waiting(struct calls *calls, struct entry *entry,
                           int64_t now_ms)
{
    char text[100];
    int64_t seconds = (now_ms - entry->tool.started_ms) / 1000;
    int n =
        snprintf(text, sizeof text, "waiting for the user, %d s", (int)seconds);
    entry->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
    report_progress(calls, entry, str_make(text, (size_t)n));
}

/* --- Answers ------------------------------------------------------------ */

static void end(struct calls *calls, struct entry *entry)
{
    entry_free(&calls->entries, entry, calls->output);
}

/* Our request with the question of ENTRY. */
static struct str question_id(const struct entry *entry, char text[QUESTION_ID])
{
    int n = snprintf(text, QUESTION_ID, "\"ecl-mcp-%llu\"",
                     (unsigned long long)entry->question);
    return str_make(text, (size_t)n);
}

static enum status put_question(struct calls *calls, struct entry *entry,
                                int64_t now_ms)
{
    char id[QUESTION_ID];

    entry->question = ++calls->last_question;
    enum status status = result_elicit(calls->output, entry->version,
                                       question_id(entry, id), &entry->tool);
    if (status != ST_OK)
        return status;
    entry_remember(&calls->entries, entry);
    entry_ask(&calls->entries, entry);
    entry->expires_ms = now_ms + calls->approval_ms;
    entry->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
    return ST_OK;
}

/* What a step of a call needs, and what came out of it. */
struct turn {
    struct calls *calls;
    struct entry *entry;
    struct gate_turn gate;
};

static struct turn turn_of(struct calls *calls, struct arena *arena,
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
static enum status send_resource(const struct turn *t)
{
    const struct entry *entry = t->entry;
    const struct tool_answer *answer = &t->gate.answer;

    if (answer->missing)
        return result_no_resource(&entry->to, entry->version, answer->text);
    if (answer->state == TOOL_FAILED)
        return rpc_error(&entry->to, RPC_INTERNAL_ERROR, answer->text);
    return result_of_read(&entry->to, entry->version, entry->uri,
                          RESULT_VIEW_TYPE, answer->text);
}

static void send_answer(struct turn *t)
{
    if (t->entry->uri.n > 0) {
        rpc_check_sent(t->calls->log, send_resource(t));
        end(t->calls, t->entry);
        return;
    }
    rpc_check_sent(t->calls->log,
                   result_of_call(&t->entry->to, t->entry->version,
                                  &t->entry->tool, &t->gate.answer,
                                  t->gate.now_ms));
    end(t->calls, t->entry);
}

/* There is no reply. */
static enum status decide_without(struct turn *t, struct str why)
{
    return gate_decide(&t->gate, (struct json){0}, why);
}

/* Why the question of T cannot be put to anybody now; empty when it can. */
static struct str fault_of_asking(const struct turn *t)
{
    const struct entries *entries = &t->calls->entries;

    if (t->calls->finished)
        return STR("the client has closed the connection");
    if (entries->asking_count < LIMIT_APPROVALS &&
        entries->asking_bytes + entry_bytes(t->entry) <= LIMIT_PENDING_BYTES)
        return STR("");
    return arena_printf(t->gate.arena,
                        "too much waits for the user already, the limit is %d "
                        "calls and %u bytes",
                        LIMIT_APPROVALS, LIMIT_PENDING_BYTES);
}

/* --- Questions in the era without requests of the server ----------------- */

static void hash_call(const struct tool *tool, struct str arguments,
                      unsigned char out[TICKET_HASH])
{
    const struct str texts[] = {str_from(tool->name), arguments};

    ticket_hash(texts, sizeof texts / sizeof *texts, out);
}

/* What a ticket says about the call and the question of T. */
static struct ticket ticket_of(const struct turn *t)
{
    const struct tool_call *call = &t->entry->tool;
    const struct tool_question *question = &call->question;
    struct ticket ticket = {.expires_ms =
                                t->gate.now_ms + t->calls->approval_ms};
    const struct str shown[] = {buf_view(&question->message),
                                buf_view(&question->substance),
                                buf_view(&question->form)};

    hash_call(call->tool, buf_view(&call->arguments), ticket.call);
    ticket_hash(shown, sizeof shown / sizeof *shown, ticket.question);
    return ticket;
}

/* A handler's question goes with its name, a NUL, and what is carried. */
static enum status write_ticket(const struct turn *t, struct str *out)
{
    const struct tool_question *question = &t->entry->tool.question;
    struct ticket ticket = ticket_of(t);
    struct str carried = buf_view(&question->carried);

    if (question->form.n > 0) {
        size_t n = strlen(question->name) + 1;
        char *extra = arena_alloc(t->gate.arena, n + carried.n);
        if (extra == NULL)
            return ST_NOMEM;
        memcpy(extra, question->name, n);
        if (carried.n > 0)
            memcpy(extra + n, carried.p, carried.n);
        ticket.extra = str_make(extra, n + carried.n);
    }
    return ticket_write(&t->calls->tickets, t->gate.arena, &ticket, out);
}

/* The call ends here; the client makes it again. */
static enum status require_input(struct turn *t)
{
    struct entry *entry = t->entry;
    struct str state;

    if (write_ticket(t, &state) != ST_OK)
        return ST_NOMEM;
    rpc_check_sent(
        t->calls->log,
        result_input_required(&entry->to, entry->version, &entry->tool, state));
    end(t->calls, entry);
    return ST_OK;
}

/* The reply to the question NAME, an object, or absent. */
static struct json find_reply(const struct calls_request *request,
                              const char *name)
{
    struct json reply = json_get(request->replies, name);

    return json_type(reply) == JSON_OBJECT ? reply : (struct json){0};
}

static struct str text_of_expiry(const struct turn *t)
{
    return arena_printf(t->gate.arena, "the user did not answer within %d s",
                        (int)(t->calls->approval_ms / 1000));
}

/* Why an answer of the human's to what TICKET is about does not count; empty
   when it does. */
static struct str fault_of_ticket(const struct turn *t,
                                  const struct ticket *ticket,
                                  const struct ticket *now)
{
    if (memcmp(ticket->call, now->call, TICKET_HASH) != 0)
        return STR("the call is not the one that the user was asked about");
    if (t->gate.now_ms > ticket->expires_ms)
        return text_of_expiry(t);
    if (!ticket_use(&t->calls->tickets, ticket->number))
        return STR("the answer of the user was used before");
    return STR("");
}

/* A call that asks was made again with an answer; TICKET is NULL when it lacks
   the state that came with the question. */
static enum status resume(struct turn *t, const struct calls_request *request,
                          const struct ticket *ticket)
{
    const struct tool_call *call = &t->entry->tool;
    struct json reply = find_reply(request, result_question_name(call));
    const struct ticket now = ticket_of(t);

    if (!json_is_absent(reply) && call->question.form.n > 0)
        return gate_decide(&t->gate, reply, STR(""));
    if (json_is_absent(reply) || ticket == NULL)
        return ST_OK; // it is asked again
    struct str fault = fault_of_ticket(t, ticket, &now);
    if (fault.n > 0)
        return decide_without(t, fault);
    if (memcmp(ticket->question, now.question, TICKET_HASH) != 0)
        return gate_stale(&t->gate);
    return gate_decide(&t->gate, reply, STR(""));
}

/* CALL is made again with TICKET: it is to ask for its approval, or its handler
   is to know the reply to its question. */
static void set_reply(struct tool_call *call,
                      const struct calls_request *request,
                      const struct ticket *ticket)
{
    unsigned char now[TICKET_HASH];
    struct str extra = ticket->extra;
    size_t n = strnlen(extra.p, extra.n);

    call->resumed = extra.n == 0;
    hash_call(call->tool, gate_arguments(request->arguments), now);
    if (n == extra.n || memcmp(ticket->call, now, TICKET_HASH) != 0 ||
        request->now_ms > ticket->expires_ms)
        return;
    call->reply = (struct tool_reply){
        .value = find_reply(request, extra.p),
        .name = str_make(extra.p, n),
        .carried = str_make(extra.p + n + 1, extra.n - n - 1)};
}

/* --- The course of a call ------------------------------------------------ */

/* A question that cannot be put is answered for the human, so that this comes
   to an end. */
static enum status ask(struct turn *t)
{
    struct str fault = fault_of_asking(t);

    if (result_is_modern(t->entry->version))
        return require_input(t);
    if (fault.n == 0)
        return put_question(t->calls, t->entry, t->gate.now_ms);
    if (decide_without(t, fault) != ST_OK)
        return ST_NOMEM;
    send_answer(t);
    return ST_OK;
}

/* Goes on with a call after a step of it, to which the gate said STATUS. On
   ST_NOMEM the call is over and still to be answered. */
static enum status go_on(struct turn *t, enum status status)
{
    struct entries *entries = &t->calls->entries;

    entry_leave(entries, t->entry);
    if (status != ST_OK)
        return status;
    switch (t->gate.answer.state) {
    case TOOL_WAITS:
        entry_remember(entries, t->entry);
        break;
    case TOOL_WORKS:
        entry_remember(entries, t->entry);
        entry_work(entries, t->entry);
        break;
    case TOOL_ASKS:
        return ask(t);
    case TOOL_ANSWERED:
    case TOOL_FAILED:
        send_answer(t);
        break;
    }
    return ST_OK;
}

/* The same for a call whose request is gone. */
static void go_on_alone(struct turn *t, enum status status)
{
    if (go_on(t, status) == ST_OK)
        return;
    rpc_check_sent(t->calls->log, rpc_error(&t->entry->to, RPC_INTERNAL_ERROR,
                                            STR("out of memory")));
    end(t->calls, t->entry);
}

static enum status run_entry(struct turn *t,
                             const struct calls_request *request,
                             const struct ticket *ticket)
{
    struct tool_call *call = &t->entry->tool;

    call->tool = request->tool;
    call->can_ask = request->can_ask;
    if (ticket != NULL)
        set_reply(call, request, ticket);
    enum status status =
        gate_start(&t->gate, request->arguments, request->values);
    if (status == ST_OK && t->gate.answer.state == TOOL_ASKS)
        status = resume(t, request, ticket);
    return go_on(t, status);
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
    struct entry *entry =
        entry_new(&request->to, request->version, &request->texts);
    if (entry == NULL)
        return ST_NOMEM;
    struct turn turn = turn_of(calls, request->arena, entry, request->now_ms);
    enum status status = run_entry(&turn, request, again ? &ticket : NULL);
    if (status != ST_OK)
        end(calls, entry);
    return status;
}

/* --- What happens to calls ---------------------------------------------- */

/* The human need not answer any more. */
static void withdraw(struct calls *calls, const struct entry *entry,
                     struct str why)
{
    char id[QUESTION_ID];
    enum status status =
        result_withdraw(calls->output, question_id(entry, id), why);
    if (status != ST_OK)
        log_line(calls->log, LOG_WARN,
                 "mcp: no memory to take a question "
                 "back");
}

/* Ends the work of a call; WHY is its answer. */
static void stop_work(struct turn *t, struct str why)
{
    t->gate.answer = (struct tool_answer){.state = TOOL_FAILED, .text = why};
    gate_end(&t->gate);
}

/* Ends a call of which the client hears no more. */
static void drop(struct turn *t, struct str why)
{
    struct calls *calls = t->calls;

    if (t->entry->list == NULL) {
        image_stop(calls->image, &t->entry->tool.image);
        entry_forget(&calls->entries, t->entry, calls->output);
        return; // its reply still comes
    }
    if (t->entry->list == &calls->entries.working) {
        stop_work(t, why);
    } else {
        withdraw(calls, t->entry, why);
        if (decide_without(t, why) != ST_OK)
            log_line(calls->log, LOG_WARN, "mcp: out of memory");
    }
    end(calls, t->entry);
}

void calls_cancel(struct calls *calls, struct arena *arena, struct str id,
                  int64_t now_ms)
{
    struct entry *entry;

    while ((entry = entry_find(&calls->entries, id)) != NULL) {
        struct turn turn = turn_of(calls, arena, entry, now_ms);
        log_line(calls->log, LOG_INFO, "mcp: %s is cancelled",
                 entry->tool.tool->name);
        drop(&turn, STR("the call was cancelled"));
    }
}

static struct entry *find_question(const struct calls *calls, struct str id)
{
    char text[QUESTION_ID];
    struct entry *entry = calls->entries.asking;
    while (entry != NULL && !str_eq(question_id(entry, text), id))
        entry = entry->list_next;
    return entry;
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
    struct entry *entry = find_question(calls, response->id);

    if (entry == NULL)
        return;
    struct turn turn = turn_of(calls, arena, entry, now_ms);
    if (json_is_absent(response->result))
        go_on_alone(&turn,
                    decide_without(&turn, error_text(arena, response->error)));
    else
        go_on_alone(&turn, gate_decide(&turn.gate, response->result, STR("")));
}

static void answer_call(struct calls *calls, struct entry *entry,
                        const struct image_reply *reply, int64_t now_ms)
{
    struct turn turn = turn_of(calls, NULL, entry, now_ms);
    turn.gate.answer.state = reply->error ? TOOL_FAILED : TOOL_ANSWERED;
    turn.gate.answer.missing = reply->missing;
    turn.gate.answer.text = reply->text;
    gate_end(&turn.gate);
    if (entry->remembered)
        send_answer(&turn);
    else
        end(calls, entry);
}

void calls_take_replies(struct calls *calls, int64_t now_ms)
{
    struct image_reply reply;
    while (image_next(calls->image, &reply)) {
        if (reply.running)
            report_progress(calls, reply.call->owner, reply.text);
        else
            answer_call(calls, reply.call->owner, &reply, now_ms);
    }
}

/* --- Time --------------------------------------------------------------- */

int64_t calls_deadline(const struct calls *calls, int64_t now_ms)
{
    const struct entry *entry = calls->entries.asking;
    int64_t deadline = -1;

    if (calls->entries.working != NULL)
        return now_ms;
    for (; entry != NULL; entry = entry->list_next) {
        int64_t next = entry->expires_ms;
        if (entry->token.n > 0 && entry->next_report_ms < next)
            next = entry->next_report_ms;
        if (deadline < 0 || next < deadline)
            deadline = next;
    }
    return deadline;
}

static void wait_on(struct turn *t)
{
    if (t->gate.now_ms >= t->entry->expires_ms) {
        struct str why = text_of_expiry(t);
        withdraw(t->calls, t->entry, why);
        go_on_alone(t, decide_without(t, why));
    } else if (t->gate.now_ms >= t->entry->next_report_ms) {
        report_waiting(t->calls, t->entry, t->gate.now_ms);
    }
}

static void work_on(struct turn *t)
{
    go_on_alone(t, gate_step(&t->gate));
}

static void refuse(struct turn *t)
{
    go_on_alone(t, decide_without(t, fault_of_asking(t)));
}

static void stop(struct turn *t)
{
    stop_work(t, STR("Stopped: the server ends."));
    send_answer(t);
}

/* Does STEP with each call of a list, as it is now. */
static void for_each(struct calls *calls, struct entry *entry,
                     struct arena *arena, int64_t now_ms,
                     void (*step)(struct turn *t))
{
    while (entry != NULL) {
        struct entry *next = entry->list_next;
        struct turn turn = turn_of(calls, arena, entry, now_ms);
        step(&turn);
        arena_release(arena);
        entry = next;
    }
}

void calls_tick(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, calls->entries.asking, arena, now_ms, wait_on);
    for_each(calls, calls->entries.working, arena, now_ms, work_on);
}

void calls_finish(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    calls->finished = true;
    for_each(calls, calls->entries.asking, arena, now_ms, refuse);
}

void calls_stop_work(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    for_each(calls, calls->entries.working, arena, now_ms, stop);
}
