/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of approvals through a whole session: who is asked in which version,
   and what the host's time and end do. A rule makes evaluate-lisp ask. */
#include <stdio.h>

#include "base/limits.h"
#include "gate/policy.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"
#include "tools/registry.h"

static struct policy policy;

static void restart(void)
{
    policy_release(&policy);
    const struct tool *tool =
        registry_find(REGISTRY_ALL_SETS, STR("evaluate-lisp"));
    assert_ok(policy_add(&policy, tool, POLICY_ASK));
    client_restart((struct core_config){
        .policy = &policy, .key = "a key", .approval_ms = 60000});
}

static int tear_down(void **state)
{
    int status = client_end(state);
    policy_release(&policy);
    return status;
}

/* Opens with these capabilities and sends the call 1. */
static void call_as(const char *version, const char *capabilities)
{
    char line[500];

    if (strcmp(version, "2026-07-28") != 0) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                 "\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                 "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}",
                 version, capabilities);
        client_send(line);
        client_expect("{…\"id\":0,\"result\":…}");
        client_send(CALL("1", "evaluate-lisp", "{\"code\":\"(f)\"}"));
        return;
    }
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
             "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":{\"code\":"
             "\"(f)\"},\"_meta\":{"
             "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
             "\"io.modelcontextprotocol/clientCapabilities\":%s}}}",
             capabilities);
    client_send(line);
}

static void approvals_ask_those_who_can(void **state)
{
    static const struct {
        const char *capabilities;
        bool forms;
    } cases[] = {
        {"{\"elicitation\":{}}", true},
        {"{\"elicitation\":{\"form\":{}}}", true},
        {"{\"elicitation\":{\"form\":{},\"url\":{}}}", true},
        {"{\"elicitation\":{\"applyDefaults\":true}}", true},
        {"{\"elicitation\":{\"url\":{}}}", false},
        {"{\"elicitation\":null}", false},
        {"{\"elicitation\":true}", false},
        {"{\"sampling\":{},\"roots\":{}}", false},
        {"{}", false},
    };
    static const char *const versions[] = {
        "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t v = 0; v < COUNT(versions); v++) {
            restart();
            call_as(versions[v], cases[i].capabilities);
            if (!cases[i].forms || v < 2)
                client_expect("{…approval…\"isError\":true…}");
            else if (v == 4)
                client_expect("{…\"resultType\":\"input_required\"…}");
            else
                client_expect("{…\"method\":\"elicitation/create\"…}");
            client_expect_no_frame();
        }
}

#define ACCEPT "{\"action\":\"accept\",\"content\":{\"decision\":\"approve\"}}"

static void approvals_let_others_pass(void **state)
{
    static const char yes[] = "{\"jsonrpc\":\"2.0\",\"id\":\"ecl-mcp-1\","
                              "\"result\":" ACCEPT "}";
    (void)state;
    restart();
    call_as("2025-11-25", "{\"elicitation\":{}}");
    client_expect("{…\"method\":\"elicitation/create\"…}");
    client_send(CALL("2", "list-definitions", "{}"));
    uint64_t list = client_expect_frame(WIRE_CALL, "main list-definitions "
                                                   "10000 30000");
    client_reply(list, 0, STR("none"));
    client_expect(OK("2", "…none…"));
    client_send(yes);
    uint64_t evaluate =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code (f)");
    client_reply(evaluate, 0, STR("=> 1"));
    client_expect(OK("1", "…=> 1…\"ecl-mcp/approved\":true…"));
    // what answers nothing is ignored
    const char *const others[] = {
        yes,
        "{\"jsonrpc\":\"2.0\",\"id\":\"ecl-mcp-7\",\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"result\":{}}",
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        client_send(others[i]);
        client_expect("");
        client_expect_no_frame();
    }
}

static void approvals_end_with_the_time(void **state)
{
    (void)state;
    client.now_ms = 5000;
    restart();
    assert_int_equal(core_deadline(client.core, 5000), -1);
    call_as("2025-11-25", "{\"elicitation\":{}}");
    client_expect("{…\"method\":\"elicitation/create\"…}");
    assert_int_equal(core_deadline(client.core, 5000), 65000);
    core_tick(client.core, 64999);
    client_expect("");
    core_tick(client.core, 65000);
    client_expect("{…notifications/cancelled…}\n{…\"id\":1,…within 60 s…}");
    assert_int_equal(core_deadline(client.core, 65000), -1);
    client_expect_no_frame();
}

static void approvals_end_with_the_input(void **state)
{
    (void)state;
    restart();
    call_as("2025-11-25", "{\"elicitation\":{}}");
    client_expect("{…\"method\":\"elicitation/create\"…}");
    core_finish(client.core, 2000, 0);
    client_expect("{…\"id\":1,…no approval: the client has closed…}");
    assert_true(core_is_idle(client.core));
}

#define AGAIN(more)                                                            \
    MODERN_REQUEST("2", "tools/call",                                          \
                   "\"name\":\"evaluate-lisp\",\"arguments\":{\"code\":"       \
                   "\"(f)\"}," more ",")

static void approvals_check_what_comes_back(void **state)
{
    static const struct client_exchange cases[] = {
        {AGAIN("\"requestState\":\"x\""),
         FAIL("2", "-32602",
              "\"Invalid params: this server did not issue the "
              "requestState\",…")},
        {AGAIN("\"requestState\":\"\""),
         FAIL("2", "-32602", "…did not issue the requestState\",…")},
        {AGAIN("\"requestState\":17"),
         FAIL("2", "-32602",
              "\"Invalid params: field requestState must be a string\",…")},
        {AGAIN("\"requestState\":null"), FAIL("2", "-32602", "…")},
        {AGAIN("\"inputResponses\":null"), OK("2", "…approval…")},
        {AGAIN("\"inputResponses\":{\"approval\":" ACCEPT "}"),
         OK("2", "…approval…")},
    };
    (void)state;
    restart();
    client_play(cases, COUNT(cases));
    client_expect_no_frame();
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(approvals_ask_those_who_can),
        TEST(approvals_let_others_pass),
        TEST(approvals_end_with_the_time),
        TEST(approvals_end_with_the_input),
        TEST(approvals_check_what_comes_back),
    };
    return RUN_TESTS("approvals", tests);
}
