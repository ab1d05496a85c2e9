/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of core.c: bytes in, bytes out, limits, the end. */
#include "base/limits.h"
#include "core/core.h"
#include "support/check.h"
#include "support/client.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":\"ä\",\"method\":\"ping\"}"
#define PONG "{\"jsonrpc\":\"2.0\",\"id\":\"ä\",\"result\":{}}"

static void begin(const char *version)
{
    client_restart((struct core_config){.tools = NULL});
    client_initialize(version);
}

/* Appends a call of evaluate-lisp with ID and a code of N letters to LINE. */
static void append_code(struct buf *line, int id, size_t n)
{
    buf_printf(line,
               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
               "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":"
               "{\"code\":\"",
               id);
    char *to = buf_reserve(line, n);
    if (to) {
        memset(to, 'x', n);
        line->n += n;
    }
    buf_str(line, STR("\"}}}\n"));
}

/* Sends such a call. */
static void send_code(int id, size_t n)
{
    struct buf line = BUF_EMPTY;
    append_code(&line, id, n);
    bool good = !buf_failed(&line);
    if (good)
        core_feed(client.core, line.p, line.n, client.now_ms);
    client_let_read();
    buf_release(&line);
    assert_memory(good);
}

static void core_knows_tool_sets(void **state)
{
    (void)state;
    assert_true(core_has_tool_sets(core_tool_sets()) ||
                strchr(core_tool_sets(), ' ') != NULL);
    assert_true(core_has_tool_sets("eval"));
    assert_true(core_has_tool_sets("session,eval"));
    assert_false(core_has_tool_sets("evil"));
    assert_false(core_has_tool_sets(""));
    assert_null(core_new(&(struct core_config){.tools = "evil"}));
    core_free(NULL);
}

static void core_takes_any_pieces(void **state)
{
    (void)state;
    const struct str text =
        STR("\xef\xbb\xbf" PING "\r\n\n  \r\n  " PING " \n");
    for (size_t piece = 1; piece < 50; piece++) {
        client_restart((struct core_config){.tools = NULL});
        for (size_t at = 0; at < text.n; at += piece) {
            size_t n = text.n - at < piece ? text.n - at : piece;
            core_feed(client.core, text.p + at, n, 0);
        }
        client_expect(PONG "\n" PONG);
    }
}

static void core_refuses_large_messages(void **state)
{
    (void)state;
    client_restart((struct core_config){.max_message = 5000});
    client_initialize("2025-11-25");
    send_code(1, 5000);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                  "\"message\":\"Invalid Request: message larger than 5000 "
                  "bytes\",\"data\":\"Message larger than 5000 bytes\"}}");
    client_send(PING);
    client_expect(PONG);
    send_code(2, 4000);
    client_expect("");
    struct str body;
    assert_int_equal(client_frame(&body).kind, WIRE_CALL);
}

static void core_refuses_deep_and_wide_json(void **state)
{
    (void)state;
    static char line[3 * 1024 * 1024 + 10];
    begin("2025-11-25");
    memset(line, '[', 100 * 1000);
    client_send(line);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
                  "\"message\":\"Parse error: nesting deeper than 512…\",…}}");
    line[0] = '[';
    for (size_t i = 1; i + 1 < sizeof line; i += 2) {
        line[i] = '1';
        line[i + 1] = ',';
    }
    line[sizeof line - 1] = '\0';
    client_send(line);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
                  "\"message\":\"Invalid Request: more than 262144 …\",…}}");
    client_send(PING);
    client_expect(PONG);
}

static void core_survives_bad_lines(void **state)
{
    (void)state;
    begin("2025-11-25");
    for (int i = 0; i < 200; i++) {
        client_send("}{");
        client_expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{…}}");
    }
    client_send(PING);
    client_expect(PONG);
}

static void core_stops_reading_when_answers_pile_up(void **state)
{
    enum { ANSWER = 30000 }; // more than one has bytes

    (void)state;
    begin("2025-11-25");
    size_t n = 0;
    while (core_wants_input(client.core)) {
        client_send("{\"jsonrpc\":\"2.0\",\"id\":1,"
                    "\"method\":\"tools/list\"}");
        assert_memory(core_output(client.core)->n > n + 1000);
        n = core_output(client.core)->n;
    }
    assert_in_range(n, LIMIT_OUTPUT_BACKLOG, LIMIT_OUTPUT_BACKLOG + ANSWER);
    buf_consume(core_output(client.core), ANSWER);
    assert_true(core_wants_input(client.core));
    buf_consume(core_output(client.core), n);
    client_send(PING); // frees the storage of the large output
    client_expect(PONG);
    assert_true(core_output(client.core)->cap < 100 * 1024);
}

static void core_limits_waiting_calls(void **state)
{
    (void)state;
    begin("2025-11-25");
    for (int i = 0; i < LIMIT_PENDING_CALLS; i++) {
        send_code(i, 1);
        client_expect("");
        struct str body;
        assert_memory(client_frame(&body).kind == WIRE_CALL);
    }
    send_code(9999, 1);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":9999,\"result\":{\"content\":"
                  "[{\"type\":\"text\",\"text\":\"Too many calls are waiting: "
                  "the limit is 4096 calls and 67108864 bytes of "
                  "arguments.…\"}],\"isError\":true,…}}");
    client_expect_no_frame();
    client_reply(1, 0, STR("=> 1"));
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":…}");
    send_code(10000, 1);
    client_expect("");
    client_reply(LIMIT_PENDING_CALLS, 0, STR("=> 1"));
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":4095,\"result\":…}");
}

static void core_carries_large_texts(void **state)
{
    (void)state;
    const size_t large = 10u * 1024 * 1024;
    begin("2025-11-25");
    send_code(1, large);
    struct str body;
    struct str text = STR("");
    struct wire_head head = client_frame(&body);
    while (body.n > 0)
        if (wire_take_string(&body, &text) != ST_OK) {
            int64_t n;
            assert_ok(wire_take_int(&body, &n));
        }
    assert_int_equal(text.n, large);
    client_reply(head.id, 0, text);
    struct str got = buf_view(core_output(client.core));
    assert_memory(got.n > large);
    assert_true(str_starts(
        got, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":"
                 "[{\"type\":\"text\",\"text\":\"xxx")));
}

/* The strand of the core pauses after so many steps, at least, while it does
   what was begun. */
static void expect_steps(int steps)
{
    int done = 0;

    for (; core_deadline(client.core, 0) == 0; done++) {
        client_expect("");
        core_tick(client.core, 0);
    }
    assert_memory(done >= steps);
}

static void core_writes_large_answers_in_steps(void **state)
{
    (void)state;
    static char text[8u * 1024 * 1024];
    struct str body;
    struct buf frame = BUF_EMPTY;

    begin("2025-11-25");
    memset(text, '\1', sizeof text); // each takes an escape of six bytes
    send_code(1, 1);
    struct wire_head head = client_frame(&body);
    size_t start = wire_begin(&frame, WIRE_REPLY, 0, head.id);
    wire_put_string(&frame, str_make(text, sizeof text));
    bool good = !buf_failed(&frame);
    if (good) {
        wire_end(&frame, start);
        core_image_feed(client.core, frame.p, frame.n, 0);
    }
    buf_release(&frame); // the core does not need it
    assert_memory(good);
    assert_memory(!core_wants_frames(client.core));
    expect_steps(30);
    assert_memory(core_output(client.core)->n > 6 * sizeof text);
    buf_reset(core_output(client.core));
}

/* What comes from all sides while a long message is read waits, and is done
   afterwards. */
static void core_keeps_what_comes_while_it_is_busy(void **state)
{
    (void)state;
    static char text[4u * 1024 * 1024];
    struct buf frames = BUF_EMPTY;
    struct str body;

    begin("2025-11-25");
    send_code(1, 1);
    send_code(2, 1);
    uint64_t first = client_frame(&body).id;
    uint64_t second = client_frame(&body).id;
    memset(text, ' ', sizeof text);
    memcpy(text, "[1", 2);
    text[sizeof text - 1] = ']';
    core_feed(client.core, text, sizeof text, 0);
    core_feed(client.core, "\n", 1, 0);
    assert_memory(!core_wants_input(client.core));
    for (uint64_t id = first; id <= second; id++) {
        size_t start = wire_begin(&frames, WIRE_REPLY, 0, id);
        wire_put_string(&frames, STR("=> 1"));
        bool good = !buf_failed(&frames);
        if (good) {
            wire_end(&frames, start);
            core_image_feed(client.core, frames.p, frames.n, 0);
        }
        buf_release(&frames);
        assert_memory(good);
    }
    core_feed(client.core, PING "\n", sizeof PING, 0);
    while (core_deadline(client.core, 0) == 0)
        core_tick(client.core, 0);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":…}\n"
                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":…}\n"
                  "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":…}\n" PONG);
}

/* A host that feeds a core while it is busy can tell that too much waits. */
static void core_tells_how_much_waits_while_it_is_busy(void **state)
{
    (void)state;
    static char text[LIMIT_OUTPUT_BACKLOG];

    begin("2025-11-25");
    memset(text, ' ', sizeof text);
    memcpy(text, "[1", 2);
    text[sizeof text - 2] = ']';
    text[sizeof text - 1] = '\n';
    core_feed(client.core, text, sizeof text, 0);
    assert_memory(!core_wants_input(client.core));
    assert_memory(core_output(client.core)->n == 0);
    memset(text, ' ', sizeof text);
    core_feed(client.core, text, sizeof text - 1, 0);
    assert_memory(!core_is_behind(client.core));
    core_feed(client.core, "\n", 1, 0);
    assert_memory(core_is_behind(client.core));
    while (core_deadline(client.core, 0) == 0)
        core_tick(client.core, 0);
    assert_memory(!core_is_behind(client.core));
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":…}");
}

/* Others are stopped while a call is being written: its frame stays whole. */
static void core_stops_others_between_two_frames(void **state)
{
    (void)state;
    const size_t large = 12u * 1024 * 1024;
    struct buf line = BUF_EMPTY;
    struct str body;
    struct str text = STR("");
    size_t stops = 0;

    begin("2025-11-25");
    send_code(1, 1);
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code x");
    append_code(&line, 2, large);
    bool good = !buf_failed(&line);
    if (good)
        core_feed(client.core, line.p, line.n, 0);
    buf_release(&line);
    assert_memory(good);
    while (core_deadline(client.core, 0) == 0) {
        core_stop_others(client.core); // before, in and after the frame
        core_tick(client.core, 0);
    }
    while (core_image_output(client.core)->n > 0) {
        struct wire_head head = client_frame(&body);

        stops += head.kind == WIRE_STOP && head.id == 0;
        while (head.kind == WIRE_CALL && body.n > 0)
            if (wire_take_string(&body, &text) != ST_OK) {
                int64_t n;
                assert_ok(wire_take_int(&body, &n));
            }
    }
    assert_memory(stops > 0);
    assert_memory(text.n == large);
}

/* Many messages that come at once are not all handled at once, and what was
   answered goes out. */
static void core_handles_many_messages_in_steps(void **state)
{
    (void)state;
    struct buf lines = BUF_EMPTY;

    begin("2025-11-25");
    for (int i = 0; i < 500; i++)
        buf_str(&lines, STR(PING "\n"));
    bool good = !buf_failed(&lines);
    core_feed(client.core, lines.p, lines.n, 0);
    buf_release(&lines);
    assert_memory(good);
    struct buf *output = core_output(client.core);
    size_t some = output->n;
    assert_memory(some > 0);
    assert_memory(!core_wants_input(client.core));
    buf_reset(output);
    size_t all = some;
    while (core_deadline(client.core, 0) == 0) {
        core_tick(client.core, 0);
        all += core_output(client.core)->n;
        buf_reset(core_output(client.core));
    }
    assert_memory(some < all / 4);
    assert_memory(all == 500 * sizeof PONG); // with its line end
}

static void core_finishes(void **state)
{
    (void)state;
    begin("2025-11-25");
    assert_false(core_is_idle(client.core));
    send_code(1, 1);
    send_code(2, 1);
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code x");
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code x");
    // the last line has no line end
    core_feed(client.core, PING, sizeof PING - 1, 0);
    client_expect("");
    core_finish(client.core, 2000, 1000);
    client_expect(PONG);
    client_expect_frame(WIRE_FINISH, "2000");
    assert_false(core_is_idle(client.core));
    assert_memory(!core_wants_input(client.core));

    core_finish(client.core, 2000, 1500); // would end later
    client_expect_no_frame();
    core_finish(client.core, 500, 1600);
    client_expect_frame(WIRE_FINISH, "500");

    client_send(PING);
    client_expect("");
    client_reply(1, WIRE_ERROR, STR("stopped"));
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":…true…}");
    assert_false(core_is_idle(client.core));
    client_reply(2, 0, STR("=> 1"));
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":…}");
    assert_true(core_is_idle(client.core));
}

static void core_does_not_wait_for_cancelled_calls(void **state)
{
    (void)state;
    begin("2025-11-25");
    send_code(1, 1);
    client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code x");
    client_send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":1}}");
    core_finish(client.core, 2000, 0);
    assert_memory(core_is_idle(client.core));
}

static void core_ends_with_calls_waiting(void **state)
{
    (void)state;
    begin("2025-03-26");
    send_code(1, 1);
    send_code(2, 1);
    client_send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":1}}");
    client_send("[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"reset-session\"}},"
                "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"reset-session\"}}]");
    client_expect(""); // client_end frees all of it
}

static void core_answers_when_the_supervisor_sends_nonsense(void **state)
{
    (void)state;
    begin("2025-11-25");
    send_code(1, 1);
    client_expect("");
    core_image_feed(client.core, "\xff\xff\xff\xff not a frame", 16, 0);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":"
                  "[{\"type\":\"text\",\"text\":\"The connection to the Lisp "
                  "image is broken.\"}],\"isError\":true,…}}");
    send_code(2, 1);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":…broken…}");
    client_send(PING);
    client_expect(PONG);
}

/* A message that is lost because memory runs out is answered, and the next one
   is served as if nothing had happened. */
static void core_recovers_from_lost_memory(void **state)
{
    (void)state;
    begin("2025-11-25");
    client_send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    struct str got = buf_view(core_output(client.core));
    bool answered =
        client_matches(got, "{\"jsonrpc\":\"2.0\",\"id\":1,…}\n") ||
        client_matches(got, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
                            "{\"code\":-32603,…}\n");
    assert_true(answered);
    check_memory_is_back();
    buf_consume(core_output(client.core), got.n);
    client_send(PING);
    got = buf_view(core_output(client.core));
    assert_true(client_matches(got, PONG "\n"));
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(core_knows_tool_sets),
        TEST(core_takes_any_pieces),
        TEST(core_refuses_large_messages),
        TEST(core_refuses_deep_and_wide_json),
        TEST(core_survives_bad_lines),
        TEST(core_stops_reading_when_answers_pile_up),
        TEST(core_limits_waiting_calls),
        TEST(core_carries_large_texts),
        TEST(core_writes_large_answers_in_steps),
        TEST(core_keeps_what_comes_while_it_is_busy),
        TEST(core_tells_how_much_waits_while_it_is_busy),
        TEST(core_stops_others_between_two_frames),
        TEST(core_handles_many_messages_in_steps),
        TEST(core_finishes),
        TEST(core_does_not_wait_for_cancelled_calls),
        TEST(core_ends_with_calls_waiting),
        TEST(core_answers_when_the_supervisor_sends_nonsense),
        TEST(core_recovers_from_lost_memory),
    };
    return RUN_TESTS("core", tests);
}
