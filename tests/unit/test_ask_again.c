/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of ask_again.c: in the era without requests from the server, a call
   ends with a question, and the client makes it again with the answer. */
#include <stdio.h>

#include "base/limits.h"
#include "support/asker.h"
#include "support/frames.h"

#define X "{\"text\":\"x\"}"

static const struct manner modern = {.version = MCP_2026_07_28};

/* Makes a call again with the last state and REPLIES. */
static struct manner again(const char *replies)
{
    return (struct manner){
        .version = MCP_2026_07_28, .replies = replies, .state = at.state.p};
}

#define REPLY(reply) "{\"approval\":" reply "}"
#define YES                                                                    \
    REPLY("{\"action\":\"accept\",\"content\":{\"decision\":\"approve\"}}")
#define ASKED(id, rest)                                                        \
    OK(id, "{\"resultType\":\"input_required\",\"inputRequests\":{" rest       \
           "},\"requestState\":\"…\",\"_meta\":{…}}")                          \
    "\n"
#define APPROVAL(message)                                                       \
    "\"approval\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":"     \
    "\"form\",\"message\":\"" message "\",\"requestedSchema\":{\"type\":"       \
    "\"object\",\"properties\":{\"decision\":…},\"required\":[\"decision\"]}" \
    "}}"
#define DONE(id, text, error, approved)                                        \
    OK(id, "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\","     \
           "\"text\":\"" text "\"}],\"isError\":" error                        \
           ",\"_meta\":{…\"ecl-mcp/approved\":" approved ",…}}")               \
    "\n"

static void ask_again_runs_approved_calls(void **state)
{
    (void)state;
    call("1", &write_tool, X, modern);
    expect(
        ASKED("1", APPROVAL("The agent asks to run write (T).\\n\\ntext: x")));
    assert_int_equal(calls_waiting(&at.calls), 0);
    assert_int_equal(world.runs, 0);
    expect_text(&at.events, "");
    expect_text(&at.lines, "");
    at.now_ms += 500;
    call("2", &write_tool, X, again(YES));
    expect(DONE("2", "wrote x", "false", "true"));
    assert_int_equal(world.runs, 1);
    expect_text(&at.lines, "gate: write (dangerous) approved by human, 0 ms\n");
    expect_text(&at.events, "before write " X "\nafter write " X "\n");
    // once
    call("3", &write_tool, X, again(YES));
    expect(DONE("3", "…no approval: the user's answer was used before…", "true",
                "false"));
    assert_int_equal(world.runs, 1);
}

static void ask_again_refuses(void **state)
{
    static const struct {
        const char *replies;
        const char *text;
    } cases[] = {
        {REPLY("{\"action\":\"decline\"}"), "User denied tool execution"},
        {REPLY("{\"action\":\"accept\",\"content\":{\"decision\":\"deny\","
               "\"reason\":\"no\"}}"),
         "User denied tool execution: no"},
        {REPLY("{\"action\":\"cancel\"}"), "…dismissed the request…"},
        {REPLY("{\"action\":\"accept\"}"), "…no decision…"},
        {REPLY("{}"), "…is not valid…"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[300];
        call("1", &write_tool, X, modern);
        expect("{…input_required…}\n");
        call("2", &write_tool, X, again(cases[i].replies));
        snprintf(text, sizeof text, DONE("2", "%s", "true", "false"),
                 cases[i].text);
        expect(text);
    }
    assert_int_equal(world.runs, 0);
}

/* An approval is for the call that was shown, and for a limited time. */
static void ask_again_refuses_other_calls(void **state)
{
    (void)state;
    call("1", &write_tool, X, modern);
    expect("{…input_required…}\n");
    call("2", &write_tool, "{\"text\":\"y\"}", again(YES));
    expect(DONE("2", "…the call is not the one that…", "true", "false"));
    call("3", &review_tool, X, again(YES));
    expect(DONE("3", "NO DECISION\\n…the call is not the one that…", "true",
                "false"));
    at.now_ms += 60001;
    call("4", &write_tool, X, again(YES));
    expect(DONE("4", "…the user did not answer within 60 s…", "true", "false"));
    at.now_ms -= 1;
    call("5", &write_tool, X, again(YES));
    expect(DONE("5", "wrote x", "false", "true"));
    call("6", &write_tool, X, modern);
    expect("{…input_required…}\n");
    at.state.p[3] ^= 1;
    call_expecting(ST_INVALID, "7", &write_tool, X, again(YES));
    call_expecting(ST_INVALID, "8", &write_tool, X,
                   (struct manner){
                       .version = MCP_2026_07_28, .replies = YES, .state = ""});
    expect("");
    assert_int_equal(world.runs, 1);
}

static void ask_again_asks_again(void **state)
{
    static const char *const replies[] = {
        NULL,
        "{}",
        "[]",
        "null",
        "7",
        REPLY("null"),
        REPLY("\"approve\""),
        "{\"other\":{\"action\":\"accept\",\"content\":{\"decision\":"
        "\"approve\"}}}",
    };
    (void)state;
    call("1", &write_tool, X, modern);
    expect("{…input_required…}\n");
    for (size_t i = 0; i < COUNT(replies); i++) {
        call("2", &write_tool, X, again(replies[i]));
        expect(ASKED("2", APPROVAL("…")));
    }
    // without the state, an answer has no question
    call("3", &write_tool, X,
         (struct manner){.version = MCP_2026_07_28, .replies = YES});
    expect(ASKED("3", APPROVAL("…")));
    assert_int_equal(world.runs, 0);
    call("4", &write_tool, X, again(YES));
    expect(DONE("4", "wrote x", "false", "true"));
}

static void ask_again_needs_somebody_to_ask(void **state)
{
    (void)state;
    call("1", &write_tool, X, modern);
    expect("{…input_required…}\n");
    struct manner manner = again(YES);
    manner.cannot_ask = true;
    call("2", &write_tool, X, manner);
    expect(DONE("2", "…needs an approval…", "true", "false"));
    assert_int_equal(world.runs, 0);
}

static void ask_again_detects_stale_reviews(void **state)
{
    (void)state;
    call("1", &review_tool, X, modern);
    expect(ASKED("1", APPROVAL("-old\\n+x\\n")));
    world.file = "new";
    call("2", &review_tool, X, again(YES));
    expect(DONE("2",
                "STALE\\nreview was not run: what it would do is no longer "
                "what the user was asked about. Nothing was changed; make "
                "the call again.",
                "true", "false"));
    expect_text(&at.lines,
                "gate: review (dangerous) refused by stale question, 0 ms\n");
    world.file = "x"; // somebody else made the change
    call("3", &review_tool, X, again(YES));
    expect(DONE("3", "no change", "false", "false"));
    world.file = "old";
    call("4", &review_tool, X, again(YES)); // used with the stale one
    expect(DONE("4", "…used before…", "true", "false"));
    call("5", &review_tool, X, modern);
    expect("{…input_required…}\n");
    call("6", &review_tool, X, again(YES));
    expect(DONE("6", "old>x", "false", "true"));
    assert_int_equal(world.runs, 1);
}

/* Until the question is made again, the answer to it is kept. */
static void ask_again_waits_for_slow_reviews(void **state)
{
    (void)state;
    call("1", &slow_tool, X, modern);
    expect("");
    tick(1);
    expect(ASKED("1", APPROVAL("-old\\n+x\\n")));
    call("2", &slow_tool, X, again(YES));
    expect("");
    assert_int_equal(calls_waiting(&at.calls), 1);
    tick(1);
    expect(DONE("2", "old>x", "false", "true"));
    call("3", &slow_tool, X, again(YES));
    tick(1);
    expect(DONE("3", "…used before…", "true", "false"));
    call("4", &slow_tool, X, modern); // it is cancelled while it works
    cancel("4");
    tick(1);
    expect("");
    assert_int_equal(world.plans, 0);
    assert_int_equal(world.runs, 1);
}

/* A user who was asked decides, even if another answer was remembered
   meanwhile. */
static void ask_again_beats_grants(void **state)
{
    (void)state;
    call("1", &write_tool, X, modern);
    expect("{…input_required…}\n");
    assert_ok(grants_add(&at.gate.grants, &write_tool));
    call("2", &write_tool, X, again(REPLY("{\"action\":\"decline\"}")));
    expect(DONE("2", "User denied tool execution", "true", "false"));
    call("3", &write_tool, X, modern);
    expect(DONE("3", "wrote x", "false", "true"));
}

static void ask_again_goes_to_the_image(void **state)
{
    struct str body;
    struct wire_head head;
    (void)state;
    call("1", &image_tool, X, modern);
    expect("{…input_required…}\n");
    call("2", &image_tool, X, again(YES));
    expect("");
    frames_skip_hello(&at.image.out);
    assert_memory(wire_frame(buf_view(&at.image.out), &head, &body) == ST_OK);
    reply(head.id, STR("=> 1"));
    expect(DONE("2", "=> 1", "false", "true"));
}

#define NAME(reply) "{\"name\":" reply "}"
#define PUT(name, message)                                                     \
    "\"" name "\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":"    \
    "\"form\",\"message\":\"" message "\",\"requestedSchema\":{\"type\":"      \
    "\"object\",\"properties\":{}}}}"

static void ask_again_serves_handlers(void **state)
{
    (void)state;
    call("1", &interview_tool, "{}", modern);
    expect(ASKED("1", PUT("name", "What is your name?")));
    call("2", &interview_tool, "{}",
         again(NAME("{\"action\":\"accept\",\"content\":{\"name\":\"N\"}}")));
    expect(ASKED("2", PUT("number", "And the number?")));
    // only the state tells what was asked before
    call("3", &interview_tool, "{}",
         again("{\"number\":{\"action\":\"accept\",\"content\":{\"n\":3}}}"));
    expect("{…resultType\":\"complete\"…\\\"n\\\":3…}\n");
    // a handler's question needs no state
    call("4", &interview_tool, "{}",
         (struct manner){.version = MCP_2026_07_28,
                         .replies = NAME("{\"action\":\"decline\"}")});
    expect("{…resultType\":\"complete\"…decline…}\n");
    call("5", &interview_tool, "{}",
         (struct manner){.version = MCP_2026_07_28, .replies = NAME("12345")});
    expect(ASKED("5", PUT("name", "What is your name?")));
    // nor does it approve anything
    call("6", &write_tool, X, again(YES));
    expect(DONE("6", "…the call is not the one…", "true", "false"));
    assert_int_equal(world.runs, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asker_begin, asker_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ask_again_runs_approved_calls),
        TEST(ask_again_refuses),
        TEST(ask_again_refuses_other_calls),
        TEST(ask_again_asks_again),
        TEST(ask_again_needs_somebody_to_ask),
        TEST(ask_again_detects_stale_reviews),
        TEST(ask_again_waits_for_slow_reviews),
        TEST(ask_again_beats_grants),
        TEST(ask_again_goes_to_the_image),
        TEST(ask_again_serves_handlers),
    };
    return RUN_TESTS("ask_again", tests);
}
