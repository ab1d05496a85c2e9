/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what becomes of calls of the tools: frames for the image, and
   answers. */
#include <stdio.h>

#include "base/limits.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"

/* A call and the frame that it becomes. */
struct tool_case {
    const char *sent;
    enum wire_kind kind;
    const char *frame;
    const char *level;
};

static void run_tools(const struct tool_case *cases, size_t n)
{
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-03-26");
    for (size_t i = 0; i < n; i++) {
        client.now_ms = 100;
        client_send(cases[i].sent);
        client_expect("");
        uint64_t id = client_expect_frame(cases[i].kind, cases[i].frame);
        client.now_ms = 112;
        client_reply(id, i % 2 ? WIRE_ERROR : 0, STR("=> \"\xff\n"));
        char answer[300];
        snprintf(answer, sizeof answer,
                 OK("7", "{\"content\":[{\"type\":\"text\",\"text\":"
                         "\"=> \\\"\xef\xbf\xbd\\n\"}],\"isError\":%s,"
                         "\"_meta\":{\"ecl-mcp/executionTimeMs\":12,"
                         "\"ecl-mcp/safetyLevel\":\"%s\","
                         "\"ecl-mcp/approved\":true}}"),
                 i % 2 ? "true" : "false", cases[i].level);
        client_expect(answer);
    }
}

static void tool_calls_run(void **state)
{
    static const struct tool_case cases[] = {
        {CALL("7", "evaluate-lisp",
              "{\"code\":\"(+ 1\\n2)\",\"package\":\"P\","
              "\"capture-time\":true}"),
         WIRE_CALL,
         "main evaluate 10000 30000 code (+ 1\n2) package P capture-time true",
         "cautious"},
        {CALL("7", "eval_form", "{\"capture_time\":false,\"code\":\"\"}"),
         WIRE_CALL, "main evaluate 10000 30000 code  capture-time false",
         "cautious"},
        {CALL("7", "list-definitions", "{\"type\":\"macros\"}"), WIRE_CALL,
         "main list-definitions 10000 30000 type macros", "safe"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
         "{\"name\":\"list_definitions\",\"task\":{},"
         "\"_meta\":{\"progressToken\":7}}}",
         WIRE_CALL, "main list-definitions 10000 30000", "safe"},
        {CALL("7", "reset-session", "{}"), WIRE_CALL,
         "main reset-session 10000 30000", "cautious"},
        {CALL("7", "quickload", "{\"system-name\":\"alexandria\"}"), WIRE_CALL,
         "main load-system 10000 600000 system alexandria", "cautious"},
        {CALL("7", "read-output", "{\"id\":\"3\"}"), WIRE_READ, "3 0 10000 ",
         "safe"},
        {CALL("7", "read-output", "{\"id\":3,\"pattern\":\"a.*b\"}"), WIRE_READ,
         "3 0 10000 a.*b", "safe"},
        {CALL("7", "read-output", "{\"id\":3,\"offset\":5,\"limit\":20.0}"),
         WIRE_READ, "3 5 20 ", "safe"},
    };
    (void)state;
    run_tools(cases, COUNT(cases));
}

/* What loads files gets more time than an evaluation, unless a call or the user
   says otherwise. */
static void tool_calls_have_time_to_load(void **state)
{
    char text[100];
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL("1", "load-system", "{\"system\":\"s\"}"));
    (void)snprintf(text, sizeof text, "main load-system 10000 %d system s",
                   LIMIT_LOAD_TIMEOUT_MS);
    client_reply(client_expect_frame(WIRE_CALL, text), 0, STR("ok"));
    client_expect("{…}");
    client_send(CALL("1", "configure-limits", "{\"timeout\":601}"));
    client_expect("{…}");
    client_send(CALL("1", "load-system", "{\"system\":\"s\"}"));
    client_expect_frame(WIRE_CALL, "main load-system 10000 601000 system s");
}

static void tool_calls_run_for_sessions(void **state)
{
    static const struct tool_case cases[] = {
        {CALL("7", "reset-session", "{\"close\":false}"), WIRE_CALL,
         "main reset-session 10000 30000", "cautious"},
        {CALL("7", "reset-session", "{\"close\":true,\"session\":\"b\"}"),
         WIRE_CALL, "b close-session 10000 30000", "cautious"},
        {CALL("7", "evaluate-lisp",
              "{\"code\":\"1\",\"session\":\"a.B_c-1\",\"timeout\":0.25}"),
         WIRE_CALL, "a.B_c-1 evaluate 10000 250 code 1", "cautious"},
        {CALL("7", "evaluate-lisp", "{\"code\":\"1\",\"timeout\":\"0\"}"),
         WIRE_CALL, "main evaluate 10000 0 code 1", "cautious"},
        {CALL("7", "list-definitions", "{\"session\":\"b\"}"), WIRE_CALL,
         "b list-definitions 10000 30000", "safe"},
        {CALL("7", "checkpoint-session", "{\"name\":\"good\"}"), WIRE_CALL,
         "main checkpoint-session 10000 30000 name good", "safe"},
        {CALL("7", "restore-session", "{\"name\":\"good\"}"), WIRE_CALL,
         "main restore-session 10000 30000 name good", "cautious"},
        {CALL("7", "restore-session", "{\"back\":3,\"session\":\"b\"}"),
         WIRE_CALL, "b restore-session 10000 30000 back 3", "cautious"},
        {CALL("7", "restore-session", "{}"), WIRE_CALL,
         "main restore-session 10000 30000", "cautious"},
        {CALL("7", "list-sessions", "{}"), WIRE_CALL,
         "main list-sessions 10000 30000", "safe"},
        {CALL("7", "describe-last-error", "{}"), WIRE_CALL,
         "main describe-last-error 10000 30000", "safe"},
        {CALL("7", "describe-last-error",
              "{\"frames\":true,\"session\":\"b\"}"),
         WIRE_CALL, "b describe-last-error 10000 30000 frames true", "safe"},
    };
    (void)state;
    run_tools(cases, COUNT(cases));
}

static void tool_calls_configure_limits(void **state)
{
    static const struct client_exchange cases[] = {
        {CALL("1", "configure-limits", "{}"),
         OK("1", TEXT("timeout: 30 s\\nmax-output: 10000 characters\\n"
                      "memory: 2 GiB"))},
        {CALL("1", "configure-limits", "{\"timeout\":1.5}"),
         OK("1", TEXT("timeout: 1.5 s"))},
        {CALL("1", "configure_limits",
              "{\"max_output\":\"2000\",\"timeout\":0}"),
         OK("1", TEXT("timeout: none\\nmax-output: 2000 characters"))},
        {CALL("1", "configure-limits", "{\"timeout\":86401}"),
         OK("1", PROBLEM("argument timeout must be a number from 0 to 86400, "
                         "not 86401"))},
        {CALL("1", "configure-limits", "{\"timeout\":-1}"),
         OK("1", PROBLEM("argument timeout must be a number …, not -1"))},
        {CALL("1", "configure-limits", "{\"timeout\":5,\"max-output\":999}"),
         OK("1", PROBLEM("argument max-output must be an integer from 1000 to "
                         "1000000, not 999"))},
        {CALL("1", "configure-limits", "{\"memory\":\"63M\"}"),
         OK("1", PROBLEM("argument memory must be a size from 64 MiB to 1 TiB, "
                         "such as \\\"2G\\\", not \\\"63M\\\""))},
        {CALL("1", "configure-limits", "{\"memory\":1}"),
         OK("1", PROBLEM("argument memory must be …, not 1"))},
        {CALL("1", "configure-limits", "{}"), // no bad value has counted
         OK("1", TEXT("timeout: none\\nmax-output: 2000 characters\\n"
                      "memory: 2 GiB"))},
    };
    (void)state;
    client_restart((struct core_config){.memory = 2ull << 30});
    client_initialize("2025-11-25");
    client_play(cases, COUNT(cases));
    client_expect_no_frame();
    client_send(CALL("2", "evaluate-lisp", "{\"code\":\"1\"}"));
    client_send(CALL("3", "load-system", "{\"system\":\"s\"}"));
    client_send(CALL("4", "configure-limits", "{\"timeout\":900}"));
    client_expect(OK("4", TEXT("timeout: 900 s")));
    client_send(CALL("5", "load-system", "{\"system\":\"s\"}"));
    client_expect_frame(WIRE_CALL, "main evaluate 2000 0 code 1");
    client_expect_frame(WIRE_CALL, "main load-system 2000 0 system s");
    client_expect_frame(WIRE_CALL, "main load-system 2000 900000 system s");
}

/* The supervisor keeps the limit of memory; one answer has all limits. */
static void tool_calls_configure_memory(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(
        CALL("1", "configure-limits", "{\"memory\":\"512M\",\"timeout\":60}"));
    client_expect("");
    uint64_t id = client_expect_frame(
        WIRE_CALL, "main configure-limits 10000 60000 memory 536870912 text "
                   "timeout: 60 s\nmemory: 512 MiB");
    client_reply(id, 0, STR("timeout: 60 s\nmemory: 512 MiB"));
    client_expect(OK("1", TEXT("timeout: 60 s\\nmemory: 512 MiB")));
    client_send(CALL("2", "configure-limits",
                     "{\"session\":\"b\",\"memory\":67108864}"));
    client_expect_frame(WIRE_CALL, "b configure-limits 10000 60000 memory "
                                   "67108864 text memory: 64 MiB");
    client_send(CALL("2", "configure-limits", "{\"session\":\"b\"}"));
    client_expect(OK("2", TEXT("timeout: 60 s\\nmax-output: 10000 characters\\n"
                               "memory: 64 MiB")));
}

static void tool_calls_check_arguments_of_sessions(void **state)
{
    static const struct client_exchange cases[] = {
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\",\"session\":\"a b\"}"),
         OK("1", PROBLEM("argument session must be a name of 1 to 64 letters, "
                         "digits, \\\".\\\", \\\"_\\\" and \\\"-\\\", not "
                         "\\\"a b\\\""))},
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\",\"timeout\":1e6}"),
         OK("1", PROBLEM("argument timeout must be a number from 0 to 86400, "
                         "not 1e6"))},
        {CALL("1", "restore-session", "{\"name\":\"a\",\"back\":1}"),
         OK("1", PROBLEM("arguments name and back exclude each other"))},
        {CALL("1", "restore-session", "{\"back\":-1}"),
         OK("1", PROBLEM("argument back must be an integer from 0 to "
                         "2147483647, not -1"))},
        {CALL("1", "checkpoint-session", "{}"),
         OK("1", PROBLEM("missing required argument: name"))},
        {CALL("1", "checkpoint-session", "{\"name\":\"\"}"),
         OK("1", PROBLEM("argument name must be a name of …"))},
    };
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_play(cases, COUNT(cases));
    client_expect_no_frame();
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tool_calls_run),
        TEST(tool_calls_have_time_to_load),
        TEST(tool_calls_run_for_sessions),
        TEST(tool_calls_configure_limits),
        TEST(tool_calls_configure_memory),
        TEST(tool_calls_check_arguments_of_sessions),
    };
    return RUN_TESTS("tool_calls", tests);
}
