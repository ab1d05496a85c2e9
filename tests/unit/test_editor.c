/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the editor's end of a session: editor.c, decision.c, and what gate,
   calls and review make of it. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "client.h"
#include "limits.h"
#include "messages.h"
#include "policy.h"

/* --- A file and its folder ---------------------------------------------- */

static struct disk {
    struct policy policy;
    struct files files;
    char text[200]; /* of the only file, f */
    bool exists;
    int writes;
} disk;

static enum files_result locate(void *context, struct arena *arena,
                                struct str path, struct str *name,
                                struct str *problem)
{
    (void)context;
    (void)arena;
    *problem = STR("elsewhere");
    *name = path;
    return str_eq(path, STR("../x")) ? FILES_REFUSED : FILES_OK;
}

static enum files_result read_file(void *context, struct arena *arena,
                                   struct str path, uint64_t max,
                                   struct files_content *out,
                                   struct str *problem)
{
    (void)context;
    (void)max;
    *out = (struct files_content){.exists = disk.exists};
    if (str_eq(path, STR("../x"))) {
        *problem = STR("../x: it lies outside.");
        return FILES_REFUSED;
    }
    if (arena_str(arena, path, &out->name) != ST_OK ||
        arena_str(arena, str_from(disk.text), &out->bytes) != ST_OK)
        return FILES_NOMEM;
    digest_of(out->bytes, out->hash);
    *problem = STR("f: there is no such file.");
    return disk.exists ? FILES_OK : FILES_MISSING;
}

static enum files_result write_file(void *context, struct arena *arena,
                                    const struct files_content *expected,
                                    struct str bytes, struct str *problem)
{
    (void)context;
    (void)arena;
    (void)expected;
    (void)problem;
    disk.writes++;
    snprintf(disk.text, sizeof disk.text, "%.*s", STR_ARG(bytes));
    disk.exists = true;
    return FILES_OK;
}

static void write_disk(const char *text)
{
    snprintf(disk.text, sizeof disk.text, "%s", text);
    disk.exists = true;
}

/* --- Both ends ---------------------------------------------------------- */

static int begin(void **state)
{
    disk = (struct disk){.files = {.root = "/w",
                                   .locate = locate,
                                   .read = read_file,
                                   .write = write_file}};
    policy_init(&disk.policy);
    return client_begin(state);
}

static int end(void **state)
{
    int result = client_end(state);

    policy_release(&disk.policy);
    return result;
}

/* The editor is told exactly PATTERN; it is then dropped. */
static void hears(const char *pattern)
{
    struct buf *output = session_editor_output(client.session);
    struct str got = buf_view(output);
    bool good = client_matches(got, pattern);

    if (!good && !check_memory_is_back())
        print_error("the editor heard %.*s\nnot %s\n", STR_ARG(got), pattern);
    assert_memory(good);
    buf_consume(output, output->n);
}

static void says(const char *line)
{
    session_editor_feed(client.session, line, strlen(line), client.now_ms);
    session_editor_feed(client.session, "\n", 1, client.now_ms);
}

#define RECEIVED(id)                                                           \
    "{\"jsonrpc\":\"2.0\",\"method\":\"received\",\"params\":{\"id\":" id "}}"
#define WITHDRAW(id, reason)                                                   \
    "{\"jsonrpc\":\"2.0\",\"method\":\"withdraw\",\"params\":{\"id\":" id      \
    ",\"reason\":\"" reason "\"}}\n"
#define ASKED(id, method, rest)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{" rest "}}\n"
#define CALLED "{\"jsonrpc\":\"2.0\",\"method\":\"called\",…}\n"
#define HELLO "{\"jsonrpc\":\"2.0\",\"method\":\"hello\",…}\n"
#define ANSWER(text, error)                                                    \
    OK("1", "{\"content\":[{\"type\":\"text\",\"text\":\"" text                \
            "\"}],…\"isError\":" error ",…}")
#define EVAL CALL("1", "evaluate-lisp", "{\"code\":\"(f)\"}")
#define WRITE(text)                                                            \
    CALL("1", "write-file", "{\"path\":\"f\",\"content\":\"" text "\"}")
#define EDIT(old, new)                                                         \
    CALL("1", "propose-file-edit",                                             \
         "{\"path\":\"f\",\"original\":\"" old "\",\"modified\":\"" new "\"}")

static void tick(int64_t ms)
{
    client.now_ms += ms;
    session_tick(client.session, client.now_ms);
}

/* A session whose evaluate-lisp has to be asked for, and an editor. */
static void start(void)
{
    const struct tool *tool = session_find_tool(STR("evaluate-lisp"));

    assert_ok(policy_add(&disk.policy, tool, POLICY_ASK));
    client_restart((struct session_config){.policy = &disk.policy,
                                           .files = &disk.files,
                                           .approval_ms = 60000,
                                           .editor = true,
                                           .pid = 17});
    client_initialize("2025-11-25");
    session_editor_open(client.session, client.now_ms);
    hears(HELLO);
}

/* A call that asks, as the editor received it. */
static void start_asking(void)
{
    start();
    client_send(EVAL);
    client_expect("");
    hears(ASKED("1", "approve", "…"));
    says(RECEIVED("1"));
}

/* A review that asks; BUFFER is what the editor has of the file, JSON. */
static void start_review(const char *call, const char *buffer)
{
    char line[400];

    start();
    client_send(call);
    hears(ASKED("1", "text", "\"path\":\"/w/f\""));
    says(RECEIVED("1"));
    snprintf(line, sizeof line, OK("1", "%s"), buffer);
    says(line);
}

/* --- Connection --------------------------------------------------------- */

static void editor_is_greeted(void **state)
{
    (void)state;
    client_restart((struct session_config){.pid = 17, .attached = true});
    hears("");
    session_editor_open(client.session, 0);
    hears(
        "{\"jsonrpc\":\"2.0\",\"method\":\"hello\",\"params\":{\"protocol\":1,"
        "\"version\":\"" ECL_MCP_VERSION
        "\",\"pid\":17,\"workspace\":null,\"attached\":true}}\n");
    session_editor_open(client.session, 0); // another one
    hears(HELLO);
    session_editor_close(client.session, 0);
    session_editor_close(client.session, 0);
    says("{}"); // there is nobody
    hears("");
    start();
    session_editor_close(client.session, 0);
    session_editor_open(client.session, 0);
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
        session_editor_feed(client.session, chunk, sizeof chunk, 0);
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
    start();
    client.now_ms = 100;
    client_send(EVAL);
    hears(
        ASKED("1", "approve",
              "\"tool\":\"evaluate-lisp\",\"level\":\"cautious\","
              "\"session\":\"main\",\"client\":{\"name\":\"test\",\"version\":"
              "\"1\"},\"arguments\":{\"code\":\"(f)\"},\"message\":"
              "\"evaluate-lisp (Evaluate Lisp) asks to be run.\\n\\ncode: "
              "(f)\",\"remember\":false,\"seconds\":60"));
    says(RECEIVED("1"));
    client_expect("");
    assert_memory(session_deadline(client.session, 100) == 60100);
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
         "User denied tool execution: later", HUMAN ",\"outcome\""},
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
         ODD("a hunk is not decided as it may be")},
        {"\"result\":{\"decision\":\"approve\",\"applied\":{}}",
         ODD("it changed a buffer that it has not")},
        {"\"result\":{\"decision\":\"approve\",\"arguments\":{}}",
         "evaluate-lisp was not run: the user gave the approval with other "
         "arguments, but missing required argument: code.",
         "\"by\":\"human, with bad arguments\""},
    };

    (void)state;
    start();
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
    start();
    client_send(EVAL);
    hears(ASKED("1", "approve", "…"));
    assert_int_equal(session_deadline(client.session, 0), 2000);
    tick(1999);
    client_expect("");
    tick(1);
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
    assert_int_equal(session_deadline(client.session, client.now_ms), -1);
}

static void editor_lets_its_human_think(void **state)
{
    (void)state;
    start();
    client_send(CALL_WITH_TOKEN("1", "7"));
    hears(ASKED("1", "approve", "…"));
    says(RECEIVED("1"));
    tick(9999);
    client_expect("");
    tick(1);
    client_expect(
        PROGRESS("7", "1,\"message\":\"waiting for the user, 10 s\""));
    tick(49999);
    client_expect(
        PROGRESS("7", "2,\"message\":\"waiting for the user, 59 s\""));
    tick(1);
    client_expect(ANSWER("…the user did not answer within 60 s. Nothing was "
                         "changed.",
                         "true"));
    hears(WITHDRAW("1", "the user did not answer within 60 s") CALLED);
}

static void editor_may_be_slow_with_texts(void **state)
{
    (void)state;
    write_disk("a\n");
    start();
    client_send(WRITE("b\\n"));
    hears(ASKED("1", "text", "\"path\":\"/w/f\""));
    says(RECEIVED("1"));
    tick(LIMIT_EDITOR_RECEIVE_MS + LIMIT_EDITOR_LOOK_MS - 1);
    hears("");
    tick(1);
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
    session_editor_close(client.session, 0);
    client_expect(ANSWER("…there is no approval: the editor went away. Nothing "
                         "was changed.",
                         "true"));
    client_send(EVAL);
    client_expect(ANSWER("…but this client cannot ask its user…", "true"));
    session_editor_open(client.session, 0);
    hears(HELLO);
    client_send(EVAL);
    hears(ASKED("2", "approve", "…"));
    session_editor_close(client.session, 0); // had not received it
    client_expect(ANSWER("…did not receive the question…", "true"));
    session_editor_open(client.session, 0);
    client_send(WRITE("x"));
    hears(HELLO ASKED("3", "text", "…"));
    says(RECEIVED("3"));
    session_editor_close(client.session, 0);
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
    session_finish(client.session, 1000, 0);
    hears(WITHDRAW("1", "the client has closed the connection") CALLED WITHDRAW(
        "2", "the client has closed the connection") CALLED);
    client_expect("…the client has closed the connection…\n…the client has "
                  "closed the connection…");
    assert_true(session_is_idle(client.session));
}

static void editor_may_leave_with_calls_waiting(void **state)
{
    (void)state;
    start_asking();
    client_send(WRITE("x"));
    hears(ASKED("2", "text", "…")); // client_end frees all of it
}

/* --- Reviews ------------------------------------------------------------ */

static void editor_reviews_hunks(void **state)
{
    (void)state;
    write_disk("1\n2\n3\n4\n5\n6\n7\n8\n9\nten");
    start_review(
        CALL("1", "propose-file-edit",
             "{\"path\":\"f\",\"description\":\"w\\ny\",\"edits\":[{\"old\":"
             "\"1\\n\",\"new\":\"one\\n\"},{\"old\":\"ten\",\"new\":\"10\"}]}"),
        "null");
    hears(ASKED(
        "2", "approve",
        "…\"message\":\"Change f: 2 hunks\\nReason given: w\\\\ny\\n…\","
        "\"remember\":true,\"seconds\":60,\"review\":{\"path\":\"/w/f\","
        "\"name\":\"f\",\"reason\":\"w\\ny\",\"exists\":true,\"by_hunk\":true,"
        "\"buffer\":false,\"hunks\":[{\"old_start\":1,\"old_count\":4,"
        "\"new_start\":1,\"new_count\":4,\"lines\":[\"-1\",\"+one\",\" 2\",\" "
        "3\",\" 4\"]},{\"old_start\":7,\"old_count\":4,\"new_start\":7,"
        "\"new_count\":4,\"lines\":[\" 7\",\" 8\",\" 9\",\"-ten\",\"\\\\ No "
        "newline at end of file\",\"+10\",\"\\\\ No newline at end of "
        "file\"]}]}"));
    says(OK("2",
            "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true,"
            "\"lines\":[\"1\",\"2\",\"3\",\"4\"],\"reason\":\"keep it\"},"
            "{\"accept\":true,\"lines\":[\"7\",\"8\",\"nine\",\"10\"]}]}"));
    client_expect(ANSWER(
        "PARTIAL: 1 of 2 hunks applied to f\\nhunk 1: rejected: keep "
        "it\\nhunk 2: applied after the user edited it\\n\\n--- a/f\\n+++ "
        "b/f\\n…\\nsha256: …\\nDo not propose hunk 1 again unchanged.",
        "false"));
    assert_string_equal(disk.text, "1\n2\n3\n4\n5\n6\n7\n8\nnine\n10");
    assert_int_equal(disk.writes, 1);
}

/* The file has changed meanwhile: edited hunks find their places as all. */
static void editor_edits_are_anchored_again(void **state)
{
    (void)state;
    write_disk("1\n2\n3\n");
    start_review(EDIT("2\\n", "two\\n"), "null");
    hears(ASKED("2", "approve", "…"));
    write_disk("0\n1\n2\n3\n");
    says(OK("2", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true,"
                 "\"lines\":[\"1\",\"zwei\",\"3\"]}]}"));
    client_expect(ANSWER("APPLIED: 1 of 1 hunk applied to f\\nhunk 1: applied "
                         "after the user edited it\\n…",
                         "false"));
    assert_string_equal(disk.text, "0\n1\nzwei\n3\n");
    hears(CALLED);
    client_send(EDIT("zwei\\n", "2\\n"));
    hears(ASKED("3", "text", "…"));
    says(OK("3", "null"));
    hears(ASKED("4", "approve", "…"));
    write_disk("gone\n");
    says(OK("4", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true,"
                 "\"lines\":[],\"part\":true}]}"));
    client_expect(ANSWER("STALE: 0 of 1 hunk applied to f\\nhunk 1: stale: its "
                         "lines are not in the file any more\\n…",
                         "true"));
    assert_string_equal(disk.text, "gone\n");
}

static void editor_hunks_must_make_sense(void **state)
{
    static const char *const hunks[] = {
        "{}",
        "[]",
        "[1]",
        "[{}]",
        "[{\"accept\":1}]",
        "[{\"accept\":true},{\"accept\":true}]",
        "[{\"accept\":true,\"reason\":1}]",
        "[{\"accept\":true,\"lines\":\"x\"}]",
        "[{\"accept\":true,\"lines\":[1]}]",
        "[{\"accept\":true,\"lines\":[\"a\\nb\"]}]",
        "[{\"accept\":true,\"lines\":[\"a\\u0000b\"]}]",
        "[{\"accept\":true,\"part\":true}]",
        "[{\"accept\":true,\"part\":1,\"lines\":[]}]",
    };

    (void)state;
    write_disk("1\n2\n3\n");
    start();
    for (size_t i = 0; i < COUNT(hunks); i++) {
        char line[200];
        client_send(EDIT("2\\n", "two\\n"));
        hears("{…\"method\":\"text\"…}\n");
        snprintf(line, sizeof line, OK("%zu", "null"), 2 * i + 1);
        says(line);
        hears("{…\"method\":\"approve\"…}\n");
        snprintf(line, sizeof line,
                 OK("%zu", "{\"decision\":\"approve\",\"hunks\":%s}"),
                 2 * i + 2, hunks[i]);
        says(line);
        client_expect(ANSWER("NO DECISION\\n…makes no sense…", "true"));
        hears(CALLED);
    }
    assert_int_equal(disk.writes, 0);
}

static void editor_changes_buffers(void **state)
{
    (void)state;
    write_disk("disk\n");
    start_review(EDIT("old", "new"),
                 "{\"text\":\"old\\r\\nmine\\n\",\"modified\":true}");
    hears(ASKED("2", "approve",
                "…\"buffer\":true,\"hunks\":[{…\"lines\":[\"-old\\r\","
                "\"+new\\r\",\" mine\"]}]}"));
    says(OK("2", "{\"decision\":\"approve\",\"applied\":{\"before\":\"old\\r\\n"
                 "mine\\n\",\"after\":\"new\\r\\nmine\\n\",\"saved\":false,"
                 "\"note\":\"you had unsaved changes\"}}"));
    client_expect(ANSWER(
        "APPLIED: 1 of 1 hunk applied to f (buffer; not saved: you had unsaved "
        "changes)\\nhunk 1: applied\\n\\n…\\nsha256 of the file on the disk: …",
        "false"));
    assert_int_equal(disk.writes, 0);
}

static void editor_buffers_must_be_accounted_for(void **state)
{
    static const char *const applied[] = {
        "null",
        "7",
        "{}",
        "{\"before\":\"a\"}",
        "{\"before\":\"a\",\"after\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"saved\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"note\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[0]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[2]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[0.5]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[1e99]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[\"1\"]}",
    };

    (void)state;
    write_disk("disk\n");
    start();
    for (size_t i = 0; i < COUNT(applied); i++) {
        char line[200];
        client_send(EDIT("old", "new"));
        hears("{…\"method\":\"text\"…}\n");
        snprintf(line, sizeof line, OK("%zu", "{\"text\":\"old\\n\"}"),
                 2 * i + 1);
        says(line);
        hears("{…\"method\":\"approve\"…}\n");
        snprintf(line, sizeof line,
                 OK("%zu", "{\"decision\":\"approve\",\"applied\":%s}"),
                 2 * i + 2, applied[i]);
        says(line);
        client_expect(ANSWER("NO DECISION\\n…makes no sense…The file was not "
                             "written; its buffer is the editor's.",
                             "true"));
        hears(CALLED);
    }
    assert_int_equal(disk.writes, 0);
}

/* What the editor says about a text that is none means that there is no
   buffer. */
static void editor_texts_may_be_odd(void **state)
{
    static const char *const texts[] = {"7", "{}", "{\"text\":7}", "[]",
                                        "\"text\""};

    (void)state;
    write_disk("a\n");
    start();
    for (size_t i = 0; i < COUNT(texts); i++) {
        char line[200];
        client_send(EDIT("a", "b"));
        hears("{…\"method\":\"text\"…}\n");
        snprintf(line, sizeof line, OK("%zu", "%s"), 2 * i + 1, texts[i]);
        says(line);
        hears("{…\"buffer\":false…}\n");
        snprintf(line, sizeof line, OK("%zu", "{\"decision\":\"deny\"}"),
                 2 * i + 2);
        says(line);
        client_expect(ANSWER("REFUSED\\nUser denied tool execution", "true"));
        hears(CALLED);
    }
    client_send(EDIT("a", "b"));
    hears("{…\"method\":\"text\"…}\n");
    says(OK("11", "{\"text\":\"a\\u0000\"}"));
    client_expect(ANSWER("ERROR\\nf: it has NUL bytes, so it is no text. "
                         "Nothing was written.",
                         "true"));
}

/* A path that is refused is no business of the editor's. */
static void editor_is_not_asked_about_foreign_files(void **state)
{
    (void)state;
    start();
    client_send(
        CALL("1", "write-file", "{\"path\":\"../x\",\"content\":\"\"}"));
    client_expect(
        ANSWER("ERROR\\n../x: it lies outside. Nothing was written.", "true"));
    hears(CALLED);
}

static void editor_sees_changed_reviews(void **state)
{
    (void)state;
    start_review(WRITE("a"), "null");
    hears(ASKED("2", "approve", "…"));
    says(OK("2", "{\"decision\":\"approve\",\"arguments\":{\"path\":\"f\","
                 "\"content\":\"b\"}}"));
    hears(ASKED("3", "text", "…"));
    says(OK("3", "{\"text\":\"old\\n\"}"));
    hears(ASKED("4", "approve", "…\"content\":\"b\"…\"buffer\":true…"));
    assert_int_equal(disk.writes, 0);
    says(OK("4", "{\"decision\":\"approve\",\"applied\":{\"before\":\"old\\n\","
                 "\"after\":\"b\",\"saved\":false}}"));
    client_expect(ANSWER("The user changed the arguments: \\\"content\\\" is "
                         "\\\"b\\\".\\nAPPLIED: …",
                         "false"));
    hears("…\"decision\":\"modified\"…\n");
}

/* --- An editor that does not read ---------------------------------------- */

static void editor_that_does_not_read_is_none(void **state)
{
    struct buf line = BUF_EMPTY;
    size_t waiting = 0;

    (void)state;
    start();
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
    while (good && session_output(client.session)->n == 0 && waiting < 50) {
        session_feed(client.session, line.p, line.n, 0);
        waiting++;
    }
    buf_release(&line);
    assert_memory(good);
    client_expect(ANSWER("…did not receive the question…", "true"));
    assert_memory(waiting > 5 && waiting < 20);
    assert_true(session_editor_output(client.session)->n <
                LIMIT_EDITOR_BACKLOG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

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
        TEST(editor_reviews_hunks),
        TEST(editor_edits_are_anchored_again),
        TEST(editor_hunks_must_make_sense),
        TEST(editor_changes_buffers),
        TEST(editor_buffers_must_be_accounted_for),
        TEST(editor_texts_may_be_odd),
        TEST(editor_is_not_asked_about_foreign_files),
        TEST(editor_sees_changed_reviews),
        TEST(editor_that_does_not_read_is_none),
    };
    return RUN_TESTS("editor", tests);
}
