/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of pending.c: the state of a call, the lists, the counts, the log. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "mcp/pending.h"
#include "support/check.h"
#include "support/states.h"

static struct {
    struct log log;
    char line[LIMIT_LOG_LINE + 1]; /* the last one */
    int lines;
    struct buf output;
    struct pending_table table;
    struct pending *calls[4]; /* tear_down frees them; used from the first on */
    size_t count;
} at;

static void keep_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    assert_int_equal(level, LOG_DEBUG);
    snprintf(at.line, sizeof at.line, "%.*s", STR_ARG(line));
    at.lines++;
}

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof at);
    at.log = (struct log){LOG_DEBUG, keep_line, NULL};
    at.table = (struct pending_table){.log = &at.log, .output = &at.output};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    while (at.count > 0)
        pending_free(&at.table, at.calls[--at.count]);
    buf_release(&at.output);
    return 0;
}

static struct pending *make(const char *id)
{
    const struct rpc_to to = {.output = &at.output, .id = str_from(id)};
    struct pending *pending =
        pending_new(&to, MCP_2025_11_25, &(struct pending_texts){0});

    assert_memory(pending != NULL);
    at.calls[at.count++] = pending;
    return pending;
}

static struct pending *make_in(const char *id, enum pending_state state)
{
    struct pending *pending = make(id);

    if (state != PENDING_NEW)
        pending_set_state(&at.table, pending, state);
    return pending;
}

/* The last line of the log, or the end of the test when memory ran out. */
static const char *last_line(void)
{
    assert_memory(!str_starts(str_from(at.line), STR("log: ")));
    return at.line;
}

/* Checks that only PENDING is in the tables, where its state puts it. */
static void check_alone(const struct pending *pending)
{
    for (enum pending_state s = PENDING_NEW; s <= PENDING_OVER; s++) {
        bool here = s == pending->state && s != PENDING_NEW;

        assert_ptr_equal(at.table.first[s], here ? pending : NULL);
        assert_int_equal(at.table.count[s], here);
    }
    assert_int_equal(at.table.asked_bytes > 0,
                     pending_has_request(pending->state));
    assert_int_equal(pending->editor_request, 0);
    assert_false(pending->received);
}

static void pending_goes_from_state_to_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < states_arrow_count; i++) {
        const struct states_arrow *arrow = &states_arrows[i];
        char line[100];
        struct pending *pending = make_in("17", arrow->from);
        check_alone(pending);
        pending->editor_request = arrow->from != PENDING_NEW ? 5 : 0;
        pending->received = arrow->from != PENDING_NEW;
        at.lines = 0;
        if (arrow->to != PENDING_OVER) {
            pending_set_state(&at.table, pending, arrow->to);
            check_alone(pending);
            assert_true(pending->remembered);
            assert_ptr_equal(pending_find(&at.table, STR("17")), pending);
        } else {
            at.count--;
            pending_free(&at.table, pending);
        }
        assert_int_equal(at.lines, 1);
        snprintf(line, sizeof line, "mcp: call 17: %s", arrow->text);
        assert_string_equal(last_line(), line);
        while (at.count > 0)
            pending_free(&at.table, at.calls[--at.count]);
        assert_int_equal(at.table.remembered, 0);
        assert_int_equal(at.table.asked_bytes, 0);
    }
}

/* A call may take the next step or ask the next question in the same state: it
   is counted again, and nothing is logged. */
static void pending_may_stay_in_its_state(void **state)
{
    struct pending *first = make_in("1", PENDING_ASKING_CLIENT);
    size_t bytes = at.table.asked_bytes;
    (void)state;
    make_in("2", PENDING_ASKING_CLIENT);
    at.lines = 0;
    buf_str(&first->tool.question.message, STR("another question"));
    assert_memory(!buf_failed(&first->tool.question.message));
    pending_set_state(&at.table, first, PENDING_ASKING_CLIENT);
    assert_int_equal(at.table.count[PENDING_ASKING_CLIENT], 2);
    assert_ptr_equal(at.table.first[PENDING_ASKING_CLIENT], first);
    assert_int_equal(at.table.remembered, 2);
    assert_int_equal(at.table.asked_bytes,
                     2 * bytes + first->tool.question.message.cap);
    assert_int_equal(at.lines, 0);
}

static void pending_lists_have_the_newest_first(void **state)
{
    enum { CALLS = 3 };
    static const size_t orders[][CALLS] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
    (void)state;
    for (size_t i = 0; i < COUNT(orders); i++) {
        struct pending *calls[CALLS];
        size_t left = CALLS;
        for (size_t k = 0; k < CALLS; k++)
            calls[k] = make_in("1", PENDING_WORKING);
        assert_ptr_equal(at.table.first[PENDING_WORKING], calls[2]);
        assert_ptr_equal(calls[2]->list_next, calls[1]);
        assert_ptr_equal(calls[1]->list_next, calls[0]);
        assert_null(calls[0]->list_next);
        for (size_t k = 0; k < CALLS; k++) {
            struct pending *next = at.table.first[PENDING_WORKING];
            size_t seen = 0;
            for (; next; next = next->list_next)
                seen++;
            assert_int_equal(seen, left);
            assert_int_equal(at.table.count[PENDING_WORKING], left--);
            pending_set_state(&at.table, calls[orders[i][k]], PENDING_IN_IMAGE);
        }
        assert_null(at.table.first[PENDING_WORKING]);
        while (at.count > 0)
            pending_free(&at.table, at.calls[--at.count]);
    }
}

static void pending_sets_of_states(void **state)
{
    static const struct {
        enum pending_state state;
        const char *in; /* asks, editor, request, running */
    } cases[] = {
        {PENDING_NEW, "0000"},           {PENDING_READING_BUFFER, "0110"},
        {PENDING_ASKING_EDITOR, "1110"}, {PENDING_ASKING_CLIENT, "1010"},
        {PENDING_IN_IMAGE, "0001"},      {PENDING_WORKING, "0001"},
        {PENDING_IN_EDITOR, "0111"},     {PENDING_SETTLING, "0000"},
        {PENDING_OVER, "0000"},
    };
    (void)state;
    assert_int_equal(COUNT(cases), PENDING_STATES);
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum pending_state s = cases[i].state;
        char in[5];
        snprintf(in, sizeof in, "%d%d%d%d", pending_asks(s),
                 pending_is_with_editor(s), pending_has_request(s),
                 pending_is_running(s));
        assert_string_equal(in, cases[i].in);
    }
}

static void pending_is_found_while_the_client_waits(void **state)
{
    struct pending *one = make("1");
    struct pending *two = make("\"1\"");
    (void)state;
    assert_null(pending_find(&at.table, STR("1"))); // it is not decided yet
    pending_set_state(&at.table, one, PENDING_IN_IMAGE);
    pending_set_state(&at.table, two, PENDING_IN_IMAGE);
    assert_ptr_equal(pending_find(&at.table, STR("1")), one);
    assert_ptr_equal(pending_find(&at.table, STR("\"1\"")), two);
    assert_null(pending_find(&at.table, STR("2")));
    pending_forget(&at.table, one);
    pending_forget(&at.table, one);
    assert_null(pending_find(&at.table, STR("1")));
    assert_int_equal(at.table.remembered, 1);
    assert_false(one->remembered);
    assert_int_equal(one->state, PENDING_IN_IMAGE); // the image still has it
}

static void pending_keeps_its_texts(void **state)
{
    char id[] = "\"i\"";
    char texts[] = "tcu";
    const struct rpc_to to = {.output = &at.output, .id = str_from(id)};
    const struct pending_texts given = {.token = {texts, 1},
                                        .client = {texts + 1, 1},
                                        .uri = {texts + 2, 1},
                                        .type = "text/plain"};
    (void)state;
    struct pending *pending = pending_new(&to, MCP_2025_06_18, &given);
    assert_memory(pending != NULL);
    at.calls[at.count++] = pending;
    memset(id, 'x', sizeof id);
    memset(texts, 'x', sizeof texts);
    assert_text(pending->to.id, "\"i\"");
    assert_text(pending->token, "t");
    assert_text(pending->tool.client, "c");
    assert_text(pending->uri, "u");
    assert_true(pending->tool.view);
    assert_true(pending->tool.progress);
    assert_int_equal(pending->state, PENDING_NEW);
}

/* The two states in which a human is asked share a limit, as do the other two
   in which the editor has a request. A call that already waits counts once. */
static void pending_fits_into_the_limits(void **state)
{
    static const struct {
        enum pending_state one;
        enum pending_state other;
        size_t limit;
    } cases[] = {
        {PENDING_ASKING_CLIENT, PENDING_ASKING_EDITOR, LIMIT_APPROVALS},
        {PENDING_ASKING_EDITOR, PENDING_ASKING_CLIENT, LIMIT_APPROVALS},
        {PENDING_READING_BUFFER, PENDING_IN_EDITOR, LIMIT_EDITOR_CALLS},
        {PENDING_IN_EDITOR, PENDING_READING_BUFFER, LIMIT_EDITOR_CALLS},
    };
    struct pending *call = make("1");
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum pending_state one = cases[i].one;
        enum pending_state other = cases[i].other;
        pending_set_state(&at.table, call, PENDING_WORKING);
        at.table.count[one] = cases[i].limit - 2;
        at.table.count[other] = 1;
        assert_true(pending_fits(&at.table, call, one));
        at.table.count[other] = 2;
        assert_false(pending_fits(&at.table, call, one));
        assert_false(pending_fits(&at.table, call, other));
        at.table.count[other] = 1;
        pending_set_state(&at.table, call, one);
        assert_true(pending_fits(&at.table, call, one));
        assert_true(pending_fits(&at.table, call, other));
        pending_set_state(&at.table, call, PENDING_WORKING);
        at.table.count[one] = 0;
        at.table.count[other] = 0;
    }
}

static void pending_fits_into_the_memory(void **state)
{
    struct pending *large = make("1");
    struct pending *small = make("2");
    (void)state;
    large->tool.image.owner_bytes = LIMIT_PENDING_BYTES;
    assert_true(pending_fits(&at.table, large, PENDING_ASKING_CLIENT));
    large->tool.image.owner_bytes++;
    assert_false(pending_fits(&at.table, large, PENDING_IN_EDITOR));
    large->tool.image.owner_bytes--;
    pending_set_state(&at.table, large, PENDING_READING_BUFFER);
    assert_true(pending_fits(&at.table, large, PENDING_ASKING_EDITOR));
    assert_false(pending_fits(&at.table, small, PENDING_ASKING_CLIENT));
    pending_set_state(&at.table, large, PENDING_IN_IMAGE);
    assert_true(pending_fits(&at.table, small, PENDING_ASKING_CLIENT));
}

static void free_plan(struct tool_plan *plan)
{
    (void)plan; // the test has both
}

/* The plans of two calls that ask hold LIMIT_PLANS_BYTES together; one alone
   may hold more. */
static void pending_fits_with_its_plan(void **state)
{
    enum { SMALL = 8000 };
    struct arena first = ARENA_EMPTY;
    struct arena second = ARENA_EMPTY;
    struct tool_plan plans[] = {{free_plan, &first}, {free_plan, &second}};
    struct pending *asks = make("1");
    struct pending *other = make("2");
    bool fits[3] = {false};
    (void)state;
    asks->tool.plan = &plans[0];
    other->tool.plan = &plans[1];
    bool made = arena_alloc(&first, LIMIT_PLANS_BYTES - SMALL) &&
                arena_alloc(&second, SMALL);
    size_t bytes = arena_bytes(&first) + arena_bytes(&second);
    pending_set_state(&at.table, asks, PENDING_ASKING_CLIENT);
    fits[0] = pending_fits(&at.table, other, PENDING_ASKING_CLIENT);
    made = made && arena_alloc(&second, 1);
    fits[1] = pending_fits(&at.table, other, PENDING_ASKING_CLIENT);
    made = made && arena_alloc(&first, SMALL + 1);
    pending_set_state(&at.table, asks, PENDING_IN_IMAGE);
    other->tool.plan = &plans[0];
    fits[2] = pending_fits(&at.table, other, PENDING_ASKING_CLIENT);
    asks->tool.plan = NULL;
    other->tool.plan = NULL;
    arena_release(&first);
    arena_release(&second);
    assert_memory(made);
    assert_int_equal(bytes, LIMIT_PLANS_BYTES);
    assert_true(fits[0]);
    assert_false(fits[1]);
    assert_true(fits[2]);
}

static void pending_logs_ids_that_can_be_read(void **state)
{
    static char id[5000];
    (void)state;
    make_in("\"a\x1b\u202e\"", PENDING_IN_IMAGE);
    assert_string_equal(last_line(),
                        "mcp: call \"a\\x1b\\u202e\": new -> in-image");
    memset(id, 'x', sizeof id - 1);
    make_in(id, PENDING_WORKING);
    assert_int_equal(strlen(last_line()),
                     100 + strlen("mcp: call : new -> working"));
}

static void pending_logs_at_debug_level_only(void **state)
{
    (void)state;
    at.log.level = LOG_INFO;
    struct pending *call = make_in("1", PENDING_ASKING_CLIENT);
    pending_set_state(&at.table, call, PENDING_IN_IMAGE);
    assert_int_equal(at.lines, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pending_goes_from_state_to_state),
        TEST(pending_may_stay_in_its_state),
        TEST(pending_lists_have_the_newest_first),
        TEST(pending_sets_of_states),
        TEST(pending_is_found_while_the_client_waits),
        TEST(pending_keeps_its_texts),
        TEST(pending_fits_into_the_limits),
        TEST(pending_fits_into_the_memory),
        TEST(pending_fits_with_its_plan),
        TEST(pending_logs_ids_that_can_be_read),
        TEST(pending_logs_at_debug_level_only),
    };
    return RUN_TESTS("pending", tests);
}
