/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of ask.c: who is asked in which version, and for how long. */
#include <stdio.h>

#include "base/limits.h"
#include "gate/policy.h"
#include "support/asker.h"
#include "support/check.h"
#include "support/client.h"
#include "support/frames.h"
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

/* Opens a connection with CAPABILITIES and sends call 1. */
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

static void ask_goes_to_clients_that_can(void **state)
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

static void ask_lets_others_pass(void **state)
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
    // a response without a request is ignored
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

static void ask_ends_with_the_time(void **state)
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

/* The default of --approval-timeout. */
static void ask_leaves_time_to_think(void **state)
{
    (void)state;
    restart();
    client_restart((struct core_config){.policy = &policy, .key = "a key"});
    call_as("2025-11-25", "{\"elicitation\":{}}");
    client_expect("{…\"method\":\"elicitation/create\"…}");
    assert_int_equal(core_deadline(client.core, 0), LIMIT_APPROVAL_MS);
    core_tick(client.core, LIMIT_APPROVAL_MS - 1);
    client_expect("");
    core_tick(client.core, LIMIT_APPROVAL_MS);
    client_expect("{…notifications/cancelled…}\n{…\"id\":1,…within 300 s…}");
    client_expect_no_frame();
}

static void ask_ends_with_the_connection(void **state)
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

static void ask_checks_what_comes_back(void **state)
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

/* --- With tools of the test --------------------------------------------- */

static void ask_needs_somebody_to_ask(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_11_25, .cannot_ask = true});
    expect(RESULT("1", "…approval…--allow write…", "true", "false"));
    call("2", &review_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_11_25, .cannot_ask = true});
    expect(RESULT("2", "REFUSED\\n…approval…", "true", "false"));
    assert_int_equal(world.runs + world.prepared, 0);
}

static void ask_knows_versions(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_06_18});
    expect(QUESTION("1",
                    "\"message\":\"…\",\"requestedSchema\":{\"type\":"
                    "\"object\",\"properties\":{" DECISION
                    ",\"reason\":{\"type\":\"string\",\"title\":\"Reason\","
                    "\"description\":\"…\"},\"arguments\":{\"type\":"
                    "\"string\",\"title\":\"Arguments (JSON)\","
                    "\"description\":\"…\"},\"remember\":{…\"default\":"
                    "false}},\"required\":[\"decision\"]}"));
}

static void ask_ends_in_time(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_11_25, .token = "\"t\""});
    expect("{…}\n");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms),
                     1000 + LIMIT_APPROVAL_PROGRESS_MS);
    tick(LIMIT_APPROVAL_PROGRESS_MS - 1);
    expect("");
    tick(1);
    expect(
        PROGRESS("\"t\"", "1,\"message\":\"waiting for the user, 10 s\"") "\n");
    tick(1);
    expect("");
    tick(LIMIT_APPROVAL_PROGRESS_MS);
    expect(
        PROGRESS("\"t\"", "2,\"message\":\"waiting for the user, 20 s\"") "\n");
    call("2", &write_tool, "{\"text\":\"y\"}", v2025);
    expect("{…}\n");
    tick(60000 - 1 - 2 * LIMIT_APPROVAL_PROGRESS_MS);
    expect(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
        "\"params\":{\"requestId\":\"ecl-mcp-1\",\"reason\":\"the user did not "
        "answer within 60 s\"}}\n" RESULT(
            "1",
            "write was not run: there is no approval: the user did not "
            "answer within 60 s. Nothing was changed.",
            "true", "false"));
    expect_text(&at.lines,
                "gate: write (dangerous) refused by no decision, 60000 ms\n");
    answer_with("\"ecl-mcp-1\"", APPROVE); // too late
    expect("");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), 61000 + 20001);
    answer_with("\"ecl-mcp-2\"", APPROVE);
    expect(RESULT("2", "wrote y", "false", "true"));
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), -1);
    assert_int_equal(world.runs, 1);
}

static void ask_is_cancelled(void **state)
{
    (void)state;
    call("1", &review_tool, "{\"text\":\"x\"}", v2025);
    call("2", &work_tool, "{}", v2025);
    expect("{…}\n");
    cancel("3");
    expect("");
    cancel("1");
    expect("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
           "\"params\":{\"requestId\":\"ecl-mcp-1\",\"reason\":\"the call was "
           "cancelled\"}}\n");
    answer_with("\"ecl-mcp-1\"", APPROVE);
    expect("");
    assert_int_equal(calls_waiting(&at.calls), 1);
    cancel("2");
    expect("");
    assert_int_equal(calls_waiting(&at.calls), 0);
    assert_int_equal(world.runs, 0);
    expect_text(&at.events, "before work {}\nerror review {\"text\":\"x\"}\n"
                            "error work {}\n");
}

static void ask_ends_with_the_input(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}", v2025);
    call("2", &write_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n{…}\n");
    finish();
    expect(RESULT("2", "…no approval: the client has closed…", "true", "false")
               RESULT("1", "…no approval: the client has closed…", "true",
                      "false"));
    assert_int_equal(calls_waiting(&at.calls), 0);
    assert_int_equal(world.runs, 0);
}

static void ask_is_limited(void **state)
{
    char id[40];
    static char text[LIMIT_QUESTION + 100];
    (void)state;
    for (int i = 0; i < LIMIT_APPROVALS; i++) {
        snprintf(id, sizeof id, "%d", i);
        call(id, &write_tool, "{\"text\":\"x\"}", v2025);
    }
    expect("{…}\n");
    call("64", &write_tool, "{\"text\":\"x\"}", v2025);
    expect(RESULT("64",
                  "…no approval: …the limit is 64 calls and 67108864 bytes…",
                  "true", "false"));
    answer_with("\"ecl-mcp-64\"", APPROVE);
    expect(RESULT("63", "wrote x", "false", "true"));
    memset(text, 'x', sizeof text);
    memcpy(text, STR("{\"text\":\"").p, 9);
    memcpy(text + sizeof text - 3, "\"}", 3);
    call("65", &write_tool, text, v2025);
    expect(RESULT("65", "…would have to review more than 1048576 bytes…",
                  "true", "false"));
    call("66", &write_tool, "{\"text\":\"x\"}", v2025);
    expect("{…elicitation…}\n");
}

static void ask_for_handlers(void **state)
{
    (void)state;
    call("1", &interview_tool, "{}", v2025);
    expect(QUESTION("1", "\"mode\":\"form\",\"message\":\"What is your name?\","
                         "\"requestedSchema\":{\"type\":\"object\","
                         "\"properties\":{}}"));
    answer_with("\"ecl-mcp-1\"", FORM("{\"name\":\"N\"}"));
    expect(QUESTION("2", "\"mode\":\"form\",\"message\":\"And the number?\","
                         "\"requestedSchema\":{\"type\":\"object\","
                         "\"properties\":{}}"));
    answer_with("\"ecl-mcp-2\"", FORM("{\"n\":3}"));
    expect("{…\"text\":\"{\\\"action\\\":\\\"accept\\\",\\\"content\\\":{"
           "\\\"n\\\":3}}\"…}\n");
    expect_text(&at.events, "before interview {}\nafter interview {}\n");
    call("2", &interview_tool, "{}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-3\"", "\"result\":{\"action\":\"decline\"}");
    expect("{…decline…}\n");
    call("3", &interview_tool, "{}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-4\"", "\"error\":{}");
    expect(
        "{…interview got no answer to its question: the client could not…}\n");
    call("4", &interview_tool, "{}",
         (struct manner){.version = MCP_2025_11_25, .cannot_ask = true});
    expect("{…interview has a question, but this client cannot…}\n");
    call("5", &interview_tool, "{}",
         (struct manner){.version = MCP_2026_07_28, .cannot_ask = true});
    expect("{…\"code\":-32021,\"message\":\"Missing required client "
           "capability: interview has a question, but this client cannot…\","
           "\"data\":{\"requiredCapabilities\":{\"elicitation\":{}}}}}\n");
}

/* A handler that asks twice counts once, even at the limit of waiting calls. */
static void ask_counts_a_call_once(void **state)
{
    char id[40];
    (void)state;
    call("0", &interview_tool, "{}", v2025);
    for (int i = 1; i < LIMIT_APPROVALS; i++) {
        snprintf(id, sizeof id, "%d", i);
        call(id, &write_tool, "{\"text\":\"x\"}", v2025);
    }
    expect("{…}\n");
    answer_with("\"ecl-mcp-1\"", FORM("{\"name\":\"N\"}"));
    expect(QUESTION("65", "…And the number?…"));
    assert_int_equal(at.calls.pending.count[PENDING_ASKING_CLIENT],
                     LIMIT_APPROVALS);
    answer_with("\"ecl-mcp-1\"", FORM("{\"n\":3}")); // already answered
    expect("");
    answer_with("\"ecl-mcp-65\"", FORM("{\"n\":3}"));
    expect("{…\"id\":0,…}\n");
}

static void ask_leads_calls_from_state_to_state(void **state)
{
    struct str body;
    struct wire_head head;
    (void)state;
    call("\"a\"", &write_tool, "{\"text\":\"x\"}", v2025);
    answer_with("\"ecl-mcp-1\"", APPROVE);
    expect_text(&at.states, "\"a\": new -> asking-client\n"
                            "\"a\": asking-client -> over\n");
    call("2", &image_tool, "{\"text\":\"x\"}", v2025);
    answer_with("\"ecl-mcp-2\"", APPROVE);
    expect_text(&at.states, "2: new -> asking-client\n"
                            "2: asking-client -> in-image\n");
    frames_skip_hello(&at.image.out);
    assert_memory(wire_frame(buf_view(&at.image.out), &head, &body) == ST_OK);
    cancel("2"); // the image will still reply
    expect_text(&at.states, "");
    reply(head.id, STR("=> 1"));
    expect_text(&at.states, "2: in-image -> over\n");
    call("3", &work_tool, "{}", v2025); // one line for all its steps
    tick(1);
    tick(1);
    tick(1);
    expect_text(&at.states, "3: new -> working\n3: working -> over\n");
    call("4", &interview_tool, "{}", v2025); // and for both questions
    answer_with("\"ecl-mcp-3\"", FORM("{\"name\":\"N\"}"));
    answer_with("\"ecl-mcp-4\"", FORM("{\"n\":3}"));
    expect_text(&at.states, "4: new -> asking-client\n"
                            "4: asking-client -> over\n");
    call("5", &write_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2026_07_28});
    call("6", &write_tool, "{\"text\":\"x\"}", v2025);
    tick(60000);
    expect_text(&at.states, "5: new -> over\n"
                            "6: new -> asking-client\n"
                            "6: asking-client -> over\n");
}

/* When the editor's human is absent, the client's user approves a tool of the
   editor. The editor may be back when the call then runs. */
static void ask_leads_from_the_client_into_the_editor(void **state)
{
    (void)state;
    call("1", &editor_tool, "{\"text\":\"x\"}", v2025);
    editor_open(&at.editor);
    answer_with("\"ecl-mcp-1\"", APPROVE);
    expect_text(&at.states, "1: new -> asking-client\n"
                            "1: asking-client -> in-editor\n");
    call("2", &editor_tool, "{\"text\":\"x\"}", v2025);
    tick(LIMIT_EDITOR_RECEIVE_MS);
    editor_close(&at.editor);
    answer_with("\"ecl-mcp-2\"", APPROVE);
    expect("…elicitation/create…the editor did not answer within 2 s…"
           "edit was not run: the editor is not connected, or does not read.…");
    expect_text(&at.states, "2: new -> asking-editor\n"
                            "2: asking-editor -> asking-client\n"
                            "1: in-editor -> over\n"
                            "2: asking-client -> over\n");
}

#define CLIENT_TEST(name)                                                      \
    cmocka_unit_test_setup_teardown(name, client_begin, tear_down)
#define TEST(name) cmocka_unit_test_setup_teardown(name, asker_begin, asker_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLIENT_TEST(ask_goes_to_clients_that_can),
        CLIENT_TEST(ask_lets_others_pass),
        CLIENT_TEST(ask_ends_with_the_time),
        CLIENT_TEST(ask_leaves_time_to_think),
        CLIENT_TEST(ask_ends_with_the_connection),
        CLIENT_TEST(ask_checks_what_comes_back),
        TEST(ask_needs_somebody_to_ask),
        TEST(ask_knows_versions),
        TEST(ask_ends_in_time),
        TEST(ask_is_cancelled),
        TEST(ask_ends_with_the_input),
        TEST(ask_is_limited),
        TEST(ask_for_handlers),
        TEST(ask_counts_a_call_once),
        TEST(ask_leads_calls_from_state_to_state),
        TEST(ask_leads_from_the_client_into_the_editor),
    };
    return RUN_TESTS("ask", tests);
}
