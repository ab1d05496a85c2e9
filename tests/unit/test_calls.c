/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of calls.c and of the tools, through a session: what goes to the image,
   what comes back to the client, and when. */
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

static void calls_run_tools(void **state)
{
    static const struct tool_case cases[] = {
        {CALL("7", "evaluate-lisp",
              "{\"code\":\"(+ 1\\n2)\",\"package\":\"P\","
              "\"capture-time\":true}"),
         WIRE_CALL,
         "main evaluate 10000 30000 code (+ 1\n2) package P capture-time true",
         "cautious"},
        {CALL("7", "eval_form",
              "{\"unknown\":1,\"capture_time\":false,\"code\":\"\"}"),
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
        {CALL("7", "read-output", "{\"id\":\"3\"}"), WIRE_READ, "3 0 10000",
         "safe"},
        {CALL("7", "read-output", "{\"id\":3,\"offset\":5,\"limit\":20.0}"),
         WIRE_READ, "3 5 20", "safe"},
    };
    (void)state;
    run_tools(cases, COUNT(cases));
    assert_memory(client_matches(
        buf_view(&client.log),
        "…info: mcp: evaluate-lisp: 1 unknown arguments ignored, the first "
        "is unknown\n…"));
}

static void calls_run_tools_for_sessions(void **state)
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

static void calls_configure_limits(void **state)
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
        {CALL("1", "configure-limits", "{}"), // nothing bad has counted
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

/* The supervisor keeps the limit of memory; there is one answer for all. */
static void calls_configure_memory(void **state)
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

static void calls_check_arguments_of_sessions(void **state)
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
        {CALL("1", "restore-session", "{\"back\":0}"),
         OK("1", PROBLEM("argument back must be an integer from 1 to "
                         "2147483647, not 0"))},
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

static void calls_are_answered_in_the_order_of_replies(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL("\"a\"", "evaluate-lisp", "{\"code\":\"1\"}"));
    client_send(CALL("\"b\"", "evaluate-lisp", "{\"code\":\"2\"}"));
    uint64_t a =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 1");
    uint64_t b =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 2");
    client_send(REQUEST("3", "ping"));
    client_expect(OK("3", "{}"));
    client_reply(b, 0, STR("=> 2"));
    client_expect(OK("\"b\"", "…=> 2…"));
    client_reply(a, 0, STR("=> 1"));
    client_expect(OK("\"a\"", "…=> 1…"));
    client_reply(a, 0, STR("again"));
    client_expect("");
}

static void calls_are_cancelled_by_request_id(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL("5", "evaluate-lisp", "{\"code\":\"1\"}"));
    client_send(CALL("\"5\"", "evaluate-lisp", "{\"code\":\"2\"}"));
    client_send(CALL("5.0", "evaluate-lisp", "{\"code\":\"3\"}"));
    uint64_t one =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 1");
    uint64_t two =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 2");
    uint64_t three =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 3");
    client_send(CANCEL("55"));
    client_send(CANCEL("50e-1"));
    client_expect_no_frame();

    client_send(CANCEL("5"));
    assert_int_equal(client_expect_frame(WIRE_STOP, ""), one);
    client_send(CANCEL("5")); // nothing more to stop
    client_expect_no_frame();
    client_expect("");
    client_reply(one, WIRE_ERROR, STR("stopped"));
    client_expect("");
    client_reply(two, 0, STR("=> 2"));
    client_expect(OK("\"5\"", "…=> 2…"));
    client_reply(three, 0, STR("=> 3"));
    client_expect(OK("5.0", "…=> 3…"));
    client_send(CANCEL("5.0")); // late, as some clients do for every call
    client_expect_no_frame();
    assert_memory(client_matches(buf_view(&client.log),
                                 "…info: mcp: evaluate-lisp is cancelled\n…"));
}

/* The next frame is the call of CALL_WITH_TOKEN; whether its output is wanted
   is WANTED. Returns its id. */
static uint64_t take_call(bool wanted)
{
    struct str body;
    struct wire_head head = client_frame(&body);
    assert_int_equal(head.kind, WIRE_CALL);
    assert_int_equal(head.flags, wanted ? WIRE_PROGRESS : 0);
    return head.id;
}

static void calls_report_progress(void **state)
{
    static const struct {
        const char *version;
        bool message;
    } cases[] = {
        {"2024-11-05", false},
        {"2025-03-26", true},
        {"2025-06-18", true},
        {"2025-11-25", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        client_restart((struct core_config){.tools = NULL});
        client_initialize(cases[i].version);
        client_send(CALL_WITH_TOKEN("1", "\"t\\u00e4\""));
        client_send(CALL_WITH_TOKEN("2", "7"));
        uint64_t one = take_call(true);
        uint64_t two = take_call(true);
        client_output(one, STR("a\n\xff"));
        client_expect(
            cases[i].message
                ? PROGRESS("\"t\\u00e4\"", "1,\"message\":\"a\\n\xef\xbf\xbd\"")
                : PROGRESS("\"t\\u00e4\"", "1"));
        client_output(two, STR("b"));
        client_expect(cases[i].message ? PROGRESS("7", "1,\"message\":\"b\"")
                                       : PROGRESS("7", "1"));
        client_output(one, STR("c"));
        client_expect(cases[i].message
                          ? PROGRESS("\"t\\u00e4\"", "2,\"message\":\"c\"")
                          : PROGRESS("\"t\\u00e4\"", "2"));
        client_reply(one, 0, STR("=> 1"));
        client_expect(OK("1", "{\"content\":…}"));
        client_output(one, STR("late"));
        client_expect("");
        client_send(CANCEL("2"));
        client_output(two, STR("unwanted"));
        client_expect("");
    }
    client_send(MODERN_REQUEST("3", "tools/call",
                               "\"name\":\"evaluate-lisp\",\"arguments\":"
                               "{\"code\":\"1\"},"));
    assert_int_equal(client_expect_frame(WIRE_STOP, ""), 2);
    client_output(take_call(false), STR("without a token"));
    client_expect("");
    client_send("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":"
                "{\"code\":\"1\"},\"_meta\":{\"progressToken\":-1,"
                "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    client_output(take_call(true), STR("m"));
    client_expect(PROGRESS("-1", "1,\"message\":\"m\""));
}

static void calls_take_strings_and_integers_as_tokens(void **state)
{
    static const struct {
        const char *call;
        bool taken;
    } cases[] = {
        {CALL_WITH_TOKEN("1", "\"\""), true},
        {CALL_WITH_TOKEN("1", "0"), true},
        {CALL_WITH_TOKEN("1", "100000000000000000000"), true},
        {CALL_WITH_TOKEN("1", "7.0"), true},
        {CALL_WITH_TOKEN("1", "7.5"), false},
        {CALL_WITH_TOKEN("1", "1e999"), false},
        {CALL_WITH_TOKEN("1", "null"), false},
        {CALL_WITH_TOKEN("1", "true"), false},
        {CALL_WITH_TOKEN("1", "[1]"), false},
        {CALL_WITH_TOKEN("1", "{}"), false},
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\"}"), false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
         "{\"name\":\"evaluate-lisp\",\"arguments\":{\"code\":\"1\"},"
         "\"_meta\":[]}}",
         false},
    };
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    for (size_t i = 0; i < COUNT(cases); i++) {
        client_send(cases[i].call);
        uint64_t id = take_call(cases[i].taken);
        client_output(id, STR("x"));
        client_expect(cases[i].taken ? PROGRESS("…", "1,\"message\":\"x\"")
                                     : "");
        client_reply(id, 0, STR("=> 1"));
        client_expect(OK("1", "…"));
    }
}

static void calls_bound_progress(void **state)
{
    (void)state;
    static char text[LIMIT_PROGRESS + 100];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '!';
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL_WITH_TOKEN("1", "7"));
    uint64_t id = take_call(true);
    const struct buf *output = core_output(client.core);
    while (output->n < LIMIT_OUTPUT_BACKLOG) {
        size_t before = output->n;
        client_output(id, str_make(text, sizeof text));
        assert_memory(output->n > before);
        assert_in_range(output->n - before, LIMIT_PROGRESS,
                        LIMIT_PROGRESS + 200);
        assert_true(output->p[output->n - 5] == '!');
    }
    size_t full = output->n;
    client_output(id, STR("more than the client reads"));
    assert_int_equal(output->n, full);
    buf_consume(core_output(client.core), full);
    client_output(id, STR("again"));
    client_expect(PROGRESS("7", "…\"again\""));
}

/* A notification is never in the array of a batch's answers. */
static void calls_report_progress_outside_of_batches(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-03-26");
    client_send("[" CALL_WITH_TOKEN("1", "\"a\"") "," //
                CALL_WITH_TOKEN("2", "\"b\"") "]");
    uint64_t one = take_call(true);
    uint64_t two = take_call(true);
    client_output(two, STR("x"));
    client_expect(PROGRESS("\"b\"", "1,\"message\":\"x\""));
    client_reply(one, 0, STR("=> 1"));
    client_expect("");
    client_output(one, STR("late"));
    client_expect("");
    client_output(two, STR("y"));
    client_expect(PROGRESS("\"b\"", "2,\"message\":\"y\""));
    client_reply(two, 0, STR("=> 2"));
    client_expect("[" OK("1", "…") "," OK("2", "…") "]");
}

static void calls_of_a_batch_are_answered_together(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-03-26");
    client_send("[" CALL("1", "evaluate-lisp", "{\"code\":\"1\"}") "," //
                CALL("2", "evaluate-lisp", "{\"code\":\"2\"}") ","     //
                CALL("3", "evaluate-lisp", "{\"code\":\"3\"}") ","     //
                REQUEST("4", "ping") "]");
    client_expect("");
    uint64_t one =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 1");
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 2");
    uint64_t three =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 3");
    client_reply(three, 0, STR("=> 3"));
    client_reply(one, 0, STR("=> 1"));
    client_expect("");
    client_send(CANCEL("2")); // the last one missing
    client_expect("[" OK("4", "{}") "," OK("3", "…=> 3…") "," //
                  OK("1", "…=> 1…") "]");

    client_send("[" CALL("5", "evaluate-lisp", "{\"code\":\"5\"}") "]");
    client_send(CANCEL("5"));
    client_expect(""); // a batch of cancelled members is not answered
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_run_tools),
        TEST(calls_run_tools_for_sessions),
        TEST(calls_configure_limits),
        TEST(calls_configure_memory),
        TEST(calls_check_arguments_of_sessions),
        TEST(calls_are_answered_in_the_order_of_replies),
        TEST(calls_are_cancelled_by_request_id),
        TEST(calls_report_progress),
        TEST(calls_take_strings_and_integers_as_tokens),
        TEST(calls_bound_progress),
        TEST(calls_report_progress_outside_of_batches),
        TEST(calls_of_a_batch_are_answered_together),
    };
    return RUN_TESTS("calls", tests);
}
