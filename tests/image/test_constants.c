/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The constants that image/constants.c reads are those that ECL's reader reads:
   ECL's own modules, of which each constant is read by both. Where it forgets
   the labels of shared parts, no constant refers to one. */
#define ecl_read_object quick_read_object
#include "image/constants.c" // NOLINT(bugprone-suspicious-include)
#undef ecl_read_object

#include <stdio.h>
#include <stdlib.h>

#include "support/check.h"

/* Constants of ECL's modules, in all that are read quickly, of those the other
   reader finds to be others, and the beginning of the last one of them. */
static struct {
    int all;
    int quick;
    int wrong;
    char example[80];
} seen;

/* Whether A and B look the same to every program. */
static bool are_same(cl_object a, cl_object b)
{
    if (a == b)
        return true;
    if (ECL_CONSP(a) && ECL_CONSP(b))
        return are_same(ECL_CONS_CAR(a), ECL_CONS_CAR(b)) &&
               are_same(ECL_CONS_CDR(a), ECL_CONS_CDR(b));
    return ECL_STRINGP(a) && ECL_STRINGP(b) && ecl_string_eq(a, b) &&
           cl_type_of(a) != ECL_NIL && ecl_equal(cl_type_of(a), cl_type_of(b));
}

/* Whether nothing but space is between A and B. */
static bool are_near(const char *a, const char *b)
{
    for (; a < b; a++)
        if (!is_space(*a))
            return false;
    for (; b < a; b++)
        if (!is_space(*b))
            return false;
    return true;
}

/* The module that is read, its constants, and its labels. */
static struct {
    cl_object block;
    cl_object constants;
    cl_object labels;
    int forgotten; /* modules whose labels were */
    int referring; /* constants of these that refer to one */
} labelled;

/* Whether X, or a part of it that is not in the table SEEN, is a label. */
static bool has_label(cl_object x, cl_object known)
{
    for (; ECL_CONSP(x); x = ECL_CONS_CDR(x)) {
        if (ecl_gethash_safe(x, known, ECL_NIL) != ECL_NIL)
            return false;
        (void)ecl_sethash(x, known, ECL_T);
        if (is_label(x, labelled.labels, ECL_NIL) ||
            has_label(ECL_CONS_CAR(x), known))
            return true;
    }
    if (ecl_t_of(x) == t_vector && x->vector.elttype == ecl_aet_object)
        for (cl_index i = 0; i < x->vector.fillp; i++)
            if (has_label(x->vector.self.t[i], known))
                return true;
    return false;
}

/* Notes OBJECT, the next constant of the module. */
static void note_constant(cl_object object)
{
    cl_object labels = ecl_symbol_value(labels_variable);

    if (!labelled.constants) {
        labelled.constants = labelled.labels = ECL_NIL;
        ecl_register_root(&labelled.constants);
        ecl_register_root(&labelled.labels);
    }
    if (labelled.block != module.block) {
        labelled.block = module.block;
        labelled.constants = labelled.labels = ECL_NIL;
    }
    labelled.constants = ecl_cons(object, labelled.constants);
    if (labels != ECL_NIL)
        labelled.labels = labels;
    if (module.left > 0 || labels != ECL_NIL || labelled.labels == ECL_NIL)
        return;
    labelled.forgotten++;
    if (has_label(labelled.constants, cl_make_hash_table(0)))
        labelled.referring++;
}

extern cl_object ecl_read_object(cl_object stream);

/* What the library calls for each constant: it gets what its own reader finds
   there, while the quick one goes its own way. */
static cl_object read_both(cl_object stream)
{
    const char *start;
    const char *end;
    cl_object ours;
    cl_object theirs;

    start = module.rest.at;
    ours = quick_read_object(stream);
    end = module.rest.at;
    seen.all++;
    // it was left to the library when the stream has moved
    if (ecl_file_position(stream) == ecl_make_fixnum(end - module.text))
        return ours;
    seen.quick++;
    module.rest.at = start;
    theirs = leave_to_library(stream);
    if (!are_same(ours, theirs) || !are_near(end, module.rest.at)) {
        seen.wrong++;
        (void)snprintf(seen.example, sizeof seen.example, "%s", start);
    }
    return theirs;
}

cl_object ecl_read_object(cl_object stream)
{
    cl_object object;

    if (!active || !is_wanted(stream))
        return library_read(stream);
    object = read_both(stream);
    note_constant(object);
    return object;
}

static void boot(void)
{
    static char name[] = "test_constants";
    static char *arguments[] = {name, NULL};

    (void)setenv("GC_MARKERS", "1", 1);
    (void)unsetenv("TMPDIR"); // ECL does not boot with some
    ecl_set_option(ECL_OPT_SIGNAL_HANDLING_THREAD, 0);
    constants_begin();
    (void)cl_boot(1, arguments);
    constants_end();
}

static void constants_are_those_of_the_reader(void **state)
{
    (void)state;
    assert_string_equal(seen.example, "");
    assert_int_equal(seen.wrong, 0);
    assert_true(seen.quick > seen.all / 4 * 3);
    assert_true(seen.all > 1000);
}

/* A session loads these with packages that they make themselves. */
static void so_they_are_of_modules_that_are_loaded(void **state)
{
    static const char *const modules[] = {"(require :cmp)", "(require :asdf)"};
    cl_object failed = ecl_make_keyword("FAILED");
    int before = seen.all;

    (void)state;
    for (size_t i = 0; i < COUNT(modules); i++) {
        constants_begin();
        assert_ptr_not_equal(
            si_safe_eval(3, ecl_read_from_cstring(modules[i]), ECL_NIL, failed),
            failed);
        constants_end();
    }
    assert_string_equal(seen.example, "");
    assert_int_equal(seen.wrong, 0);
    assert_true(seen.all > before + 1000);
}

static void labels_are_forgotten_that_nothing_refers_to(void **state)
{
    (void)state;
    assert_true(labelled.forgotten > 2);
    assert_int_equal(labelled.referring, 0);
}

/* Whether a constant with this text is found to refer to a label of its own. */
static bool refers(const char *text)
{
    cl_object stream =
        cl_make_string_input_stream(1, ecl_make_simple_base_string(text, -1));
    cl_env_ptr env = ecl_process_env();
    cl_object object;
    bool found;

    ecl_bds_bind(env, labels_variable, ECL_NIL);
    module.parts = 100;
    object = library_read(stream);
    found = may_refer(object, ecl_symbol_value(labels_variable), ECL_NIL, 0);
    ecl_bds_unwind1(env);
    return found;
}

static void references_from_within_are_found(void **state)
{
    char text[1000];
    int n = 0;

    (void)state;
    assert_false(refers("(#1=(a \"b\" 3) (x #1#) #(#1# y))"));
    assert_false(refers("#1=#(a b)"));
    assert_true(refers("#1=(a . #1#)"));
    assert_true(refers("(x (y #1=(a (b #1#))))"));
    assert_true(refers("#1=(a #(b #1#))"));
    assert_true(refers("#1=#(a #1#)"));
    assert_true(refers("(#1=(a #2=(b #1#)) #2#)"));
    // what cannot be known
    assert_true(refers("(#1=(a) #2A((b)))"));
    for (int i = 0; i < NESTING + 1; i++)
        text[n++] = '(';
    for (int i = 0; i < NESTING + 1; i++)
        text[n++] = ')';
    text[n] = '\0';
    assert_true(refers(text));
    for (n = 1; n < 300; n++)
        text[n] = n % 2 ? '1' : ' ';
    text[n++] = ')';
    text[n] = '\0';
    assert_true(refers(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_the_reader),
        cmocka_unit_test(so_they_are_of_modules_that_are_loaded),
        cmocka_unit_test(labels_are_forgotten_that_nothing_refers_to),
        cmocka_unit_test(references_from_within_are_found),
    };

    boot();
    return RUN_TESTS("constants", tests);
}
