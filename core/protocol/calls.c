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

struct calls_entry {
    struct tool_call tool;
    struct calls_entry *next; /* in its bucket */
    size_t bucket;
    bool remembered; /* is in its bucket: the client waits for its answer */
    struct calls_entry **list; /* head of the list it is in, NULL: in none, */
    struct calls_entry *list_next;
    struct calls_entry *list_previous;
    enum mcp_version version;
    struct rpc_to to;
    struct str token;
    int64_t progress;       /* notifications so far */
    uint64_t question;      /* number of our request, while it asks */
    int64_t expires_ms;     /* when the human's time is over, */
    int64_t next_report_ms; /* and when progress is due */
    char texts[];           /* of TO's id and of the token */
};

/* --- Entries ------------------------------------------------------------ */

static size_t bucket_of(struct str id)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < id.n; i++)
        hash = (hash ^ (unsigned char)id.p[i]) * 16777619u;
    return hash % CALLS_BUCKETS;
}

static struct calls_entry *entry_new(const struct calls_request *request)
{
    struct str id = request->to.id;
    struct str token = request->token;
    size_t bytes = sizeof(struct calls_entry) + id.n + token.n;
    struct calls_entry *entry = malloc(bytes);
    if (entry == NULL)
        return NULL;
    *entry = (struct calls_entry){.tool.tool = request->tool,
                                  .tool.progress = token.n > 0,
                                  .tool.can_ask = request->can_ask,
                                  .tool.image.owner = entry,
                                  .tool.image.owner_bytes = bytes,
                                  .bucket = bucket_of(id),
                                  .version = request->version,
                                  .to = request->to};
    memcpy(entry->texts, id.p, id.n);
    entry->to.id.p = entry->texts;
    if (token.n > 0)
        memcpy(entry->texts + id.n, token.p, token.n);
    entry->token = str_make(entry->texts + id.n, token.n);
    return entry;
}

static void remember(struct calls *calls, struct calls_entry *entry)
{
    if (entry->remembered)
        return;
    entry->remembered = true;
    entry->next = calls->buckets[entry->bucket];
    calls->buckets[entry->bucket] = entry;
    calls->waiting++;
    if (entry->to.batch != NULL)
        rpc_batch_wait(entry->to.batch);
}

/* The client gets no more about ENTRY; nor does its batch wait for it. OUTPUT
   is NULL when nothing is to be written any more. */
static void forget(struct calls *calls, struct calls_entry *entry,
                   struct buf *output)
{
    struct calls_entry **link = &calls->buckets[entry->bucket];
    if (!entry->remembered)
        return;
    entry->remembered = false;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    calls->waiting--;
    if (entry->to.batch != NULL)
        rpc_check_sent(calls->log, rpc_batch_done(entry->to.batch, output));
}

static struct calls_entry *find_entry(const struct calls *calls, struct str id)
{
    struct calls_entry *entry = calls->buckets[bucket_of(id)];
    while (entry != NULL && !str_eq(entry->to.id, id))
        entry = entry->next;
    return entry;
}

static void enlist(struct calls_entry **list, struct calls_entry *entry)
{
    entry->list = list;
    entry->list_previous = NULL;
    entry->list_next = *list;
    if (*list != NULL)
        (*list)->list_previous = entry;
    *list = entry;
}

static void delist(struct calls *calls, struct calls_entry *entry)
{
    if (entry->list == NULL)
        return;
    calls->asking_count -= entry->list == &calls->asking;
    if (entry->list_previous == NULL)
        *entry->list = entry->list_next;
    else
        entry->list_previous->list_next = entry->list_next;
    if (entry->list_next != NULL)
        entry->list_next->list_previous = entry->list_previous;
    entry->list = NULL;
}

/* ENTRY is in no table of the image's. */
static void entry_free(struct calls *calls, struct calls_entry *entry,
                       struct buf *output)
{
    delist(calls, entry);
    forget(calls, entry, output);
    tool_call_release(&entry->tool);
    free(entry);
}

void calls_release(struct calls *calls)
{
    struct image_call *waiting;
    while (calls->image && (waiting = image_take(calls->image)) != NULL)
        entry_free(calls, waiting->owner, NULL);
    while (calls->asking != NULL)
        entry_free(calls, calls->asking, NULL);
    while (calls->working != NULL)
        entry_free(calls, calls->working, NULL);
}

/* --- Progress ----------------------------------------------------------- */

/* A client that reads too slowly gets no more of these: what they say stands in
   the answer, too. */
static void report_progress(struct calls *calls, struct calls_entry *entry,
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

static void report_waiting(struct calls *calls, struct calls_entry *entry,
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

static void send_answer(struct calls *calls, struct calls_entry *entry,
                        const struct tool_answer *answer, int64_t now_ms)
{
    rpc_check_sent(calls->log, result_of_call(&entry->to, entry->version,
                                              &entry->tool, answer, now_ms));
    entry_free(calls, entry, calls->output);
}

/* Our request with the question of ENTRY. */
static struct str question_id(const struct calls_entry *entry,
                              char text[QUESTION_ID])
{
    int n = snprintf(text, QUESTION_ID, "\"ecl-mcp-%llu\"",
                     (unsigned long long)entry->question);
    return str_make(text, (size_t)n);
}

/* Why a question cannot be put to anybody now; empty when it can. */
static struct str fault_of_asking(const struct calls *calls)
{
    if (calls->finished)
        return STR("the client has closed the connection");
    if (calls->asking_count >= LIMIT_APPROVALS)
        return STR("too many questions wait for the user already, the limit is "
                   "64");
    return STR("");
}

static enum status put_question(struct calls *calls, struct calls_entry *entry,
                                int64_t now_ms)
{
    char id[QUESTION_ID];

    entry->question = ++calls->last_question;
    enum status status = result_elicit(calls->output, entry->version,
                                       question_id(entry, id), &entry->tool);
    if (status != ST_OK)
        return status;
    remember(calls, entry);
    enlist(&calls->asking, entry);
    calls->asking_count++;
    entry->expires_ms = now_ms + calls->approval_ms;
    entry->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
    return ST_OK;
}

/* What a step of a call needs, and what came out of it. */
struct turn {
    struct calls *calls;
    struct arena *arena;
    struct calls_entry *entry;
    int64_t now_ms;
    struct tool_answer answer;
};

static enum status decide(struct turn *t, struct json reply, struct str why)
{
    return gate_decide(t->calls->gate, t->arena, &t->entry->tool, reply, why,
                       t->now_ms, &t->answer);
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
    struct ticket ticket = {.expires_ms = t->now_ms + t->calls->approval_ms};
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
        char *extra = arena_alloc(t->arena, n + carried.n);
        if (extra == NULL)
            return ST_NOMEM;
        memcpy(extra, question->name, n);
        if (carried.n > 0)
            memcpy(extra + n, carried.p, carried.n);
        ticket.extra = str_make(extra, n + carried.n);
    }
    return ticket_write(&t->calls->tickets, t->arena, &ticket, out);
}

/* The call ends here; the client makes it again. */
static enum status require_input(struct turn *t)
{
    struct calls_entry *entry = t->entry;
    struct str state;

    if (write_ticket(t, &state) != ST_OK)
        return ST_NOMEM;
    rpc_check_sent(
        t->calls->log,
        result_input_required(&entry->to, entry->version, &entry->tool, state));
    entry_free(t->calls, entry, t->calls->output);
    return ST_OK;
}

/* The reply to the question NAME, an object, or absent. */
static struct json find_reply(const struct calls_request *request,
                              const char *name)
{
    struct json reply = json_get(request->replies, name);

    return json_type(reply) == JSON_OBJECT ? reply : (struct json){0};
}

/* Why an answer of the human's to what TICKET is about does not count; empty
   when it does. */
static struct str fault_of_ticket(const struct turn *t,
                                  const struct ticket *ticket,
                                  const struct ticket *now)
{
    if (memcmp(ticket->call, now->call, TICKET_HASH) != 0)
        return STR("the call is not the one that the user was asked about");
    if (t->now_ms > ticket->expires_ms)
        return arena_printf(t->arena, "the user did not answer within %d s",
                            (int)(t->calls->approval_ms / 1000));
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
        return decide(t, reply, STR(""));
    if (json_is_absent(reply) || ticket == NULL)
        return ST_OK; // it is asked again
    struct str fault = fault_of_ticket(t, ticket, &now);
    if (fault.n > 0)
        return decide(t, (struct json){0}, fault);
    if (memcmp(ticket->question, now.question, TICKET_HASH) != 0)
        return gate_stale(t->calls->gate, t->arena, &t->entry->tool, t->now_ms,
                          &t->answer);
    return decide(t, reply, STR(""));
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
    struct str fault = fault_of_asking(t->calls);

    if (result_is_modern(t->entry->version))
        return require_input(t);
    if (fault.n == 0)
        return put_question(t->calls, t->entry, t->now_ms);
    if (decide(t, (struct json){0}, fault) != ST_OK)
        return ST_NOMEM;
    send_answer(t->calls, t->entry, &t->answer, t->now_ms);
    return ST_OK;
}

/* Goes on with a call after a step of it, to which the gate said STATUS. On
   ST_NOMEM the call is over and still to be answered. */
static enum status go_on(struct turn *t, enum status status)
{
    struct calls_entry *entry = t->entry;

    delist(t->calls, entry);
    if (status == ST_OK && t->answer.state == TOOL_ASKS)
        return ask(t);
    if (status != ST_OK)
        return status;
    switch (t->answer.state) {
    case TOOL_WAITS:
        remember(t->calls, entry);
        break;
    case TOOL_WORKS:
        remember(t->calls, entry);
        enlist(&t->calls->working, entry);
        break;
    case TOOL_ASKS:
        break;
    case TOOL_ANSWERED:
    case TOOL_FAILED:
        send_answer(t->calls, entry, &t->answer, t->now_ms);
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
    entry_free(t->calls, t->entry, t->calls->output);
}

enum status calls_start(struct calls *calls,
                        const struct calls_request *request)
{
    struct turn turn = {
        .calls = calls, .arena = request->arena, .now_ms = request->now_ms};
    struct ticket ticket = {0};
    bool again = request->state.p != NULL;
    enum status status = ST_OK;

    if (again)
        status = ticket_read(&calls->tickets, request->arena, request->state,
                             &ticket);
    if (status == ST_OK && (turn.entry = entry_new(request)) == NULL)
        status = ST_NOMEM;
    if (status != ST_OK)
        return status;
    struct tool_call *call = &turn.entry->tool;
    if (again)
        set_reply(call, request, &ticket);
    status = gate_start(calls->gate, request->arena, call, request->arguments,
                        request->values, request->now_ms, &turn.answer);
    if (status == ST_OK && turn.answer.state == TOOL_ASKS)
        status = resume(&turn, request, again ? &ticket : NULL);
    status = go_on(&turn, status);
    if (status != ST_OK)
        entry_free(calls, turn.entry, calls->output);
    return status;
}

/* --- What happens to calls ---------------------------------------------- */

/* The human need not answer any more. */
static void withdraw(struct calls *calls, const struct calls_entry *entry,
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

/* Ends a call that works or asks and has no more to say. */
static void drop(struct turn *t, struct str why)
{
    if (t->entry->list == &t->calls->asking) {
        withdraw(t->calls, t->entry, why);
        if (decide(t, (struct json){0}, why) != ST_OK)
            log_line(t->calls->log, LOG_WARN, "mcp: out of memory");
    } else {
        t->answer = (struct tool_answer){.state = TOOL_FAILED, .text = why};
        gate_end(t->calls->gate, &t->entry->tool, &t->answer, t->now_ms);
    }
    entry_free(t->calls, t->entry, t->calls->output);
}

void calls_cancel(struct calls *calls, struct arena *arena, struct str id,
                  int64_t now_ms)
{
    struct turn turn = {.calls = calls, .arena = arena, .now_ms = now_ms};

    while ((turn.entry = find_entry(calls, id)) != NULL) {
        log_line(calls->log, LOG_INFO, "mcp: %s is cancelled",
                 turn.entry->tool.tool->name);
        if (turn.entry->list != NULL) {
            drop(&turn, STR("the call was cancelled"));
        } else {
            image_stop(calls->image, &turn.entry->tool.image);
            forget(calls, turn.entry, calls->output); // its reply still comes
        }
    }
}

static struct calls_entry *find_question(const struct calls *calls,
                                         struct str id)
{
    char text[QUESTION_ID];
    struct calls_entry *entry = calls->asking;
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
    struct turn turn = {.calls = calls,
                        .arena = arena,
                        .entry = find_question(calls, response->id),
                        .now_ms = now_ms};

    if (turn.entry == NULL)
        return;
    if (json_is_absent(response->result))
        go_on_alone(&turn, decide(&turn, (struct json){0},
                                  error_text(arena, response->error)));
    else
        go_on_alone(&turn, decide(&turn, response->result, STR("")));
}

static void answer_call(struct calls *calls, struct calls_entry *entry,
                        const struct image_reply *reply, int64_t now_ms)
{
    struct tool_answer answer = {
        .state = reply->error ? TOOL_FAILED : TOOL_ANSWERED,
        .text = reply->text,
    };
    gate_end(calls->gate, &entry->tool, &answer, now_ms);
    if (entry->remembered)
        send_answer(calls, entry, &answer, now_ms);
    else
        entry_free(calls, entry, calls->output);
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
    int64_t deadline = -1;

    if (calls->working != NULL)
        return now_ms;
    for (const struct calls_entry *entry = calls->asking; entry != NULL;
         entry = entry->list_next) {
        int64_t next = entry->expires_ms;
        if (entry->token.n > 0 && entry->next_report_ms < next)
            next = entry->next_report_ms;
        if (deadline < 0 || next < deadline)
            deadline = next;
    }
    return deadline;
}

static void expire(struct turn *t)
{
    struct str why =
        arena_printf(t->arena, "the user did not answer within %d s",
                     (int)(t->calls->approval_ms / 1000));
    withdraw(t->calls, t->entry, why);
    go_on_alone(t, decide(t, (struct json){0}, why));
}

void calls_tick(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    struct turn turn = {.calls = calls, .arena = arena, .now_ms = now_ms};
    struct calls_entry *next;

    for (turn.entry = calls->asking; turn.entry != NULL; turn.entry = next) {
        next = turn.entry->list_next;
        if (now_ms >= turn.entry->expires_ms)
            expire(&turn);
        else if (now_ms >= turn.entry->next_report_ms)
            report_waiting(calls, turn.entry, now_ms);
        arena_release(arena);
    }
    for (turn.entry = calls->working; turn.entry != NULL; turn.entry = next) {
        next = turn.entry->list_next;
        go_on_alone(&turn, gate_step(calls->gate, arena, &turn.entry->tool,
                                     now_ms, &turn.answer));
        arena_release(arena);
    }
}

void calls_finish(struct calls *calls, struct arena *arena, int64_t now_ms)
{
    struct turn turn = {.calls = calls, .arena = arena, .now_ms = now_ms};

    calls->finished = true;
    while ((turn.entry = calls->asking) != NULL) {
        go_on_alone(&turn,
                    decide(&turn, (struct json){0}, fault_of_asking(calls)));
        arena_release(arena);
    }
}

void calls_stop_work(struct calls *calls, int64_t now_ms)
{
    struct calls_entry *entry;

    while ((entry = calls->working) != NULL) {
        struct tool_answer answer = {.state = TOOL_FAILED,
                                     .text = STR("Stopped: the server ends.")};
        gate_end(calls->gate, &entry->tool, &answer, now_ms);
        send_answer(calls, entry, &answer, now_ms);
    }
}
