/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answers of image/subtypes.c are those of SUBTYPEP: what is asked while
   ECL's compiler and ASDF are loaded is answered by both. */
#define cl_subtypep quick_subtypep
#include "image/subtypes.c" // NOLINT(bugprone-suspicious-include)
#undef cl_subtypep

#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"

/* Questions, those that were passed on to ECL, wrong answers, and the last of
   these. */
static struct {
    int all;
    int passed_on;
    int wrong;
    cl_object example;
} seen;

static cl_object (*of_ecl)(cl_narg n, cl_object part, cl_object whole, ...);

static cl_object pass_on(cl_narg n, cl_object part, cl_object whole, ...)
{
    cl_object environment = ECL_NIL;
    va_list rest;

    seen.passed_on++;
    va_start(rest, whole);
    if (n > 2)
        environment = va_arg(rest, cl_object);
    va_end(rest);
    return of_ecl(n, part, whole, environment);
}

extern cl_object cl_subtypep(cl_narg narg, cl_object V1, cl_object V2, ...);

cl_object cl_subtypep(cl_narg narg, cl_object V1, cl_object V2, ...)
{
    cl_env_ptr env = ecl_process_env();
    cl_object environment = ECL_NIL;
    cl_object yes;
    cl_object sure;
    va_list rest;

    va_start(rest, V2);
    if (narg > 2)
        environment = va_arg(rest, cl_object);
    va_end(rest);
    if (!active)
        return of_ecl(narg, V1, V2, environment);
    yes = quick_subtypep(narg, V1, V2, environment);
    sure = ecl_nth_value(env, 1);
    seen.all++;
    if (of_ecl(narg, V1, V2, environment) != yes ||
        ecl_nth_value(env, 1) != sure) {
        seen.wrong++;
        seen.example = cl_list(4, V1, V2, yes, sure);
    }
    return env->values[0];
}

static cl_object evaluate(const char *code)
{
    return si_safe_eval(3, ecl_read_from_cstring(code), ECL_NIL,
                        ecl_make_keyword("FAILED"));
}

static void boot(void)
{
    static char name[] = "test_subtypes";
    static char *arguments[] = {name, NULL};

    (void)setenv("GC_MARKERS", "1", 1);
    (void)unsetenv("TMPDIR"); // ECL does not boot with some
    ecl_set_option(ECL_OPT_SIGNAL_HANDLING_THREAD, 0);
    of_ecl = library_subtypep;
    library_subtypep = pass_on;
    (void)cl_boot(1, arguments);
    ecl_register_root(&seen.example);
}

static void loading_gets_the_answers_of_ecl(void **state)
{
    static const char *const modules[] = {"(require :cmp)", "(require :asdf)"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        subtypes_begin();
        assert_true(active);
        assert_ptr_not_equal(evaluate(modules[i]), ecl_make_keyword("FAILED"));
        subtypes_end();
        assert_false(active);
    }
    if (seen.wrong > 0)
        cl_print(1, seen.example);
    print_message("%d questions, %d passed on\n", seen.all, seen.passed_on);
    assert_int_equal(seen.wrong, 0);
    assert_true(seen.all > 10000);
    assert_true(seen.passed_on < seen.all / 4);
}

/* Types besides the classes that are built in. */
static const char types[] =
    "(nil atom boolean keyword simple-vector simple-string simple-array "
    "simple-base-string bit fixnum bignum structure-object standard-object "
    "class condition nothing "
    "(array bit) (array t) (array character) (array nil) (array nothing) "
    "(array *) (array * (3)) (vector t) (signed-byte 8) (unsigned-byte 64) "
    "(signed-byte 0) (unsigned-byte 0) (unsigned-byte *) (signed-byte) "
    "(integer 0 5) (integer 5 0) (single-float 0.0 *) (or cons number) "
    "(and cons number) (not number) (member 1 2) (eql #\\a) (member) "
    "(cons integer) (satisfies oddp) (complex float))";

static void answers_about_all_pairs_are_those_of_ecl(void **state)
{
    cl_object all = ecl_append(
        ecl_read_from_cstring(types),
        evaluate("(let ((found '()))"
                 "  (do-all-symbols (name (remove-duplicates found))"
                 "    (when (typep (find-class name nil) 'built-in-class)"
                 "      (push name found))))"));

    (void)state;
    seen.all = seen.passed_on = seen.wrong = 0;
    subtypes_begin();
    for (cl_object a = all; a != ECL_NIL; a = ECL_CONS_CDR(a))
        for (cl_object b = all; b != ECL_NIL; b = ECL_CONS_CDR(b))
            (void)cl_subtypep(2, ECL_CONS_CAR(a), ECL_CONS_CAR(b));
    subtypes_end();
    if (seen.wrong > 0)
        cl_print(1, seen.example);
    print_message("%d questions, %d passed on\n", seen.all, seen.passed_on);
    assert_int_equal(seen.wrong, 0);
    assert_true(seen.all > 2500);
    assert_true(seen.passed_on < seen.all / 4 * 3);
}

static void new_types_make_answers_void(void **state)
{
    cl_object type = ecl_read_from_cstring("changing");
    cl_object number = ecl_make_symbol("NUMBER", "COMMON-LISP");

    (void)state;
    seen.wrong = 0;
    subtypes_begin();
    (void)evaluate("(deftype changing () 'integer)");
    assert_ptr_equal(cl_subtypep(2, type, number), ECL_T);
    assert_ptr_equal(cl_subtypep(2, type, number), ECL_T);
    (void)evaluate("(deftype changing () 'string)");
    assert_ptr_equal(cl_subtypep(2, type, number), ECL_NIL);
    (void)evaluate("(defclass first-one () ())");
    (void)evaluate("(defclass changing-one (first-one) ())");
    (void)evaluate("(make-instance 'changing-one)");
    type = ecl_read_from_cstring("(or null changing-one)");
    number = ecl_read_from_cstring("(or null first-one)");
    assert_ptr_equal(cl_subtypep(2, type, number), ECL_T);
    (void)evaluate("(defclass changing-one () ())");
    (void)evaluate("(make-instance 'changing-one)");
    assert_ptr_equal(cl_subtypep(2, type, number), ECL_NIL);
    subtypes_end();
    assert_int_equal(seen.wrong, 0);
}

/* Whether ECL's own answers have some of those that show when types change. */
static bool has_marks(void)
{
    return evaluate("(find '(nil) (remove nil si::*subtypep-cache*)"
                    " :key #'caar :test #'equal)") != ECL_NIL;
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    assert_false(has_marks());
    subtypes_begin();
    (void)cl_subtypep(2, ecl_make_symbol("CONS", "COMMON-LISP"),
                      ecl_make_symbol("NUMBER", "COMMON-LISP"));
    assert_true(has_marks());
    subtypes_end();
    assert_false(has_marks());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading_gets_the_answers_of_ecl),
        cmocka_unit_test(answers_about_all_pairs_are_those_of_ecl),
        cmocka_unit_test(new_types_make_answers_void),
        cmocka_unit_test(nothing_is_left_behind),
    };

    boot();
    return RUN_TESTS("subtypes", tests);
}
