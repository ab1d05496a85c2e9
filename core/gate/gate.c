/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.c: decides, runs, tells the hooks and the log. */
#include "gate/gate.h"

#include <inttypes.h>

#include "gate/approval_editor.h"
#include "gate/approval_form.h"
#include "gate/policy.h"
#include "gate/preview.h"
#include "gate/refusal.h"

void gate_init(struct gate *gate, const struct log *log, struct image *image,
               const struct tool_limits *limits)
{
    *gate = (struct gate){.log = log, .image = image, .limits = *limits};
}

/* --- Grants ------------------------------------------------------------- */

static size_t find_grant(const struct gate *gate, const struct tool *tool)
{
    size_t i = 0;

    while (i < gate->grant_count && gate->grants[i] != tool)
        i++;
    return i;
}

bool gate_has_grant(const struct gate *gate, const struct tool *tool)
{
    return find_grant(gate, tool) < gate->grant_count;
}

void gate_revoke(struct gate *gate, const struct tool *tool)
{
    if (gate_has_grant(gate, tool))
        gate->grants[find_grant(gate, tool)] =
            gate->grants[--gate->grant_count];
}

/* The tool of an editor that has the name of TOOL, one of its, now, or NULL. */
static const struct tool *find_editor_tool(const struct gate *gate,
                                           const struct tool *tool)
{
    if (gate->find_editor_tool == NULL)
        return NULL;
    return gate->find_editor_tool(gate->editor_tools_context,
                                  str_from(tool->name));
}

enum status gate_grant(struct gate *gate, const struct tool *tool)
{
    if (tool->in_editor)
        tool = find_editor_tool(gate, tool); // it may be another by now
    if (tool == NULL || gate_has_grant(gate, tool))
        return ST_OK;
    if (gate->grant_count == LIMIT_GRANTS)
        return ST_LIMIT;
    gate->grants[gate->grant_count++] = tool;
    return ST_OK;
}

void gate_editor_tools_replaced(struct gate *gate)
{
    size_t kept = 0;

    for (size_t i = 0; i < gate->grant_count; i++) {
        const struct tool *tool = gate->grants[i];

        if (tool->in_editor)
            tool = find_editor_tool(gate, tool);
        if (tool != NULL)
            gate->grants[kept++] = tool;
    }
    gate->grant_count = kept;
}

/* --- Hooks and log ------------------------------------------------------ */

enum status gate_add_hook(struct gate *gate, gate_hook *hook, void *context)
{
    if (gate->hook_count == GATE_HOOKS)
        return ST_LIMIT;
    gate->hooks[gate->hook_count].hook = hook;
    gate->hooks[gate->hook_count].context = context;
    gate->hook_count++;
    return ST_OK;
}

static void tell_hooks(const struct gate *gate, const struct tool_call *call,
                       enum gate_phase phase, struct str text, int64_t now_ms)
{
    const struct gate_event event = {.phase = phase,
                                     .call = call,
                                     .arguments = buf_view(&call->arguments),
                                     .text = text,
                                     .now_ms = now_ms};

    for (size_t i = 0; i < gate->hook_count; i++)
        gate->hooks[i].hook(gate->hooks[i].context, &event);
}

/* Writes down what was decided, and by whom. */
static void settle(const struct gate_step *t, const char *decision,
                   const char *by)
{
    struct tool_call *call = t->call;

    call->decision = decision;
    call->decided_by = by;
    call->decided_ms = t->now_ms;
    log_line(t->gate->log, LOG_INFO, "gate: %s (%s) %s by %s, %" PRId64 " ms",
             call->tool->name, tool_level_name(call->tool->level), decision, by,
             t->now_ms - call->started_ms);
}

/* --- Failures as answers ------------------------------------------------ */

/* The call does not go on; TEXT is empty when memory ran out. A review says
   what became of it in a word on a line of its own. */
static enum status fail(struct gate_step *t, const char *state, struct str text)
{
    t->answer.state = TOOL_FAILED;
    t->answer.text = text;
    if (t->call->tool->prepare != NULL && text.n > 0)
        t->answer.text =
            arena_printf(t->arena, "%s\n%.*s", state, STR_ARG(text));
    return t->answer.text.n > 0 ? ST_OK : ST_NOMEM;
}

/* The call does not run, as BY decided; TEXT is what the model reads. */
static enum status refuse(struct gate_step *t, const char *by, struct str text)
{
    settle(t, "refused", by);
    return fail(t, "REFUSED", text);
}

/* BECAUSE: why the call needs an approval. */
static enum status refuse_without_approver(struct gate_step *t,
                                           struct str because)
{
    return refuse(t, "no approver",
                  refusal_no_approver(t->arena, t->call->tool, because));
}

static enum status refuse_by_rule(struct gate_step *t, struct str rule)
{
    return refuse(t, "policy", refusal_rule(t->arena, t->call->tool, rule));
}

static enum status refuse_by_fault(struct gate_step *t)
{
    return refuse(
        t, "broken policy",
        refusal_fault(t->arena, t->call->tool, t->gate->policy->fault));
}

/* A failure to run the tool that the model should read, as answer. */
static enum status explain(struct gate_step *t, enum status status)
{
    if (status == ST_OK || status == ST_NOMEM)
        return status;
    t->answer.state = TOOL_FAILED;
    if (status == ST_LIMIT)
        t->answer.text = arena_printf(
            t->arena,
            "Too many calls are waiting: the limit is %d calls and %u bytes of "
            "arguments. Wait for an answer, then try again.",
            LIMIT_PENDING_CALLS, LIMIT_PENDING_BYTES);
    else
        t->answer.text = STR("The connection to the Lisp image is broken. "
                             "Restart the server.");
    return t->answer.text.n > 0 ? ST_OK : ST_NOMEM;
}

/* --- Questions ---------------------------------------------------------- */

static struct tool_request request_of(const struct gate_step *t)
{
    return (struct tool_request){.arena = t->arena,
                                 .image = t->gate->image,
                                 .files = t->gate->files,
                                 .seen = &t->gate->seen,
                                 .limits = &t->gate->limits,
                                 .values = t->values,
                                 .call = t->call};
}

/* The question is complete: can it be put to anybody? */
static enum status check_question(struct gate_step *t)
{
    struct buf *message = &t->call->question.message;

    if (buf_failed(message) || buf_failed(&t->call->question.substance) ||
        buf_failed(&t->call->question.form) ||
        buf_failed(&t->call->question.review) ||
        buf_failed(&t->call->question.carried) ||
        approval_make_visible(message) != ST_OK)
        return ST_NOMEM;
    if (message->n <= LIMIT_QUESTION)
        return ST_OK;
    return refuse(t, "limit",
                  refusal_size(t->arena, t->call->tool, message->n));
}

/* Lets the tool look at what the call would do. Afterwards the state is
   TOOL_ASKS, or the call is over. */
static enum status prepare(struct gate_step *t)
{
    struct tool_request request = request_of(t);

    tool_call_forget_question(t->call);
    t->answer.state = TOOL_ASKS;
    enum status status = explain(
        t, t->call->tool->prepare(&request, &t->call->question, &t->answer));
    if (status == ST_OK && t->answer.state != TOOL_ASKS)
        settle(t, "settled", "preparation");
    return status;
}

/* Somebody can be asked for an approval. */
static bool can_ask(const struct gate_step *t)
{
    return t->call->can_ask || t->call->editor;
}

/* The argument that names the file of a review, or NULL. */
static const struct schema_value *path_of(const struct gate_step *t)
{
    const struct schema_field *fields = t->call->tool->fields;

    for (size_t i = 0; i < schema_count(fields); i++)
        if (fields[i].kind == SCHEMA_PATH && t->values[i].given)
            return &t->values[i];
    return NULL;
}

/* An editor may have a text of the file that is not on the disk: asks for it,
   once. Otherwise the state stays as it is. */
static enum status look(struct gate_step *t)
{
    const struct files *files = t->gate->files;
    const struct schema_value *path = path_of(t);
    struct str problem;
    struct str name;

    t->call->visit.looked = true;
    if (files == NULL || path == NULL)
        return ST_OK;
    enum files_result result =
        files->locate(files->context, t->arena, path->string, &name, &problem);
    if (result != FILES_OK)
        return result == FILES_NOMEM ? ST_NOMEM : ST_OK;
    bool root = strcmp(files->root, "/") == 0;
    t->answer.state = TOOL_LOOKS;
    t->answer.text = arena_printf(t->arena, "%s/%.*s", root ? "" : files->root,
                                  STR_ARG(name));
    return t->answer.text.n > 0 ? ST_OK : ST_NOMEM;
}

/* REMEMBER: a grant would spare the next question. */
static enum status ask(struct gate_step *t, bool remember)
{
    enum status status = ST_OK;

    t->answer.state = TOOL_ASKS;
    t->call->may_remember = remember;
    if (t->call->tool->prepare != NULL && t->call->editor &&
        !t->call->visit.looked)
        status = look(t);
    if (status != ST_OK || t->answer.state != TOOL_ASKS)
        return status;
    if (t->call->tool->prepare != NULL)
        status = prepare(t);
    else
        status = approval_describe(&t->call->question.message, t->arena,
                                   t->call->tool, t->arguments);
    if (status != ST_OK || t->answer.state != TOOL_ASKS)
        return status;
    t->call->question.remember =
        remember && t->gate->grant_count < LIMIT_GRANTS;
    return check_question(t);
}

/* --- Running ------------------------------------------------------------ */

/* A handler has a question of its own. */
static enum status ask_for_handler(struct gate_step *t)
{
    if (t->call->can_ask)
        return check_question(t);
    t->answer.requires = "elicitation";
    return fail(t, "REFUSED",
                arena_printf(t->arena,
                             "%s has a question, but this client cannot ask "
                             "its user. Use a client with MCP elicitation.",
                             t->call->tool->name));
}

/* REPLY is that to the handler's own question, if there was one. */
static enum status run_handler(struct gate_step *t,
                               const struct tool_decision *decision,
                               const struct tool_reply *reply)
{
    struct tool_request request = request_of(t);
    enum status status;

    request.decision = decision;
    request.reply = *reply;
    t->answer.state = t->call->tool->in_editor ? TOOL_IN_EDITOR : TOOL_WAITS;
    if (t->call->tool->in_editor)
        return ST_OK;
    if (t->call->tool->operation != NULL)
        status = tool_send(&request);
    else
        status = t->call->tool->handler(&request, &t->answer);
    status = explain(t, status);
    if (status == ST_OK && t->answer.state == TOOL_ASKS)
        status = ask_for_handler(t);
    return status;
}

static enum status run(struct gate_step *t,
                       const struct tool_decision *decision)
{
    t->call->approved = true;
    tell_hooks(t->gate, t->call, GATE_BEFORE, STR(""), t->now_ms);
    return run_handler(t, decision, &t->call->reply);
}

/* The call may run without a question. */
static enum status run_allowed(struct gate_step *t, const char *by)
{
    static const struct tool_decision all = {.consent = TOOL_APPROVED};
    enum status status = ST_OK;

    if (t->call->tool->prepare != NULL) {
        status = prepare(t);
        if (status != ST_OK || t->answer.state != TOOL_ASKS)
            return status;
    }
    settle(t, "allowed", by);
    return run(t, &all);
}

/* Ends a step of a call: when the call is over, everybody is told. */
static enum status end_step(struct gate_step *t, enum status status)
{
    if (status == ST_NOMEM) {
        t->answer.state = TOOL_FAILED;
        t->answer.text = STR("Out of memory.");
    }
    if (t->answer.state == TOOL_FAILED || t->answer.state == TOOL_ANSWERED)
        gate_end(t);
    return status;
}

/* --- The decision ------------------------------------------------------- */

static enum policy_decision rule_of(const struct gate_step *t, struct str *rule)
{
    *rule = STR("");
    if (t->gate->policy == NULL)
        return POLICY_NONE;
    const struct policy_question question = {.tool = t->call->tool,
                                             .values = t->values,
                                             .files = t->gate->files,
                                             .arena = t->arena};
    return policy_decide(t->gate->policy, &question, rule);
}

static bool has_fault(const struct gate_step *t)
{
    return t->gate->policy != NULL && t->gate->policy->fault.n > 0;
}

/* A rule wants every call to be asked for, whatever was granted. */
static enum status decide_by_question(struct gate_step *t, struct str rule)
{
    if (can_ask(t))
        return ask(t, false);
    return refuse_without_approver(
        t, arena_printf(t->arena, "the rule \"%.*s\" of the user says that it",
                        STR_ARG(rule)));
}

static enum status decide_by_level(struct gate_step *t)
{
    const struct tool *tool = t->call->tool;

    if (tool->level == TOOL_SAFE || tool->level == TOOL_CAUTIOUS)
        return run_allowed(t, "level");
    if (gate_has_grant(t->gate, tool) && !t->call->resumed)
        return run_allowed(t, "grant");
    if (can_ask(t))
        return ask(t, true);
    return refuse_without_approver(t, STR("it is a dangerous tool and"));
}

static enum status decide(struct gate_step *t)
{
    enum tool_level level = t->call->tool->level;
    struct str rule;
    enum policy_decision decision = rule_of(t, &rule);

    if (decision == POLICY_DENY)
        return refuse_by_rule(t, rule);
    if (has_fault(t) && level != TOOL_SAFE && level != TOOL_CAUTIOUS)
        return refuse_by_fault(t);
    if (decision == POLICY_ASK)
        return decide_by_question(t, rule);
    if (decision == POLICY_ALLOW && !t->call->resumed)
        return run_allowed(t, "policy");
    return decide_by_level(t);
}

/* The arguments outlive the request, for the hooks and for what is still to be
   decided. */
static enum status keep_arguments(const struct gate_step *t, struct str text)
{
    struct tool_call *call = t->call;
    size_t before = call->arguments.n;

    buf_reset(&call->preview);
    preview_write(&call->preview, call->tool->fields, t->values);

    buf_reset(&call->arguments);
    if (buf_reserve_exact(&call->arguments, text.n) == NULL)
        return ST_NOMEM;
    buf_str(&call->arguments, text);
    call->image.owner_bytes += text.n - before;
    return ST_OK;
}

struct str gate_arguments(struct json arguments)
{
    return json_is_absent(arguments) ? STR("{}") : json_raw(arguments);
}

/* For the hooks, which come when the values are gone. */
static void keep_session(const struct gate_step *t)
{
    struct str name = tool_session(t->call->tool, t->values);
    size_t n = name.n < LIMIT_SESSION_NAME ? name.n : LIMIT_SESSION_NAME;

    if (n > 0)
        memcpy(t->call->session, name.p, n);
    t->call->session[n] = '\0';
}

enum status gate_start(struct gate_step *step, struct json arguments,
                       const struct schema_value *values)
{
    step->answer = (struct tool_answer){0};
    step->arguments = arguments;
    step->values = values;
    step->call->started_ms = step->now_ms;
    keep_session(step);
    enum status status = keep_arguments(step, gate_arguments(arguments));
    if (status == ST_OK)
        status = decide(step);
    return end_step(step, status);
}

/* --- What the human said ------------------------------------------------ */

static enum status deny(struct gate_step *t, const struct approval *approval)
{
    struct str reason = approval->decision.reason;
    bool stopped = approval->decision.consent == TOOL_STOPPED;

    settle(t, "denied", approval->by);
    return fail(
        t, stopped ? "STOPPED" : "REFUSED",
        arena_printf(
            t->arena, "%s%s%.*s%s",
            stopped ? "The user stopped the run" : "User denied tool execution",
            reason.n > 0 ? ": " : "", STR_ARG(reason),
            stopped ? ".\nMake no further calls; wait for the user." : ""));
}

static enum status refuse_without_decision(struct gate_step *t, struct str why)
{
    settle(t, "refused", "no decision");
    return fail(t, "NO DECISION", refusal_no_decision(t->arena, t->call, why));
}

/* Reads the arguments of the call again, or others in their place. ST_INVALID
   fills *PROBLEM. */
static enum status read_arguments(struct gate_step *t, struct str text,
                                  struct str *problem)
{
    const struct schema_field *fields = t->call->tool->fields;
    struct json_error error;
    struct schema_notes notes;
    struct schema_value *values =
        arena_array(t->arena, schema_count(fields), sizeof *values);
    enum status status = ST_NOMEM;

    if (values == NULL || arena_str(t->arena, text, &text) != ST_OK)
        return ST_NOMEM;
    status = json_parse(t->arena, text, &t->arguments, &error);
    if (status != ST_OK && status != ST_NOMEM)
        *problem = arena_printf(t->arena, "no JSON: %s at byte %zu", error.what,
                                error.at);
    if (status == ST_OK && json_type(t->arguments) != JSON_OBJECT) {
        *problem = STR("they are no JSON object");
        status = ST_INVALID;
    } else if (status == ST_OK) {
        status = schema_check(t->arena, fields, t->arguments, values, &notes);
        *problem = notes.problem;
    }
    t->values = values;
    return status == ST_LIMIT ? ST_INVALID : status;
}

static enum status refuse_modified(struct gate_step *t, struct str problem)
{
    return refuse(t, "human, with bad arguments",
                  refusal_arguments(t->arena, t->call->tool, problem));
}

static void grant(const struct gate_step *t, const struct approval *approval)
{
    if (approval->remember && gate_grant(t->gate, t->call->tool) == ST_OK)
        log_line(t->gate->log, LOG_INFO, "gate: %s is granted from now on",
                 t->call->tool->name);
}

static enum status run_approved(struct gate_step *t,
                                const struct approval *approval)
{
    bool changed = t->call->note.n > 0;

    settle(t, changed ? "modified" : "approved", approval->by);
    grant(t, approval);
    return run(t, &approval->decision);
}

/* The answer is to say what was changed; *CHANGED: anything was. */
static enum status note_changes(struct gate_step *t, struct json before,
                                bool *changed)
{
    struct buf *note = &t->call->note;
    size_t start = note->n;

    if (start > 0)
        buf_byte(note, '\n');
    buf_str(note, STR("The user changed the arguments: "));
    size_t list = note->n;
    approval_describe_changes(note, before, t->arguments);
    *changed = note->n > list;
    buf_byte(note, '.');
    if (!*changed)
        buf_truncate(note, start);
    return buf_failed(note) ? ST_NOMEM : ST_OK;
}

/* What is to be reviewed is another change now, which nobody has seen; only the
   editor knows whether it has a buffer of that file. */
static enum status ask_anew(struct gate_step *t)
{
    tool_visit_release(&t->call->visit);
    return ask(t, t->call->may_remember);
}

/* The human wants other arguments than the model. */
static enum status run_modified(struct gate_step *t,
                                const struct approval *approval)
{
    struct str problem = STR("");
    struct json before = t->arguments;
    struct str rule;
    enum status status = read_arguments(t, approval->arguments, &problem);

    if (status == ST_INVALID)
        return refuse_modified(t, problem);
    if (status != ST_OK)
        return status;
    if (rule_of(t, &rule) == POLICY_DENY)
        return refuse_by_rule(t, rule);
    bool changed = false;
    status = note_changes(t, before, &changed);
    keep_session(t);
    if (status != ST_OK || keep_arguments(t, approval->arguments) != ST_OK)
        return ST_NOMEM;
    if (changed && t->call->tool->prepare != NULL && t->call->editor)
        return ask_anew(t);
    if (changed && t->call->tool->prepare != NULL) {
        status = prepare(t);
        if (status != ST_OK || t->answer.state != TOOL_ASKS)
            return status;
    }
    return run_approved(t, approval);
}

static enum status follow(struct gate_step *t, const struct approval *approval)
{
    buf_reset(&t->call->rule);
    buf_str(&t->call->rule, approval->rule);
    buf_reset(&t->call->reason);
    buf_str(&t->call->reason, approval->decision.reason);
    if (buf_failed(&t->call->rule) || buf_failed(&t->call->reason))
        return ST_NOMEM;
    switch (approval->decision.consent) {
    case TOOL_DENIED:
    case TOOL_STOPPED:
        return deny(t, approval);
    case TOOL_APPROVED:
        break;
    case TOOL_NO_DECISION:
        return refuse_without_decision(t, approval->decision.reason);
    }
    if (approval->arguments.n > 0)
        return run_modified(t, approval);
    return run_approved(t, approval);
}

/* What the handler asked by itself is answered, or nobody answers: WHY. */
static enum status answer_handler(struct gate_step *t, struct json value,
                                  struct str why)
{
    struct tool_question asked = t->call->question;
    struct tool_reply reply = {.value = value,
                               .name = str_from(asked.name),
                               .carried = buf_view(&asked.carried)};

    if (json_is_absent(value))
        return fail(t, "NO DECISION",
                    arena_printf(t->arena,
                                 "%s has no answer to its question: %.*s.",
                                 t->call->tool->name, STR_ARG(why)));
    t->call->question = (struct tool_question){0};
    enum status status = run_handler(t, NULL, &reply);
    tool_question_release(&asked);
    return status;
}

static enum status read_reply(struct gate_step *t, struct json reply,
                              struct str why)
{
    struct approval approval;
    struct str problem;
    enum status status =
        read_arguments(t, buf_view(&t->call->arguments), &problem);

    if (status == ST_OK && t->call->question.form.n > 0)
        return answer_handler(t, reply, why);
    if (status == ST_OK && json_is_absent(reply))
        return refuse_without_decision(t, why);
    if (status == ST_OK)
        status = approval_read(t->arena, reply, t->call, &approval);
    if (status == ST_OK)
        status = follow(t, &approval);
    // the arguments were right when the call came
    return status == ST_INVALID ? ST_NOMEM : status;
}

enum status gate_decide(struct gate_step *step, struct json reply,
                        struct str why)
{
    step->answer = (struct tool_answer){0};
    return end_step(step, read_reply(step, reply, why));
}

enum status gate_decide_there(struct gate_step *step, struct json result)
{
    struct approval approval;
    struct str problem;

    step->answer = (struct tool_answer){0};
    enum status status =
        read_arguments(step, buf_view(&step->call->arguments), &problem);
    if (status == ST_OK)
        status =
            approval_editor_read(step->arena, result, step->call, &approval);
    if (status == ST_OK)
        status = follow(step, &approval);
    return end_step(step, status == ST_INVALID ? ST_NOMEM : status);
}

/* --- The editor --------------------------------------------------------- */

/* Keeps the text of the buffer, if there is one; *STATE changes when it cannot
   be worked with. */
static enum status keep_buffer(struct gate_step *t, struct json result)
{
    struct tool_visit *visit = &t->call->visit;
    struct str text;
    enum status status = json_string(t->arena, json_get(result, "text"), &text);

    if (status == ST_INVALID)
        return ST_OK; // no buffer
    if (status != ST_OK)
        return status;
    visit->visited = true;
    visit->modified = json_type(json_get(result, "modified")) == JSON_TRUE;
    if (text.n > LIMIT_EDITOR_TEXT) {
        settle(t, "refused", "limit");
        return fail(t, "ERROR",
                    refusal_buffer(t->arena, t->call->tool, text.n));
    }
    if (buf_reserve_exact(&visit->text, text.n) == NULL)
        return ST_NOMEM;
    buf_str(&visit->text, text);
    return ST_OK;
}

enum status gate_look(struct gate_step *step, struct json result)
{
    struct str problem;

    step->answer = (struct tool_answer){.state = TOOL_ASKS};
    enum status status =
        read_arguments(step, buf_view(&step->call->arguments), &problem);
    if (status == ST_OK)
        status = keep_buffer(step, result);
    if (status == ST_OK && step->answer.state == TOOL_ASKS)
        status = ask(step, step->call->may_remember);
    return end_step(step, status == ST_INVALID ? ST_NOMEM : status);
}

enum status gate_without_editor(struct gate_step *step)
{
    struct tool_call *call = step->call;
    struct str problem;

    step->answer = (struct tool_answer){.state = TOOL_ASKS};
    call->editor = false;
    tool_call_forget_question(call);
    tool_visit_release(&call->visit);
    enum status status =
        read_arguments(step, buf_view(&call->arguments), &problem);
    if (status == ST_OK && call->can_ask)
        status = ask(step, call->may_remember);
    else if (status == ST_OK)
        status = refuse(step, "no approver",
                        refusal_no_editor(step->arena, call->tool));
    return end_step(step, status == ST_INVALID ? ST_NOMEM : status);
}

enum status gate_stale(struct gate_step *step)
{
    step->answer = (struct tool_answer){0};
    settle(step, "refused", "stale question");
    return end_step(step, fail(step, "STALE",
                               refusal_stale(step->arena, step->call->tool)));
}

/* --- Work and end ------------------------------------------------------- */

enum status gate_work(struct gate_step *step)
{
    struct tool_request request = request_of(step);
    struct tool_work *work = step->call->work;

    step->answer = (struct tool_answer){.state = TOOL_WORKS};
    return end_step(step,
                    explain(step, work->step(work, &request, &step->answer)));
}

/* Puts what the answer has to say first before its text, and leaves no other
   form of it: some clients show the model only that. */
static void add_note(struct tool_call *call, struct tool_answer *answer)
{
    if (call->note.n == 0)
        return;
    buf_byte(&call->note, '\n');
    buf_str(&call->note, answer->text);
    answer->text = buf_view(&call->note);
    answer->structured = STR("");
    answer->content = STR("");
    if (!buf_failed(&call->note))
        return;
    answer->state = TOOL_FAILED;
    answer->text = STR("Out of memory.");
}

void gate_end(struct gate_step *step)
{
    const struct tool_call *call = step->call;

    add_note(step->call, &step->answer);
    bool failed = step->answer.state == TOOL_FAILED;
    log_line(step->gate->log, LOG_DEBUG, "gate: %s %s after %" PRId64 " ms",
             call->tool->name, failed ? "failed" : "succeeded",
             step->now_ms - call->started_ms);
    tell_hooks(step->gate, call, failed ? GATE_ERROR : GATE_AFTER,
               step->answer.text, step->now_ms);
}
