/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of ask_editor.c, through a core: the questions to an editor about a
   call, which it acknowledges and answers or not, and what becomes of the call
   when the editor is gone. */
#include <stdio.h>

#include "support/editing.h"
#include "support/states.h"

/* Checks that TEXT is exactly the log's lines about states; empties the log. */
static void expect_states(const char *text)
{
    const struct str level = STR("debug: ");
    struct str log = buf_view(&client.log);
    struct buf states = BUF_EMPTY;

    while (log.n > 0) {
        size_t n = (size_t)((const char *)memchr(log.p, '\n', log.n) - log.p);
        if (str_starts(log, level))
            states_keep(&states, str_make(log.p + level.n, n - level.n));
        log = str_make(log.p + n + 1, log.n - n - 1);
    }
    bool good = str_eq(buf_view(&states), str_from(text));
    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(buf_view(&states)), text);
    buf_release(&states);
    buf_reset(&client.log);
    assert_memory(good);
}

/* A core with an editor, and with a client that can ask its user, too. */
static void start_with_forms(void)
{
    start_editing();
    client_restart((struct core_config){.policy = &disk.policy,
                                        .files = &disk.files,
                                        .approval_ms = 60000,
                                        .editor = true});
    client_send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                "\"params\":{\"protocolVersion\":\"2025-11-25\","
                "\"capabilities\":{\"elicitation\":{}},\"clientInfo\":{"
                "\"name\":\"test\",\"version\":\"1\"}}}");
    client_expect("{…}");
    core_editor_open(client.core, client.now_ms);
    hears(HELLO);
    buf_reset(&client.log);
}

#define YES "{\"decision\":\"approve\"}"

/* --- States ------------------------------------------------------------- */

static void ask_editor_leads_calls_from_state_to_state(void **state)
{
    (void)state;
    start_asking();
    expect_states("1: new -> asking-editor\n");
    says(OK("1", YES));
    expect_states("1: asking-editor -> in-image\n");
    client_reply(
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code (f)"), 0,
        STR("=> 1"));
    client_expect(ANSWER("=> 1", "false"));
    expect_states("1: in-image -> over\n");
    hears(CALLED);
    client_send(WRITE("x"));
    hears(ASKED("2", "text", "…"));
    says(OK("2", "null"));
    hears(ASKED("3", "approve", "…"));
    says(OK("3", "{\"decision\":\"deny\"}"));
    client_expect("{…}");
    expect_states("1: new -> reading-buffer\n"
                  "1: reading-buffer -> asking-editor\n"
                  "1: asking-editor -> over\n");
}

/* Other arguments may be about another file, so the editor is asked for its
   text again. */
static void ask_editor_reads_again(void **state)
{
    (void)state;
    start_review(WRITE("x"), "null");
    hears(ASKED("2", "approve", "…"));
    says(OK("2", "{\"decision\":\"approve\",\"arguments\":{\"path\":\"f\","
                 "\"content\":\"y\"}}"));
    hears(ASKED("3", "text", "…"));
    expect_states("1: new -> reading-buffer\n"
                  "1: reading-buffer -> asking-editor\n"
                  "1: asking-editor -> reading-buffer\n");
    // the answer to the earlier question is late
    says(OK("2", YES));
    says(RECEIVED("2"));
    pass_time(LIMIT_EDITOR_RECEIVE_MS);
    hears(WITHDRAW("3", "the editor did not answer within 2 s") CALLED);
    client_expect(ANSWER("…did not receive the question…", "true"));
    expect_states("1: reading-buffer -> over\n");
    assert_int_equal(disk.writes, 0);
}

/* A question that the editor did not acknowledge goes to the client. */
static void ask_editor_passes_questions_to_the_client(void **state)
{
    (void)state;
    start_with_forms();
    client_send(EVAL);
    pass_time(LIMIT_EDITOR_RECEIVE_MS);
    client_expect("{…\"id\":\"ecl-mcp-1\",\"method\":\"elicitation/create\"…}");
    hears(ASKED("1", "approve", "…")
              WITHDRAW("1", "the editor did not answer within 2 s"));
    says(OK("1", YES)); // late
    client_expect_no_frame();
    expect_states("1: new -> asking-editor\n"
                  "1: asking-editor -> asking-client\n");
    // the client's user has the full time
    assert_memory(core_deadline(client.core, client.now_ms) ==
                  client.now_ms + 60000);
    client_send("{\"jsonrpc\":\"2.0\",\"id\":\"ecl-mcp-1\",\"result\":{"
                "\"action\":\"accept\",\"content\":" YES "}}");
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code (f)");
    client_send(WRITE("x"));
    hears(ASKED("2", "text", "…"));
    core_editor_close(client.core, client.now_ms);
    client_expect("{…\"id\":\"ecl-mcp-2\",\"method\":\"elicitation/create\"…}");
    expect_states("1: asking-client -> in-image\n"
                  "1: new -> reading-buffer\n"
                  "1: reading-buffer -> asking-client\n");
}

/* --- Time --------------------------------------------------------------- */

static void ask_editor_has_two_seconds_to_receive(void **state)
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
        "evaluate-lisp was not run: it needs an approval, but the user's "
        "editor did not receive the question within 2 s, and this client "
        "cannot ask its user. Try again when the editor responds.",
        "true"));
    hears(WITHDRAW("1", "the editor did not answer within 2 s") CALLED);
    says(RECEIVED("1"));
    says(OK("1", "{\"decision\":\"approve\"}"));
    client_expect("");
    client_expect_no_frame();
    hears("");
    assert_int_equal(core_deadline(client.core, client.now_ms), -1);
}

static void ask_editor_lets_its_human_think(void **state)
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

static void ask_editor_may_be_slow_with_texts(void **state)
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
    hears(WITHDRAW("1", "the editor took too long")
              ASKED("2", "approve", "…\"buffer\":false,…"));
    says(OK("1", "{\"text\":\"c\\n\"}"));
    says(OK("2", "{\"decision\":\"approve\"}"));
    client_expect(ANSWER("APPLIED: 1 of 1 hunk applied to f\\nhunk 1: "
                         "applied",
                         "false"));
    assert_string_equal(disk.text, "b\n");
}

/* --- Work --------------------------------------------------------------- */

#define WORKING(id)                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"working\",\"params\":{\"id\":" id "}}"

static int64_t time_left(void)
{
    return core_deadline(client.core, client.now_ms) - client.now_ms;
}

/* Work of the human starts the time limit anew. */
static void ask_editor_waits_for_work(void **state)
{
    (void)state;
    start_asking();
    const int64_t limit_ms = time_left();
    pass_time(limit_ms - 1000);
    says(WORKING("1"));
    hears("{…\"method\":\"waits\",\"params\":{\"id\":1,…}}\n");
    assert_memory(time_left() == limit_ms);
    pass_time(limit_ms - 1);
    hears("");
    // nobody waits for others, and what is not a number means nothing
    says(WORKING("7"));
    says(WORKING("\"1\""));
    hears("");
    pass_time(1);
    hears(WITHDRAW("1", "the user worked on it and did not finish") CALLED);
    client_expect(ANSWER("…the user worked on it and did not finish…", "true"));
    says(WORKING("1"));
    hears("");
}

/* A working day is enough; then what is left stays less. */
static void ask_editor_waits_no_longer_than_a_day(void **state)
{
    (void)state;
    start_asking();
    const int64_t limit_ms = time_left();
    int64_t passed_ms = 0;

    while (passed_ms + limit_ms / 2 < LIMIT_APPROVAL_WORK_MS) {
        pass_time(limit_ms / 2);
        passed_ms += limit_ms / 2;
        says(WORKING("1"));
        hears("{…\"method\":\"waits\",…}\n");
    }
    assert_memory(time_left() <= LIMIT_APPROVAL_WORK_MS - passed_ms);
    says(WORKING("1"));
    hears("{…\"method\":\"waits\",…}\n");
    pass_time(LIMIT_APPROVAL_WORK_MS - passed_ms);
    hears(WITHDRAW("1", "the user worked on it and did not finish") CALLED);
    client_expect(ANSWER("…did not finish…", "true"));
}

/* --- Loss --------------------------------------------------------------- */

static void ask_editor_may_lose_the_editor(void **state)
{
    (void)state;
    start_asking();
    core_editor_close(client.core, 0);
    client_expect(
        ANSWER("…there is no approval: the editor disconnected. Nothing "
               "was changed.",
               "true"));
    client_send(EVAL);
    client_expect(ANSWER("…but this client cannot ask its user…", "true"));
    core_editor_open(client.core, 0);
    hears(HELLO);
    client_send(EVAL);
    hears(ASKED("2", "approve", "…"));
    core_editor_close(client.core, 0); // before the editor received it
    client_expect(ANSWER("…did not receive the question…", "true"));
    core_editor_open(client.core, 0);
    client_send(WRITE("x"));
    hears(HELLO ASKED("3", "text", "…"));
    says(RECEIVED("3"));
    core_editor_close(client.core, 0);
    client_expect(ANSWER("REFUSED\\n…did not receive the question…", "true"));
    assert_int_equal(disk.writes, 0);
}

static void ask_editor_withdraws_cancelled_calls(void **state)
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

static void ask_editor_withdraws_at_the_end(void **state)
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

static void ask_editor_may_end_with_calls_waiting(void **state)
{
    (void)state;
    start_asking();
    client_send(WRITE("x"));
    hears(ASKED("2", "text", "…")); // client_end frees all of it
}

/* --- An editor that does not read ---------------------------------------- */

static void ask_editor_passes_over_one_that_does_not_read(void **state)
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
    if (code) {
        memset(code, 'x', LIMIT_QUESTION / 2);
        line.n += LIMIT_QUESTION / 2;
    }
    buf_str(&line, STR("\"}}}\n"));
    bool good = !buf_failed(&line);
    while (good && core_output(client.core)->n == 0 && waiting < 50) {
        core_feed(client.core, line.p, line.n, 0);
        client_let_read();
        waiting++;
    }
    buf_release(&line);
    assert_memory(good);
    client_expect(ANSWER("…did not receive the question…", "true"));
    assert_memory(waiting > 5 && waiting < 20);
    assert_true(core_editor_output(client.core)->n < LIMIT_EDITOR_BACKLOG);
}

/* --- Tools of the editor ------------------------------------------------ */

/* A core with an editor that offers a tool. */
static void start_with_tool(void)
{
    start_editing();
    says("{\"jsonrpc\":\"2.0\",\"method\":\"tools\",\"params\":{\"tools\":[{"
         "\"name\":\"t\",\"description\":\"D.\",\"level\":\"safe\"}]}}");
    buf_reset(&client.log);
}

#define TOOL CALL("1", "t", "{}")

static void ask_editor_runs_its_tools(void **state)
{
    (void)state;
    start_with_tool();
    client_send(TOOL);
    hears(ASKED("1", "call", "\"tool\":\"t\",…"));
    says(RECEIVED("1"));
    says(OK("1", "{\"text\":\"done\"}"));
    client_expect(ANSWER("done", "false"));
    says(OK("1", "{\"text\":\"done again\"}"));
    client_expect("");
    expect_states("1: new -> in-editor\n1: in-editor -> over\n");
}

static void ask_editor_limits_the_time_of_its_tools(void **state)
{
    (void)state;
    start_with_tool();
    client_send(TOOL);
    says(RECEIVED("1"));
    assert_memory(core_deadline(client.core, 0) == LIMIT_TIMEOUT_MS);
    pass_time(LIMIT_TIMEOUT_MS - 1);
    client_expect("");
    pass_time(1);
    client_expect(ANSWER("Stopped at the time limit of 30 s. configure-limits "
                         "changes it.",
                         "true"));
    hears("…" WITHDRAW("1", "Stopped at the time limit of 30 s. …") CALLED);
    client_send(CALL("2", "configure-limits", "{\"timeout\":0}"));
    client_expect("{…}");
    client_send(TOOL);
    says(RECEIVED("2"));
    assert_memory(core_deadline(client.core, client.now_ms) == -1);
    pass_time(1000 * LIMIT_TIMEOUT_MS);
    client_expect("");
    hears("…" ASKED("2", "call", "…"));
    expect_states("1: new -> in-editor\n1: in-editor -> over\n"
                  "2: new -> over\n1: new -> in-editor\n");
}

static void ask_editor_fails_unfinished_calls(void **state)
{
    (void)state;
    start_with_tool();
    client_send(TOOL);
    pass_time(LIMIT_EDITOR_RECEIVE_MS);
    client_expect(ANSWER("t did not finish: the editor did not answer "
                         "within 2 s.",
                         "true"));
    client_send(TOOL);
    says(RECEIVED("2"));
    client_send(CANCEL("1"));
    client_expect("");
    client_send(TOOL);
    says(RECEIVED("3"));
    core_editor_close(client.core, client.now_ms);
    client_expect(ANSWER("t did not finish: the editor disconnected.", "true"));
    expect_states("1: new -> in-editor\n1: in-editor -> over\n"
                  "1: new -> in-editor\n1: in-editor -> over\n"
                  "1: new -> in-editor\n1: in-editor -> over\n");
}

/* A tool that runs when the client leaves may still finish. */
static void ask_editor_lets_its_tools_finish(void **state)
{
    (void)state;
    start_with_tool();
    client_send(TOOL);
    client_send(CALL("2", "t", "{}"));
    says(RECEIVED("1"));
    says(RECEIVED("2"));
    core_finish(client.core, 1000, 0);
    client_expect("");
    says(OK("1", "{\"text\":\"done\"}"));
    client_expect(ANSWER("done", "false"));
    pass_time(1000);
    client_expect("{…\"id\":2,…Stopped: the server is shutting down.…}");
    hears("…" WITHDRAW("2", "Stopped: the server is shutting down.") CALLED);
    assert_true(core_is_idle(client.core));
}

static void ask_editor_is_limited(void **state)
{
    (void)state;
    start_with_tool();
    for (int i = 0; i < LIMIT_EDITOR_CALLS; i++)
        client_send(TOOL);
    client_expect("");
    client_send(TOOL);
    client_expect(ANSWER("t was not run: too many calls already wait for the "
                         "editor; the limit is 64 calls and 67108864 bytes.",
                         "true"));
    // then buffers are not read either, as if there were no editor
    client_send(WRITE("x"));
    client_expect(ANSWER("…did not receive the question…", "true"));
    says(OK("1", "{\"text\":\"done\"}"));
    client_expect(ANSWER("done", "false"));
    client_send(TOOL);
    client_expect("");
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, editing_begin, editing_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ask_editor_leads_calls_from_state_to_state),
        TEST(ask_editor_reads_again),
        TEST(ask_editor_passes_questions_to_the_client),
        TEST(ask_editor_has_two_seconds_to_receive),
        TEST(ask_editor_lets_its_human_think),
        TEST(ask_editor_may_be_slow_with_texts),
        TEST(ask_editor_may_lose_the_editor),
        TEST(ask_editor_waits_for_work),
        TEST(ask_editor_waits_no_longer_than_a_day),
        TEST(ask_editor_withdraws_cancelled_calls),
        TEST(ask_editor_withdraws_at_the_end),
        TEST(ask_editor_may_end_with_calls_waiting),
        TEST(ask_editor_passes_over_one_that_does_not_read),
        TEST(ask_editor_runs_its_tools),
        TEST(ask_editor_limits_the_time_of_its_tools),
        TEST(ask_editor_fails_unfinished_calls),
        TEST(ask_editor_lets_its_tools_finish),
        TEST(ask_editor_is_limited),
    };
    return RUN_TESTS("ask_editor", tests);
}
