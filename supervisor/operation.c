/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operation.c: the operations on sessions that the supervisor does itself, in
   the order of the session's calls (see state.h). */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/state.h"
#include "wire/wire.h"

/* The arguments that these operations know. */
struct arguments {
    struct str name; /* empty: not given */
    int64_t back;    /* 0: not given */
    int64_t id;      /* of an output; 0: not given */
};

static struct arguments read_arguments(struct str body)
{
    struct arguments arguments = {{NULL, 0}, 0, 0};
    struct str name;
    struct wire_field value;

    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK) {
        if (value.type == WIRE_STRING && str_eq(name, STR("name")))
            arguments.name = value.string;
        if (value.type == WIRE_INT && str_eq(name, STR("back")))
            arguments.back = value.integer;
        if (value.type == WIRE_INT && str_eq(name, STR("id")))
            arguments.id = value.integer;
    }
    if (arguments.name.n > LIMIT_SESSION_NAME)
        arguments.name.n = LIMIT_SESSION_NAME; // the front allows no more
    return arguments;
}

/* Answers the first call of CHANNEL with TEXT. */
static void answer_first(struct supervisor *s, struct channel *channel,
                         bool error, struct buf *text)
{
    reply_composed(s, channel, channel_take_first(channel), error,
                   buf_view(text));
    buf_release(text);
}

/* ---- checkpoint-session */

static void checkpoint_session(struct supervisor *s, struct channel *channel,
                               const struct call *call, int64_t now)
{
    channel->keep_call = call->id;
    restore_keep(s, channel, read_arguments(call_arguments(call)).name, now);
}

void operation_take_kept(struct supervisor *s, struct channel *channel,
                         const struct checkpoint *checkpoint)
{
    struct buf text = BUF_EMPTY;

    if (!channel->first || channel->first->id != channel->keep_call ||
        channel->keep_call == 0)
        return;
    channel->keep_call = 0;
    if (!checkpoint) {
        buf_str(&text, STR("[ERROR] ECL-MCP:NO-CHECKPOINT\nThe image could not "
                           "be copied: the system has no process or memory "
                           "left for it."));
        answer_first(s, channel, true, &text);
        return;
    }
    if (checkpoint->name[0] != '\0')
        buf_printf(&text, "Checkpoint \"%s\" taken after ", checkpoint->name);
    else
        buf_str(&text, STR("Checkpoint taken after "));
    history_describe(&channel->history, checkpoint->evaluation, &text);
    answer_first(s, channel, false, &text);
}

/* ---- restore-session */

/* Why there is no checkpoint to go back to. */
static void describe_missing(const struct channel *channel,
                             struct arguments arguments, struct buf *text)
{
    uint64_t last = channel->history.last;

    buf_str(text, STR("[ERROR] ECL-MCP:NO-CHECKPOINT\n"));
    if (arguments.name.n > 0)
        buf_printf(text, "Session %s has no checkpoint named \"%.*s\".",
                   channel->name, STR_ARG(arguments.name));
    else if (arguments.back > 0 && (uint64_t)arguments.back > last)
        buf_printf(text,
                   "Session %s has %llu evaluations; there is no state %lld "
                   "evaluations back.",
                   channel->name, (unsigned long long)last,
                   (long long)arguments.back);
    else
        buf_printf(text, "Session %s has no checkpoint of that time any more.",
                   channel->name);
    buf_str(text, STR(" list-sessions shows what there is."));
}

static struct checkpoint *choose(const struct channel *channel,
                                 struct arguments arguments)
{
    uint64_t last = channel->history.last;

    if (arguments.name.n > 0)
        return checkpoints_named(&channel->checkpoints, arguments.name);
    if (arguments.back <= 0)
        return checkpoints_before(&channel->checkpoints, last);
    if ((uint64_t)arguments.back > last)
        return NULL;
    return checkpoints_before(&channel->checkpoints,
                              last - (uint64_t)arguments.back);
}

/* What a way back means: where the session is now, and what was undone. */
static void describe_restored(const struct channel *channel,
                              const struct checkpoint *checkpoint,
                              struct buf *text)
{
    uint64_t last = channel->history.last;

    buf_printf(text, "Session %s restored to the state after ", channel->name);
    if (checkpoint->apart)
        buf_printf(text, "evaluation %llu of a past that was left",
                   (unsigned long long)checkpoint->evaluation);
    else
        history_describe(&channel->history, checkpoint->evaluation, text);
    if (checkpoint->name[0] != '\0')
        buf_printf(text, "\n(checkpoint \"%s\")", checkpoint->name);
    if (!checkpoint->apart && checkpoint->evaluation < last) {
        buf_str(text, STR("\nUndone:"));
        history_list(&channel->history, checkpoint->evaluation + 1, last, text);
    }
    buf_str(text, STR(RESTORE_LIMITS));
}

/* The call of KNOWS, OPERATION, has changed what all others build on: TEXT says
   how. */
static void tell_others(struct channel *channel, const struct front *knows,
                        const char *operation, struct str text)
{
    struct buf notice = BUF_EMPTY;

    buf_printf(&notice, "Somebody who shares it has called %s:\n%.*s",
               operation, STR_ARG(text));
    reply_note(channel, knows, buf_view(&notice));
    buf_release(&notice);
}

void operation_note_answer(struct channel *channel, const struct call *call)
{
    if (!call->error && str_eq(call_operation(call), STR("reset-session")))
        tell_others(channel, call->front, "reset-session",
                    buf_view(&call->text));
}

/* The state before the first evaluation needs no checkpoint. */
static void restore_beginning(struct supervisor *s, struct channel *channel)
{
    struct buf text = BUF_EMPTY;

    buf_printf(&text,
               "Session %s restored to its beginning.\nUndone:", channel->name);
    history_list(&channel->history, 1, channel->history.last, &text);
    buf_str(&text, STR(RESTORE_LIMITS));
    life_end(s, channel);
    restore_forget(channel);
    tell_others(channel, channel->first->front, "restore-session",
                buf_view(&text));
    answer_first(s, channel, false, &text);
}

static void restore_session(struct supervisor *s, struct channel *channel,
                            const struct call *call, int64_t now)
{
    struct arguments arguments = read_arguments(call_arguments(call));
    struct checkpoint *checkpoint = choose(channel, arguments);
    struct buf text = BUF_EMPTY;
    bool error = true;

    if (!checkpoint && arguments.name.n == 0 && channel->history.last > 0 &&
        (uint64_t)arguments.back == channel->history.last) {
        restore_beginning(s, channel);
        return;
    }
    if (!checkpoint) {
        describe_missing(channel, arguments, &text);
        answer_first(s, channel, true, &text);
        return;
    }
    channel_drain(channel); // what the image has printed in between
    checkpoints_take(&channel->checkpoints, checkpoint);
    if (restore_wake(s, channel, checkpoint)) {
        describe_restored(channel, checkpoint, &text);
        life_end(s, channel);
        restore_become(s, channel, checkpoint, now);
        tell_others(channel, channel->first->front, "restore-session",
                    buf_view(&text));
        error = false;
    } else {
        buf_str(&text, STR("[ERROR] ECL-MCP:NO-CHECKPOINT\nThe checkpoint is "
                           "broken and was dropped; the session is as it "
                           "was."));
    }
    checkpoint_free(checkpoint);
    answer_first(s, channel, error, &text);
}

/* ---- list-sessions, describe-session, show-output */

static void describe_time(int64_t seconds, struct buf *text)
{
    time_t when = (time_t)seconds;
    struct tm local;
    char clock[16];

    if (localtime_r(&when, &local) &&
        strftime(clock, sizeof clock, "%H:%M:%S", &local) > 0)
        buf_printf(text, " at %s", clock);
}

static void describe_session(const struct channel *channel, struct buf *text)
{
    const struct checkpoint *checkpoint = channel->checkpoints.newest;
    size_t memory = channel->pid > 0 ? linux_memory(channel->pid) : 0;

    buf_printf(text, "%s%s: %s, %llu evaluation%s", text->n > 0 ? "\n" : "",
               channel->name,
               channel->sent > 0      ? "evaluating"
               : channel->socket >= 0 ? "idle"
                                      : "not open",
               (unsigned long long)channel->history.last,
               channel->history.last == 1 ? "" : "s");
    if (memory > 0)
        buf_printf(text, ", %.1f MB", (double)memory / 1e6);
    for (; checkpoint; checkpoint = checkpoint->next) {
        buf_str(text, STR("\n- checkpoint"));
        if (checkpoint->name[0] != '\0')
            buf_printf(text, " \"%s\"", checkpoint->name);
        describe_time(checkpoint->taken, text);
        buf_str(text, STR(", after "));
        if (checkpoint->apart)
            buf_printf(text, "evaluation %llu of a past that was left",
                       (unsigned long long)checkpoint->evaluation);
        else
            history_describe(&channel->history, checkpoint->evaluation, text);
    }
}

/* On a line of its own. */
static void describe_sandbox(const struct supervisor *s, struct buf *text)
{
    struct buf state = BUF_EMPTY;

    buf_byte(text, '\n');
    if (s->config.sandbox.mode == SANDBOX_OFF)
        buf_str(text, STR("No sandbox (--sandbox off): code may do what the "
                          "user may."));
    else
        sandbox_explain(&s->config.sandbox, &s->places, text);
    if (s->sandbox_state.known &&
        sandbox_report(&s->config.sandbox, &s->sandbox_state, &state))
        buf_printf(text, " Not all of it is in force: %.*s.",
                   STR_ARG(buf_view(&state)));
    buf_release(&state);
}

static void list_sessions(const struct supervisor *s, struct buf *text)
{
    const struct channel *channel = s->channels;

    for (; channel; channel = channel->next)
        if (!channel->closed)
            describe_session(channel, text);
    if (text->n == 0)
        buf_str(text, STR("No session is open yet."));
    describe_sandbox(s, text);
}

const struct channel *operation_find(const struct supervisor *s,
                                     struct str name)
{
    const struct channel *channel = s->channels;

    while (channel &&
           (channel->closed || !str_eq(name, str_from(channel->name))))
        channel = channel->next;
    return channel;
}

void operation_miss(struct str name, struct buf *text)
{
    buf_printf(text,
               "Session %.*s not found: it is not open. list-sessions shows "
               "those that are.",
               STR_ARG(name));
}

bool operation_is_immediate(struct str operation)
{
    return str_eq(operation, STR("list-sessions")) ||
           str_eq(operation, STR("describe-session")) ||
           str_eq(operation, STR("show-output"));
}

bool operation_show(const struct supervisor *s, struct str session,
                    struct str operation, struct str body, struct buf *text)
{
    const struct channel *channel = operation_find(s, session);

    if (str_eq(operation, STR("show-output")))
        return kept_show(&s->kept, (uint64_t)read_arguments(body).id, session,
                         text);
    if (str_eq(operation, STR("list-sessions")))
        list_sessions(s, text);
    else if (channel)
        describe_session(channel, text);
    else if (str_eq(session, STR(STATE_MAIN)))
        buf_str(text, STR(STATE_MAIN ": not open, 0 evaluations"));
    else
        operation_miss(session, text);
    return channel || !str_eq(operation, STR("describe-session")) ||
           str_eq(session, STR(STATE_MAIN));
}

/* ---- close-session */

static void close_session(struct supervisor *s, struct channel *channel)
{
    struct buf text = BUF_EMPTY;
    bool open = channel->socket >= 0;

    life_end(s, channel);
    restore_forget(channel);
    channel->closed = true;
    buf_printf(&text,
               open ? "Session %s closed. Its definitions and checkpoints are "
                      "gone."
                    : "Session %s not found: it was not open.",
               channel->name);
    answer_first(s, channel, false, &text);
}

/* ---- the table */

enum { CHECKPOINT_SESSION, RESTORE_SESSION, CLOSE_SESSION, N };

static const char *const names[N] = {
    [CHECKPOINT_SESSION] = "checkpoint-session",
    [RESTORE_SESSION] = "restore-session",
    [CLOSE_SESSION] = "close-session",
};

static int find(struct str operation)
{
    int i = 0;

    while (i < N && !str_eq(operation, str_from(names[i])))
        i++;
    return i;
}

bool operation_is_ours(struct str operation)
{
    return find(operation) < N;
}

bool operation_needs_image(const struct call *call)
{
    return find(call_operation(call)) == CHECKPOINT_SESSION;
}

void operation_run(struct supervisor *s, struct channel *channel, int64_t now)
{
    const struct call *call = channel->first;

    switch (find(call_operation(call))) {
    case CHECKPOINT_SESSION:
        checkpoint_session(s, channel, call, now);
        break;
    case RESTORE_SESSION:
        restore_session(s, channel, call, now);
        break;
    default:
        close_session(s, channel);
        break;
    }
}
