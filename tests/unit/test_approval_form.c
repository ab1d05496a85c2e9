/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of approval_form.c, the form in which a client's user answers, and of
   what the gate makes of the answers. */
#include <stdio.h>

#include "base/limits.h"
#include "support/asker.h"
#include "support/frames.h"

static void approval_form_runs_approved_calls(void **state)
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

/* Of two values the question has the one that counts. */
static void approval_form_shows_only_what_runs(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"no\",\"te\\u0078t\":\"yes\"}", v2025);
    expect(QUESTION("1",
                    "\"mode\":\"form\",\"message\":\"The agent asks to run "
                    "write (T).\\n\\ntext: yes\",…"));
    answer_with("\"ecl-mcp-1\"", APPROVE);
    expect("{…}\n");
    assert_string_equal(world.written, "yes");
}

/* An answer that is not a clear approval does not approve. */
static void approval_form_refuses_everything_else(void **state)
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

static void approval_form_runs_modified_arguments(void **state)
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
    // the same arguments, written differently, are not a change
    call("2", &write_tool, "{\"text\":\"x\",\"n\":1}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-2\"",
                FORM("{\"decision\":\"approve\",\"arguments\":"
                     "\" { \\\"n\\\": 1, \\\"text\\\": \\\"x\\\" }\"}"));
    expect(RESULT("2", "wrote x", "false", "true"));
    expect_text(&at.lines, "gate: write (dangerous) approved by human, 0 ms\n");
}

static void approval_form_modifies_calls_to_the_image(void **state)
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

static void approval_form_reviews_hunks(void **state)
{
    static const struct {
        const char *hunks;
        const char *text;
    } cases[] = {
        {"", "old>x 1 1 1"},
        {",\"hunks\":\"\"", "old>x 1 1 1"},
        {",\"hunks\":\" \"", "old>x 1 1 1"},
        {",\"hunks\":null", "old>x 1 1 1"},

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
        if (cases[i].text)
            snprintf(text, sizeof text, RESULT("1", "%s", "false", "true"),
                     cases[i].text);
        else
            snprintf(text, sizeof text,
                     RESULT("1", "NO DECISION\\n…numbers from 1 to 3…", "true",
                            "false"));
        expect(text);
    }
}

/* What is no text is not known: nothing is approved. */
static void approval_form_refuses_strange_fields(void **state)
{
    static const char *const fields[] = {"\"hunks\":7", "\"hunks\":[1]",
                                         "\"arguments\":{}",
                                         "\"arguments\":false"};

    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        char id[40];
        char text[300];
        call("1", &review_tool, "{\"text\":\"x\",\"n\":3}", v2025);
        expect("{…}\n");
        snprintf(id, sizeof id, "\"ecl-mcp-%zu\"", i + 1);
        snprintf(text, sizeof text, FORM("{\"decision\":\"approve\",%s}"),
                 fields[i]);
        answer_with(id, text);
        expect(RESULT("1", "NO DECISION\\n…are no text…", "true", "false"));
    }
}

/* Nobody is asked when the preparation of a review settles the call. */
static void approval_form_prepares_first(void **state)
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

static void approval_form_remembers(void **state)
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
    // a user who was already asked still decides
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

/* Characters that nobody would see are made visible. */
static void approval_form_shows_everything(void **state)
{
    (void)state;
    call("1", &write_tool,
         "{\"text\":\"a\\u0000b\\u001b[2K\\u202e\\tc\\n\\r\"}", v2025);
    expect("{…text:\\n    a\\\\x00b\\\\x1b[2K\\\\u202e\\tc\\n    "
           "\\\\r\",…}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asker_begin, asker_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(approval_form_shows_only_what_runs),
        TEST(approval_form_runs_approved_calls),
        TEST(approval_form_refuses_everything_else),
        TEST(approval_form_runs_modified_arguments),
        TEST(approval_form_modifies_calls_to_the_image),
        TEST(approval_form_reviews_hunks),
        TEST(approval_form_refuses_strange_fields),
        TEST(approval_form_prepares_first),
        TEST(approval_form_remembers),
        TEST(approval_form_shows_everything),
    };
    return RUN_TESTS("approval_form", tests);
}
