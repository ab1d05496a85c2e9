/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of call_queue.c: the calls of a session in their order. */
#include <string.h>

#include "supervisor/call_queue.h"
#include "support/check.h"

static struct call_queue queue;

static int setup(void **state)
{
    (void)state;
    memset(&queue, 0, sizeof queue);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    call_queue_release(&queue);
    return 0;
}

static void add(uint64_t id, bool frees)
{
    struct call *call = call_new(id, 0, STR("evaluate"), STR(""));

    assert_memory(call != NULL);
    if (!call)
        return;
    call->front_id = id;
    call->frees = frees;
    call_queue_add(&queue, call);
}

static void add_call(uint64_t id)
{
    add(id, false);
}

/* Takes the first call, which must be ID, or none if ID is 0. */
static void expect_first(uint64_t id)
{
    struct call *call = call_queue_take_first(&queue);

    assert_int_equal(call ? call->id : 0, id);
    call_free(call);
}

static void call_queue_keeps_the_order(void **state)
{
    (void)state;
    expect_first(0);
    add_call(1);
    add_call(2);
    expect_first(1);
    add_call(3);
    expect_first(2);
    expect_first(3);
    expect_first(0);
    assert_null(queue.last);
}

static void call_queue_withdraws_a_waiting_call(void **state)
{
    struct call *call;

    (void)state;
    add_call(1);
    add_call(2);
    add_call(3);
    call = call_queue_find(&queue, NULL, 3);
    assert_non_null(call);
    call_queue_withdraw(&queue, call);
    call_free(call);
    assert_null(call_queue_find(&queue, NULL, 3));
    assert_int_equal(queue.last->id, 2);
    add_call(4);
    assert_int_equal(queue.last->id, 4);
    assert_null(call_queue_find(&queue, NULL, 9));
}

/* Those that free the session are counted until they are gone, either way. */
static void call_queue_counts_those_that_free(void **state)
{
    struct call *call;

    (void)state;
    for (uint64_t id = 1; id <= 4; id++)
        add(id, id % 2 == 0);
    assert_int_equal(queue.frees, 2);
    call = call_queue_find(&queue, NULL, 4);
    call_queue_withdraw(&queue, call);
    call_free(call);
    assert_int_equal(queue.frees, 1);
    expect_first(1);
    assert_int_equal(queue.frees, 1);
    expect_first(2);
    assert_int_equal(queue.frees, 0);
    expect_first(3);
}

/* A sent call no longer counts as waiting, and can be sent again. */
static void call_queue_counts_sent_calls(void **state)
{
    (void)state;
    add_call(1);
    add_call(2);
    add_call(3);
    queue.first->sent = true;
    queue.first->next->sent = true;
    queue.first->next->started_at = 5;
    queue.sent = 2;
    assert_int_equal(call_queue_unsent(&queue)->id, 3);
    expect_first(1);
    assert_int_equal(queue.sent, 1);
    call_queue_unsend(&queue);
    assert_int_equal(queue.sent, 0);
    assert_int_equal(call_queue_unsent(&queue)->id, 2);
    assert_int_equal(queue.first->started_at, -1);
}

static void call_queue_numbers_evaluations(void **state)
{
    const uint64_t expected[] = {4, 5, 5, 5};
    size_t i = 0;

    (void)state;
    for (uint64_t id = 1; id <= 4; id++)
        add_call(id);
    for (struct call *call = queue.first; call; call = call->next) {
        call->reads = call->id == 2;
        call->apart = call->id == 3;
    }
    for (struct call *call = queue.first; call; call = call->next)
        assert_int_equal(call_queue_evaluation(&queue, call, 3), expected[i++]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(call_queue_keeps_the_order),
        TEST(call_queue_withdraws_a_waiting_call),
        TEST(call_queue_counts_those_that_free),
        TEST(call_queue_counts_sent_calls),
        TEST(call_queue_numbers_evaluations),
    };

    return RUN_TESTS("call_queue", tests);
}
