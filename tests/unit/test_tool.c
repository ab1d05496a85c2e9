/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of tool.c: the facts of a descriptor that go with a call, to the
   supervisor and to the editor. */
#include <stdio.h>

#include "support/editing.h"

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

/* The editor hears which argument is code, which is a file, and whether the
   call loads other code. */
static void tools_say_which_arguments_are_code_or_paths(void **state)
{
    static const struct {
        const char *sent;
        const char *said;
    } cases[] = {
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\"}"),
         "{\"code\":\"1\"},\"code\":\"code\""},
        {CALL("1", "macroexpand-form", "{\"form\":\"(f)\"}"),
         "{\"form\":\"(f)\"},\"code\":\"form\""},
        {CALL("1", "inspect-value",
              "{\"expression\":\"x\",\"path\":\"slots\"}"),
         "{\"expression\":\"x\",\"path\":\"slots\"},\"code\":\"expression\""},
        {CALL("1", "load-file", "{\"path\":\"a.lisp\"}"),
         "{\"path\":\"a.lisp\"},\"path\":\"path\",\"loads\":true"},
        {CALL("1", "list-directory", "{}"), "{},\"path\":\"path\""},
        {CALL("1", "load-system", "{\"system\":\"asdf\"}"),
         "{\"system\":\"asdf\"},\"loads\":true"},
    };
    (void)state;
    start_editing();
    assert_ok(policy_add(&disk.policy, NULL, POLICY_ASK));
    for (size_t i = 0; i < COUNT(cases); i++) {
        char heard[200];
        char result[100];
        client_send(cases[i].sent);
        snprintf(heard, sizeof heard,
                 ASKED("%zu", "approve", "…\"arguments\":%s,\"message\":…"),
                 i + 1, cases[i].said);
        hears(heard);
        snprintf(result, sizeof result, OK("%zu", "{\"decision\":\"deny\"}"),
                 i + 1);
        says(result);
        client_expect(ANSWER("User denied tool execution", "true"));
        hears(CALLED);
    }
}

/* The editor hears which calls may have been its own look-ups. */
static void tools_say_which_calls_look_up(void **state)
{
    static const struct {
        const char *sent;
        const char *heard;
    } cases[] = {
        {CALL("1", "function-arglist", "{\"function\":\"car\"}"),
         "{…\"tool\":\"function-arglist\",\"level\":\"safe\",\"lookup\":true,"
         "\"decision\":…}\n"},
        {CALL("1", "describe-symbol", "{\"symbol\":\"car\"}"),
         "{…\"tool\":\"describe-symbol\",\"level\":\"safe\",\"decision\":…}\n"},
    };
    (void)state;
    start_editing();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str body;
        client_send(cases[i].sent);
        client_reply(client_frame(&body).id, 0, STR(""));
        client_expect("{…}");
        hears(cases[i].heard);
    }
}

static void tools_round_times_up(void **state)
{
    (void)state;
    assert_int_equal(tool_milliseconds(2), 2000);
    assert_int_equal(tool_milliseconds(0), 0);
    assert_int_equal(tool_milliseconds(0.0001), 1);
    assert_int_equal(tool_milliseconds(1.5), 1500);
    assert_int_equal(tool_milliseconds(1.5001), 1501);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, editing_begin, editing_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tools_say_which_calls_only_read),
        TEST(tools_say_which_arguments_are_code_or_paths),
        TEST(tools_say_which_calls_look_up),
        TEST(tools_round_times_up),
    };
    return RUN_TESTS("tool", tests);
}
