/* SPDX-License-Identifier: GPL-3.0-or-later */
/* human.c: see human.h. */
#include "gate/human.h"

#include "gate/approval_editor.h"
#include "gate/approval_form.h"

static enum status keep_words(struct tool_call *call,
                              const struct approval *approval)
{
    buf_reset(&call->rule);
    buf_str(&call->rule, approval->rule);
    buf_reset(&call->reason);
    buf_str(&call->reason, approval->decision.reason);
    return buf_failed(&call->rule) || buf_failed(&call->reason) ? ST_NOMEM
                                                                : ST_OK;
}

/* OUT has the approval: takes the rest from it. */
static enum status complete(struct arena *arena, struct tool_call *call,
                            struct human *out)
{
    const struct approval *approval = &out->approval;

    if (keep_words(call, approval) != ST_OK)
        return ST_NOMEM;
    out->gave_arguments = approval->decision.consent == APPROVAL_APPROVED &&
                          approval->arguments.n > 0;
    if (!out->gave_arguments)
        return ST_OK;
    enum status status = arguments_read(arena, call->tool, approval->arguments,
                                        &out->arguments, &out->problem);
    if (status == ST_INVALID)
        return out->problem.n > 0 ? ST_OK : ST_NOMEM;
    return status;
}

enum status human_read_form(struct arena *arena, struct json reply,
                            struct tool_call *call, struct human *out)
{
    *out = (struct human){0};
    enum status status = approval_form_read(arena, reply, call, &out->approval);
    return status == ST_OK ? complete(arena, call, out) : status;
}

enum status human_read_editor(struct arena *arena, struct json result,
                              struct tool_call *call, struct human *out)
{
    *out = (struct human){0};
    enum status status =
        approval_editor_read(arena, result, call, &out->approval);
    return status == ST_OK ? complete(arena, call, out) : status;
}

/* Notes for the answer how AFTER differs from BEFORE; *CHANGED: it does. */
static enum status note_changes(struct buf *note, struct json before,
                                struct json after, bool *changed)
{
    size_t start = note->n;

    if (start > 0)
        buf_byte(note, '\n');
    buf_str(note, STR("The user changed the arguments: "));
    size_t list = note->n;
    arguments_describe_changes(note, before, after);
    *changed = note->n > list;
    buf_byte(note, '.');
    if (!*changed)
        buf_truncate(note, start);
    return buf_failed(note) ? ST_NOMEM : ST_OK;
}

enum status human_keep_arguments(const struct arena *arena,
                                 const struct human *human,
                                 const struct arguments *asked,
                                 struct tool_call *call, bool *changed)
{
    enum status status = note_changes(&call->note, asked->object,
                                      human->arguments.object, changed);

    return status == ST_OK ? arguments_keep(arena, call, &human->arguments,
                                            human->approval.arguments)
                           : status;
}

void human_remember(const struct human *human, const struct tool_call *call,
                    struct grants *grants, const struct log *log)
{
    if (!human->approval.remember)
        return;
    if (grants_add(grants, call->tool) == ST_OK)
        log_line(log, LOG_INFO, "gate: %s is granted from now on",
                 call->tool->name);
    else
        log_line(log, LOG_WARN,
                 "gate: %s is not granted: %d tools are, which is the limit",
                 call->tool->name, LIMIT_GRANTS);
}
