/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of ticket.c. */
#include <stdlib.h>

#include "mcp/ticket.h"
#include "support/check.h"

static struct arena arena;
static struct tickets tickets;

static int set_up(void **state)
{
    (void)state;
    tickets = (struct tickets){.key = {1, 2, 3}};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct str write_one(struct str extra)
{
    struct str text;
    struct ticket ticket = {.expires_ms = -5,
                            .call = "call",
                            .question = "question",
                            .extra = extra};

    assert_ok(ticket_write(&tickets, &arena, &ticket, &text));
    return text;
}

static void ticket_is_read_as_written(void **state)
{
    static const char extra[LIMIT_TICKET_EXTRA] = "extra";
    const size_t sizes[] = {0, 1, 2, 3, 4, 5, LIMIT_TICKET_EXTRA};
    struct ticket ticket;
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct str text = write_one(str_make(extra, sizes[i]));
        for (size_t k = 0; k < text.n; k++)
            assert_non_null(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                                   "qrstuvwxyz0123456789-_",
                                   text.p[k]));
        assert_ok(ticket_read(&tickets, &arena, text, &ticket));
        assert_int_equal(ticket.number, i + 1);
        assert_int_equal(ticket.expires_ms, -5);
        assert_string_equal((const char *)ticket.call, "call");
        assert_string_equal((const char *)ticket.question, "question");
        assert_true(str_eq(ticket.extra, str_make(extra, sizes[i])));
    }
    struct ticket large = {.extra = {extra, LIMIT_TICKET_EXTRA + 1}};
    struct str text;
    assert_status(ticket_write(&tickets, &arena, &large, &text), ST_LIMIT);
}

static void ticket_refuses_what_it_did_not_write(void **state)
{
    struct str good = write_one(STR("e"));
    struct ticket ticket;
    (void)state;
    char *text = arena_alloc(&arena, good.n + 2);
    assert_memory(text != NULL);
    for (size_t i = 0; i < good.n; i++) {
        memcpy(text, good.p, good.n);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        assert_status(
            ticket_read(&tickets, &arena, str_make(text, good.n), &ticket),
            ST_INVALID);
        assert_status(
            ticket_read(&tickets, &arena, str_make(good.p, i), &ticket),
            ST_INVALID);
    }
    memcpy(text, good.p, good.n);
    memcpy(text + good.n, "AA", 2);
    assert_status(
        ticket_read(&tickets, &arena, str_make(text, good.n + 2), &ticket),
        ST_INVALID);
    const struct str others[] = {STR(""), STR("="), STR("ä"), STR("....")};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_status(ticket_read(&tickets, &arena, others[i], &ticket),
                      ST_INVALID);
    char *large = arena_array(&arena, 1, 100000);
    assert_memory(large != NULL);
    memset(large, 'A', 100000);
    assert_status(
        ticket_read(&tickets, &arena, str_make(large, 100000), &ticket),
        ST_INVALID);
    tickets.key[31] = 1; // another server
    assert_status(ticket_read(&tickets, &arena, good, &ticket), ST_INVALID);
}

static void ticket_is_used_once(void **state)
{
    (void)state;
    tickets.last = 10ull * LIMIT_TICKETS;
    assert_false(ticket_use(&tickets, tickets.last + 1)); // not given out
    assert_false(ticket_use(&tickets, 0));
    assert_true(ticket_use(&tickets, 7));
    assert_false(ticket_use(&tickets, 7));
    assert_true(ticket_use(&tickets, 3));
    for (uint64_t i = 100; i < 100 + LIMIT_TICKETS; i++)
        assert_true(ticket_use(&tickets, i));
    // a forgotten ticket, and all before it, count as used
    for (uint64_t i = 1; i <= 7; i++)
        assert_false(ticket_use(&tickets, i));
    for (uint64_t i = 100; i < 100 + LIMIT_TICKETS; i++)
        assert_false(ticket_use(&tickets, i));
    assert_true(ticket_use(&tickets, 8));
    assert_true(ticket_use(&tickets, tickets.last));
}

static void ticket_hash_knows_where_texts_end(void **state)
{
    unsigned char one[TICKET_HASH];
    unsigned char two[TICKET_HASH];
    const struct str a[] = {STR("ab"), STR("c")};
    const struct str b[] = {STR("a"), STR("bc")};
    const struct str empty[] = {STR(""), {NULL, 0}};
    (void)state;
    ticket_hash(a, 2, one);
    ticket_hash(b, 2, two);
    assert_memory_not_equal(one, two, TICKET_HASH);
    ticket_hash(empty, 2, one);
    ticket_hash(empty, 1, two);
    assert_memory_not_equal(one, two, TICKET_HASH);
    ticket_hash(a, 2, one);
    ticket_hash(a, 2, two);
    assert_memory_equal(one, two, TICKET_HASH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ticket_is_read_as_written),
        TEST(ticket_refuses_what_it_did_not_write),
        TEST(ticket_is_used_once),
        TEST(ticket_hash_knows_where_texts_end),
    };
    return RUN_TESTS("ticket", tests);
}
