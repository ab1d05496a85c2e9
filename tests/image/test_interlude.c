/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What comes in the middle of C of ECL changes nothing of what that is about to
   use, and interrupts that wait neither end the process nor are lost. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "image/collector.c" // NOLINT(bugprone-suspicious-include)
#include "image/interlude.c" // NOLINT(bugprone-suspicious-include)
#include "support/check.h"

/* Seconds after which a test that waits for ever ends, with the program. */
#define FOR_EVER 60

/* Nanoseconds from an interrupt that Lisp has taken to the next one, and how
   many more they become each time: where taking one lasts as long, as on a busy
   machine, nothing else would run. */
#define INTERVAL 20000
#define LATER 20

/* Special variables that are bound for the first time: among what they need are
   many collections. */
#define VARIABLES 200000

#ifndef ecl_bignum // ECL 21
#define ecl_bignum(object) ((object)->big.big_num)
#endif

/* ECL's own handlers of SIGINT, and of faults, which cmocka replaces. */
static struct sigaction lisp_interrupt;
static struct sigaction lisp_fault;

static cl_object other;
static cl_object counter;

/* Calls of the function that interrupts, and that an interlude calls. */
static int calls;

/* While interrupts are to come, the timer that sends the next one. */
static timer_t next;
static volatile sig_atomic_t more;
static long interval = INTERVAL;

static void interrupt_soon(void)
{
    const struct itimerspec soon = {.it_value = {0, interval}};

    interval += LATER;
    (void)timer_settime(next, 0, &soon, NULL);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    interlude_handle(&lisp_interrupt, signal, info, context);
}

static void handle_fault(int signal, siginfo_t *info, void *context)
{
    if (!interlude_lets_write(info->si_addr, context))
        lisp_fault.sa_sigaction(signal, info, context);
}

static cl_object evaluate(const char *code)
{
    return cl_eval(ecl_read_from_cstring(code));
}

/* (count-call) Only now comes the next interrupt: one that comes while ECL
   takes another from the list of those that wait could make that list a circle.
 */
static cl_object count_call(void)
{
    calls++;
    if (more)
        interrupt_soon();
    ecl_return1(ecl_process_env(), ECL_NIL);
}

static void boot(void)
{
    static char name[] = "test_interlude";
    static char *arguments[] = {name, NULL};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

    (void)setenv("GC_MARKERS", "1", 1);
    (void)unsetenv("TMPDIR"); // ECL does not boot with some
    ecl_set_option(ECL_OPT_SIGNAL_HANDLING_THREAD, 0);
    interlude_reserve_room();
    (void)cl_boot(1, arguments);
    (void)sigaction(SIGINT, NULL, &lisp_interrupt);
    (void)sigaction(SIGSEGV, NULL, &lisp_fault);
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    ecl_def_c_function(ecl_read_from_cstring("count-call"),
                       (cl_objectfn_fixed)count_call, 0);
    (void)evaluate("(defun other (&rest more) (multiple-value-prog1"
                   " (apply #'values 7 8 9 (floor (expt 5 600) 3) more)"
                   " (count-call)))");
    (void)evaluate("(setf (fdefinition 'si::terminal-interrupt) #'other)");
    other = evaluate("#'other"); // which its symbol keeps
    counter = evaluate("#'count-call");
    interlude_prepare();
    interlude_make_room(ecl_process_env());
}

static int begin_test(void **state)
{
    (void)state;
    calls = 0;
    return 0;
}

/* A moment in which C of ECL has stored all that it is about to use. */
struct moment {
    cl_object function;
    cl_object number; /* in a register, with a value that is not collected */
};

static struct moment in_middle(cl_env_ptr env)
{
    struct moment moment = {evaluate("#'car"), env->big_register[0]};

    struct sigaction fault = lisp_fault;

    fault.sa_sigaction = handle_fault;
    (void)sigaction(SIGSEGV, &fault, NULL);
    ecl_bignum(moment.number)->_mp_size = 1;
    ecl_bignum(moment.number)->_mp_d[0] = 17;
    env->function = moment.function;
    env->nvalues = 2;
    env->values[0] = ecl_make_fixnum(1);
    env->values[1] = ecl_make_fixnum(2);
    return moment;
}

static void assert_unchanged(cl_env_ptr env, struct moment moment)
{
    assert_ptr_equal(env->function, moment.function);
    assert_int_equal(env->nvalues, 2);
    assert_ptr_equal(env->values[0], ecl_make_fixnum(1));
    assert_ptr_equal(env->values[1], ecl_make_fixnum(2));
    assert_ptr_equal(env->big_register[0], moment.number);
    assert_int_equal(ecl_bignum(moment.number)->_mp_size, 1);
    assert_int_equal(ecl_bignum(moment.number)->_mp_d[0], 17);
}

static void interrupt_changes_nothing(void **state)
{
    cl_env_ptr env = ecl_process_env();
    struct moment moment = in_middle(env);

    (void)state;
    (void)raise(SIGINT);
    assert_int_equal(calls, 1);
    assert_unchanged(env, moment);
}

/* C of ECL may be about to store what it has found out about the stack. */
static void interrupt_at_the_end_of_a_stack_leaves_it_where_it_is(void **state)
{
    cl_env_ptr env = ecl_process_env();
    struct moment moment = in_middle(env);
    cl_object *top = env->stack_top;
    cl_object *limit = env->stack_limit;
    cl_object *stack = env->stack;

    (void)state;
    env->stack_top = limit - 1;
    (void)raise(SIGINT);
    assert_int_equal(calls, 1);
    assert_unchanged(env, moment);
    assert_ptr_equal(env->stack, stack);
    assert_ptr_equal(env->stack_top, limit - 1);
    assert_ptr_equal(env->stack_limit, limit);
    env->stack_top = top;
}

/* What has come out of an interrupt has the reserve until a call begins. */
static void reserve_is_restored(void **state)
{
    cl_env_ptr env = ecl_process_env();
    cl_object *limit = env->stack_limit;
    struct interlude saved;

    (void)state;
    interlude_begin(env, &saved);
    assert_true(env->stack_limit >= limit + RESERVE);
    assert_true(env->stack_limit < env->stack + env->stack_size);
    interlude_restore_reserve(env);
    assert_ptr_equal(env->stack_limit, limit);
    interlude_end(env, &saved);
    assert_ptr_equal(env->stack_limit, limit);
}

static void interlude_changes_nothing(void **state)
{
    cl_env_ptr env = ecl_process_env();
    struct moment moment = in_middle(env);

    (void)state;
    env->disable_interrupts = 1; // as in an allocation
    assert_true(interlude_call(env, other));
    assert_int_equal(env->disable_interrupts, 1);
    env->disable_interrupts = 0;
    assert_int_equal(calls, 1);
    assert_unchanged(env, moment);
}

static void several_interrupts_wait(void **state)
{
    cl_env_ptr env = ecl_process_env();
    struct moment moment = in_middle(env);

    (void)state;
    env->disable_interrupts = 1;
    for (int i = 0; i < 3; i++)
        (void)raise(SIGINT); // the first makes the environment read-only
    assert_int_equal(calls, 0);
    env->disable_interrupts = 0;
    assert_int_equal(calls, 3);
    assert_unchanged(env, moment);
}

static void interrupt_that_waits_comes_before_an_interlude(void **state)
{
    cl_env_ptr env = ecl_process_env();
    struct moment moment = in_middle(env);

    (void)state;
    env->disable_interrupts = 1;
    (void)raise(SIGINT);
    assert_true(interlude_call(env, counter));
    assert_int_equal(calls, 2);
    env->disable_interrupts = 0;
    assert_int_equal(calls, 2);
    assert_unchanged(env, moment);
}

#ifdef __x86_64__
static void environment_is_written_while_an_interrupt_waits(void **state)
{
    cl_env_ptr env = ecl_process_env();
    cl_object room = cl_make_list(1, ecl_make_fixnum(100));
    struct moment moment = in_middle(env);
    volatile cl_index *values = &env->nvalues;

    (void)state;
    env->disable_interrupts = 1;
    for (int i = 0; i < 2; i++) {
        (void)raise(SIGINT);
        *values = 5;
        *values = 2;
        assert_int_equal(calls, 0);
    }
    env->disable_interrupts = 0;
    assert_int_equal(calls, 2);
    assert_unchanged(env, moment);

    env->interrupt_struct->signal_queue = ECL_NIL; // no room for one
    env->disable_interrupts = 1;
    (void)raise(SIGINT);
    *values = 5;
    *values = 2;
    env->disable_interrupts = 0;
    env->interrupt_struct->signal_queue = room;
    assert_int_equal(calls, 2);
    assert_unchanged(env, moment);
}
#endif

/* Ends this program after SECONDS, whatever signals it has blocked; 0: never.
 */
static void end_after(int seconds)
{
    static timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {.tv_sec = seconds}};

    if (!timer)
        assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &when, NULL), 0);
}

/* Called with the collector's lock. */
static void *interrupt(void *data)
{
    (void)raise(SIGINT);
    assert_int_equal(calls, 0);
    return data;
}

static void interrupt_waits_for_the_collector(void **state)
{
    cl_env_ptr env = ecl_process_env();
    struct moment moment = in_middle(env);

    end_after(FOR_EVER);
    assert_ptr_equal(GC_call_with_alloc_lock(interrupt, state), state);
    end_after(0);
    assert_int_equal(calls, 1);
    assert_unchanged(env, moment);
}

static int collections;

static void GC_CALLBACK note_collection(GC_EventType event)
{
    if (event != GC_EVENT_END)
        return;
    collections++;
    (void)raise(SIGINT);
}

/* The symbols of these variables get finalizers, and are garbage. */
static void interrupt_waits_for_collections_of_any_kind(void **state)
{
    cl_env_ptr env = ecl_process_env();

    (void)in_middle(env);
    (void)state;
    end_after(FOR_EVER);
    collections = 0;
    GC_set_on_collection_event(note_collection);
    for (int i = 0; i < VARIABLES; i++) {
        ecl_bds_bind(env, cl_make_symbol(ecl_symbol_name(ECL_T)), ECL_NIL);
        ecl_bds_unwind1(env);
    }
    GC_set_on_collection_event(NULL);
    end_after(0);
    assert_true(collections > 0);
    assert_int_equal(calls, collections);
}

/* Interrupts come all the time while finalizers are called, which allocate. */
static void interrupt_waits_between_finalizers(void **state)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGINT};

    (void)state;
    (void)in_middle(ecl_process_env());
    GC_set_finalize_on_demand(1);
    (void)evaluate("(progn (defvar *ran* 0) (setf *ran* 0)"
                   " (defun end (x) (incf *ran*) (list x))"
                   " (dotimes (i 100000) (ext:set-finalizer (list i) #'end)))");
    GC_gcollect();
    end_after(FOR_EVER);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &next), 0);
    more = true;
    interrupt_soon();
    while (GC_should_invoke_finalizers())
        (void)GC_invoke_finalizers();
    more = false;
    assert_int_equal(timer_delete(next), 0);
    end_after(0);
    GC_set_finalize_on_demand(0);
    assert_true(ecl_fixnum(evaluate("*ran*")) > 99000);
    assert_true(calls > 0);
}

static void finalizer_is_the_one_that_was_set(void **state)
{
    (void)state;
    assert_ptr_equal(evaluate("(let ((x (list 1))) (ext:set-finalizer x 'end)"
                              " (eq 'end (ext:get-finalizer x)))"),
                     ECL_T);
}

static void raise_in_fork(void)
{
    (void)raise(SIGINT);
}

static void interrupt_waits_while_the_process_is_copied(void **state)
{
    cl_env_ptr env = ecl_process_env();
    struct moment moment = in_middle(env);
    pid_t pid;

    (void)state;
    assert_int_equal(pthread_atfork(raise_in_fork, NULL, NULL), 0);
    pid = fork();
    if (pid == 0) // where it was not meant to go
        _exit(calls == 0 && env->disable_interrupts == 0 ? 0 : 1);
    assert_int_equal(calls, 1);
    assert_unchanged(env, moment);
    assert_int_equal(check_wait(pid), 0);
}

static void without_room_nothing_is_called(void **state)
{
    cl_env_ptr env = ecl_process_env();
    cl_object *limit = env->stack_limit;

    (void)state;
    assert_true(interlude_has_room(env));
    env->stack_limit = env->stack_top + ROOM;
    assert_false(interlude_call(env, counter));
    env->stack_limit++;
    assert_true(interlude_call(env, counter));
    env->stack_limit = limit;
    assert_int_equal(calls, 1);
}

static void room_for_variables_is_made(void **state)
{
    cl_env_ptr env = ecl_process_env();
    cl_object held = ECL_NIL;

    (void)state;
    while (interlude_has_room(env)) {
        held = ecl_cons(cl_make_symbol(ecl_symbol_name(ECL_T)), held);
        ecl_bds_bind(env, ECL_CONS_CAR(held), held);
        ecl_bds_unwind1(env);
    }
    interlude_make_room(env);
    assert_true(interlude_has_room(env));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(interrupt_changes_nothing, begin_test),
        cmocka_unit_test_setup(
            interrupt_at_the_end_of_a_stack_leaves_it_where_it_is, begin_test),
        cmocka_unit_test_setup(reserve_is_restored, begin_test),
        cmocka_unit_test_setup(interlude_changes_nothing, begin_test),
        cmocka_unit_test_setup(several_interrupts_wait, begin_test),
        cmocka_unit_test_setup(interrupt_that_waits_comes_before_an_interlude,
                               begin_test),
#ifdef __x86_64__
        cmocka_unit_test_setup(environment_is_written_while_an_interrupt_waits,
                               begin_test),
#endif
        cmocka_unit_test_setup(interrupt_waits_for_the_collector, begin_test),
        cmocka_unit_test_setup(interrupt_waits_for_collections_of_any_kind,
                               begin_test),
        cmocka_unit_test_setup(interrupt_waits_between_finalizers, begin_test),
        cmocka_unit_test_setup(finalizer_is_the_one_that_was_set, begin_test),
        cmocka_unit_test_setup(interrupt_waits_while_the_process_is_copied,
                               begin_test),
        cmocka_unit_test_setup(without_room_nothing_is_called, begin_test),
        cmocka_unit_test_setup(room_for_variables_is_made, begin_test),
    };

    boot();
    return RUN_TESTS("interlude", tests);
}
