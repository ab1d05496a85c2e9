/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_again.c: see ask_again.h. */
#include "mcp/ask_again.h"

#include <stdlib.h>
#include <string.h>

static void hash_call(const struct tool *tool, struct str arguments,
                      unsigned char out[TICKET_HASH])
{
    const struct str texts[] = {str_from(tool->name), arguments};

    ticket_hash(texts, sizeof texts / sizeof *texts, out);
}

/* What a ticket says about the call and the question of T. */
static struct ticket ticket_of(const struct step *t)
{
    const struct tool_call *call = &t->pending->tool;
    const struct tool_question *question = &call->question;
    struct ticket ticket = {0};
    const struct str shown[] = {buf_view(&question->message),
                                buf_view(&question->substance),
                                buf_view(&question->form)};

    hash_call(call->tool, buf_view(&call->arguments), ticket.call);
    // each part of a call is compared by itself (changes.h)
    const struct str parts[] = {buf_view(&question->carried)};
    if (call->tool->divide && question->carried.n > 0)
        ticket_hash(parts, 1, ticket.question);
    else
        ticket_hash(shown, sizeof shown / sizeof *shown, ticket.question);
    return ticket;
}

/* The extra bytes of a handler's question, or of one about several parts: its
   name, if it has one, a NUL, and what it carries. */
static enum status write_ticket(const struct step *t, struct tickets *tickets,
                                int64_t expires_ms, struct str *out)
{
    const struct tool_question *question = &t->pending->tool.question;
    struct ticket ticket = ticket_of(t);
    struct str carried = buf_view(&question->carried);

    if (question->form.n > 0 || carried.n > 0) {
        const char *name = question->name ? question->name : "";
        size_t n = strlen(name) + 1;
        char *extra = arena_alloc(t->gate.arena, n + carried.n);
        if (!extra)
            return ST_NOMEM;
        memcpy(extra, name, n);
        if (carried.n > 0)
            memcpy(extra + n, carried.p, carried.n);
        ticket.extra = str_make(extra, n + carried.n);
    }
    ticket.expires_ms = expires_ms;
    return ticket_write(tickets, t->gate.arena, &ticket, out);
}

enum status ask_again_require(struct step *t, struct tickets *tickets,
                              int64_t expires_ms)
{
    struct pending *pending = t->pending;
    struct str state;

    if (write_ticket(t, tickets, expires_ms, &state) != ST_OK)
        return ST_NOMEM;
    rpc_check_sent(t->table->log,
                   result_input_required(&pending->to, pending->version,
                                         &pending->tool, state));
    step_end(t);
    return ST_OK;
}

/* The reply to the question NAME, an object, or absent. */
static struct json find_reply(const struct ask_again *again, const char *name)
{
    struct json reply = json_get(again->replies, name);

    return json_type(reply) == JSON_OBJECT ? reply : (struct json){0};
}

/* Why an answer of the human does not count, NOW being what a ticket about the
   call as it is would say; empty: it does, and the ticket is used. */
static struct str fault_of_ticket(struct tickets *tickets,
                                  const struct ask_again *again,
                                  const struct ticket *now)
{
    if (memcmp(again->ticket.call, now->call, TICKET_HASH) != 0)
        return STR("the call is not the one that the user was asked about");
    if (again->late.n > 0)
        return again->late;
    if (!ticket_use(tickets, again->ticket.number))
        return STR("the user's answer was used before");
    return STR("");
}

enum status ask_again_resume(struct step *t, struct tickets *tickets,
                             const struct ask_again *again)
{
    const struct tool_call *call = &t->pending->tool;
    struct json reply = find_reply(again, result_question_name(call));
    const struct ticket now = ticket_of(t);

    if (!json_is_absent(reply) && call->question.form.n > 0)
        return gate_decide(&t->gate, reply, STR(""));
    if (json_is_absent(reply) || !again->has_ticket)
        return ST_OK; // it is asked again
    struct str fault = fault_of_ticket(tickets, again, &now);
    if (fault.n > 0)
        return step_decide_without(t, fault);
    if (memcmp(again->ticket.question, now.question, TICKET_HASH) != 0)
        return gate_stale(&t->gate);
    return gate_decide(&t->gate, reply, STR(""));
}

struct ask_again_kept {
    struct ask_again again;
    struct str replies; /* JSON text */
    char texts[];
};

enum status ask_again_keep(struct step *t, const struct ask_again *again)
{
    struct str replies = json_raw(again->replies);
    struct str late = again->late;

    if (!again->has_ticket)
        return ST_OK;
    struct ask_again_kept *kept = malloc(sizeof *kept + replies.n + late.n);
    if (!kept)
        return ST_NOMEM;
    // a ticket of a tool that works in steps has nothing in its arena
    *kept = (struct ask_again_kept){.again = *again};
    kept->again.ticket.extra = STR("");
    kept->replies = str_make(kept->texts, replies.n);
    kept->again.late = str_make(kept->texts + replies.n, late.n);
    if (replies.n > 0)
        memcpy(kept->texts, replies.p, replies.n);
    if (late.n > 0)
        memcpy(kept->texts + replies.n, late.p, late.n);
    t->pending->again = kept;
    return ST_OK;
}

enum status ask_again_go_on(struct step *t, struct tickets *tickets)
{
    struct ask_again_kept *kept = t->pending->again;
    struct json_error error;
    enum status status = ST_OK;

    if (!kept)
        return ST_OK;
    t->pending->again = NULL;
    kept->again.replies = (struct json){0};
    if (kept->replies.n > 0)
        status = json_parse(t->gate.arena, kept->replies, &kept->again.replies,
                            &error);
    if (status == ST_OK)
        status = ask_again_resume(t, tickets, &kept->again);
    free(kept);
    return status == ST_OK ? ST_OK : ST_NOMEM;
}

void ask_again_set_reply(struct tool_call *call, struct json arguments,
                         const struct ask_again *again)
{
    unsigned char now[TICKET_HASH];
    struct str extra = again->ticket.extra;
    size_t n = strnlen(extra.p, extra.n);

    call->resumed = n == 0;
    hash_call(call->tool, arguments_text(arguments), now);
    if (n == extra.n || memcmp(again->ticket.call, now, TICKET_HASH) != 0 ||
        again->late.n > 0)
        return;
    if (n == 0) {
        buf_append(&call->shown, extra.p + 1, extra.n - 1);
        return;
    }
    call->reply = (struct tool_reply){
        .value = find_reply(again, extra.p),
        .name = str_make(extra.p, n),
        .carried = str_make(extra.p + n + 1, extra.n - n - 1)};
}
