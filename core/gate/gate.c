/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.c: decides, asks, runs, tells the hooks and the log. */
#include "gate/gate.h"

#include <inttypes.h>

#include "gate/approval.h"
#include "gate/approval_form.h"
#include "gate/editor_buffer.h"
#include "gate/human.h"
#include "gate/policy.h"
#include "gate/refusal.h"
#include "gate/rules.h"
#include "gate/stint.h"

void gate_init(struct gate *gate, const struct log *log, struct image *image,
               const struct tool_limits *limits)
{
    *gate = (struct gate){.log = log, .image = image, .limits = *limits};
}

/* --- Hooks and log ------------------------------------------------------- */

enum status gate_add_hook(struct gate *gate, gate_hook *hook, void *context)
{
    if (gate->hook_count == GATE_HOOKS)
        return ST_LIMIT;
    gate->hooks[gate->hook_count].hook = hook;
    gate->hooks[gate->hook_count].context = context;
    gate->hook_count++;
    return ST_OK;
}

static void call_hooks(const struct gate *gate, const struct tool_call *call,
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

/* Puts down what was decided, and by whom. */
static void record(const struct gate_step *t, const char *decision,
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

/* --- Failures as answers ------------------------------------------------- */

/* The call ends with TEXT, which is empty when memory ran out. A review says
   what became of it in a word on a line of its own, STATE. */
static enum status fail(struct gate_step *t, const char *state, struct str text)
{
    t->answer.state = TOOL_FAILED;
    t->answer.text = text;
    if (t->call->tool->prepare && text.n > 0)
        t->answer.text =
            arena_printf(t->arena, "%s\n%.*s", state, STR_ARG(text));
    return t->answer.text.n > 0 ? ST_OK : ST_NOMEM;
}

/* The call does not run, as BY decided; TEXT is what the model reads. */
static enum status refuse(struct gate_step *t, const char *by, struct str text)
{
    record(t, "refused", by);
    return fail(t, "REFUSED", text);
}

/* BECAUSE: why the call needs an approval; BY_RULE: a rule is why. */
static enum status refuse_without_approver(struct gate_step *t,
                                           struct str because, bool by_rule)
{
    return refuse(
        t, APPROVAL_BY_NOBODY,
        refusal_no_approver(t->arena, t->call->tool, because, by_rule));
}

static enum status refuse_by_rule(struct gate_step *t, struct str rule)
{
    return refuse(t, APPROVAL_BY_POLICY,
                  refusal_rule(t->arena, t->call->tool, rule));
}

static enum status refuse_by_fault(struct gate_step *t)
{
    return refuse(
        t, APPROVAL_BY_BROKEN_POLICY,
        refusal_fault(t->arena, t->call->tool, t->gate->policy->fault));
}

/* WHY: nobody decided. */
static enum status refuse_without_decision(struct gate_step *t, struct str why)
{
    record(t, "refused", APPROVAL_BY_NO_DECISION);
    return fail(t, "NO DECISION", refusal_no_decision(t->arena, t->call, why));
}

/* Turns the failure to run a tool into an answer, when it is one that the model
   should read. */
static enum status explain(struct gate_step *t, enum status status)
{
    if (status == ST_OK || status == ST_NOMEM)
        return status;
    t->answer.state = TOOL_FAILED;
    t->answer.text = status == ST_LIMIT ? refusal_busy(t->arena)
                                        : STR("The connection to the Lisp "
                                              "image is broken. Restart the "
                                              "server.");
    return t->answer.text.n > 0 ? ST_OK : ST_NOMEM;
}

/* --- Questions ----------------------------------------------------------- */

static struct tool_request request_of(const struct gate_step *t)
{
    return (struct tool_request){.arena = t->arena,
                                 .image = t->gate->image,
                                 .files = t->gate->files,
                                 .seen = &t->gate->seen,
                                 .limits = &t->gate->limits,
                                 .values = t->arguments.values,
                                 .call = t->call};
}

/* The question is complete: can it be put to anybody? */
static enum status check_question(struct gate_step *t)
{
    struct buf *message = &t->call->question.message;

    if (message->n > LIMIT_QUESTION)
        return refuse(t, APPROVAL_BY_LIMIT,
                      refusal_size(t->arena, t->call->tool));
    if (buf_failed(message) || buf_failed(&t->call->question.substance) ||
        buf_failed(&t->call->question.form) ||
        buf_failed(&t->call->question.review) ||
        buf_failed(&t->call->question.carried) ||
        approval_form_make_visible(message) != ST_OK)
        return ST_NOMEM;
    if (message->n <= LIMIT_QUESTION)
        return ST_OK;
    return refuse(t, APPROVAL_BY_LIMIT, refusal_size(t->arena, t->call->tool));
}

static bool is_over(const struct gate_step *t)
{
    return t->answer.state == TOOL_FAILED || t->answer.state == TOOL_ANSWERED;
}

/* There is nothing to do, and the answer says so. */
static enum status settle(const struct gate_step *t)
{
    record(t, "settled", APPROVAL_BY_PREPARATION);
    return ST_OK;
}

/* Lets the tool find out what the call would do. Afterwards the state is
   TOOL_ASKS, or the call is over. */
static enum status prepare(struct gate_step *t)
{
    struct tool_request request = request_of(t);

    tool_call_forget_question(t->call);
    t->answer.state = TOOL_ASKS;
    enum status status = explain(
        t, t->call->tool->prepare(&request, &t->call->question, &t->answer));
    return status == ST_OK && t->answer.state != TOOL_ASKS ? settle(t) : status;
}

/* Somebody can be asked for an approval. */
static bool can_ask(const struct gate_step *t)
{
    return t->call->can_ask || t->call->editor;
}

/* Asks the editor once for the text that it may have of each file under review;
   when there is none left, the state stays TOOL_ASKS. */
static enum status ask_for_buffer(struct gate_step *t)
{
    struct str path;
    enum status status =
        editor_buffer_next(t->arena, t->gate->files, t->call, &path);

    if (status != ST_OK || path.n == 0)
        return status;
    t->answer.state = TOOL_READS_BUFFER;
    t->answer.text = path;
    return ST_OK;
}

/* REMEMBER: a grant would spare the next question. */
static enum status ask(struct gate_step *t, bool remember)
{
    struct tool_call *call = t->call;
    bool review = call->tool->prepare != NULL;
    enum status status = ST_OK;

    t->answer.state = TOOL_ASKS;
    call->may_remember = remember;
    if (review && call->editor)
        status = ask_for_buffer(t);
    if (status != ST_OK || t->answer.state != TOOL_ASKS)
        return status;
    status = review ? prepare(t)
                    : approval_form_describe(&call->question.message, t->arena,
                                             call->tool, t->arguments.object);
    if (status != ST_OK || t->answer.state != TOOL_ASKS)
        return status;
    call->question.remember = remember && t->gate->grants.count < LIMIT_GRANTS;
    return check_question(t);
}

/* --- Running ------------------------------------------------------------- */

/* A handler has a question of its own. */
static enum status ask_for_handler(struct gate_step *t)
{
    if (t->call->can_ask)
        return check_question(t);
    t->answer.requires = "elicitation";
    return fail(t, "REFUSED", refusal_no_form(t->arena, t->call->tool));
}

/* REPLY is that to the handler's own question, if there was one. */
static enum status run_handler(struct gate_step *t,
                               const struct approval_decision *decision,
                               const struct tool_reply *reply)
{
    const struct tool *tool = t->call->tool;
    struct tool_request request = request_of(t);

    request.decision = decision;
    request.reply = *reply;
    t->answer.state = tool->in_editor ? TOOL_IN_EDITOR : TOOL_WAITS;
    if (tool->in_editor)
        return ST_OK;
    enum status status =
        explain(t, tool->operation ? tool_send(&request)
                                   : tool->handler(&request, &t->answer));
    if (status == ST_OK && t->answer.state == TOOL_ASKS)
        status = ask_for_handler(t);
    return status;
}

static enum status run(struct gate_step *t,
                       const struct approval_decision *decision)
{
    t->call->approved = true;
    call_hooks(t->gate, t->call, GATE_BEFORE, STR(""), t->now_ms);
    return run_handler(t, decision, &t->call->reply);
}

/* The call may run without a question. */
static enum status run_allowed(struct gate_step *t, const char *by)
{
    static const struct approval_decision all = {.consent = APPROVAL_APPROVED};

    if (t->call->tool->prepare) {
        enum status status = prepare(t);
        if (status != ST_OK || t->answer.state != TOOL_ASKS)
            return status;
    }
    record(t, "allowed", by);
    return run(t, &all);
}

/* Ends a step of a call: when the call is over, everybody hears of it. */
static enum status end_step(struct gate_step *t, enum status status)
{
    if (status == ST_NOMEM) {
        t->answer.state = TOOL_FAILED;
        t->answer.text = STR("Out of memory.");
    }
    if (is_over(t))
        gate_end(t);
    return status;
}

/* --- Deciding ------------------------------------------------------------ */

/* RULE wants every call to be asked about, whatever was granted. */
static enum status decide_by_question(struct gate_step *t, struct str rule)
{
    if (can_ask(t))
        return ask(t, false);
    return refuse_without_approver(
        t,
        arena_printf(t->arena, "the user's rule \"%.*s\" says that it",
                     STR_ARG(rule)),
        true);
}

static enum status decide_by_level(struct gate_step *t)
{
    const struct tool *tool = t->call->tool;

    if (tool->level == TOOL_SAFE || tool->level == TOOL_CAUTIOUS)
        return run_allowed(t, APPROVAL_BY_LEVEL);
    if (grants_has(&t->gate->grants, tool) && !t->call->resumed)
        return run_allowed(t, APPROVAL_BY_GRANT);
    if (can_ask(t))
        return ask(t, true);
    return refuse_without_approver(t, STR("it is a dangerous tool and"), false);
}

static enum status decide(struct gate_step *t)
{
    const struct policy *policy = t->gate->policy;
    const struct tool_request request = request_of(t);
    enum policy_decision decision;
    struct str rule;
    enum status status = rules_ask(t, &request, &decision, &rule);

    if (status != ST_OK || t->answer.state == TOOL_READS_BUFFER)
        return status;
    if (is_over(t))
        return settle(t);
    if (decision == POLICY_DENY)
        return refuse_by_rule(t, rule);
    if (policy && policy->fault.n > 0 && t->call->tool->level != TOOL_SAFE)
        return refuse_by_fault(t);
    if (decision == POLICY_ASK)
        return decide_by_question(t, rule);
    if (decision == POLICY_ALLOW && !t->call->resumed)
        return run_allowed(t, APPROVAL_BY_POLICY);
    return decide_by_level(t);
}

static enum status start(struct gate_step *t, struct json reply)
{
    (void)reply; // nobody was asked yet
    return decide(t);
}

enum status gate_start(struct gate_step *step, struct json arguments,
                       const struct schema_value *values)
{
    step->answer = (struct tool_answer){0};
    step->arguments = (struct arguments){arguments, values};
    step->call->started_ms = step->now_ms;
    enum status status = arguments_keep(
        step->arena, step->call, &step->arguments, arguments_text(arguments));
    if (status == ST_OK && step->call->tool->in_steps)
        status = explain(step, stint_begin(step, start, (struct json){0}));
    else if (status == ST_OK)
        status = decide(step);
    return end_step(step, status);
}

/* --- What the human said ------------------------------------------------- */

/* A later step of a call: its arguments are read again, then NEXT gets
   REPLY. */
static enum status resume(struct gate_step *t, stint_run *next,
                          struct json reply)
{
    struct str problem;

    t->answer = (struct tool_answer){0};
    if (t->call->tool->in_steps)
        return explain(t, stint_begin(t, next, reply));
    enum status status =
        arguments_read(t->arena, t->call->tool, buf_view(&t->call->arguments),
                       &t->arguments, &problem);
    if (status == ST_OK)
        return next(t, reply);
    return ST_NOMEM; // they were right when the call came
}

static enum status deny(struct gate_step *t, const struct approval *approval)
{
    bool stopped = approval->decision.consent == APPROVAL_STOPPED;

    record(t, "denied", approval->by);
    return fail(t, stopped ? "STOPPED" : "REFUSED",
                refusal_denied(t->arena, &approval->decision));
}

static enum status run_approved(struct gate_step *t, const struct human *human)
{
    bool changed = t->call->note.n > 0;

    record(t, changed ? "modified" : "approved", human->approval.by);
    human_remember(human, t->call, &t->gate->grants, t->gate->log);
    return run(t, &human->approval.decision);
}

/* The change under review is a new one, which nobody has seen; only the editor
   knows whether it has a buffer of that file. */
static enum status ask_anew(struct gate_step *t)
{
    editor_buffer_forget(t->call);
    return ask(t, t->call->may_remember);
}

/* The human wants other arguments than the model. */
static enum status run_modified(struct gate_step *t, const struct human *human)
{
    const struct arguments asked = t->arguments;
    bool review = t->call->tool->prepare != NULL;
    bool changed = false;
    enum policy_decision decision;
    struct str rule;

    if (human->problem.n > 0)
        return refuse(
            t, APPROVAL_BY_BAD_ARGUMENTS,
            refusal_arguments(t->arena, t->call->tool, human->problem));
    t->arguments = human->arguments;
    const struct tool_request request = request_of(t);
    tool_call_forget_parts(t->call);
    enum status status = rules_ask(t, &request, &decision, &rule);
    if (status == ST_OK && is_over(t))
        return settle(t);
    if (status == ST_OK && decision == POLICY_DENY)
        return refuse_by_rule(t, rule);
    if (status == ST_OK)
        status =
            human_keep_arguments(t->arena, human, &asked, t->call, &changed);
    if (status != ST_OK)
        return status;
    changed = changed || t->call->tool->divide;
    if (changed && review && t->call->editor)
        return ask_anew(t);
    if (changed && review) {
        status = prepare(t);
        if (status != ST_OK || t->answer.state != TOOL_ASKS)
            return status;
    }
    return run_approved(t, human);
}

static enum status follow(struct gate_step *t, const struct human *human)
{
    switch (human->approval.decision.consent) {
    case APPROVAL_DENIED:
    case APPROVAL_STOPPED:
        return deny(t, &human->approval);
    case APPROVAL_APPROVED:
        break;
    case APPROVAL_NO_DECISION:
        return refuse_without_decision(t, human->approval.decision.reason);
    }
    return human->gave_arguments ? run_modified(t, human)
                                 : run_approved(t, human);
}

/* VALUE is the reply to what the handler asked by itself. */
static enum status answer_handler(struct gate_step *t, struct json value)
{
    struct tool_question asked = t->call->question;
    struct tool_reply reply = {.value = value,
                               .name = str_from(asked.name),
                               .carried = buf_view(&asked.carried)};

    t->call->question = (struct tool_question){0};
    enum status status = run_handler(t, NULL, &reply);
    tool_question_release(&asked);
    return status;
}

static enum status take_reply(struct gate_step *t, struct json reply)
{
    struct human human;

    if (t->call->question.form.n > 0)
        return answer_handler(t, reply);
    enum status status = human_read_form(t->arena, reply, t->call, &human);
    return status == ST_OK ? follow(t, &human) : status;
}

/* There is no reply, because of WHY. */
static enum status do_without_reply(struct gate_step *t, struct str why)
{
    t->answer = (struct tool_answer){0};
    if (t->call->question.form.n > 0)
        return fail(t, "NO DECISION",
                    refusal_no_reply(t->arena, t->call->tool, why));
    return refuse_without_decision(t, why);
}

enum status gate_decide(struct gate_step *step, struct json reply,
                        struct str why)
{
    return end_step(step, json_is_absent(reply)
                              ? do_without_reply(step, why)
                              : resume(step, take_reply, reply));
}

static enum status take_result(struct gate_step *t, struct json result)
{
    struct human human;
    enum status status = human_read_editor(t->arena, result, t->call, &human);

    return status == ST_OK ? follow(t, &human) : status;
}

enum status gate_decide_in_editor(struct gate_step *step, struct json result)
{
    return end_step(step, resume(step, take_result, result));
}

enum status gate_stale(struct gate_step *step)
{
    step->answer = (struct tool_answer){0};
    record(step, "refused", APPROVAL_BY_STALE);
    return end_step(step, fail(step, "STALE",
                               refusal_stale(step->arena, step->call->tool)));
}

/* --- The editor ---------------------------------------------------------- */

static enum status take_buffer(struct gate_step *t, struct json result)
{
    struct tool_call *call = t->call;
    size_t n = 0;
    enum status status;

    if (call->unsaved.state == UNSAVED_ASKED) {
        status =
            editor_buffer_read_unsaved(t->arena, t->gate->files, result, call);
        return status == ST_OK ? decide(t) : status;
    }
    status = editor_buffer_read(t->arena, result,
                                &editor_buffer_asked(call)->buffer, &n);
    if (status == ST_OK)
        return ask(t, call->may_remember);
    if (status != ST_LIMIT)
        return status;
    record(t, "refused", APPROVAL_BY_LIMIT);
    return fail(t, "ERROR", refusal_buffer(t->arena, call->tool, n));
}

enum status gate_buffer_text(struct gate_step *step, struct json result)
{
    return end_step(step, resume(step, take_buffer, result));
}

static enum status ask_client(struct gate_step *t, struct json result)
{
    (void)result; // there is none
    return ask(t, t->call->may_remember);
}

enum status gate_without_editor(struct gate_step *step)
{
    struct tool_call *call = step->call;
    bool undecided = call->unsaved.state == UNSAVED_ASKED;

    call->editor = false;
    tool_call_forget_question(call);
    editor_buffer_forget(call);
    if (call->tool->unsaved) { // what it has not saved does not matter either
        tool_unsaved_release(&call->unsaved);
        tool_call_forget_parts(call);
    }
    if (undecided || call->can_ask)
        return end_step(step,
                        resume(step, call->tool->unsaved ? start : ask_client,
                               (struct json){0}));
    step->answer = (struct tool_answer){0};
    return end_step(step, refuse(step, APPROVAL_BY_NOBODY,
                                 refusal_no_editor(step->arena, call->tool)));
}

/* --- Work and end -------------------------------------------------------- */

enum status gate_work(struct gate_step *step)
{
    return end_step(step, stint_go_on(step));
}

void gate_end(struct gate_step *step)
{
    const struct tool_call *call = step->call;

    tool_take_note(step->call, &step->answer);
    bool failed = step->answer.state == TOOL_FAILED;
    log_line(step->gate->log, LOG_DEBUG, "gate: %s %s after %" PRId64 " ms",
             call->tool->name, failed ? "failed" : "succeeded",
             step->now_ms - call->started_ms);
    call_hooks(step->gate, call, failed ? GATE_ERROR : GATE_AFTER,
               step->answer.text, step->now_ms);
}
