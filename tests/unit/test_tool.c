/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of tool.c: what of a descriptor goes with a call. */
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"

/* The supervisor hears which calls only read, whatever their level. */
static void tools_say_which_calls_only_read(void **state)
{
    static const struct {
        const char *sent;
        unsigned flags;
    } cases[] = {
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\"}"), 0},
        {CALL("2", "load-file", "{\"path\":\"a.lisp\"}"), 0},
        {CALL("3", "time-execution", "{\"code\":\"1\"}"), 0},
        {CALL("4", "reset-session", "{}"), 0},
        {CALL("5", "describe-symbol", "{\"symbol\":\"car\"}"), WIRE_READS},
        {CALL("6", "compile-form", "{\"code\":\"1\"}"), WIRE_READS},
        {CALL("7", "memory-report", "{}"), WIRE_READS},
        {CALL("8", "configure-limits", "{\"memory\":\"1G\"}"), WIRE_READS},
    };
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str body;
        client_send(cases[i].sent);
        struct wire_head head = client_frame(&body);
        assert_int_equal(head.kind, WIRE_CALL);
        assert_int_equal(head.flags, cases[i].flags);
        client_reply(head.id, 0, STR(""));
        client_expect("{…}");
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tools_say_which_calls_only_read),
    };
    return RUN_TESTS("tool", tests);
}
