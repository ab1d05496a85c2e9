/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The constants that image/constants.c reads are those that ECL's reader reads:
   ECL's own modules, of which each constant is read by both. */
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

extern cl_object ecl_read_object(cl_object stream);

/* What the library calls for each constant: it gets what its own reader finds
   there, while the quick one goes its own way. */
cl_object ecl_read_object(cl_object stream)
{
    const char *start;
    const char *end;
    cl_object ours;
    cl_object theirs;

    if (!active || !is_wanted(stream))
        return library_read(stream);
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

static void constants_are_those_of_the_reader(void **state)
{
    static char name[] = "test_constants";
    static char *arguments[] = {name, NULL};

    (void)state;
    (void)setenv("GC_MARKERS", "1", 1);
    (void)unsetenv("TMPDIR"); // ECL does not boot with some
    ecl_set_option(ECL_OPT_SIGNAL_HANDLING_THREAD, 0);
    constants_begin();
    (void)cl_boot(1, arguments);
    constants_end();
    assert_string_equal(seen.example, "");
    assert_int_equal(seen.wrong, 0);
    assert_true(seen.quick > seen.all / 4 * 3);
    assert_true(seen.all > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_the_reader),
    };

    return RUN_TESTS("constants", tests);
}
