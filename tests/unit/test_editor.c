/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the connection to an editor, through the core: editor.c,
   approval_editor.c, and what gate and calls do with them. */
#include <stdio.h>

#include "support/editing.h"

/* --- Connection --------------------------------------------------------- */

static void editor_is_greeted(void **state)
{
    (void)state;
    client_restart((struct core_config){.pid = 17, .attached = true});
    hears("");
    core_editor_open(client.core, 0);
    hears(
        "{\"jsonrpc\":\"2.0\",\"method\":\"hello\",\"params\":{\"protocol\":1,"
        "\"version\":\"" ECL_MCP_VERSION
        "\",\"pid\":17,\"workspace\":null,\"attached\":true}}\n");
    core_editor_open(client.core, 0); // another editor
    hears(HELLO);
    core_editor_close(client.core, 0);
    core_editor_close(client.core, 0);
    says("{}"); // no editor is connected
    hears("");
    start_editing();
    core_editor_close(client.core, 0);
    core_editor_open(client.core, 0);
    hears("…\"workspace\":\"/w\",\"attached\":false}}\n");
}

static void editor_survives_bad_lines(void **state)
{
    static const char *const lines[] = {
        "",
        "{",
        "no JSON",
        "[]",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":\"approve\"}}"
        "]",
        "7",
        "{}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"method\":\"received\",\"params\":{\"id\":1}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"received\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"received\",\"params\":[1]}",
        RECEIVED("\"1\""),
        RECEIVED("-1"),
        RECEIVED("1.0"),
        RECEIVED("0"),
        RECEIVED("2"),
        RECEIVED("18446744073709551617"),
        RECEIVED("null"),
        OK("\"1\"", "{\"decision\":\"approve\"}"),
        OK("1.0", "{\"decision\":\"approve\"}"),
        OK("null", "{\"decision\":\"approve\"}"),
        OK("0", "{\"decision\":\"approve\"}"),
        OK("99", "{\"decision\":\"approve\"}"),
        "{\"jsonrpc\":\"2.0\",\"result\":{\"decision\":\"approve\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"approve\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"approve\",\"params\":{\"id\":1}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools\",\"params\":{\"tools\":{}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools\",\"params\":{\"tools\":[]}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools\",\"params\":"
        "{\"tools\":[1,[],{},null]}}",
        "\xff\xfe",
    };
    (void)state;
    start_asking();
    for (size_t i = 0; i < COUNT(lines); i++) {
        says(lines[i]);
        client_expect("");
        client_expect_no_frame();
    }
    hears("");
    says(OK("1", "{\"decision\":\"approve\"}"));
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code (f)");
}

/* A line that is too long is skipped, in bounded memory. */
static void editor_skips_long_lines(void **state)
{
    static char chunk[64 * 1024];

    (void)state;
    start_asking();
    memset(chunk, 'x', sizeof chunk);
    for (size_t n = 0; n <= LIMIT_EDITOR_MESSAGE; n += sizeof chunk)
        core_editor_feed(client.core, chunk, sizeof chunk, 0);
    says("");
    assert_memory(
        client_matches(buf_view(&client.log),
                       "…editor: line ignored: longer than 67108864 bytes\n"));
    says(OK("1", "{\"decision\":\"deny\"}"));
    client_expect(ANSWER("User denied tool execution", "true"));
}

/* --- Decisions ---------------------------------------------------------- */

static void editor_decides(void **state)
{
    (void)state;
    start_editing();
    client.now_ms = 100;
    client_send(EVAL);
    hears(ASKED(
        "1", "approve",
        "\"tool\":\"evaluate-lisp\",\"level\":\"cautious\","
        "\"session\":\"main\",\"client\":{\"name\":\"test\",\"version\":"
        "\"1\"},\"arguments\":{\"code\":\"(f)\"},\"code\":\"code\",\"message\":"
        "\"The agent asks to run evaluate-lisp (Evaluate Lisp).\\n\\ncode: "
        "(f)\",\"remember\":false,\"seconds\":60"));
    says(RECEIVED("1"));
    client_expect("");
    assert_memory(core_deadline(client.core, 100) == 60100);
    says(OK("1", "{\"decision\":\"approve\",\"by\":\"human\"}"));
    client_expect("");
    client_reply(
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code (f)"), 0,
        STR("=> 1"));
    client_expect(ANSWER("=> 1", "false"));
    hears(
        "{\"jsonrpc\":\"2.0\",\"method\":\"called\",\"params\":{\"client\":{"
        "…},\"session\":\"main\",\"tool\":\"evaluate-lisp\",\"level\":"
        "\"cautious\",\"decision\":\"approved\",\"by\":\"human in the editor\""
        ",\"outcome\":\"ok\",…}}\n");
    says(OK("1", "{\"decision\":\"deny\"}")); // once more
    hears("");
}

struct decision_case {
    const char *result; /* "result":… or "error":… */
    const char *text;   /* that the model reads */
    const char *by;     /* in the log */
};

#define NONE(why)                                                              \
    "evaluate-lisp was not run: there is no approval: " why                    \
    ". Nothing was changed.",                                                  \
        "\"decision\":\"refused\",\"by\":\"no decision\""
#define ODD(why) NONE("the editor's answer is not valid: " why)
#define HUMAN "\"decision\":\"denied\",\"by\":\"human in the editor\""

static void editor_refuses(void **state)
{
    static const struct decision_case cases[] = {
        {"\"result\":{\"decision\":\"deny\"}", "User denied tool execution",
         HUMAN},
        {"\"result\":{\"decision\":\"deny\",\"reason\":\"later\",\"by\":"
         "\"human\",\"rule\":\"x\"}",
         "User denied tool execution: later",
         HUMAN ",\"reason\":\"later\",\"outcome\""},
        {"\"result\":{\"decision\":\"deny\",\"by\":\"rule\",\"rule\":\"deny "
         "all\"}",
         "User denied tool execution",
         "\"by\":\"rule in the editor\",\"rule\":\"deny all\""},
        {"\"result\":{\"decision\":\"stop\",\"reason\":\"enough\"}",
         "The user stopped the run: enough.\\nMake no further calls; wait for "
         "the user.",
         HUMAN},
        {"\"result\":{\"reason\":\"nobody is here\"}", NONE("nobody is here")},
        {"\"result\":{}", ODD("it has no decision")},
        {"\"result\":null", ODD("it has no decision")},
        {"\"result\":true", ODD("it has no decision")},
        {"\"result\":{\"decision\":true}", ODD("it has no decision")},
        {"\"result\":{\"decision\":\"APPROVE\"}", ODD("it has no decision")},
        {"\"error\":{\"code\":1,\"message\":\"approve\"}",
         ODD("it has no decision")},
        {"\"result\":{\"decision\":\"approve\",\"by\":\"me\"}",
         ODD("it does not say who decided")},
        {"\"result\":{\"decision\":\"approve\",\"reason\":1}",
         ODD("a member has the wrong type")},
        {"\"result\":{\"decision\":\"approve\",\"remember\":1}",
         ODD("a member has the wrong type")},
        {"\"result\":{\"decision\":\"approve\",\"failed\":1}",
         ODD("a member has the wrong type")},
        {"\"result\":{\"decision\":\"approve\",\"arguments\":\"{}\"}",
         ODD("the arguments are not an object")},
        {"\"result\":{\"decision\":\"approve\",\"hunks\":[{\"accept\":false}]}",
         ODD("its hunks are not those of the review")},
        {"\"result\":{\"decision\":\"approve\",\"applied\":{}}",
         ODD("it changed a buffer that it does not have")},
        {"\"result\":{\"decision\":\"approve\",\"arguments\":{}}",
         "evaluate-lisp was not run: the user approved it with other "
         "arguments, but missing required argument: code.",
         "\"by\":\"human, with bad arguments\""},
    };

    (void)state;
    start_editing();
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1000];
        client_send(EVAL);
        hears("{…\"method\":\"approve\"…}\n");
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%zu,%s}",
                 i + 1, cases[i].result);
        says(text);
        snprintf(text, sizeof text, ANSWER("%s", "true"), cases[i].text);
        client_expect(text);
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"called\",…%s…}\n",
                 cases[i].by);
        hears(text);
        client_expect_no_frame();
    }
}

static void editor_changes_arguments(void **state)
{
    (void)state;
    start_asking();
    says(OK("1", "{\"decision\":\"approve\",\"arguments\":{\"code\":\"(g)\"},"
                 "\"hunks\":[]}"));
    client_reply(
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code (g)"), 0,
        STR("=> 2"));
    client_expect(ANSWER("The user changed the arguments: \\\"code\\\" is "
                         "\\\"(g)\\\".\\n=> 2",
                         "false"));
    hears("…\"decision\":\"modified\",\"by\":\"human in the editor\"…\n");
    // the same arguments, written differently, are not a change
    client_send(EVAL);
    hears("{…}\n");
    says(OK("2", "{\"decision\":\"approve\",\"arguments\":{ \"code\" : \"(f)\""
                 " }}"));
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code (f)");
}

/* Grants hold, but a rule that asks is stronger. */
static void editor_grants(void **state)
{
    (void)state;
    start_review(WRITE("a"), "null");
    hears(ASKED("2", "approve", "…\"remember\":true,…"));
    says(OK("2", "{\"decision\":\"approve\",\"remember\":true}"));
    client_expect(ANSWER("APPLIED: …", "false"));
    hears(CALLED);
    client_send(WRITE("b"));
    client_expect(ANSWER("APPLIED: …", "false"));
    hears("…\"by\":\"grant\"…\n");
    assert_string_equal(disk.text, "b");
}

/* --- Limits ------------------------------------------------------------- */

/* BEFORE, N times PART, AFTER, in a text that stays until the next call. */
static const char *around(const char *before, const char *part, size_t n,
                          const char *after)
{
    static char text[LIMIT_EDITOR_ARGUMENTS + 2000];
    size_t size = strlen(part);
    size_t used = strlen(before);

    assert_true(used + n * size + strlen(after) < sizeof text);
    memcpy(text, before, used);
    for (size_t i = 0; i < n; i++, used += size)
        memcpy(text + used, part, size);
    memcpy(text + used, after, strlen(after) + 1);
    return text;
}

/* What the editor gets of a call that is over: arguments of N bytes, if they
   are not too long. */
static void editor_gets_short_arguments(void **state)
{
    const size_t rest = strlen("{\"code\":\"\"}");

    (void)state;
    client_restart((struct core_config){.editor = true});
    client_initialize("2025-11-25");
    core_editor_open(client.core, 0);
    hears(HELLO);
    for (size_t n = LIMIT_EDITOR_ARGUMENTS; n <= LIMIT_EDITOR_ARGUMENTS + 1;
         n++) {
        struct str body;

        client_send(around("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                           "call\",\"params\":{\"name\":\"evaluate-lisp\","
                           "\"arguments\":{\"code\":\"",
                           "x", n - rest, "\"}}}"));
        client_reply(client_frame(&body).id, 0, STR("=> 1"));
        client_expect(ANSWER("=> 1", "false"));
        if (n == LIMIT_EDITOR_ARGUMENTS)
            hears(around("{…\"method\":\"called\"…\"arguments\":{\"code\":\"",
                         "x", n - rest, "\"},\"text\":\"=> 1\"}}\n"));
        else
            hears(
                "{…\"method\":\"called\"…\"answerSha256\":\"…\",\"text\":\"=> "
                "1\"}}\n");
    }
}

/* The same for the answer, in characters. */
static void editor_gets_the_beginning_of_an_answer(void **state)
{
    (void)state;
    client_restart((struct core_config){.editor = true});
    client_initialize("2025-11-25");
    core_editor_open(client.core, 0);
    hears(HELLO);
    for (size_t more = 0; more <= 1; more++) {
        struct str body;

        client_send(EVAL);
        client_reply(
            client_frame(&body).id, 0,
            str_from(around("", "\xc3\xa9", LIMIT_EDITOR_ANSWER + more, "")));
        client_expect(ANSWER("…", "false"));
        hears(around("{…\"method\":\"called\"…,\"text\":\"", "\xc3\xa9",
                     LIMIT_EDITOR_ANSWER, "\"}}\n"));
    }
}

/* A human's reason reaches the model. */
static void editor_passes_a_short_reason(void **state)
{
    (void)state;
    start_editing();
    for (size_t more = 0; more <= 1; more++) {
        client_send(EVAL);
        says(around(more == 0 ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
                                "\"decision\":\"deny\",\"reason\":\""
                              : "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{"
                                "\"decision\":\"deny\",\"reason\":\"",
                    "\xc3\xa9", LIMIT_REASON + more, "\"}}"));
        client_expect(around("{…\"text\":\"User denied tool execution: ",
                             "\xc3\xa9", LIMIT_REASON, "\"}]…}"));
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, editing_begin, editing_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(editor_is_greeted),
        TEST(editor_survives_bad_lines),
        TEST(editor_skips_long_lines),
        TEST(editor_decides),
        TEST(editor_refuses),
        TEST(editor_changes_arguments),
        TEST(editor_grants),
        TEST(editor_gets_short_arguments),
        TEST(editor_gets_the_beginning_of_an_answer),
        TEST(editor_passes_a_short_reason),
    };
    return RUN_TESTS("editor", tests);
}
