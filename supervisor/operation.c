/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operation.c: see operation.h. */
#include "supervisor/operation.h"

#include <time.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/adopting.h"
#include "supervisor/process_limit.h"
#include "supervisor/reply.h"
#include "supervisor/restore.h"
#include "supervisor/state.h"
#include "wire/wire.h"

/* The arguments of these operations. */
struct arguments {
    struct str name; /* empty: not given */
    int64_t back;    /* -1: not given */
    int64_t id;      /* of an output; 0: not given */
};

static struct arguments read_arguments(struct str body)
{
    struct arguments arguments = {{NULL, 0}, -1, 0};
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

/* Answers the first call of SESSION with TEXT. */
static void answer_first(struct supervisor *s, struct session *session,
                         bool error, struct buf *text)
{
    reply_composed(s, session, session_take_first(session), error,
                   buf_view(text));
    buf_release(text);
}

/* --- checkpoint-session ------------------------------------------------- */

static void checkpoint_session(struct supervisor *s, struct session *session,
                               int64_t now)
{
    const struct call *call = session->calls.first;

    session->keeping.call = call->id;
    restore_keep(s, session, read_arguments(call_arguments(call)).name, now);
}

void operation_take_kept(struct supervisor *s, struct session *session,
                         const struct checkpoint *checkpoint)
{
    struct buf text = BUF_EMPTY;

    if (!session->calls.first ||
        session->calls.first->id != session->keeping.call ||
        session->keeping.call == 0)
        return;
    session->keeping.call = 0;
    if (!checkpoint) {
        buf_str(&text, STR("[ERROR] ECL-MCP:NO-CHECKPOINT\nThe image could not "
                           "be copied: the system has no process or memory "
                           "left for it."));
        answer_first(s, session, true, &text);
        return;
    }
    if (checkpoint->name[0] != '\0')
        buf_printf(&text, "Checkpoint \"%s\" taken after ", checkpoint->name);
    else
        buf_str(&text, STR("Checkpoint taken after "));
    history_describe(&session->keeping.history, checkpoint->evaluation, &text);
    answer_first(s, session, false, &text);
}

/* --- restore-session ---------------------------------------------------- */

/* Says why there is no checkpoint to go back to. */
static void describe_missing(const struct session *session,
                             struct arguments arguments, struct buf *text)
{
    uint64_t last = session->keeping.history.last;

    buf_str(text, STR("[ERROR] ECL-MCP:NO-CHECKPOINT\n"));
    if (arguments.name.n > 0)
        buf_printf(text, "Session %s has no checkpoint named \"%.*s\".",
                   session->name, STR_ARG(arguments.name));
    else if (arguments.back > 0 && (uint64_t)arguments.back > last)
        buf_printf(text,
                   "Session %s has %llu evaluations; there is no state %lld "
                   "evaluations back.",
                   session->name, (unsigned long long)last,
                   (long long)arguments.back);
    else
        buf_printf(text, "Session %s no longer has a checkpoint of that time.",
                   session->name);
    buf_str(text, STR(" list-sessions shows its checkpoints."));
}

static struct checkpoint *choose(const struct session *session,
                                 struct arguments arguments)
{
    uint64_t last = session->keeping.history.last;

    if (arguments.name.n > 0)
        return checkpoints_named(&session->keeping.checkpoints, arguments.name);
    if (arguments.back < 0)
        return checkpoints_before(&session->keeping.checkpoints, last);
    if ((uint64_t)arguments.back > last)
        return NULL;
    return checkpoints_before(&session->keeping.checkpoints,
                              last - (uint64_t)arguments.back);
}

/* Says where the session is now, and what was undone. */
static void describe_restored(const struct session *session,
                              const struct checkpoint *checkpoint,
                              struct buf *text)
{
    uint64_t last = session->keeping.history.last;

    buf_printf(text, "Session %s restored to the state after ", session->name);
    if (checkpoint->apart)
        buf_printf(text, "evaluation %llu of an abandoned past",
                   (unsigned long long)checkpoint->evaluation);
    else
        history_describe(&session->keeping.history, checkpoint->evaluation,
                         text);
    if (checkpoint->name[0] != '\0')
        buf_printf(text, "\n(checkpoint \"%s\")", checkpoint->name);
    if (!checkpoint->apart && checkpoint->evaluation < last) {
        buf_str(text, STR("\nUndone:"));
        history_list(&session->keeping.history, checkpoint->evaluation + 1,
                     last, text);
    }
    buf_str(text, STR(RESTORE_LIMITS));
}

/* The state before the first evaluation needs no checkpoint. */
static void restore_beginning(struct supervisor *s, struct session *session)
{
    struct buf text = BUF_EMPTY;

    buf_printf(&text,
               "Session %s restored to its beginning.\nUndone:", session->name);
    history_list(&session->keeping.history, 1, session->keeping.history.last,
                 &text);
    buf_str(&text, STR(RESTORE_LIMITS));
    session_end_image(session);
    keeping_forget(&session->keeping);
    notices_tell(&session->notices, session->calls.first->front,
                 "restore-session", buf_view(&text));
    answer_first(s, session, false, &text);
}

/* Nothing more is to be undone. */
static void answer_unchanged(struct supervisor *s, struct session *session)
{
    struct buf text = BUF_EMPTY;

    buf_printf(&text, "Session %s is in the state after ", session->name);
    history_describe(&session->keeping.history, session->keeping.history.last,
                     &text);
    answer_first(s, session, false, &text);
}

static void restore_session(struct supervisor *s, struct session *session,
                            int64_t now)
{
    struct call *call = session->calls.first;
    struct arguments arguments = read_arguments(call_arguments(call));
    struct checkpoint *checkpoint;
    struct buf text = BUF_EMPTY;

    if (arguments.back > 0 && call->freed_by_death)
        arguments.back--; // what was stopped is undone
    if (arguments.back == 0 && arguments.name.n == 0) {
        answer_unchanged(s, session);
        return;
    }
    checkpoint = choose(session, arguments);
    if (!checkpoint && arguments.name.n == 0 &&
        session->keeping.history.last > 0 &&
        (uint64_t)arguments.back == session->keeping.history.last) {
        restore_beginning(s, session);
        return;
    }
    if (!checkpoint) {
        describe_missing(session, arguments, &text);
        answer_first(s, session, true, &text);
        return;
    }
    restore_begin(s, session, checkpoint, session->calls.first->id, now);
}

void operation_take_woken(struct supervisor *s, struct session *session,
                          struct checkpoint *checkpoint, bool awake,
                          int64_t now)
{
    struct buf text = BUF_EMPTY;

    if (session->calls.first->adopts) {
        adopting_take_woken(s, session, checkpoint, awake, now);
        return;
    }
    session_drain(session); // what the image has printed until now
    if (awake) {
        describe_restored(session, checkpoint, &text);
        session_drop_image(session);
        restore_become(s, session, checkpoint, now);
        notices_tell(&session->notices, session->calls.first->front,
                     "restore-session", buf_view(&text));
    } else {
        buf_str(&text, STR("[ERROR] ECL-MCP:NO-CHECKPOINT\nThe checkpoint is "
                           "broken and was dropped; the session is "
                           "unchanged."));
    }
    answer_first(s, session, !awake, &text);
}

/* --- list-sessions, describe-session, show-output ----------------------- */

static void describe_time(int64_t seconds, struct buf *text)
{
    time_t when = (time_t)seconds;
    struct tm local;
    char clock[16];

    if (localtime_r(&when, &local) &&
        strftime(clock, sizeof clock, "%H:%M:%S", &local) > 0)
        buf_printf(text, " at %s", clock);
}

static const char *describe_state(const struct session *session)
{
    if (restore_is_waking(session))
        return "restoring";
    if (session->calls.sent > 0)
        return "evaluating";
    return session->image.socket >= 0 ? "idle" : "not open";
}

/* Appends how far native code is, if the session makes any. */
static void describe_native(const struct image_native *native, struct buf *text)
{
    static const char *const obstacles[] = {
        [NATIVE_UNHINDERED] = NULL,
        [NATIVE_NO_COMPILER] = "no C compiler",
        [NATIVE_NO_FOLDER] = "no folder for temporary files",
    };
    const char *obstacle = obstacles[native->obstacle];

    if (!native->known)
        return;
    buf_printf(text, ", %lld native function%s", (long long)native->functions,
               native->functions == 1 ? "" : "s");
    if (obstacle)
        buf_printf(text, ", the rest in byte code: %s", obstacle);
    else if (native->waiting > 0)
        buf_printf(text, ", %lld waiting", (long long)native->waiting);
}

static void describe_session(const struct session *session, struct buf *text)
{
    const struct checkpoint *checkpoint = session->keeping.checkpoints.newest;
    size_t memory =
        session->image.pid > 0 ? linux_memory(session->image.pid) : 0;

    buf_printf(text, "%s%s: %s, %llu evaluation%s", text->n > 0 ? "\n" : "",
               session->name, describe_state(session),
               (unsigned long long)session->keeping.history.last,
               session->keeping.history.last == 1 ? "" : "s");
    if (memory > 0)
        buf_printf(text, ", %.1f MB", (double)memory / 1e6);
    if (session->image.socket >= 0)
        describe_native(&session->image.native, text);
    for (; checkpoint; checkpoint = checkpoint->next) {
        buf_str(text, STR("\n- checkpoint"));
        if (checkpoint->name[0] != '\0')
            buf_printf(text, " \"%s\"", checkpoint->name);
        describe_time(checkpoint->taken, text);
        buf_str(text, STR(", after "));
        if (checkpoint->apart)
            buf_printf(text, "evaluation %llu of an abandoned past",
                       (unsigned long long)checkpoint->evaluation);
        else
            history_describe(&session->keeping.history, checkpoint->evaluation,
                             text);
    }
}

/* Appends a line about the sandbox. */
static void describe_sandbox(const struct supervisor *s, struct buf *text)
{
    struct buf state = BUF_EMPTY;

    buf_byte(text, '\n');
    if (s->config.sandbox.mode == SANDBOX_OFF)
        buf_str(text, STR("No sandbox (--sandbox off): code may do what the "
                          "user may."));
    else
        sandbox_explain(&s->config.sandbox, &s->places, text);
    sandbox_explain_mounts(&s->config.sandbox, &s->sandbox_state, &s->places,
                           text);
    if (s->sandbox_state.known &&
        sandbox_report(&s->config.sandbox, &s->sandbox_state, &state))
        buf_printf(text, " Not all of it is in force: %.*s.",
                   STR_ARG(buf_view(&state)));
    buf_release(&state);
}

static bool list_sessions(const struct supervisor *s, struct str name,
                          struct str body, struct str *kept, struct buf *text)
{
    const struct session *session = s->sessions;

    (void)kept;
    (void)name; // all are shown
    (void)body;
    for (; session; session = session->next)
        if (!session->closed)
            describe_session(session, text);
    if (text->n == 0)
        buf_str(text, STR("No session is open yet."));
    describe_sandbox(s, text);
    return true;
}

void operation_miss(struct str name, struct buf *text)
{
    buf_printf(text,
               "Session %.*s not found: it is not open. list-sessions shows "
               "those that are.",
               STR_ARG(name));
}

static bool show_session(const struct supervisor *s, struct str name,
                         struct str body, struct str *kept, struct buf *text)
{
    const struct session *session = state_find_session(s, name);
    bool opens = str_eq(name, STR(STATE_MAIN)); // by itself, sooner or later

    (void)kept;
    (void)body;
    if (session)
        describe_session(session, text);
    else if (opens)
        buf_str(text, STR(STATE_MAIN ": not open, 0 evaluations"));
    else
        operation_miss(name, text);
    return session || opens;
}

static bool show_output(const struct supervisor *s, struct str name,
                        struct str body, struct str *kept, struct buf *text)
{
    uint64_t id = (uint64_t)read_arguments(body).id;

    return outputs_show(&s->outputs, id, name, kept, text);
}

/* --- close-session ------------------------------------------------------ */

static void close_session(struct supervisor *s, struct session *session,
                          int64_t now)
{
    struct buf text = BUF_EMPTY;
    bool open = session->image.socket >= 0;

    (void)now;
    session_end_image(session);
    keeping_forget(&session->keeping);
    session->closed = true;
    buf_printf(&text,
               open ? "Session %s closed. Its definitions and checkpoints are "
                      "gone."
                    : "Session %s not found: it was not open.",
               session->name);
    answer_first(s, session, false, &text);
}

/* --- reset-session, configure-limits ------------------------------------ */

/* The image does these; the supervisor only notes something about them. */

/* The definitions of the session are gone, for all who share it. */
static void note_reset(struct session *session, const struct call *call)
{
    frozen_errors_forget(&session->keeping.frozen);
    process_limit_end_earlier(session, call);
    notices_tell(&session->notices, call->front, "reset-session",
                 buf_view(&call->text));
}

/* The limit of memory holds for sessions that open later, too. */
static void note_limits(struct supervisor *s, const struct call *call)
{
    struct str body = call_arguments(call);
    struct str name;
    struct wire_field value;

    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK)
        if (value.type == WIRE_INT && str_eq(name, STR("memory")) &&
            value.integer > 0)
            s->config.heap = (uint64_t)value.integer;
}

/* --- The table ---------------------------------------------------------- */

static const struct operation operations[] = {
    {.name = "checkpoint-session",
     .by = OPERATION_IN_ORDER,
     .needs_image = true,
     .run = checkpoint_session},
    {.name = "restore-session",
     .by = OPERATION_IN_ORDER,
     .frees = true,
     .run = restore_session},
    {.name = "close-session",
     .by = OPERATION_IN_ORDER,
     .frees = true,
     .run = close_session},
    {.name = "list-sessions", .by = OPERATION_AT_ONCE, .show = list_sessions},
    {.name = "describe-session", .by = OPERATION_AT_ONCE, .show = show_session},
    {.name = "show-output", .by = OPERATION_AT_ONCE, .show = show_output},
    {.name = "configure-limits",
     .by = OPERATION_BY_IMAGE,
     .note_call = note_limits},
    {.name = "reset-session",
     .by = OPERATION_BY_IMAGE,
     .frees = true,
     .note_answer = note_reset},
    {.name = "evaluate-in-frame", .by = OPERATION_BY_IMAGE, .apart = true},
    {.name = "replay-evaluation", .by = OPERATION_BY_IMAGE, .apart = true},
    {.name = "invoke-restart",
     .by = OPERATION_BY_IMAGE,
     .apart = true,
     .adopts = true},
    {.name = "run-tests", .by = OPERATION_BY_IMAGE, .output_aside = true},
};

static const struct operation any_other = {.by = OPERATION_BY_IMAGE};

const struct operation *operation_find(struct str name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (str_eq(name, str_from(operations[i].name)))
            return &operations[i];
    return &any_other;
}
