/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live.c: see live.h. Everything in C that touches Lisp is here and in the
   files that only it includes: stacks, signals, streams and the texts of calls;
   the rest of Lisp is in lisp/. */
#include "image/live.h"

#include <fcntl.h>
#include <gc/gc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ecl/ecl.h>

#include "base/buf.h"
#include "base/limits.h"
#include "image/connection.h"
#include "image/constants.h"
#include "image/deadline.h"
#include "image/fault.h"
#include "image/format.h"
#include "image/heap.h"
#include "image/interlude.h"
#include "image/linux.h"
#include "image/lisp_text.h"
#include "image/live_frozen.h"
#include "image/modules.h"
#include "image/names.h"
#include "image/signals.h"
#include "image/sleeper.h"
#include "image/stack.h"
#include "image/tier.h"
#include "wire/wire.h"

/* Environment variable with the number of the collector's marker threads. */
#define MARKERS "GC_MARKERS"

static struct live {
    struct connection connection;
    struct sleepers sleepers;
    uint64_t heap;
    cl_object streams[CONNECTION_PIPES];
    cl_object dispatch;
    cl_object rehearse;
    cl_object finalize;
    cl_object replay;
    cl_object think_ahead;
    pthread_t thread;                /* the one that serves, */
    pid_t process;                   /* of this process, */
    uint64_t id;                     /* the call that runs; 0: none */
    cl_object stop_reason;           /* the variable *STOP-REASON*, */
    cl_object reasons[STOP_REASONS]; /* and its values, keywords */
    cl_object time_limit;            /* the variable *TIME-LIMIT* */
} live;

/* The call that runs, as far as it fits a signal's value; 0 between calls. */
static volatile sig_atomic_t running;

/* ECL's own handler of SIGINT. */
static struct sigaction lisp_interrupt;

extern void init_lib_ecl_mcp_lisp(cl_object module);

static cl_object symbol(const char *name)
{
    return ecl_make_symbol(name, "ECL-MCP");
}

void live_boot(char *name)
{
    static char *argv[2]; // ECL keeps it

    argv[0] = name;
    (void)setenv(MARKERS, "1", 1); // the collector must start no threads
    ecl_set_option(ECL_OPT_SIGNAL_HANDLING_THREAD, 0);
    stack_boot();
    interlude_reserve_room();
    // garbage of the start would be in each image; a page of it costs more time
    // than what these settings make the collector do more
    GC_set_free_space_divisor(2);
    constants_begin();
    (void)cl_boot(1, argv);
    GC_gcollect();
    (void)unsetenv(MARKERS); // the programs that we start must not get it
    (void)sigaction(SIGINT, NULL, &lisp_interrupt);
    ecl_init_module(NULL, init_lib_ecl_mcp_lisp);
    constants_end();
    format_begin();
    GC_set_free_space_divisor(1); // makes small answers cheaper
}

/* Sends the interrupt WHY of the call ID to THREAD, as SIGNAL. False: there is
   no such thread. */
static bool send_on(pthread_t thread, int signal, int id, int why)
{
    const union sigval value = {.sival_int = CONTROL_SIGNAL_VALUE(id, why)};

    // where the system has no room for what it says, it still interrupts
    return pthread_sigqueue(thread, signal, value) == 0 ||
           pthread_kill(thread, signal) == 0;
}

/* An interrupt that the supervisor sent for another call comes too late and is
   dropped; any other is meant for the call that runs, if there is one. */
static void interrupt(int signal, siginfo_t *info, void *context)
{
    const int id = running; // the thread that serves may begin the next one
    int why = STOP_CANCELLED;

    (void)signal;
    if (id == 0)
        return;
    // of nobody: the system had no room for what it says
    if (info->si_code == SI_TIMER || (info->si_pid == 0 && deadline_is_over()))
        why = STOP_TIME;
    if (info->si_code == SI_QUEUE) {
        if (info->si_value.sival_int / STOP_REASONS != id)
            return;
        why = info->si_value.sival_int % STOP_REASONS;
    }
    // another thread may not be a thread of Lisp, or may be ending
    if (!pthread_equal(pthread_self(), live.thread) &&
        send_on(live.thread, SIGINT, id, why))
        return;
    if (heap_holds_thread(context)) {
        (void)send_on(pthread_self(), HEAP_LATE_SIGNAL, id, why);
        return;
    }
    ECL_SET(live.stop_reason, live.reasons[why]);
    interlude_handle(&lisp_interrupt, SIGINT, info, context);
}

/* ECL puts an interrupt that comes while interrupts are off into a list whose
   conses it makes at boot, and takes no cons back when the handler is a
   function. Without a cons, interrupts are lost: gives it enough for a call. */
static void allow_interrupts(void)
{
    struct ecl_interrupt_struct *queue = ecl_process_env()->interrupt_struct;
    cl_object rest = queue->signal_queue;

    for (int i = 0; i < LIMIT_INTERRUPTS; i++) {
        if (rest == ECL_NIL) {
            queue->signal_queue =
                cl_make_list(1, ecl_make_fixnum(2 * LIMIT_INTERRUPTS));
            return;
        }
        rest = ecl_cdr(rest);
    }
}

static cl_object make_stream(int pipe)
{
    int fd = fcntl(live.connection.pipes[pipe], F_DUPFD_CLOEXEC,
                   CONNECTION_PRIVATE_FD);

    if (fd < 0)
        connection_give_up("no descriptor for output");
    return cl_funcall(
        9, ecl_make_symbol("MAKE-STREAM-FROM-FD", "EXT"), ecl_make_fixnum(fd),
        ecl_make_keyword("OUTPUT"), ecl_make_keyword("BUFFERING"),
        ecl_make_keyword("LINE"), ecl_make_keyword("ELEMENT-TYPE"),
        ecl_make_symbol("CHARACTER", "COMMON-LISP"),
        ecl_make_keyword("EXTERNAL-FORMAT"), ecl_make_keyword("UTF-8"));
}

/* Creates the streams, again if they were closed, and hands them to Lisp. That
   may change the handler of SIGINT: installs ours. */
static void start_streams(void)
{
    struct sigaction action = {.sa_sigaction = interrupt,
                               .sa_flags = SA_SIGINFO};

    for (int i = 0; i < CONNECTION_PIPES; i++)
        live.streams[i] = make_stream(i);
    (void)cl_funcall(
        4, symbol("START-SESSION"), live.streams[CONNECTION_STDOUT],
        live.streams[CONNECTION_STDERR], ecl_make_unsigned_integer(live.heap));
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(HEAP_LATE_SIGNAL, &action, NULL);
}

static bool streams_are_open(void)
{
    return cl_open_stream_p(live.streams[CONNECTION_STDOUT]) != ECL_NIL &&
           cl_open_stream_p(live.streams[CONNECTION_STDERR]) != ECL_NIL;
}

/* Calls into Lisp; TEXT gets the answer, and ASIDE what is kept for
   read-output. True: it reports an error. DISPATCH stops all non-local exits:
   one that gets through shows that the evaluator is broken (its stacks are
   full, its memory was overwritten), and that a checkpoint serves better. */
static bool dispatch(struct str body, struct buf *text, struct buf *aside)
{
    cl_env_ptr env = ecl_process_env();
    volatile bool error = true;
    struct str operation;
    int64_t timeout_ms;

    if (wire_take_int(&body, &timeout_ms) != ST_OK ||
        wire_take_string(&body, &operation) != ST_OK)
        connection_give_up("a call without operation");
    ECL_SET(live.time_limit, ecl_make_int64_t(timeout_ms));
    deadline_begin(timeout_ms);
    ECL_CATCH_ALL_BEGIN(env)
    {
        cl_object answer;
        cl_object more;

        tier_begin_call();
        answer = cl_funcall(3, live.dispatch, lisp_name(operation),
                            lisp_arguments(body));
        more = ecl_nth_value(env, 2);
        error = ecl_nth_value(env, 1) != ECL_NIL;
        if (ECL_STRINGP(answer))
            lisp_text_append(answer, text);
        if (ECL_STRINGP(more))
            lisp_text_append(more, aside);
    }
    ECL_CATCH_ALL_IF_CAUGHT
    {
        tier_left_call();
        connection_give_up("the evaluator was left by a non-local exit");
    }
    ECL_CATCH_ALL_END;
    tier_end_call();
    return error;
}

/* Called by the collector when finalizers wait. Where it would call them, in
   the middle of any code and with interrupts off, one that fails or does not
   end would take the process with it: Lisp calls them, as part of the call that
   runs. Those for which there is none, or in another thread, wait longer. */
static void finalizers_wait(void)
{
    cl_env_ptr env = ecl_process_env_unsafe();

    if (env && running != 0 && pthread_equal(pthread_self(), live.thread))
        (void)interlude_call(env, live.finalize); // else they wait
}

static void call(struct wire_head head, struct str body)
{
    int64_t evaluation;
    struct buf text = BUF_EMPTY;
    struct buf aside = BUF_EMPTY;
    bool error;

    if (connection_begin(&live.connection, head)) {
        connection_reply(&live.connection, head.id, true,
                         STR("[ERROR] ECL-MCP:NOT-EVALUATED\nThe call did not "
                             "run: it was stopped."),
                         STR(""));
        return;
    }
    connection_repair(&live.connection);
    if (!streams_are_open())
        start_streams();
    stack_restore();
    allow_interrupts();
    fault_forget();
    interlude_restore_reserve(ecl_process_env());
    interlude_make_room(ecl_process_env());
    running = CONTROL_SIGNAL_VALUE(head.id, 0) / STOP_REASONS;
    live.id = head.id;
    if (wire_take_int(&body, &evaluation) != ST_OK)
        connection_give_up("a call without the number of its evaluation");
    live_frozen_call(head.id, (uint64_t)evaluation);
    error = dispatch(body, &text, &aside);
    live.id = 0;
    running = 0;
    heap_note_use();
    if (live_frozen_was_adopted()) { // the call is the past's, and so is this
        live.process = getpid();
        tier_after_copy(&live.connection);
    } else {
        connection_reply(&live.connection, head.id, error, buf_view(&text),
                         buf_view(&aside));
    }
    live_frozen_answered();
    buf_release(&text);
    buf_release(&aside);
}

/* The line that has come for the call that runs, or NIL. */
static cl_object take_line(void)
{
    cl_object line = ECL_NIL;
    struct str text;

    // an interrupt must not leave this in the middle
    ecl_disable_interrupts();
    if (connection_take_input(&live.connection, live.id, &text))
        line = lisp_text_new(text);
    ecl_enable_interrupts();
    return line;
}

/* The function SUPPLIED-LINE of Lisp: asks for a line for the call that runs,
   and waits for it; interrupts get through. NIL where nobody can be asked:
   between calls, in other threads, and in processes that code has forked. */
static cl_object supplied_line(void)
{
    cl_env_ptr env = ecl_process_env();
    cl_object line = ECL_NIL;

    if (live.id == 0 || live.process != getpid() ||
        !pthread_equal(pthread_self(), live.thread))
        ecl_return1(env, ECL_NIL);
    ecl_disable_interrupts();
    connection_send(&live.connection, WIRE_WANT, live.id, 0, -1);
    ecl_enable_interrupts();
    while ((line = take_line()) == ECL_NIL)
        connection_await(&live.connection);
    ecl_return1(env, line);
}

/* The function INTERRUPT-AFTER of Lisp, in a copy that works: interrupts it
   after MILLISECONDS, as the supervisor would at the time limit. */
static cl_object interrupt_after(cl_object milliseconds)
{
    cl_env_ptr env = ecl_process_env();

    running = 1; // of the copy nobody else speaks
    deadline_interrupt_after(ecl_to_int64_t(milliseconds));
    ecl_return0(env);
}

/* Prepares for the next call, see REHEARSE. */
static void rehearse_call(void)
{
    cl_env_ptr env = ecl_process_env();
    struct buf text = BUF_EMPTY;

    ECL_CATCH_ALL_BEGIN(env)
    {
        cl_object answer;

        ECL_SET(live.time_limit, ECL_SYM_VAL(env, live.time_limit));
        lisp_text_rehearse();
        answer = cl_funcall(1, live.rehearse);

        if (ECL_STRINGP(answer))
            lisp_text_append(answer, &text);
    }
    ECL_CATCH_ALL_IF_CAUGHT
    {
        ; // threads of the user may do anything; the next call will show it
    }
    ECL_CATCH_ALL_END;
    buf_release(&text);
}

/* The same when a copy was taken, and the session is idle. */
static void rehearse(void)
{
    if (connection_has_more(&live.connection) || !streams_are_open())
        return;
    linux_own_page(live.connection.in.p); // it has got something before
    rehearse_call();
}

/* Collects garbage, and gives memory back, if that is due, before a copy is
   taken, which may be LASTING. A call that waits can only be held up by what
   would soon hold one up anyhow. */
static void give_back(bool lasting)
{
    enum heap_state state = heap_state(lasting);

    if (state == HEAP_FINE ||
        (state != HEAP_SPENT && connection_has_more(&live.connection)))
        return;
    if (state == HEAP_LOOSE)
        rehearse(); // overwrites what the last call has left on the stacks
    ecl_process_env()->string_pool = ECL_NIL; // as long as the longest token
    heap_collect(state);
}

static NO_RETURN void serve(void);

/* In a copy of a checkpoint, which is asked to evaluate: it ends with that, or
   its outcome becomes the live image, and goes on here. */
static NO_RETURN void replay(void)
{
    cl_env_ptr env = ecl_process_env();

    stack_restore();
    ECL_CATCH_ALL_BEGIN(env)
    {
        (void)cl_funcall(1, live.replay);
    }
    ECL_CATCH_ALL_IF_CAUGHT
    {
        _exit(1); // whoever asks is told
    }
    ECL_CATCH_ALL_END;
    running = 0;
    if (!live_frozen_was_adopted())
        _exit(1);
    tier_after_copy(&live.connection);
    live_frozen_answered();
    serve();
}

/* What a checkpoint does before the supervisor wakes it. */
static void in_checkpoint(const struct connection *connection)
{
    tier_in_copy(connection);
    if (live_frozen_await())
        replay();
}

/* Makes a checkpoint for KEEP number ID. */
static void keep(uint64_t id, struct str body)
{
    struct wire_field named;
    int64_t evaluation;
    bool copied;

    if (wire_take_int(&body, &evaluation) != ST_OK ||
        wire_field(&body, &named) != ST_OK)
        connection_give_up("a KEEP without its fields");
    give_back(named.type == WIRE_TRUE);
    tier_before_copy();
    live_frozen_before_copy((uint64_t)evaluation);
    copied = sleeper_leave(&live.sleepers, &live.connection, id, in_checkpoint);
    live.process = getpid(); // in the copy, which was woken, another one
    live_frozen_after_copy(copied);
    tier_after_copy(&live.connection);
    if (copied)
        rehearse();
}

/* Loads ahead what calls will need. ECL_T: something was; ECL_NIL: there was
   nothing to do. No interrupt comes here, for there is no call that it could
   mean. */
static cl_object think_ahead(void)
{
    cl_env_ptr env = ecl_process_env();
    cl_object volatile outcome = OBJNULL; // it was left

    stack_restore();
    fault_forget();
    interlude_restore_reserve(env);
    interlude_make_room(env);
    ECL_CATCH_ALL_BEGIN(env)
    {
        outcome = cl_funcall(1, live.think_ahead);
    }
    ECL_CATCH_ALL_IF_CAUGHT
    {
        ; // as if it had failed
    }
    ECL_CATCH_ALL_END;
    return outcome;
}

/* Answers PREPARE number ID. A call that waits comes first. */
static void prepare(uint64_t id)
{
    cl_object outcome = ECL_NIL;

    if (!connection_has_more(&live.connection) && streams_are_open())
        outcome = think_ahead();
    if (outcome != ECL_NIL) // no garbage of it in the copy that is taken next
        heap_collect(HEAP_STALE);
    connection_send(&live.connection, WIRE_KEPT, id, outcome == ECL_T, -1);
}

static NO_RETURN void serve(void)
{
    live.process = getpid();
    for (;;) {
        struct wire_head head;
        struct str body;

        connection_next(&live.connection, &head, &body);
        if (head.kind == WIRE_CALL)
            call(head, body);
        else if (head.kind == WIRE_KEEP)
            keep(head.id, body);
        else if (head.kind == WIRE_PREPARE)
            prepare(head.id);
    }
}

/* STACK-USED-UP-P */
static cl_object is_stack_used_up(void)
{
    cl_env_ptr env = ecl_process_env();

    env->nvalues = 1;
    return env->values[0] = stack_has_overflowed() ? ECL_T : ECL_NIL;
}

/* Looks up the names that C and Lisp share. The keywords are made here because
   a signal handler must not make them. */
static void find_names(void)
{
    static const char *const reasons[] = {
        [STOP_CANCELLED] = "CANCELLED", [STOP_TIME] = "TIME",
        [STOP_ENDING] = "ENDING",       [STOP_BY_USER] = "USER",
        [STOP_FREED] = "FREED",         [STOP_INPUT] = "INPUT",
    };

    live.dispatch = symbol("DISPATCH");
    live.rehearse = symbol("REHEARSE");
    live.finalize = symbol("RUN-FINALIZERS");
    live.replay = symbol("REPLAY-ASKED");
    live.think_ahead = symbol("THINK-AHEAD");
    ecl_def_c_function(symbol("SUPPLIED-LINE"),
                       (cl_objectfn_fixed)supplied_line, 0);
    ecl_def_c_function(symbol("INTERRUPT-AFTER"),
                       (cl_objectfn_fixed)interrupt_after, 1);
    ecl_def_c_function(symbol("STACK-USED-UP-P"),
                       (cl_objectfn_fixed)is_stack_used_up, 0);
    live.stop_reason = symbol("*STOP-REASON*");
    live.time_limit = symbol("*TIME-LIMIT*");
    ecl_register_root(&live.dispatch);
    ecl_register_root(&live.rehearse);
    ecl_register_root(&live.finalize);
    ecl_register_root(&live.replay);
    ecl_register_root(&live.think_ahead);
    ecl_register_root(&live.stop_reason);
    ecl_register_root(&live.time_limit);
    for (size_t i = 0; i < STOP_REASONS; i++) {
        bool named = i < sizeof reasons / sizeof *reasons;

        live.reasons[i] = ecl_make_keyword(reasons[named ? i : STOP_CANCELLED]);
        ecl_register_root(&live.reasons[i]);
    }
}

/* What is done here, no image has to do, and each page that it would write for
   that need not be copied. */
void live_prepare(void)
{
    tier_prepare();
    fault_begin();
    (void)cl_funcall(1, symbol("PREPARE"));
    (void)unsetenv(NAME_NATIVE); // a server that code starts has its default
    find_names();
    live_frozen_prepare();
    modules_prepare();
    ecl_register_root(&live.streams[CONNECTION_STDOUT]);
    ecl_register_root(&live.streams[CONNECTION_STDERR]);
    GC_set_finalize_on_demand(1);
    GC_set_finalizer_notifier(finalizers_wait);
}

void live_warm(void)
{
    live.thread = pthread_self();
    rehearse_call();
}

void live_run(const struct control_message *open_message,
              const int fds[CONTROL_FDS])
{
    live.heap = open_message->heap;
    connection_take(&live.connection, open_message, fds);
    (void)setpgid(0, 0); // a group, which keys of no terminal reach
    stack_begin();
    live.thread = pthread_self();
    start_streams();
    live_frozen_begin(&live.connection, &live.sleepers);
    tier_begin(&live.connection);
    signals_take(&live.connection);
    heap_begin();
    serve();
}
