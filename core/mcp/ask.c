/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask.c: see ask.h. */
#include "mcp/ask.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "mcp/ask_again.h"

/* Bytes of the id of a request of ours, with its NUL. */
#define QUESTION_ID 32

struct str course_fault(const struct turn *t)
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

/* --- The client ---------------------------------------------------------- */

/* Our request with the question of ENTRY. */
static struct str question_id(const struct entry *entry, char text[QUESTION_ID])
{
    int n = snprintf(text, QUESTION_ID, "\"ecl-mcp-%llu\"",
                     (unsigned long long)entry->question);
    return str_make(text, (size_t)n);
}

struct entry *course_find_question(const struct calls *calls, struct str id)
{
    char text[QUESTION_ID];
    struct entry *entry = calls->entries.asking;

    while (entry != NULL &&
           (entry->errand != 0 || !str_eq(question_id(entry, text), id)))
        entry = entry->list_next;
    return entry;
}

/* ENTRY waits for a human from now on. */
static void wait_for_human(struct calls *calls, struct entry *entry,
                           int64_t now_ms)
{
    entry_remember(&calls->entries, entry);
    entry_ask(&calls->entries, entry);
    entry->expires_ms = now_ms + calls->approval_ms;
    entry->next_report_ms = now_ms + LIMIT_APPROVAL_PROGRESS_MS;
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
    wait_for_human(calls, entry, now_ms);
    return ST_OK;
}

/* A question that cannot be put is answered for the human, so that this comes
   to an end. */
static enum status ask_client(struct turn *t, struct str fault)
{
    if (result_is_modern(t->entry->version))
        return again_require(t);
    if (fault.n == 0)
        return put_question(t->calls, t->entry, t->gate.now_ms);
    if (turn_decide_without(t, fault) != ST_OK)
        return ST_NOMEM;
    turn_send(t);
    return ST_OK;
}

/* --- The editor ---------------------------------------------------------- */

/* The editor got the request ERRAND about the call of T. */
static void send_away(struct turn *t, uint64_t errand)
{
    t->entry->errand = errand;
    t->entry->received = false;
    t->entry->receive_by_ms = t->gate.now_ms + LIMIT_EDITOR_RECEIVE_MS;
}

/* There is an editor, but it is not to be reached. */
static enum status go_on_without_editor(struct turn *t)
{
    return course_go_on(t, gate_without_editor(&t->gate));
}

/* Too much waits already, or nothing more is done; empty: it is not so. */
static struct str fault_of_errand(const struct turn *t)
{
    const struct entries *entries = &t->calls->entries;

    if (t->calls->finished)
        return STR("the client has closed the connection");
    if (entries->away_count < LIMIT_EDITOR_CALLS &&
        entries->asking_bytes + entry_bytes(t->entry) <= LIMIT_PENDING_BYTES)
        return STR("");
    return arena_printf(t->gate.arena,
                        "too much waits for the editor already, the limit is "
                        "%d calls and %u bytes",
                        LIMIT_EDITOR_CALLS, LIMIT_PENDING_BYTES);
}

/* Asks for the text of a buffer. */
static enum status look(struct turn *t)
{
    struct entries *entries = &t->calls->entries;
    uint64_t errand = 0;

    if (fault_of_errand(t).n == 0)
        errand = editor_text(t->calls->editor, t->gate.answer.text);
    if (errand == 0)
        return go_on_without_editor(t);
    entry_remember(entries, t->entry);
    entry_send_away(entries, t->entry);
    send_away(t, errand);
    t->entry->expires_ms = t->entry->receive_by_ms + LIMIT_EDITOR_LOOK_MS;
    return ST_OK;
}

static enum status ask_editor(struct turn *t, struct str fault)
{
    uint64_t errand;

    if (fault.n > 0) {
        if (turn_decide_without(t, fault) != ST_OK)
            return ST_NOMEM;
        turn_send(t);
        return ST_OK;
    }
    errand = editor_approve(t->calls->editor, &t->entry->tool,
                            t->calls->approval_ms / 1000);
    if (errand == 0)
        return go_on_without_editor(t);
    wait_for_human(t->calls, t->entry, t->gate.now_ms);
    send_away(t, errand);
    return ST_OK;
}

/* What a handler asks by itself is a form that only a client shows. */
static enum status ask(struct turn *t)
{
    const struct tool_call *call = &t->entry->tool;
    struct str fault = course_fault(t);

    return call->editor && call->question.form.n == 0 ? ask_editor(t, fault)
                                                      : ask_client(t, fault);
}

/* Lets the editor do the call. */
static void lend(struct turn *t)
{
    struct calls *calls = t->calls;
    int64_t timeout_ms = calls->gate->limits.timeout_ms;
    struct str fault = fault_of_errand(t);
    uint64_t errand = 0;

    if (fault.n == 0 && calls->editor != NULL)
        errand = editor_call(calls->editor, &t->entry->tool);
    if (errand == 0) {
        turn_fail(t, fault.n > 0 ? fault
                                 : STR("The editor that has this tool is not "
                                       "there, or does not read."));
        return;
    }
    entry_remember(&calls->entries, t->entry);
    entry_send_away(&calls->entries, t->entry);
    send_away(t, errand);
    t->entry->expires_ms =
        timeout_ms > 0 ? t->gate.now_ms + timeout_ms : INT64_MAX;
}

void course_withdraw(struct calls *calls, struct entry *entry, struct str why)
{
    char id[QUESTION_ID];

    if (entry->errand != 0) {
        editor_withdraw(calls->editor, entry->errand, why);
        return;
    }
    if (result_withdraw(calls->output, question_id(entry, id), why) != ST_OK)
        log_line(calls->log, LOG_WARN,
                 "mcp: no memory to take a question back");
}

/* --- All of it ----------------------------------------------------------- */

enum status course_go_on(struct turn *t, enum status status)
{
    struct entries *entries = &t->calls->entries;

    entry_leave(entries, t->entry);
    t->entry->errand = 0;
    t->entry->received = false;
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
    case TOOL_LOOKS:
        return look(t);
    case TOOL_ASKS:
        return ask(t);
    case TOOL_LENT:
        lend(t);
        break;
    case TOOL_ANSWERED:
    case TOOL_FAILED:
        turn_send(t);
        break;
    }
    return ST_OK;
}

void course_go_on_alone(struct turn *t, enum status status)
{
    if (course_go_on(t, status) == ST_OK)
        return;
    rpc_check_sent(t->calls->log, rpc_error(&t->entry->to, RPC_INTERNAL_ERROR,
                                            STR("out of memory")));
    turn_end(t->calls, t->entry);
}
