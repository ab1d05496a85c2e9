/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tick that finds the interpreter elsewhere is made up for at its next call,
   and calls go straight to ECL's own functions when none is due. */
#define APPLY middle_apply
#define APPLY_fixed middle_apply_fixed
#define ecl_apply_from_stack_frame middle_apply_from_stack_frame
#define _ecl_standard_dispatch middle_standard_dispatch
#include "image/interlude.c" // NOLINT(bugprone-suspicious-include)
#include "image/middle.c"    // NOLINT(bugprone-suspicious-include)
#undef APPLY
#undef APPLY_fixed
#undef ecl_apply_from_stack_frame
#undef _ecl_standard_dispatch

#include <stdlib.h>

#include "support/check.h"

/* Milliseconds in which no test ends. */
#define LONG 1000000

/* What has passed since a test has begun. */
static struct {
    int calls; /* through the functions of this program */
    int late;  /* places that make up for a tick, when one was due */
    int works;
    int works_before; /* of the call that was to make up for it */
    int interrupts;   /* that Lisp took */
    bool masked;      /* SIGINT was blocked then */
} seen;

/* The functions of this program, in the places of those in middle.c. */
extern cl_object APPLY(cl_narg n, cl_objectfn f, cl_object *x);
extern cl_object APPLY_fixed(cl_narg n, cl_objectfn_fixed f, cl_object *x);
extern cl_object ecl_apply_from_stack_frame(cl_object f, cl_object o);
extern cl_object _ecl_standard_dispatch(cl_object frame, cl_object function);

cl_object APPLY(cl_narg n, cl_objectfn f, cl_object *x)
{
    seen.calls++;
    return middle_apply(n, f, x);
}

cl_object APPLY_fixed(cl_narg n, cl_objectfn_fixed f, cl_object *x)
{
    seen.calls++;
    return middle_apply_fixed(n, f, x);
}

cl_object ecl_apply_from_stack_frame(cl_object f, cl_object o)
{
    seen.calls++;
    return middle_apply_from_stack_frame(f, o);
}

cl_object _ecl_standard_dispatch(cl_object frame, cl_object function)
{
    seen.calls++;
    return middle_standard_dispatch(frame, function);
}

static int places_with(const struct calls *functions)
{
    return (*places.any == functions->any) +
           (*places.fixed == functions->fixed) +
           (*places.frame == functions->frame) +
           (*places.generic == functions->generic);
}

/* What is called here looks at what has waited, as Lisp's locks do. */
static bool work(void)
{
    seen.works++;
    ecl_check_pending_interrupts(ecl_process_env());
    return true;
}

/* (miss-tick): a tick finds the interpreter elsewhere. */
static cl_object miss_tick(void)
{
    (void)raise(timer_signal());
    seen.late = places_with(&late);
    seen.works_before = seen.works;
    ecl_return1(ecl_process_env(), ECL_NIL);
}

/* (let-wait): an interrupt comes while Lisp has them off. */
static cl_object let_wait(void)
{
    cl_env_ptr env = ecl_process_env();

    env->interrupt_struct->pending_interrupt =
        ecl_list1(ecl_read_from_cstring("interrupted"));
    ecl_return1(env, ECL_NIL);
}

/* (interrupted): what that interrupt calls. */
static cl_object interrupted(void)
{
    sigset_t mask;

    (void)sigprocmask(SIG_SETMASK, NULL, &mask);
    seen.masked = sigismember(&mask, SIGINT);
    seen.interrupts++;
    ecl_return1(ecl_process_env(), ECL_NIL);
}

/* (take-tick): asks whether it was made up for. */
static cl_object take_tick(void)
{
    ecl_return1(ecl_process_env(), ecl_make_fixnum(seen.works));
}

static cl_object evaluate(const char *code)
{
    return cl_eval(ecl_read_from_cstring(code));
}

static void boot(void)
{
    static char name[] = "test_middle";
    static char *arguments[] = {name, NULL};

    (void)setenv("GC_MARKERS", "1", 1);
    (void)unsetenv("TMPDIR"); // ECL does not boot with some
    ecl_set_option(ECL_OPT_SIGNAL_HANDLING_THREAD, 0);
    (void)cl_boot(1, arguments);
    middle_prepare(work);
    ecl_def_c_function(ecl_read_from_cstring("miss-tick"),
                       (cl_objectfn_fixed)miss_tick, 0);
    ecl_def_c_function(ecl_read_from_cstring("take-tick"),
                       (cl_objectfn_fixed)take_tick, 0);
    ecl_def_c_function(ecl_read_from_cstring("let-wait"),
                       (cl_objectfn_fixed)let_wait, 0);
    ecl_def_c_function(ecl_read_from_cstring("interrupted"),
                       (cl_objectfn_fixed)interrupted, 0);
    (void)evaluate("(defun area (n) (+ n (length \"abc\") (max n n n)))");
    (void)evaluate("(defgeneric twice (n))");
    (void)evaluate("(defmethod twice ((n integer)) (* n 2))");
    (void)evaluate("(defun all (n) (apply #'+ n (list (twice n) (area n))))");
}

static int begin(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    middle_watch(LONG);
    return 0;
}

static int end(void **state)
{
    (void)state;
    middle_stop();
    return 0;
}

static void interpreter_calls_ecl_itself(void **state)
{
    (void)state;
    assert_int_equal(places_with(&originals), 4);
    assert_int_equal(ecl_fixnum(evaluate("(all 7)")), 7 + 14 + 17);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(seen.works, 0);
}

static void missed_tick_is_made_up_for_at_the_next_call(void **state)
{
    (void)state;
    assert_int_equal(
        ecl_fixnum(evaluate("(progn (miss-tick) (take-tick) (take-tick))")), 1);
    assert_int_equal(seen.works_before, 0);
    assert_int_equal(seen.late, 4);
    assert_int_equal(places_with(&originals), 4);
    assert_int_equal(seen.calls, 0);
}

static void each_kind_of_call_makes_up_for_it(void **state)
{
    static const char *const codes[] = {"(max 1 2 3)", "(length \"abc\")",
                                        "(twice 7)", "(all 7)"};

    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        (void)evaluate("(miss-tick)");
        assert_int_equal(places_with(&late), 4);
        (void)evaluate(codes[i]);
        assert_int_equal(seen.works, i + 1);
        assert_int_equal(places_with(&originals), 4);
    }
}

/* What it means may leave the evaluation: not out of a handler, whose mask
   would stay. The tick comes where Lisp is about to look at what has waited. */
static void waiting_interrupt_comes_before_a_tick(void **state)
{
    (void)state;
    (void)evaluate("(progn (mp:without-interrupts (let-wait) (miss-tick))"
                   " (take-tick))");
    assert_int_equal(seen.interrupts, 1);
    assert_false(seen.masked);
}

/* As where the library's table has no entries that can be written. */
static void missed_tick_is_made_up_for_without_places(void **state)
{
    struct places found = places;

    (void)state;
    assert_ptr_not_equal(places.any, &calls.any);
    *places.any = APPLY;
    *places.fixed = APPLY_fixed;
    *places.frame = ecl_apply_from_stack_frame;
    *places.generic = _ecl_standard_dispatch;
    places =
        (struct places){&calls.any, &calls.fixed, &calls.frame, &calls.generic};
    assert_int_equal(
        ecl_fixnum(evaluate("(progn (miss-tick) (take-tick) (take-tick))")), 1);
    assert_int_equal(seen.late, 4);
    assert_int_equal(places_with(&originals), 4);
    assert_true(seen.calls > 0);
    places = found;
    *places.any = originals.any;
    *places.fixed = originals.fixed;
    *places.frame = originals.frame;
    *places.generic = originals.generic;
}

static void stop_puts_ecl_back(void **state)
{
    (void)state;
    (void)evaluate("(miss-tick)");
    middle_stop();
    assert_int_equal(seen.late, 4);
    assert_int_equal(places_with(&originals), 4);
    (void)evaluate("(all 7)");
    assert_int_equal(seen.calls, 0);
    assert_int_equal(seen.works, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(interpreter_calls_ecl_itself, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            missed_tick_is_made_up_for_at_the_next_call, begin, end),
        cmocka_unit_test_setup_teardown(each_kind_of_call_makes_up_for_it,
                                        begin, end),
        cmocka_unit_test_setup_teardown(waiting_interrupt_comes_before_a_tick,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            missed_tick_is_made_up_for_without_places, begin, end),
        cmocka_unit_test_setup_teardown(stop_puts_ecl_back, begin, end),
    };

    boot();
    return RUN_TESTS("middle", tests);
}
