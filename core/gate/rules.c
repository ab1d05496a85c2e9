/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rules.c: see rules.h. */
#include "gate/rules.h"

#include "gate/editor_buffer.h"
#include "gate/place.h"

static enum policy_decision ask(const struct gate_step *t,
                                struct tool_place *place, struct str *rule)
{
    const struct policy_question question = {
        .tool = t->call->tool, .values = t->arguments.values, .place = place};

    *rule = STR("");
    return t->gate->policy ? policy_decide(t->gate->policy, &question, rule)
                           : POLICY_NONE;
}

/* What the rules say before it is known which files the call is about. */
static enum status ask_about_root(const struct gate_step *t,
                                  enum policy_decision *decision,
                                  struct str *rule)
{
    struct tool_place root = {.found = true, .result = FILES_OK};

    buf_str(&root.name, STR("."));
    enum status status = buf_failed(&root.name) ? ST_NOMEM : ST_OK;
    if (status == ST_OK)
        *decision = ask(t, &root, rule);
    buf_release(&root.name);
    return status;
}

/* The RULE about the file of PART. */
static struct str name_file(const struct gate_step *t,
                            const struct tool_call *part, struct str rule)
{
    struct str named =
        arena_printf(t->arena, "%.*s\" about \"%.*s", STR_ARG(rule),
                     STR_ARG(buf_view(&part->place.path)));

    return named.n > 0 ? named : rule;
}

static enum policy_decision ask_about_parts(const struct gate_step *t,
                                            struct str *rule)
{
    struct tool_call *call = t->call;
    enum policy_decision least = POLICY_DENY;
    enum policy_decision most = POLICY_NONE;

    for (size_t i = 0; i < call->part_count; i++) {
        struct str why;
        enum policy_decision one = ask(t, &call->parts[i].place, &why);

        least = one < least ? one : least;
        if (one <= most)
            continue;
        most = one;
        *rule = name_file(t, &call->parts[i], why);
    }
    return most == POLICY_ALLOW ? least : most;
}

enum status rules_ask(struct gate_step *t, const struct tool_request *request,
                      enum policy_decision *decision, struct str *rule)
{
    const struct tool *tool = t->call->tool;
    enum status status =
        place_find(t->call, t->gate->files, t->arguments.values);

    if (status != ST_OK)
        return status;
    if (!tool->divide) {
        *decision = ask(t, &t->call->place, rule);
        return ST_OK;
    }
    status = ask_about_root(t, decision, rule);
    if (status != ST_OK || *decision == POLICY_DENY)
        return status;
    if (t->gate->files && editor_buffer_ask_unsaved(t->call)) {
        t->answer.state = TOOL_READS_BUFFER;
        t->answer.text = str_from(t->gate->files->root);
        return ST_OK;
    }
    if (t->call->part_count == 0) {
        t->answer.state = TOOL_ASKS;
        status = tool->divide(request, &t->answer);
    }
    if (status == ST_OK && t->answer.state == TOOL_ASKS)
        *decision = ask_about_parts(t, rule);
    return status;
}
