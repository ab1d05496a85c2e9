/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every checkpoint that the supervisor keeps can be asked for a replay, with
   the real zygote and images. Argument 1 of the program is ecl-mcp-image. */
#include <stdio.h>

#include "base/limits.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

static uint64_t calls;

static int set_up(void **state)
{
    calls = 0;
    return host_setup(state);
}

/* Evaluates CODE, whose value is N. */
static void evaluate(const char *code, int n)
{
    char text[32];

    (void)snprintf(text, sizeof text, "=> %d", n);
    host_expect(++calls, code, text);
}

/* Takes a checkpoint; NAME may be empty. */
static void take(const char *name)
{
    struct buf frame;

    host_begin(&frame, "main", ++calls, "checkpoint-session", 0);
    wire_put_string(&frame, STR("name"));
    wire_put_string(&frame, str_from(name));
    host_send(&frame);
    host_wait(calls);
    host_expect_success();
}

static void replay(int evaluation)
{
    struct buf frame;

    host_begin(&frame, "main", ++calls, "replay-evaluation", 0);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, STR("*n*"));
    wire_put_string(&frame, STR("evaluation"));
    wire_put_int(&frame, evaluation);
    host_send(&frame);
    host_wait(calls);
}

/* Before EVALUATION, *n* was N. */
static void expect_replay(int evaluation, int n)
{
    char text[32];

    (void)snprintf(text, sizeof text, "=> %d", n);
    replay(evaluation);
    host_expect_success();
    host_expect_part(text);
}

/* At the limit (LIMIT_PASTS) and beyond: of those without a name the oldest is
   dropped, those with one stay. */
static void all_checkpoints_can_be_asked(void **state)
{
    enum { NAMED = LIMIT_CHECKPOINTS, LAST = 4 * LIMIT_CHECKPOINTS };
    char name[32];

    (void)state;
    evaluate("(setf *n* 1)", 1);
    for (int n = 1; n <= NAMED; n++) {
        (void)snprintf(name, sizeof name, "after-%d", n);
        take(name);
        evaluate("(incf *n*)", n + 1);
    }
    for (int n = NAMED + 1; n < LAST; n++) {
        int first = n - LIMIT_CHECKPOINTS + 1; // that is kept without a name

        take("");
        for (int i = 1; i <= n; i++)
            if (i <= NAMED || i >= first)
                expect_replay(i + 1, i);
        evaluate("(incf *n*)", n + 1);
    }
    replay(NAMED + 2);
    assert_true(host_error);
    host_expect_part("cannot be replayed: there is no copy of the state");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_checkpoints_can_be_asked, set_up,
                                        host_teardown),
    };

    host_use(argc, argv);
    return RUN_TESTS("pasts", tests);
}
