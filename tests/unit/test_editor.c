/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the editor's end of a session: editor.c, decision.c, and what gate
   and calls make of it. */
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
    core_editor_open(client.core, 0); // another one
    hears(HELLO);
    core_editor_close(client.core, 0);
    core_editor_close(client.core, 0);
    says("{}"); // there is nobody
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

/* A line that is too long is passed over, in bounded memory. */
static void editor_passes_over_long_lines(void **state)
{
    static char chunk[64 * 1024];

    (void)state;
    start_asking();
    memset(chunk, 'x', sizeof chunk);
    for (size_t n = 0; n <= LIMIT_EDITOR_MESSAGE; n += sizeof chunk)
        core_editor_feed(client.core, chunk, sizeof chunk, 0);
    says("");
    assert_memory(client_matches(buf_view(&client.log),
                                 "…editor: a line has over 67108864 bytes\n"));
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
        "\"evaluate-lisp (Evaluate Lisp) asks to be run.\\n\\ncode: "
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
#define ODD(why) NONE("the editor's answer makes no sense: " why)
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
        {"\"result\":{}", ODD("there is no decision in it")},
        {"\"result\":null", ODD("there is no decision in it")},
        {"\"result\":true", ODD("there is no decision in it")},
        {"\"result\":{\"decision\":true}", ODD("there is no decision in it")},
        {"\"result\":{\"decision\":\"APPROVE\"}",
         ODD("there is no decision in it")},
        {"\"error\":{\"code\":1,\"message\":\"approve\"}",
         ODD("there is no decision in it")},
        {"\"result\":{\"decision\":\"approve\",\"by\":\"me\"}",
         ODD("it is not known who decided")},
        {"\"result\":{\"decision\":\"approve\",\"reason\":1}",
         ODD("a member is of the wrong type")},
        {"\"result\":{\"decision\":\"approve\",\"remember\":1}",
         ODD("a member is of the wrong type")},
        {"\"result\":{\"decision\":\"approve\",\"failed\":1}",
         ODD("a member is of the wrong type")},
        {"\"result\":{\"decision\":\"approve\",\"arguments\":\"{}\"}",
         ODD("arguments are no object")},
        {"\"result\":{\"decision\":\"approve\",\"hunks\":[{\"accept\":false}]}",
         ODD("hunks are not those of the review")},
        {"\"result\":{\"decision\":\"approve\",\"applied\":{}}",
         ODD("it changed a buffer that it has not")},
        {"\"result\":{\"decision\":\"approve\",\"arguments\":{}}",
         "evaluate-lisp was not run: the user gave the approval with other "
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
    // the same in other words is no change
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

/* --- Time --------------------------------------------------------------- */

static void editor_has_two_seconds_to_receive(void **state)
{
    (void)state;
    start_editing();
    client_send(EVAL);
    hears(ASKED("1", "approve", "…"));
    assert_int_equal(core_deadline(client.core, 0), 2000);
    pass_time(1999);
    client_expect("");
    pass_time(1);
    client_expect(ANSWER(
        "evaluate-lisp was not run: it needs an approval, but the editor of "
        "the user did not receive the question within 2 s, and this client "
        "cannot ask its user. Try again when the editor answers.",
        "true"));
    hears(WITHDRAW("1", "the editor did not answer within 2 s") CALLED);
    says(RECEIVED("1"));
    says(OK("1", "{\"decision\":\"approve\"}"));
    client_expect("");
    client_expect_no_frame();
    hears("");
    assert_int_equal(core_deadline(client.core, client.now_ms), -1);
}

static void editor_lets_its_human_think(void **state)
{
    (void)state;
    start_editing();
    client_send(CALL_WITH_TOKEN("1", "7"));
    hears(ASKED("1", "approve", "…"));
    says(RECEIVED("1"));
    pass_time(9999);
    client_expect("");
    pass_time(1);
    client_expect(
        PROGRESS("7", "1,\"message\":\"waiting for the user, 10 s\""));
    pass_time(49999);
    client_expect(
        PROGRESS("7", "2,\"message\":\"waiting for the user, 59 s\""));
    pass_time(1);
    client_expect(ANSWER("…the user did not answer within 60 s. Nothing was "
                         "changed.",
                         "true"));
    hears(WITHDRAW("1", "the user did not answer within 60 s") CALLED);
}

static void editor_may_be_slow_with_texts(void **state)
{
    (void)state;
    write_disk("a\n");
    start_editing();
    client_send(WRITE("b\\n"));
    hears(ASKED("1", "text", "\"path\":\"/w/f\""));
    says(RECEIVED("1"));
    pass_time(LIMIT_EDITOR_RECEIVE_MS + LIMIT_EDITOR_LOOK_MS - 1);
    hears("");
    pass_time(1);
    hears(WITHDRAW("1", "it took too long")
              ASKED("2", "approve", "…\"buffer\":false,…"));
    says(OK("1", "{\"text\":\"c\\n\"}"));
    says(OK("2", "{\"decision\":\"approve\"}"));
    client_expect(ANSWER("APPLIED: 1 of 1 hunk applied to f\\nhunk 1: "
                         "applied\\n…",
                         "false"));
    assert_string_equal(disk.text, "b\n");
}

/* --- Loss --------------------------------------------------------------- */

static void editor_goes_while_it_asks(void **state)
{
    (void)state;
    start_asking();
    core_editor_close(client.core, 0);
    client_expect(ANSWER("…there is no approval: the editor went away. Nothing "
                         "was changed.",
                         "true"));
    client_send(EVAL);
    client_expect(ANSWER("…but this client cannot ask its user…", "true"));
    core_editor_open(client.core, 0);
    hears(HELLO);
    client_send(EVAL);
    hears(ASKED("2", "approve", "…"));
    core_editor_close(client.core, 0); // had not received it
    client_expect(ANSWER("…did not receive the question…", "true"));
    core_editor_open(client.core, 0);
    client_send(WRITE("x"));
    hears(HELLO ASKED("3", "text", "…"));
    says(RECEIVED("3"));
    core_editor_close(client.core, 0);
    client_expect(ANSWER("REFUSED\\n…did not receive the question…", "true"));
    assert_int_equal(disk.writes, 0);
}

static void editor_is_told_of_cancelled_calls(void **state)
{
    (void)state;
    start_asking();
    client_send(CANCEL("1"));
    hears(WITHDRAW("1", "the call was cancelled") CALLED);
    says(OK("1", "{\"decision\":\"approve\"}"));
    client_send(WRITE("x"));
    hears(ASKED("2", "text", "…"));
    client_send(CANCEL("1"));
    hears(WITHDRAW("2", "the call was cancelled") CALLED);
    says(OK("2", "null"));
    client_expect("");
    client_expect_no_frame();
    hears("");
}

static void editor_is_told_of_the_end(void **state)
{
    (void)state;
    start_asking();
    client_send(CALL("2", "write-file", "{\"path\":\"f\",\"content\":\"x\"}"));
    hears(ASKED("2", "text", "…"));
    core_finish(client.core, 1000, 0);
    hears(WITHDRAW("1", "the client has closed the connection") CALLED WITHDRAW(
        "2", "the client has closed the connection") CALLED);
    client_expect("…the client has closed the connection…\n…the client has "
                  "closed the connection…");
    assert_true(core_is_idle(client.core));
}

static void editor_may_leave_with_calls_waiting(void **state)
{
    (void)state;
    start_asking();
    client_send(WRITE("x"));
    hears(ASKED("2", "text", "…")); // client_end frees all of it
}

/* --- An editor that does not read ---------------------------------------- */

static void editor_that_does_not_read_is_none(void **state)
{
    struct buf line = BUF_EMPTY;
    size_t waiting = 0;

    (void)state;
    start_editing();
    buf_str(&line,
            STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":{"
                "\"code\":\""));
    char *code = buf_reserve(&line, LIMIT_QUESTION / 2);
    if (code != NULL) {
        memset(code, 'x', LIMIT_QUESTION / 2);
        line.n += LIMIT_QUESTION / 2;
    }
    buf_str(&line, STR("\"}}}\n"));
    bool good = !buf_failed(&line);
    while (good && core_output(client.core)->n == 0 && waiting < 50) {
        core_feed(client.core, line.p, line.n, 0);
        waiting++;
    }
    buf_release(&line);
    assert_memory(good);
    client_expect(ANSWER("…did not receive the question…", "true"));
    assert_memory(waiting > 5 && waiting < 20);
    assert_true(core_editor_output(client.core)->n < LIMIT_EDITOR_BACKLOG);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, editing_begin, editing_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(editor_is_greeted),
        TEST(editor_survives_bad_lines),
        TEST(editor_passes_over_long_lines),
        TEST(editor_decides),
        TEST(editor_refuses),
        TEST(editor_changes_arguments),
        TEST(editor_grants),
        TEST(editor_has_two_seconds_to_receive),
        TEST(editor_lets_its_human_think),
        TEST(editor_may_be_slow_with_texts),
        TEST(editor_goes_while_it_asks),
        TEST(editor_is_told_of_cancelled_calls),
        TEST(editor_is_told_of_the_end),
        TEST(editor_may_leave_with_calls_waiting),
        TEST(editor_that_does_not_read_is_none),
    };
    return RUN_TESTS("editor", tests);
}
