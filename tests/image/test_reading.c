/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What fronts read of long outputs, of real images, and what else they have
   done in steps. Argument 1 of the program is ecl-mcp-image. */
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

/* Appends calls of list-sessions, which are answered at once. */
static void put_lists(struct buf *frames, uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct buf frame;

        host_begin(&frame, "main", first + i, "list-sessions", 0);
        wire_end(&frame, 0);
        buf_str(frames, buf_view(&frame));
        buf_release(&frame);
    }
}

/* How many of the answers that FRONT has yet to read are there. */
static size_t answers(struct front *front)
{
    struct str rest = buf_view(front_output(front));
    struct wire_head head;
    struct str body;
    size_t n = 0;

    for (; wire_frame(rest, &head, &body) == ST_OK; n++)
        rest = str_make(rest.p + WIRE_HEAD + head.size,
                        rest.n - WIRE_HEAD - head.size);
    return n;
}

/* What is composed at once is not composed a thousand times at once: a turn has
   one step for all fronts, of which each has a part. */
static void many_frames_go_in_steps(void **state)
{
    enum { CALLS = 1000 };
    struct buf frames = BUF_EMPTY;

    (void)state;
    put_lists(&frames, 1, CALLS);
    assert_ok(intake_feed(host_guest, frames.p, frames.n, 0));
    size_t before = answers(host_guest);
    assert_in_range(before, 1, CALLS / 10);
    assert_ok(intake_feed(host_guest, "", 0, 0)); // the turn is the same
    assert_int_equal(answers(host_guest), before);
    buf_reset(&frames);
    put_lists(&frames, 1, 1);
    assert_ok(intake_feed(host_owner, frames.p, frames.n, 0));
    assert_int_equal(answers(host_owner), 1); // others have their part
    while (before < CALLS) {
        assert_true(front_is_busy(host_guest));
        host_turn(HOST_PATIENCE_MS); // it does not wait
        assert_in_range(answers(host_guest) - before, 1, CALLS / 10);
        before = answers(host_guest);
    }
    assert_false(front_is_busy(host_guest));
    buf_release(&frames);
}

/* A front may leave in the middle. */
static void front_leaves_before_its_frames_are_done(void **state)
{
    struct buf frames = BUF_EMPTY;

    (void)state;
    put_lists(&frames, 1, 1000);
    assert_ok(intake_feed(host_guest, frames.p, frames.n, 0));
    assert_true(front_is_busy(host_guest));
    host_leave(host_guest);
    host_expect(1, "(+ 2 2)", "=> 4");
    buf_release(&frames);
}

/* What follows many frames is none: the front is told so, and no turn is spent
   on it any longer. */
static void nonsense_behind_many_frames_is_refused(void **state)
{
    struct buf frames = BUF_EMPTY;

    (void)state;
    put_lists(&frames, 1, 1000);
    buf_str(&frames, STR("nonsense that is no frame"));
    put_lists(&frames, 1001, 1000);
    assert_ok(intake_feed(host_guest, frames.p, frames.n, 0));
    while (front_is_busy(host_guest))
        host_turn(HOST_PATIENCE_MS);
    assert_int_equal(answers(host_guest), 1000);
    host_turn(0);
    assert_int_equal(intake_feed(host_guest, "", 0, 0), ST_INVALID);
    assert_false(front_is_busy(host_guest));
    assert_int_equal(answers(host_guest), 1000);
    buf_release(&frames);
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
        TEST(many_frames_go_in_steps),
        TEST(front_leaves_before_its_frames_are_done),
        TEST(nonsense_behind_many_frames_is_refused),
    };

    host_use(argc, argv);
    return RUN_TESTS("reading", tests);
}
