/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of audit.c, through the gate, and of clientinfo.c. */
#include <stdio.h>

#include "base/limits.h"
#include "gate/audit.h"
#include "mcp/clientinfo.h"
#include "support/asker.h"
#include "support/client.h"

static struct audit audit;
static struct buf lines; /* that the sink received */
static int64_t age;      /* of the last line */
static bool lasts;       /* the last line must reach the disk */

static uint64_t settled; /* the last line that is on the disk */

static uint64_t append(void *context, int64_t age_ms, struct str members,
                       bool lasting)
{
    struct buf *out = context;
    age = age_ms;
    lasts = lasting;
    buf_str(out, members);
    buf_byte(out, '\n');
    return lasting ? settled + 1 : 0;
}

static bool is_settled(void *context, uint64_t line)
{
    (void)context;
    return line <= settled;
}

static int set_up(void **state)
{
    const struct audit_sink sink = {append, is_settled, &lines};
    int status = asker_begin(state);
    audit_init(&audit, &at.log, &sink);
    return status != 0 || gate_add_hook(&at.gate, audit_event, &audit) != ST_OK;
}

static int tear_down(void **state)
{
    audit_release(&audit);
    buf_release(&lines);
    return asker_end(state);
}

/* The last line is on its way to the disk, if it must get there. */
static void check_settling(bool settles)
{
    uint64_t line = audit_unsettled(&audit);
    assert_int_equal(line != 0, settles);
    settled += settles;
    assert_true(audit_is_settled(&audit, line));
    assert_int_equal(audit_unsettled(&audit), 0);
}

/* The lines are those of PATTERN, where "…" is any text. */
static void check_lines(const char *pattern)
{
    bool good = client_matches(buf_view(&lines), pattern);
    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(buf_view(&lines)), pattern);
    assert_memory(good);
    buf_reset(&lines);
}

#define LINE(tool, level, decision, by, outcome, rest)                         \
    "\"client\":null,\"session\":null,\"tool\":\"" tool                        \
    "\",\"level\":\"" level "\",\"decision\":" decision ",\"by\":" by          \
    ",\"outcome\":\"" outcome "\"," rest "}\n"
/* Of {"text":"yes"}. */
#define YES_HASH                                                               \
    "29eb413324469b49234b9c8fa468e4c6"                                         \
    "9719ba9bd9a41333c56d802057f71d99"
#define X "{\"text\":\"x\"}"

static void audit_times_human_and_run(void **state)
{
    (void)state;
    call("1", &image_tool, X, v2025);
    check_lines("");
    tick(40);
    answer_with("\"ecl-mcp-1\"", APPROVE);
    check_lines("");
    tick(2);
    reply(1, STR("done"));
    check_lines(LINE("run", "dangerous", "\"approved\"", "\"human\"", "ok",
                     "\"decisionMs\":40,\"runMs\":2,\"preview\":\"text: x\","
                     "\"argumentBytes\":12,"
                     "\"argumentSha256\":\"…\",\"answerBytes\":4,"
                     "\"answerSha256\":\"…\""));
    assert_int_equal(age, 42);
    assert_true(lasts);
    check_settling(true);
}

static void audit_hashes_what_ran(void **state)
{
    (void)state;
    call("1", &write_tool, X, v2025);
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"yes\\\"}\"}"));
    // {"text":"yes"}
    check_lines(LINE("write", "dangerous", "\"modified\"", "\"human\"", "ok",
                     "\"decisionMs\":0,\"runMs\":0,\"preview\":\"text: yes\","
                     "\"argumentBytes\":14,"
                     "\"argumentSha256\":\"" YES_HASH "\",…"));
}

static void audit_records_refusals(void **state)
{
    static const struct manner mute = {.version = MCP_2025_11_25,
                                       .cannot_ask = true};
    (void)state;
    call("1", &write_tool, X, mute);
    check_lines(LINE("write", "dangerous", "\"refused\"", "\"no approver\"",
                     "refused", "…"));
    call("2", &write_tool, X, v2025);
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"deny\"}"));
    check_lines(
        LINE("write", "dangerous", "\"denied\"", "\"human\"", "refused", "…"));
    call("3", &review_tool, "{\"text\":\"../x\"}", v2025);
    check_lines(LINE("review", "dangerous", "\"settled\"", "\"preparation\"",
                     "refused", "…"));
    call("4", &review_tool, "{\"text\":\"old\"}", v2025); // no change
    check_lines(LINE("review", "dangerous", "\"settled\"", "\"preparation\"",
                     "ok", "…"));
    call("5", &write_tool, X, v2025);
    cancel("5");
    check_lines(LINE("write", "dangerous", "\"refused\"", "\"no decision\"",
                     "refused", "…"));
    call("6", &work_tool, "{}", v2025);
    stop_work();
    check_lines("");
    assert_true(audit_is_behind(&audit));
    audit_catch_up(&audit, at.now_ms);
    check_lines(LINE("work", "safe", "\"allowed\"", "\"level\"", "error", "…"));
    assert_false(lasts);
}

/* Lines that wait keep their order, and are appended before a dangerous call
   runs. */
static void audit_keeps_its_order(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        call("1", &work_tool, "{}", v2025);
        stop_work();
    }
    check_lines(LINE("work", "safe", "\"allowed\"", "\"level\"", "error", "…"));
    tick(7);
    call("2", &image_tool, X, v2025);
    check_lines("");
    answer_with("\"ecl-mcp-1\"", APPROVE);
    check_lines(LINE("work", "safe", "\"allowed\"", "\"level\"", "error", "…"));
    assert_memory(age == 7); // else it was appended at once
    assert_false(lasts);
    reply(1, STR("done"));
    check_lines(
        LINE("run", "dangerous", "\"approved\"", "\"human\"", "ok", "…"));
    assert_true(lasts);
}

/* A dropped question, after which the client asks again, is not a call yet. */
static void audit_has_one_line_for_an_approval(void **state)
{
    static const struct manner modern = {.version = MCP_2026_07_28};
    struct manner again = {
        .version = MCP_2026_07_28,
        .replies = "{\"approval\":{\"action\":\"accept\",\"content\":{"
                   "\"decision\":\"approve\"}}}"};
    (void)state;
    call("1", &write_tool, X, modern);
    check_lines("");
    expect("{…input_required…}\n");
    again.state = at.state.p;
    call("2", &write_tool, X, again);
    check_lines(
        LINE("write", "dangerous", "\"approved\"", "\"human\"", "ok", "…"));
}

/* --- Who calls ----------------------------------------------------------- */

static struct arena arena;
static struct clientinfo info;

static int release_client(void **state)
{
    (void)state;
    arena_release(&arena);
    clientinfo_release(&info);
    return 0;
}

static void check_client(const char *text, const char *wanted)
{
    struct json value;
    struct json_error error;
    assert_ok(json_parse(&arena, str_from(text), &value, &error));
    struct str got = clientinfo_read(&info, &arena, value);
    assert_memory(str_eq(got, str_from(wanted)) || !check_memory_is_back());
    check_text(got, str_from(wanted), __FILE__, __LINE__);
}

static void clientinfo_is_read(void **state)
{
    static char large[3000];
    (void)state;
    check_client("{\"name\":\"a\",\"version\":\"1\",\"title\":\"A\"}",
                 "{\"name\":\"a\",\"version\":\"1\"}");
    check_client("{\"name\":\"a\",\"version\":\"1\",\"title\":\"A\"}",
                 "{\"name\":\"a\",\"version\":\"1\"}");
    check_client("{\"version\":1,\"name\":\"\\u0061\\n\"}",
                 "{\"name\":\"a\\n\"}");
    check_client("{\"version\":\"1\"}", "");
    check_client("{\"name\":1}", "");
    check_client("[]", "");
    check_client("{\"name\":\"\"}", "{\"name\":\"\"}");
    memset(large, 'x', sizeof large - 1);
    memcpy(large, "{\"name\":\"", 9);
    memcpy(large + sizeof large - 3, "\"}", 3);
    check_client(large, "{\"name\":\""
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                        "\"}");
    check_client("{\"name\":\"b\"}", "{\"name\":\"b\"}");
}

static void clientinfo_keeps_short_texts(void **state)
{
    char text[2 * LIMIT_CLIENT_NAME + 100];
    char wanted[sizeof text];
    char name[2 * (LIMIT_CLIENT_NAME + 1) + 1] = "";
    (void)state;
    for (size_t i = 0; i < LIMIT_CLIENT_NAME; i++)
        memcpy(name + 2 * i, "\xc3\xa9", 3);
    (void)snprintf(wanted, sizeof wanted, "{\"name\":\"n\",\"version\":\"%s\"}",
                   name);
    check_client(wanted, wanted);
    (void)snprintf(text, sizeof text, "{\"name\":\"n\",\"version\":\"%sx\"}",
                   name);
    check_client(text, wanted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(audit_times_human_and_run),
        TEST(audit_hashes_what_ran),
        TEST(audit_records_refusals),
        TEST(audit_keeps_its_order),
        TEST(audit_has_one_line_for_an_approval),
        cmocka_unit_test_teardown(clientinfo_is_read, release_client),
        cmocka_unit_test_teardown(clientinfo_keeps_short_texts, release_client),
    };
    return RUN_TESTS("audit", tests);
}
