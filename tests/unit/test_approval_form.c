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
         "…is not valid…", "refused by no decision"},
        {"\"result\":{\"action\":\"ACCEPT\",\"content\":{\"decision\":"
         "\"approve\"}}",
         "…is not valid…", "refused by no decision"},
        {"\"result\":null", "…is not valid…", "refused by no decision"},
        {"\"result\":\"approve\"", "…is not valid…", "refused by no decision"},
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
        expect(RESULT("1", "NO DECISION\\n…are not text…", "true", "false"));
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

/* --- Limits ------------------------------------------------------------- */

/* BEFORE, N times PART, AFTER, in a text that stays until the next call. */
static const char *around(const char *before, const char *part, size_t n,
                          const char *after)
{
    static char text[LIMIT_PREFILL + 500];
    size_t size = strlen(part);
    size_t used = strlen(before);

    assert_true(used + n * size + strlen(after) < sizeof text);
    memcpy(text, before, used);
    for (size_t i = 0; i < n; i++, used += size)
        memcpy(text + used, part, size);
    memcpy(text + used, after, strlen(after) + 1);
    return text;
}

/* Longer arguments are shown, but not offered for editing. */
static void approval_form_offers_short_arguments(void **state)
{
    const size_t rest = strlen("{\"text\":\"\"}");

    (void)state;
    call("1", &write_tool,
         around("{\"text\":\"", "x", LIMIT_PREFILL - rest, "\"}"), v2025);
    expect("{…\"arguments\":{…,\"default\":\"{…\"},\"remember\":…}\n");
    call("2", &write_tool,
         around("{\"text\":\"", "x", LIMIT_PREFILL + 1 - rest, "\"}"), v2025);
    expect("{…\"arguments\":{\"type\":\"string\",\"title\":\"Arguments "
           "(JSON)\",\"description\":\"Edit to run with other arguments; leave "
           "empty to run as asked.\"},\"remember\":…}\n");
}

/* Checks that the client was sent BEFORE, then N times PART, then AFTER. */
static void expect_long(const char *before, size_t n, const char *after)
{
    char text[6000];

    assert_true(2 * n + 1000 < sizeof text);
    (void)snprintf(text, sizeof text, "%s",
                   around(before, "\xc3\xa9", n, after));
    expect(text);
}

static void approval_form_passes_a_short_reason(void **state)
{
    (void)state;
    for (size_t more = 0; more <= 1; more++) {
        call("1", &write_tool, "{\"text\":\"x\"}", v2025);
        expect("{…}\n");
        answer_with(more == 0 ? "\"ecl-mcp-1\"" : "\"ecl-mcp-2\"",
                    around("\"result\":{\"action\":\"accept\",\"content\":{"
                           "\"decision\":\"deny\",\"reason\":\"",
                           "\xc3\xa9", LIMIT_REASON + more, "\"}}"));
        expect_long("{…\"text\":\"User denied tool execution: ", LIMIT_REASON,
                    "\"}]…}\n");
    }
}

/* The same with what the client says why it could not ask. */
static void approval_form_passes_a_short_error(void **state)
{
    (void)state;
    for (size_t more = 0; more <= 1; more++) {
        call("1", &write_tool, "{\"text\":\"x\"}", v2025);
        expect("{…}\n");
        answer_with(more == 0 ? "\"ecl-mcp-1\"" : "\"ecl-mcp-2\"",
                    around("\"error\":{\"code\":1,\"message\":\"", "\xc3\xa9",
                           LIMIT_REASON + more, "\"}"));
        expect_long("{…the client could not ask its user (", LIMIT_REASON,
                    ")…}\n");
    }
}

/* The model reads the beginning of a long argument that the user has changed:
   as JSON, with its quotes. */
static void approval_form_quotes_short_changes(void **state)
{
    (void)state;
    for (size_t more = 0; more <= 1; more++) {
        call("1", &write_tool, "{\"text\":\"x\"}", v2025);
        expect("{…}\n");
        answer_with(more == 0 ? "\"ecl-mcp-1\"" : "\"ecl-mcp-2\"",
                    around("\"result\":{\"action\":\"accept\",\"content\":{"
                           "\"decision\":\"approve\",\"arguments\":\"{\\\"text"
                           "\\\":\\\"",
                           "y", LIMIT_CHANGE - 2 + more, "\\\"}\"}}"));
        if (more == 0)
            expect(around("{…\\\"text\\\" is \\\"", "y", LIMIT_CHANGE - 2,
                          "\\\".\\nwrote …}\n"));
        else
            expect(around("{…\\\"text\\\" is \\\"", "y", LIMIT_CHANGE - 1,
                          "\xe2\x80\xa6.\\nwrote …}\n"));
    }
}

/* With no room for a grant, none is offered. */
static void approval_form_offers_grants_while_there_is_room(void **state)
{
    static struct tool others[LIMIT_GRANTS];

    (void)state;
    for (size_t i = 0; i < LIMIT_GRANTS; i++) {
        if (i == LIMIT_GRANTS - 1) {
            call("1", &review_tool, "{\"text\":\"x\"}", v2025);
            expect("{…\"remember\":{…}…}\n");
        }
        others[i] = write_tool;
        assert_ok(grants_add(&at.gate.grants, &others[i]));
    }
    call("2", &review_tool, "{\"text\":\"x\"}", v2025);
    expect("{…\"default\":\"{\\\"text\\\":\\\"x\\\"}\"}},\"required\":["
           "\"decision\"]}}}\n");
    // one that was asked before may not find room any more
    answer_with("\"ecl-mcp-1\"",
                FORM("{\"decision\":\"approve\",\"remember\":true}"));
    expect(RESULT("1", "old>x", "false", "true"));
    assert_false(grants_has(&at.gate.grants, &review_tool));
    expect_text(&at.lines, "gate: review (dangerous) approved by human, 0 ms\n"
                           "gate: review is not granted: 64 tools are, which "
                           "is the limit\n");
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
        TEST(approval_form_offers_short_arguments),
        TEST(approval_form_passes_a_short_reason),
        TEST(approval_form_passes_a_short_error),
        TEST(approval_form_quotes_short_changes),
        TEST(approval_form_offers_grants_while_there_is_room),
    };
    return RUN_TESTS("approval_form", tests);
}
