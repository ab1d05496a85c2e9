/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_editor.c: see ask_editor.h. */
#include "mcp/ask_editor.h"

#include <inttypes.h>

#include "base/deadline.h"
#include "base/limits.h"
#include "base/utf8.h"

/* --- Requests ----------------------------------------------------------- */

/* The call of T waits in STATE for the answer to REQUEST; 0: there is none. */
static bool wait_for_editor(struct step *t, uint64_t request,
                            enum pending_state state)
{
    if (request == 0)
        return false;
    pending_set_state(t->table, t->pending, state);
    t->pending->editor_request = request;
    t->pending->receive_by_ms = t->gate.now_ms + LIMIT_EDITOR_RECEIVE_MS;
    return true;
}

bool ask_editor_approve(struct editor *editor, struct step *t, int64_t seconds)
{
    return editor != NULL &&
           wait_for_editor(t,
                           editor_approve(editor, &t->pending->tool, seconds),
                           PENDING_ASKING_EDITOR);
}

bool ask_editor_read(struct editor *editor, struct step *t)
{
    const struct tool_call *call = &t->pending->tool;
    struct str path = t->gate.answer.text;
    uint64_t request = 0;

    if (editor && call->unsaved.state == UNSAVED_ASKED)
        request = editor_read_unsaved(editor, path, call->tool);
    else if (editor)
        request = editor_read_buffer(editor, path);
    if (!wait_for_editor(t, request, PENDING_READING_BUFFER))
        return false;
    t->pending->expires_ms = t->pending->receive_by_ms + LIMIT_EDITOR_LOOK_MS;
    return true;
}

bool ask_editor_call(struct editor *editor, struct step *t)
{
    int64_t timeout_ms = t->gate.gate->limits.timeout_ms;

    if (!editor || !wait_for_editor(t, editor_call(editor, &t->pending->tool),
                                    PENDING_IN_EDITOR))
        return false;
    t->pending->expires_ms =
        timeout_ms > 0 ? t->gate.now_ms + timeout_ms : DEADLINE_NEVER;
    return true;
}

void ask_editor_withdraw(struct editor *editor, const struct pending *pending,
                         struct str why)
{
    editor_withdraw(editor, pending->editor_request, why);
}

static struct pending *find_in(struct pending *pending, uint64_t request)
{
    while (pending && pending->editor_request != request)
        pending = pending->list_next;
    return pending;
}

struct pending *ask_editor_find(const struct pending_table *table,
                                uint64_t request)
{
    struct pending *found = NULL;

    for (enum pending_state state = PENDING_NEW; state < PENDING_OVER; state++)
        if (!found && pending_is_with_editor(state))
            found = find_in(table->first[state], request);
    return found;
}

/* --- Answers ------------------------------------------------------------ */

void ask_editor_note_receipt(struct pending *pending)
{
    pending->received = true;
}

/* As much of TEXT as a model reads. */
static struct str shorten(const struct step *t, struct str text)
{
    struct str head = utf8_head(text, t->gate.gate->limits.max_output);

    if (head.n == text.n)
        return text;
    return arena_printf(t->gate.arena,
                        "%.*s\n[… %zu of %zu bytes; ask for less …]",
                        STR_ARG(head), head.n, text.n);
}

/* The editor has run the call. */
static void take_result(struct step *t, const struct editor_message *result)
{
    struct json text = json_get(result->value, "text");
    struct json error = json_get(result->value, "error");
    struct tool_answer *answer = &t->gate.answer;
    bool sound = json_type(text) == JSON_STRING;

    if (!sound)
        text = json_get(result->error, "message");
    *answer = (struct tool_answer){.state = TOOL_FAILED};
    if (json_string(t->gate.arena, text, &answer->text) != ST_OK)
        answer->text = STR("The editor's answer is not valid.");
    answer->text = shorten(t, answer->text);
    if (sound && json_type(error) != JSON_TRUE)
        answer->state = TOOL_ANSWERED;
    gate_end(&t->gate);
}

enum status ask_editor_answer(struct step *t,
                              const struct editor_message *result)
{
    if (t->pending->state == PENDING_READING_BUFFER)
        return gate_buffer_text(&t->gate, result->value);
    if (t->pending->state == PENDING_ASKING_EDITOR)
        return gate_decide_in_editor(&t->gate, result->value);
    take_result(t, result);
    return ST_OK;
}

/* --- Time and loss ------------------------------------------------------ */

int64_t ask_editor_deadline(const struct pending *pending)
{
    int64_t deadline = DEADLINE_NEVER;

    if (!pending->received)
        deadline = pending->receive_by_ms;
    if (pending->state != PENDING_ASKING_EDITOR)
        deadline = deadline_earlier(deadline, pending->expires_ms);
    return deadline;
}

bool ask_editor_is_late(const struct step *t)
{
    return pending_is_with_editor(t->pending->state) &&
           deadline_has_passed(ask_editor_deadline(t->pending), t->gate.now_ms);
}

/* The editor has not got the request, or it is gone: WHY. */
static enum status do_without(struct step *t, struct str why)
{
    if (t->pending->state != PENDING_IN_EDITOR)
        return gate_without_editor(&t->gate);
    step_give_up(t, arena_printf(t->gate.arena, "%s did not finish: %.*s.",
                                 t->pending->tool.tool->name, STR_ARG(why)));
    return ST_OK;
}

/* The time limit of a call that the editor runs. */
static struct str text_of_time_limit(const struct step *t)
{
    return arena_printf(t->gate.arena,
                        "Stopped at the time limit of %" PRId64
                        " s. configure-limits changes it.",
                        t->gate.gate->limits.timeout_ms / 1000);
}

enum status ask_editor_time_out(struct editor *editor, struct step *t)
{
    struct pending *pending = t->pending;
    struct str why;

    if (!pending->received &&
        deadline_has_passed(pending->receive_by_ms, t->gate.now_ms)) {
        why =
            arena_printf(t->gate.arena, "the editor did not answer within %d s",
                         LIMIT_EDITOR_RECEIVE_MS / 1000);
        ask_editor_withdraw(editor, pending, why);
        return do_without(t, why);
    }
    if (pending->state == PENDING_IN_EDITOR) {
        why = text_of_time_limit(t);
        ask_editor_withdraw(editor, pending, why);
        step_give_up(t, why);
        return ST_OK;
    }
    ask_editor_withdraw(editor, pending, STR("the editor took too long"));
    return gate_buffer_text(&t->gate, (struct json){0});
}

enum status ask_editor_lose(struct step *t)
{
    struct str why = STR("the editor disconnected");

    if (t->pending->state == PENDING_ASKING_EDITOR && t->pending->received)
        return step_decide_without(t, why);
    return do_without(t, why);
}
