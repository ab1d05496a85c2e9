/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What fronts read of long outputs, of real images. Argument 1 of the program
   is ecl-mcp-image. */
#include <stdlib.h>
#include <string.h>

#include "supervisor/front.h"
#include "supervisor/intake.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

/* Takes many steps, and never matches. */
#define MUCH_WORK "([0-9] )*x"

/* Makes the next output, by call ID, and returns its number. */
static int64_t make_output(uint64_t id)
{
    const char *mark;

    host_call(id, "(dotimes (i 200000) (format t \"~d \" i))");
    host_wait(id);
    mark = strstr(host_answer.p, "read-output id ");
    assert_non_null(mark);
    return strtol(mark + strlen("read-output id "), NULL, 10);
}

/* Sends READ ID of the lines of OUTPUT that PATTERN matches, from OFFSET on; of
   a part of it when PATTERN is empty. */
static void read_output(uint64_t id, int64_t output, int64_t offset,
                        const char *pattern)
{
    struct buf frame = BUF_EMPTY;

    (void)wire_begin(&frame, WIRE_READ, 0, id);
    wire_put_int(&frame, output);
    wire_put_int(&frame, offset);
    wire_put_int(&frame, 10);
    wire_put_string(&frame, str_from(pattern));
    host_send(&frame);
}

static void fronts_share_long_outputs(void **state)
{
    (void)state;
    int64_t output = make_output(1);

    host_as(host_guest);
    read_output(1, output, 20, "");
    host_wait(1);
    host_expect_part("10 11 12 1\n");
}

/* Others do not wait for a search, and what its front sends meanwhile is done
   afterwards. */
static void search_goes_in_steps(void **state)
{
    (void)state;
    int64_t output = make_output(1);

    read_output(2, output, 0, MUCH_WORK);
    host_expect_quiet(host_owner);
    host_call(3, "(+ 1 2)");
    host_as(host_guest);
    read_output(1, output, 0, "");
    host_wait(1);
    host_expect_part("0 1 2 3 4 \n");
    host_expect_quiet(host_owner);
    host_as(host_owner);
    host_wait(2);
    host_expect_part("0 matches in characters 0 to ");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> 3");
}

static void output_is_dropped_in_a_search(void **state)
{
    (void)state;
    read_output(2, make_output(1), 0, MUCH_WORK);
    host_expect_quiet(host_owner);
    outputs_release(&host->outputs);
    host_wait(2);
    host_expect_part(" not found: outputs are numbered");
}

static void front_leaves_in_a_search(void **state)
{
    (void)state;
    int64_t output = make_output(1);

    host_as(host_guest);
    read_output(1, output, 0, MUCH_WORK);
    host_expect_quiet(host_guest);
    host_leave(host_guest);
    host_as(host_owner);
    host_expect(2, "(+ 2 2)", "=> 4");
}

/* What follows the search is no frame: the front is told so the next time. */
static void nonsense_behind_a_search_is_refused(void **state)
{
    (void)state;
    int64_t output = make_output(1);

    host_as(host_guest);
    read_output(1, output, 0, MUCH_WORK);
    assert_int_equal(
        intake_feed(host_guest, "nonsense that is no frame", 25, 0), ST_OK);
    host_wait(1);
    assert_int_equal(intake_feed(host_guest, "", 0, 0), ST_INVALID);
}

#define TEST(f)                                                                \
    cmocka_unit_test_setup_teardown(f, host_setup_two, host_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(fronts_share_long_outputs),
        TEST(search_goes_in_steps),
        TEST(output_is_dropped_in_a_search),
        TEST(front_leaves_in_a_search),
        TEST(nonsense_behind_a_search_is_refused),
    };

    host_use(argc, argv);
    return RUN_TESTS("reading", tests);
}
