/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of calls that wait for a human or work in steps: gate.c, approval.c and
   calls.c together. */
#include <stdio.h>

#include "base/limits.h"
#include "support/asker.h"
#include "support/frames.h"

static void asking_runs_what_is_approved(void **state)
{
    (void)state;
    call("7", &write_tool, "{\"text\": \"a\\nb\"}", v2025);
    expect(QUESTION(
        "1", "\"mode\":\"form\",\"message\":\"The agent asks to run write (T)."
             "\\n\\ntext:\\n    a\\n    b\",\"requestedSchema\":"
             "{\"type\":\"object\",\"properties\":{" DECISION
             ",\"reason\":{…},\"arguments\":{…,\"default\":\"{"
             "\\\"text\\\": \\\"a\\\\nb\\\"}\"},\"remember\":{…}},"
             "\"required\":[\"decision\"]}"));
    assert_int_equal(world.runs, 0);
    at.now_ms += 250;
    answer_with("\"ecl-mcp-1\"", APPROVE);
    expect("{…\"ecl-mcp/executionTimeMs\":0,…\"ecl-mcp/approved\":true}}}\n");
    assert_string_equal(world.written, "a\nb");
    assert_int_equal(world.runs, 1);
    assert_int_equal(calls_waiting(&at.calls), 0);
    expect_text(&at.lines,
                "gate: write (dangerous) approved by human, 250 ms\n");
    expect_text(&at.events, "before write {\"text\": \"a\\nb\"}\n"
                            "after write {\"text\": \"a\\nb\"}\n");
    answer_with("\"ecl-mcp-1\"", APPROVE); // a second answer
    expect("");
    assert_int_equal(world.runs, 1);
}

/* What is no clear approval is none. */
static void asking_refuses_everything_else(void **state)
{
    static const struct {
        const char *answer;
        const char *text;
        const char *decision;
    } cases[] = {
        {FORM("{\"decision\":\"deny\",\"reason\":\" not now \"}"),
         "User denied tool execution: not now", "denied by human"},
        {FORM("{\"decision\":\"deny\"}"), "User denied tool execution",
         "denied by human"},
        {"\"result\":{\"action\":\"decline\"}", "User denied tool execution",
         "denied by human"},
        {"\"result\":{\"action\":\"cancel\"}",
         "write was not run: there is no approval: the user dismissed the "
         "request. Nothing was changed.",
         "refused by no decision"},
        {FORM("{}"), "…the form has no decision…", "refused by no decision"},
        {FORM("{\"decision\":true}"), "…no decision…",
         "refused by no decision"},
        {FORM("{\"decision\":\"Approve\"}"), "…no decision…",
         "refused by no decision"},
        {FORM("[\"approve\"]"), "…no decision…", "refused by no decision"},
        {"\"result\":{\"action\":\"accept\"}", "…no decision…",
         "refused by no decision"},
        {"\"result\":{\"content\":{\"decision\":\"approve\"}}",
         "…makes no sense…", "refused by no decision"},
        {"\"result\":{\"action\":\"ACCEPT\",\"content\":{\"decision\":"
         "\"approve\"}}",
         "…makes no sense…", "refused by no decision"},
        {"\"result\":null", "…makes no sense…", "refused by no decision"},
        {"\"result\":\"approve\"", "…makes no sense…",
         "refused by no decision"},
        {"\"error\":{\"code\":-32601,\"message\":\"no \\u0007 forms\"}",
         "…the client could not ask its user (no \\u0007 forms)…",
         "refused by no decision"},
        {"\"error\":17", "…the client could not ask its user…",
         "refused by no decision"},
        {FORM("{\"decision\":\"approve\",\"arguments\":\"{\"}"),
         "…with other arguments, but they are not JSON: …",
         "refused by human, with bad arguments"},
        {FORM("{\"decision\":\"approve\",\"arguments\":\"7\"}"),
         "…they are not a JSON object…",
         "refused by human, with bad arguments"},
        {FORM("{\"decision\":\"approve\",\"arguments\":\"{\\\"n\\\":1}\"}"),
         "…missing required argument: text…",
         "refused by human, with bad arguments"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char id[40];
        char text[400];
        snprintf(id, sizeof id, "\"ecl-mcp-%zu\"", i + 1);
        call("1", &write_tool, "{\"text\":\"x\"}", v2025);
        expect("{…\"method\":\"elicitation/create\"…}\n");
        answer_with(id, cases[i].answer);
        snprintf(text, sizeof text, RESULT("1", "%s", "true", "false"),
                 cases[i].text);
        expect(text);
        snprintf(text, sizeof text, "gate: write (dangerous) %s, 0 ms\n",
                 cases[i].decision);
        expect_text(&at.lines, text);
        expect_text(&at.events, "error write {\"text\":\"x\"}\n");
    }
    assert_int_equal(world.runs, 0);
    assert_int_equal(calls_waiting(&at.calls), 0);
}

static void asking_needs_somebody_to_ask(void **state)
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

static void asking_runs_modified_arguments(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\",\"n\":1}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\": \\\"y\\\"}\"}"));
    expect(RESULT("1",
                  "The user changed the arguments: \\\"text\\\" is "
                  "\\\"y\\\", \\\"n\\\" is left out.\\nwrote y",
                  "false", "true"));
    assert_string_equal(world.written, "y");
    expect_text(&at.lines, "gate: write (dangerous) modified by human, 0 ms\n");
    expect_text(&at.events, "before write {\"text\": \"y\"}\n"
                            "after write {\"text\": \"y\"}\n");
    // the same in other words is no change
    call("2", &write_tool, "{\"text\":\"x\",\"n\":1}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-2\"",
                FORM("{\"decision\":\"approve\",\"arguments\":"
                     "\" { \\\"n\\\": 1, \\\"text\\\": \\\"x\\\" }\"}"));
    expect(RESULT("2", "wrote x", "false", "true"));
    expect_text(&at.lines, "gate: write (dangerous) approved by human, 0 ms\n");
}

static void asking_modifies_calls_to_the_image(void **state)
{
    struct str body;
    struct wire_head head;
    (void)state;
    call("1", &image_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n");
    assert_int_equal(at.image.out.n, 0);
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"y\\\"}\"}"));
    expect("");
    frames_skip_hello(&at.image.out);
    assert_memory(wire_frame(buf_view(&at.image.out), &head, &body) == ST_OK);
    assert_int_equal(head.kind, WIRE_CALL);
    reply(head.id, STR("=> 1"));
    expect(RESULT("1",
                  "The user changed the arguments: \\\"text\\\" is "
                  "\\\"y\\\".\\n=> 1",
                  "false", "true"));
}

static void asking_reviews_hunks(void **state)
{
    static const struct {
        const char *hunks;
        const char *text;
    } cases[] = {
        {"", "old>x 1 1 1"},
        {",\"hunks\":\"\"", "old>x 1 1 1"},
        {",\"hunks\":\" \"", "old>x 1 1 1"},
        {",\"hunks\":7", "old>x 1 1 1"},
        {",\"hunks\":\"1,3\"", "old>x 1 0 1"},
        {",\"hunks\":\" 3 , 2-2 \"", "old>x 0 1 1"},
        {",\"hunks\":\"1-3\"", "old>x 1 1 1"},
        {",\"hunks\":\"4\"", NULL},
        {",\"hunks\":\"0\"", NULL},
        {",\"hunks\":\"1,\"", NULL},
        {",\"hunks\":\"3-1\"", NULL},
        {",\"hunks\":\"all\"", NULL},
        {",\"hunks\":\"1 2\"", NULL},
        {",\"hunks\":\"99999999999999999999999\"", NULL},
        {",\"hunks\":\"-1\"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char id[40];
        char text[300];
        call("1", &review_tool, "{\"text\":\"x\",\"n\":3}", v2025);
        expect("{…\"message\":\"-old\\n+x\\n\",\"requestedSchema\":{"
               "\"type\":\"object\",\"properties\":{" DECISION
               ",\"reason\":{…},\"hunks\":{…},\"remember\":{…}},\"required\":"
               "[\"decision\"]}}}\n");
        snprintf(id, sizeof id, "\"ecl-mcp-%zu\"", i + 1);
        snprintf(text, sizeof text, FORM("{\"decision\":\"approve\"%s}"),
                 cases[i].hunks);
        answer_with(id, text);
        if (cases[i].text != NULL)
            snprintf(text, sizeof text, RESULT("1", "%s", "false", "true"),
                     cases[i].text);
        else
            snprintf(text, sizeof text,
                     RESULT("1", "NO DECISION\\n…numbers from 1 to 3…", "true",
                            "false"));
        expect(text);
    }
}

/* What a review can answer by itself nobody is asked. */
static void asking_prepares_first(void **state)
{
    (void)state;
    call("1", &review_tool, "{\"text\":\"old\"}", v2025);
    expect(RESULT("1", "no change", "false", "false"));
    call("2", &review_tool, "{\"text\":\"../x\"}", v2025);
    expect(RESULT("2", "outside", "true", "false"));
    expect_text(&at.lines,
                "gate: review (dangerous) settled by preparation, 0 ms\n"
                "gate: review (dangerous) settled by preparation, 0 ms\n");
    expect_text(&at.events, "after review {\"text\":\"old\"}\n"
                            "error review {\"text\":\"../x\"}\n");
    call("3", &review_tool, "{\"text\":\"x\"}", v2025);
    expect("{…\"arguments\":{…}}\n");
    answer_with("\"ecl-mcp-1\"", "\"result\":{\"action\":\"decline\"}");
    expect(
        RESULT("3", "REFUSED\\nUser denied tool execution", "true", "false"));
    // other arguments are prepared again
    call("4", &review_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-2\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"y\\\"}\"}"));
    expect(RESULT("4", "The user changed the arguments: …\\nold>y", "false",
                  "true"));
    call("5", &review_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-3\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"../x\\\"}\"}"));
    expect(RESULT("5", "The user changed the arguments: …\\noutside", "true",
                  "false"));
    assert_int_equal(world.runs, 1);
}

static void asking_remembers(void **state)
{
    (void)state;
    call("1", &review_tool, "{\"text\":\"x\",\"n\":2}", v2025);
    call("2", &review_tool, "{\"text\":\"y\"}", v2025);
    expect("{…}\n{…}\n");
    answer_with("\"ecl-mcp-1\"",
                FORM("{\"decision\":\"approve\",\"remember\":true}"));
    expect(RESULT("1", "old>x 1 1", "false", "true"));
    expect_text(&at.lines, "gate: review (dangerous) approved by human, 0 ms\n"
                           "gate: review is granted from now on\n");
    call("3", &review_tool, "{\"text\":\"z\",\"n\":2}", v2025);
    expect(RESULT("3", "old>z 1 1", "false", "true"));
    expect_text(&at.lines, "gate: review (dangerous) allowed by grant, 0 ms\n");
    // who was asked already decides
    answer_with("\"ecl-mcp-2\"", FORM("{\"decision\":\"deny\"}"));
    expect(RESULT("2", "REFUSED…denied…", "true", "false"));
    call("4", &write_tool, "{\"text\":\"x\"}", v2025); // another tool
    expect("{…elicitation…}\n");
    assert_true(grants_has(&at.gate.grants, &review_tool));
    grants_remove(&at.gate.grants, &review_tool);
    grants_remove(&at.gate.grants, &review_tool);
    call("5", &review_tool, "{\"text\":\"z\"}", v2025);
    expect("{…elicitation…}\n");
    // only a clear yes is remembered
    answer_with("\"ecl-mcp-4\"",
                FORM("{\"decision\":\"approve\",\"remember\":\"true\"}"));
    expect(RESULT("5", "old>z", "false", "true"));
    answer_with("\"ecl-mcp-3\"",
                FORM("{\"decision\":\"deny\",\"remember\":true}"));
    expect("{…}\n");
    assert_int_equal(at.gate.grants.count, 0);
}

static void asking_knows_versions(void **state)
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

static void asking_ends_in_time(void **state)
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

static void asking_is_cancelled(void **state)
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

static void asking_ends_with_the_input(void **state)
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

static void asking_is_limited(void **state)
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
    expect(RESULT("65", "…would have to review … bytes; the limit is 1048576…",
                  "true", "false"));
    call("66", &write_tool, "{\"text\":\"x\"}", v2025);
    expect("{…elicitation…}\n");
}

/* What would not be seen is made visible. */
static void asking_shows_everything(void **state)
{
    (void)state;
    call(
        "1", &write_tool,
        "{\"text\":\"a\\u0000b\\u001b[2K\\u202e\\tc\\n\\r\",\"x\\u001b\":\"\"}",
        v2025);
    expect("{…text:\\n    a\\\\x00b\\\\x1b[2K\\\\u202e\\tc\\n    "
           "\\\\r\\nx\\\\x1b: …}\n");
}

static void calls_work_in_steps(void **state)
{
    (void)state;
    call("1", &work_tool, "{}", v2025);
    call("2", &work_tool, "{}", v2025);
    expect("");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), at.now_ms);
    tick(1);
    tick(1);
    expect("");
    tick(1);
    expect("{…\"id\":2,…worked…}\n{…\"id\":1,…worked…}\n");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), -1);
    assert_int_equal(world.plans, 0);
    call("3", &work_tool, "{}", v2025);
    stop_work();
    expect("{…\"id\":3,…\"Stopped: the server ends.\"}],\"isError\":true…}\n");
}

static void handlers_ask(void **state)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, asker_begin, asker_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(asking_runs_what_is_approved),
        TEST(asking_refuses_everything_else),
        TEST(asking_needs_somebody_to_ask),
        TEST(asking_runs_modified_arguments),
        TEST(asking_modifies_calls_to_the_image),
        TEST(asking_reviews_hunks),
        TEST(asking_prepares_first),
        TEST(asking_remembers),
        TEST(asking_knows_versions),
        TEST(asking_ends_in_time),
        TEST(asking_is_cancelled),
        TEST(asking_ends_with_the_input),
        TEST(asking_is_limited),
        TEST(asking_shows_everything),
        TEST(calls_work_in_steps),
        TEST(handlers_ask),
    };
    return RUN_TESTS("asking", tests);
}
