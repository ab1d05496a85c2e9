/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of calls.c and of the tools, through a core: what goes to the image,
   what comes back to the client, and when. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "support/asker.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"
#include "support/states.h"

static void calls_are_answered_in_the_order_of_replies(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL("\"a\"", "evaluate-lisp", "{\"code\":\"1\"}"));
    client_send(CALL("\"b\"", "evaluate-lisp", "{\"code\":\"2\"}"));
    uint64_t a =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 1");
    uint64_t b =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 2");
    client_send(REQUEST("3", "ping"));
    client_expect(OK("3", "{}"));
    client_reply(b, 0, STR("=> 2"));
    client_expect(OK("\"b\"", "…=> 2…"));
    client_reply(a, 0, STR("=> 1"));
    client_expect(OK("\"a\"", "…=> 1…"));
    client_reply(a, 0, STR("again"));
    client_expect("");
}

static void calls_are_cancelled_by_request_id(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL("5", "evaluate-lisp", "{\"code\":\"1\"}"));
    client_send(CALL("\"5\"", "evaluate-lisp", "{\"code\":\"2\"}"));
    client_send(CALL("5.0", "evaluate-lisp", "{\"code\":\"3\"}"));
    uint64_t one =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 1");
    uint64_t two =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 2");
    uint64_t three =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 3");
    client_send(CANCEL("55"));
    client_send(CANCEL("50e-1"));
    client_expect_no_frame();

    client_send(CANCEL("5"));
    assert_int_equal(client_expect_frame(WIRE_STOP, ""), one);
    client_send(CANCEL("5")); // nothing more to stop
    client_expect_no_frame();
    client_expect("");
    client_reply(one, WIRE_ERROR, STR("stopped"));
    client_expect("");
    client_reply(two, 0, STR("=> 2"));
    client_expect(OK("\"5\"", "…=> 2…"));
    client_reply(three, 0, STR("=> 3"));
    client_expect(OK("5.0", "…=> 3…"));
    client_send(CANCEL("5.0")); // too late; some clients do this for every call
    client_expect_no_frame();
    assert_memory(client_matches(buf_view(&client.log),
                                 "…info: mcp: evaluate-lisp is cancelled\n…"));
}

/* Takes the next frame, the call of CALL_WITH_TOKEN, and checks that it asks
   for its output if WANTED. Returns its id. */
static uint64_t take_call(bool wanted)
{
    struct str body;
    struct wire_head head = client_frame(&body);
    assert_int_equal(head.kind, WIRE_CALL);
    assert_int_equal(head.flags, wanted ? WIRE_PROGRESS : 0);
    return head.id;
}

static void calls_report_progress(void **state)
{
    static const struct {
        const char *version;
        bool message;
    } cases[] = {
        {"2024-11-05", false},
        {"2025-03-26", true},
        {"2025-06-18", true},
        {"2025-11-25", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        client_restart((struct core_config){.tools = NULL});
        client_initialize(cases[i].version);
        client_send(CALL_WITH_TOKEN("1", "\"t\\u00e4\""));
        client_send(CALL_WITH_TOKEN("2", "7"));
        uint64_t one = take_call(true);
        uint64_t two = take_call(true);
        client_output(one, STR("a\n\xff"));
        client_expect(
            cases[i].message
                ? PROGRESS("\"t\\u00e4\"", "1,\"message\":\"a\\n\xef\xbf\xbd\"")
                : PROGRESS("\"t\\u00e4\"", "1"));
        client_output(two, STR("b"));
        client_expect(cases[i].message ? PROGRESS("7", "1,\"message\":\"b\"")
                                       : PROGRESS("7", "1"));
        client_output(one, STR("c"));
        client_expect(cases[i].message
                          ? PROGRESS("\"t\\u00e4\"", "2,\"message\":\"c\"")
                          : PROGRESS("\"t\\u00e4\"", "2"));
        client_reply(one, 0, STR("=> 1"));
        client_expect(OK("1", "{\"content\":…}"));
        client_output(one, STR("late"));
        client_expect("");
        client_send(CANCEL("2"));
        client_output(two, STR("unwanted"));
        client_expect("");
    }
    client_send(MODERN_REQUEST("3", "tools/call",
                               "\"name\":\"evaluate-lisp\",\"arguments\":"
                               "{\"code\":\"1\"},"));
    assert_int_equal(client_expect_frame(WIRE_STOP, ""), 2);
    client_output(take_call(false), STR("without a token"));
    client_expect("");
    client_send("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":"
                "{\"code\":\"1\"},\"_meta\":{\"progressToken\":-1,"
                "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    client_output(take_call(true), STR("m"));
    client_expect(PROGRESS("-1", "1,\"message\":\"m\""));
}

static void calls_take_strings_and_integers_as_tokens(void **state)
{
    static const struct {
        const char *call;
        bool taken;
    } cases[] = {
        {CALL_WITH_TOKEN("1", "\"\""), true},
        {CALL_WITH_TOKEN("1", "0"), true},
        {CALL_WITH_TOKEN("1", "100000000000000000000"), true},
        {CALL_WITH_TOKEN("1", "7.0"), true},
        {CALL_WITH_TOKEN("1", "7.5"), false},
        {CALL_WITH_TOKEN("1", "1e999"), false},
        {CALL_WITH_TOKEN("1", "null"), false},
        {CALL_WITH_TOKEN("1", "true"), false},
        {CALL_WITH_TOKEN("1", "[1]"), false},
        {CALL_WITH_TOKEN("1", "{}"), false},
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\"}"), false},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
         "{\"name\":\"evaluate-lisp\",\"arguments\":{\"code\":\"1\"},"
         "\"_meta\":[]}}",
         false},
    };
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    for (size_t i = 0; i < COUNT(cases); i++) {
        client_send(cases[i].call);
        uint64_t id = take_call(cases[i].taken);
        client_output(id, STR("x"));
        client_expect(cases[i].taken ? PROGRESS("…", "1,\"message\":\"x\"")
                                     : "");
        client_reply(id, 0, STR("=> 1"));
        client_expect(OK("1", "…"));
    }
}

static void calls_bound_progress(void **state)
{
    (void)state;
    static char text[LIMIT_PROGRESS + 100];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '!';
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL_WITH_TOKEN("1", "7"));
    uint64_t id = take_call(true);
    const struct buf *output = core_output(client.core);
    while (output->n < LIMIT_OUTPUT_BACKLOG) {
        size_t before = output->n;
        client_output(id, str_make(text, sizeof text));
        assert_memory(output->n > before);
        assert_in_range(output->n - before, LIMIT_PROGRESS,
                        LIMIT_PROGRESS + 200);
        assert_true(output->p[output->n - 5] == '!');
    }
    size_t full = output->n;
    client_output(id, STR("more than the client reads"));
    assert_int_equal(output->n, full);
    buf_consume(core_output(client.core), full);
    client_output(id, STR("again"));
    client_expect(PROGRESS("7", "…\"again\""));
}

/* A notification is never in the array of a batch's answers. */
static void calls_report_progress_outside_of_batches(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-03-26");
    client_send("[" CALL_WITH_TOKEN("1", "\"a\"") "," //
                CALL_WITH_TOKEN("2", "\"b\"") "]");
    uint64_t one = take_call(true);
    uint64_t two = take_call(true);
    client_output(two, STR("x"));
    client_expect(PROGRESS("\"b\"", "1,\"message\":\"x\""));
    client_reply(one, 0, STR("=> 1"));
    client_expect("");
    client_output(one, STR("late"));
    client_expect("");
    client_output(two, STR("y"));
    client_expect(PROGRESS("\"b\"", "2,\"message\":\"y\""));
    client_reply(two, 0, STR("=> 2"));
    client_expect("[" OK("1", "…") "," OK("2", "…") "]");
}

static void calls_of_a_batch_are_answered_together(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-03-26");
    client_send("[" CALL("1", "evaluate-lisp", "{\"code\":\"1\"}") "," //
                CALL("2", "evaluate-lisp", "{\"code\":\"2\"}") ","     //
                CALL("3", "evaluate-lisp", "{\"code\":\"3\"}") ","     //
                REQUEST("4", "ping") "]");
    client_expect("");
    uint64_t one =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 1");
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 2");
    uint64_t three =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 3");
    client_reply(three, 0, STR("=> 3"));
    client_reply(one, 0, STR("=> 1"));
    client_expect("");
    client_send(CANCEL("2")); // the last one missing
    client_expect("[" OK("4", "{}") "," OK("3", "…=> 3…") "," //
                  OK("1", "…=> 1…") "]");

    client_send("[" CALL("5", "evaluate-lisp", "{\"code\":\"5\"}") "]");
    client_send(CANCEL("5"));
    client_expect(""); // a batch of cancelled members is not answered
}

static void calls_work_in_steps(void **state)
{
    (void)state;
    call("1", &work_tool, "{}", v2025);
    call("2", &work_tool, "{}", v2025);
    expect("");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), at.now_ms);
    for (int i = 0; i < 4; i++)
        tick(1); // in turn
    expect("");
    tick(1);
    expect("{…\"id\":1,…worked…}\n");
    tick(1);
    expect("{…\"id\":2,…worked…}\n");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), -1);
    assert_int_equal(world.plans, 0);
    call("3", &work_tool, "{}", v2025);
    stop_work();
    expect("{…\"id\":3,…\"Stopped: the server is shutting "
           "down.\"}],\"isError\":true…}\n");
}

/* As many as may be under way begin; each goes on in its turn. */
static void calls_wait_for_their_turn_to_work(void **state)
{
    char id[16];

    (void)state;
    for (int i = 0; i < LIMIT_STINTS + 2; i++) {
        (void)snprintf(id, sizeof id, "%d", i + 1);
        call(id, &work_tool, "{}", v2025);
    }
    assert_memory(at.gate.stints == LIMIT_STINTS &&
                  at.gate.stint_count == LIMIT_STINTS + 2);
    for (int i = 0; i < 2 * LIMIT_STINTS; i++) {
        tick(1);
        assert_true(at.gate.stints <= LIMIT_STINTS);
    }
    expect("");
    cancel("5");
    cancel("6");
    for (int i = 0; i < LIMIT_STINTS; i++)
        tick(1);
    assert_int_equal(at.gate.stints, 0);
    assert_int_equal(at.gate.stint_count, 0);
    assert_int_equal(at.gate.stint_bytes, 0);
    assert_int_equal(world.plans, 0);
    expect("{…\"id\":1,…}\n{…\"id\":2,…}\n{…\"id\":3,…}\n{…\"id\":4,…}\n");
}

static void calls_refuse_too_much_work(void **state)
{
    (void)state;
    call("1", &work_tool, "{}", v2025);
    at.gate.stint_bytes += LIMIT_PENDING_BYTES;
    call("2", &work_tool, "{}", v2025);
    at.gate.stint_bytes -= LIMIT_PENDING_BYTES;
    expect("{…\"id\":2,…\"isError\":true…}\n");
    assert_int_equal(calls_waiting(&at.calls), 1);
    cancel("1");
}

/* --- At random ----------------------------------------------------------- */

#define CALLS 400

static struct arena arena;

static struct {
    uint32_t random;
    int answers[CALLS]; /* to the call of this number */
    bool cancelled[CALLS];
    int calls;
    uint64_t asked[CALLS]; /* numbers of open questions */
    int asked_n;
    uint64_t images[CALLS]; /* ids of calls to the image */
    int images_n;
} run;

static unsigned pick(unsigned n)
{
    run.random = run.random * 1664525u + 1013904223u;
    return (run.random >> 8) % n;
}

/* Takes one line that the client was sent. */
static void take_line(struct str line)
{
    struct json_error error;
    const struct str before = STR("\"ecl-mcp-");
    struct json message;
    double id;

    assert_ok(json_parse(&arena, line, &message, &error));
    struct str text = json_raw(json_get(message, "id"));
    if (json_is_string(json_get(message, "method"), "elicitation/create")) {
        assert_true(str_starts(text, before));
        run.asked[run.asked_n++] = strtoull(text.p + before.n, NULL, 10);
    } else if (json_number(json_get(message, "id"), &id) == ST_OK) {
        int n = (int)id;
        assert_false(run.cancelled[n]);
        run.answers[n]++;
        assert_true(run.answers[n] == 1);
    } else {
        assert_true(json_is_string(json_get(message, "method"),
                                   "notifications/cancelled") ||
                    json_is_string(json_get(message, "method"),
                                   "notifications/progress"));
    }
}

static void take_output(void)
{
    struct str rest = buf_view(&at.output);

    while (rest.n > 0) {
        const char *end = memchr(rest.p, '\n', rest.n);
        assert_non_null(end);
        size_t n = (size_t)(end - rest.p);
        take_line(str_make(rest.p, n));
        rest = str_make(rest.p + n + 1, rest.n - n - 1);
    }
    arena_release(&arena);
    buf_reset(&at.output);
    struct str body;
    struct wire_head head;
    while (wire_frame(buf_view(&at.image.out), &head, &body) == ST_OK) {
        if (head.kind == WIRE_CALL)
            run.images[run.images_n++] = head.id;
        buf_consume(&at.image.out, WIRE_HEAD + head.size);
    }
}

static void start_one(void)
{
    static const struct tool *const tools[] = {&write_tool,     &review_tool,
                                               &image_tool,     &work_tool,
                                               &interview_tool, &editor_tool};
    const struct tool *tool = tools[pick(6)];
    struct manner manner = {.version = MCP_2025_06_18,
                            .cannot_ask = pick(8) == 0,
                            .token = pick(2) ? "\"t\"" : NULL};
    char id[20];

    if (run.calls == CALLS)
        return;
    if (pick(3) == 0)
        manner.version = MCP_2026_07_28;
    snprintf(id, sizeof id, "%d", run.calls++);
    call(id, tool, !tool->fields[0].name ? "{}" : "{\"text\":\"x\"}", manner);
}

static void answer_one(void)
{
    static const char *const answers[] = {
        APPROVE, FORM("{\"decision\":\"deny\"}"), FORM("{\"n\":1}"),
        "\"result\":{\"action\":\"cancel\"}", "\"error\":{}"};
    unsigned which = pick(5);
    char id[40];

    if (run.asked_n == 0)
        return;
    unsigned i = pick((unsigned)run.asked_n);
    snprintf(id, sizeof id, "\"ecl-mcp-%llu\"",
             (unsigned long long)run.asked[i]);
    if (pick(10) > 0) // or else the question is answered again
        run.asked[i] = run.asked[--run.asked_n];
    answer_with(id, answers[which]);
}

static void cancel_one(void)
{
    char id[20];

    if (run.calls == 0)
        return;
    unsigned n = pick((unsigned)run.calls);
    snprintf(id, sizeof id, "%u", n);
    cancel(id);
    if (run.answers[n] == 0)
        run.cancelled[n] = true;
}

static void reply_one(void)
{
    if (run.images_n == 0)
        return;
    unsigned i = pick((unsigned)run.images_n);
    uint64_t id = run.images[i];
    run.images[i] = run.images[--run.images_n];
    reply(id, STR("=> 1"));
}

/* The editor comes and goes. */
static void move_editor(void)
{
    if (!at.editor.connected) {
        editor_open(&at.editor);
        return;
    }
    editor_close(&at.editor);
    calls_editor_gone(&at.calls, &arena, at.now_ms);
}

/* The editor acknowledges or answers one of its newest requests, or an old
   one. */
static void let_editor_speak(void)
{
    static const char *const results[] = {"{\"decision\":\"approve\"}",
                                          "{\"decision\":\"deny\"}",
                                          "{\"text\":\"done\"}", "null"};
    struct json_error error;
    static const enum editor_kind kinds[] = {EDITOR_RECEIVED, EDITOR_WORKING,
                                             EDITOR_RESULT, EDITOR_RESULT};
    struct editor_message message = {.kind = kinds[pick(4)],
                                     .id = at.editor.last_id - pick(8)};

    assert_ok(
        json_parse(&arena, str_from(results[pick(4)]), &message.value, &error));
    if (at.editor.connected)
        calls_editor(&at.calls, &arena, &message, at.now_ms);
    buf_reset(&at.editor.output);
}

static void do_something(void)
{
    if (pick(20) == 0)
        move_editor();
    if (pick(2))
        let_editor_speak();
    switch (pick(6)) {
    case 0:
        tick((int64_t)pick(20000));
        break;
    case 1:
        answer_one();
        break;
    case 2:
        cancel_one();
        break;
    case 3:
        reply_one();
        break;
    default:
        start_one();
    }
    take_output();
}

static void play(uint32_t seed)
{
    memset(&run, 0, sizeof run);
    run.random = seed;
    while (run.calls < CALLS)
        do_something();
    while (run.images_n > 0) {
        reply_one();
        take_output();
    }
    finish();
    stop_work();
    take_output();
    for (int i = 0; i < CALLS; i++)
        assert_memory(run.answers[i] == !run.cancelled[i]);
    assert_int_equal(calls_waiting(&at.calls), 0);
    assert_int_equal(at.calls.pending.count[PENDING_ASKING_CLIENT], 0);
    assert_int_equal(at.calls.pending.asked_bytes, 0);
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), -1);
    for (enum pending_state s = PENDING_NEW; s <= PENDING_OVER; s++)
        assert_int_equal(at.calls.pending.count[s], 0);
    assert_memory(at.states.n > 0 && states_are_sound(buf_view(&at.states)));
}

/* How often TEXT is in BUF. */
static int count(const struct buf *buf, const char *text)
{
    int n = 0;

    for (size_t i = 0; i < buf->n; i++)
        n += str_starts(str_make(buf->p + i, buf->n - i), str_from(text));
    return n;
}

static void calls_survive_anything(void **state)
{
    int approved = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        play(seed);
        int n = count(&at.lines, " approved by human");
        assert_memory(n == count(&at.events, "before write") +
                               count(&at.events, "before review") +
                               count(&at.events, "before run") +
                               count(&at.events, "before edit"));
        approved += n;
        assert_int_equal(asker_end(state), 0);
        assert_int_equal(asker_begin(state), 0);
    }
    assert_true(approved > 100);
}

static int tear_down(void **state)
{
    arena_release(&arena);
    return asker_end(state);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)
#define ASKER_TEST(name, end)                                                  \
    cmocka_unit_test_setup_teardown(name, asker_begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_are_answered_in_the_order_of_replies),
        TEST(calls_are_cancelled_by_request_id),
        TEST(calls_report_progress),
        TEST(calls_take_strings_and_integers_as_tokens),
        TEST(calls_bound_progress),
        TEST(calls_report_progress_outside_of_batches),
        TEST(calls_of_a_batch_are_answered_together),
        ASKER_TEST(calls_work_in_steps, asker_end),
        ASKER_TEST(calls_wait_for_their_turn_to_work, asker_end),
        ASKER_TEST(calls_refuse_too_much_work, asker_end),
        ASKER_TEST(calls_survive_anything, tear_down),
    };
    return RUN_TESTS("calls", tests);
}
