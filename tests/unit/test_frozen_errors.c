/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of frozen_errors.c: what an image says of its frozen errors. */
#include "base/buf.h"
#include "supervisor/frozen_errors.h"
#include "support/check.h"
#include "wire/wire.h"

/* The evaluation of the call that runs. */
#define RUNNING 7

static struct frozen_errors errors;

static int setup(void **state)
{
    (void)state;
    frozen_errors_init(&errors);
    return 0;
}

/* Expects STATUS for the error NUMBER, which belongs to EVALUATION. */
static void expect(enum status status, int64_t number, int64_t evaluation)
{
    struct buf body = BUF_EMPTY;

    wire_put_int(&body, 1000);
    wire_put_int(&body, number);
    wire_put_int(&body, evaluation);
    assert_memory(!buf_failed(&body));
    assert_int_equal(frozen_errors_take(&errors, buf_view(&body), RUNNING),
                     status);
    buf_release(&body);
}

static void frozen_errors_come_once(void **state)
{
    (void)state;
    expect(ST_OK, 3, RUNNING);
    expect(ST_OK, 1, 1); // of a thread
    expect(ST_INVALID, 1, RUNNING);
    expect(ST_INVALID, 3, RUNNING);
    expect(ST_OK, 2, RUNNING);
    assert_int_equal(errors.n, 3);
    frozen_errors_forget(&errors);
    expect(ST_OK, 1, RUNNING);
}

static void frozen_errors_have_recent_numbers(void **state)
{
    (void)state;
    expect(ST_INVALID, 0, RUNNING);
    expect(ST_INVALID, -1, RUNNING);
    expect(ST_OK, 100, RUNNING);
    expect(ST_OK, 100 - LIMIT_FROZEN_NUMBERS + 1, RUNNING);
    expect(ST_INVALID, 100 - LIMIT_FROZEN_NUMBERS, RUNNING);
    expect(ST_OK, 101, RUNNING);
    expect(ST_INVALID, 100, RUNNING);
    expect(ST_INVALID, 37, RUNNING);
    expect(ST_OK, INT64_MAX - 100, RUNNING); // nothing overflows
    expect(ST_INVALID, 101, RUNNING);
    expect(ST_OK, INT64_MAX - 101, RUNNING);
    assert_int_equal(errors.n, LIMIT_FROZEN_ERRORS);
}

static void frozen_errors_belong_to_evaluations(void **state)
{
    (void)state;
    expect(ST_INVALID, 1, 0);
    expect(ST_INVALID, 1, -1);
    expect(ST_INVALID, 1, RUNNING + 1);
    expect(ST_INVALID, 1, INT64_MIN);
    expect(ST_OK, 1, RUNNING);
    expect(ST_OK, 2, 1);
    assert_int_equal(frozen_errors_evaluation(&errors, 2, 0), 1);
    frozen_errors_restored(&errors, RUNNING - 1);
    assert_int_equal(errors.n, 1);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(frozen_errors_come_once),
        TEST(frozen_errors_have_recent_numbers),
        TEST(frozen_errors_belong_to_evaluations),
    };

    return RUN_TESTS("frozen_errors", tests);
}
