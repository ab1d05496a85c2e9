/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of image.c. */
#include "base/limits.h"
#include "base/version.h"
#include "support/check.h"
#include "wire/image.h"

static struct image image;
static struct log sink;
static struct buf lines; /* of the log */
static struct buf input; /* frames as from the supervisor */
static struct image_call calls[3];

static void keep_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    buf_printf(&lines, "%s: ", log_level_name(level));
    buf_str(&lines, line);
    buf_byte(&lines, '\n');
}

static int set_up(void **state)
{
    (void)state;
    sink = (struct log){LOG_DEBUG, keep_line, NULL};
    image_init(&image, &sink);
    memset(calls, 0, sizeof calls);
    for (size_t i = 0; i < COUNT(calls); i++)
        calls[i].owner = &calls[i];
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    image_release(&image);
    buf_release(&lines);
    buf_release(&input);
    return 0;
}

static enum status send_call(struct image_call *call)
{
    struct image_task task = {.session = STR("main"),
                              .operation = STR("evaluate"),
                              .max_output = 10000,
                              .timeout_ms = 30000};
    image_begin_call(&image, &task);
    wire_put_string(&image.out, STR("code"));
    wire_put_string(&image.out, STR("1"));
    return image_send(&image, call);
}

static void put_text(enum wire_kind kind, unsigned flags, uint64_t id,
                     struct str text)
{
    size_t start = wire_begin(&input, kind, flags, id);
    wire_put_string(&input, text);
    assert_memory(!buf_failed(&input));
    wire_end(&input, start);
}

static void put_reply(uint64_t id, unsigned flags, struct str text)
{
    put_text(WIRE_REPLY, flags, id, text);
}

static void expect_reply(const struct image_call *call, bool error,
                         const char *text)
{
    struct image_reply reply;
    assert_memory(image_next(&image, &reply));
    assert_ptr_equal(reply.call, call);
    assert_ptr_equal(reply.call->owner, call);
    assert_memory(reply.error == error && str_eq(reply.text, str_from(text)));
    assert_false(reply.running);
}

static void expect_no_reply(void)
{
    struct image_reply reply;
    assert_false(image_next(&image, &reply));
}

static void image_writes_frames(void **state)
{
    (void)state;
    struct wire_head head;
    struct str body;
    int64_t n[3];
    image_finish(&image, 2000); // nothing was sent yet
    assert_int_equal(image.out.n, 0);
    assert_ok(send_call(&calls[0]));
    image_begin_read(&image, 3, 100, 200, STR("x"));
    assert_ok(image_send(&image, &calls[1]));
    image_stop(&image, &calls[0]);
    image_finish(&image, 2000);

    static const enum wire_kind kinds[] = {WIRE_HELLO, WIRE_CALL, WIRE_READ,
                                           WIRE_STOP, WIRE_FINISH};
    static const uint64_t ids[] = {0, 1, 2, 1, 0};
    static const size_t numbers[] = {1, 0, 3, 0, 1};
    static const int64_t wanted[][3] = {
        {WIRE_VERSION}, {0}, {3, 100, 200}, {0}, {2000}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        enum status status = wire_frame(buf_view(&image.out), &head, &body);
        assert_memory(status == ST_OK && head.kind == kinds[i]);
        assert_int_equal(head.id, ids[i]);
        for (size_t k = 0; k < numbers[i]; k++) {
            assert_ok(wire_take_int(&body, &n[k]));
            assert_int_equal(n[k], wanted[i][k]);
        }
        if (kinds[i] == WIRE_READ) {
            struct str pattern;
            assert_ok(wire_take_string(&body, &pattern));
            assert_text(pattern, "x");
        }
        assert_true(kinds[i] == WIRE_CALL || kinds[i] == WIRE_HELLO ||
                    body.n == 0);
        buf_consume(&image.out, WIRE_HEAD + head.size);
    }
    assert_int_equal(image.out.n, 0);
    assert_int_equal(image.calls, 2);
}

static void image_takes_frames_back(void **state)
{
    (void)state;
    image.broken = true;
    assert_int_equal(send_call(&calls[0]), ST_IO);
    assert_int_equal(image.out.n, 0);
    assert_false(buf_failed(&image.out));
    image.broken = false;
    enum status status = send_call(&calls[0]);
    if (status == ST_NOMEM) {
        assert_int_equal(image.out.n, 0);
        assert_false(buf_failed(&image.out));
        assert_int_equal(image.calls, 0);
    }
    assert_ok(status);
    assert_int_equal(calls[0].id, 1); // the one taken back used no id
}

static void put_welcome(int64_t version, const char *refusal)
{
    size_t start = wire_begin(&input, WIRE_WELCOME, 0, 0);
    wire_put_int(&input, version);
    wire_put_string(&input, STR("9.9"));
    wire_put_string(&input, str_from(refusal));
    wire_put_int(&input, 77);
    assert_memory(!buf_failed(&input));
    wire_end(&input, start);
}

/* The words of a supervisor that will not serve this front. */
static void image_reads_refusals(void **state)
{
    (void)state;
    static const struct {
        int64_t version;
        const char *refusal;
        const char *text;
    } cases[] = {
        {WIRE_VERSION + 1, "",
         "The Lisp images are kept by ecl-mcp 9.9, this server is "
         "ecl-mcp " ECL_MCP_VERSION ", and they speak different versions of "
         "the image protocol. Both must come from the same build."},
        {WIRE_VERSION, "too many are here",
         "The supervisor of the Lisp images refuses this server: too many are "
         "here."},
    };
    assert_ok(send_call(&calls[0]));
    put_welcome(WIRE_VERSION, "");
    put_reply(calls[0].id, 0, STR("first"));
    image_feed(&image, buf_view(&input));
    expect_reply(&calls[0], false, "first");
    expect_no_reply();
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_reset(&input);
        assert_ok(send_call(&calls[0]));
        put_welcome(cases[i].version, cases[i].refusal);
        put_reply(calls[0].id, 0, STR("not read"));
        image_feed(&image, buf_view(&input));
        expect_reply(&calls[0], true, cases[i].text);
        expect_no_reply();
        assert_true(str_eq(image_fault(&image), str_from(cases[i].text)));
        assert_int_equal(send_call(&calls[0]), ST_IO);
        image_renew(&image);
    }
}

/* The supervisor is lost, and another one comes: each call has one answer, and
   the new supervisor is greeted. */
static void image_serves_the_next_supervisor(void **state)
{
    (void)state;
    struct wire_head head;
    struct str body;
    struct str text;
    int64_t n;
    struct image_reply reply;
    assert_ok(send_call(&calls[0]));
    assert_ok(send_call(&calls[1]));
    put_welcome(WIRE_VERSION, "");
    put_reply(calls[0].id, 0, STR("first"));
    image_feed(&image, str_make(input.p, input.n - 1)); // all but one byte
    assert_memory(!image_next(&image, &reply));
    image_lose(&image, STR("Lost."));
    for (int i = 0; i < 2; i++) {
        assert_true(image_next(&image, &reply));
        assert_true(reply.error && !reply.running);
        assert_text(reply.text, "Lost.");
    }
    expect_no_reply();
    assert_int_equal(send_call(&calls[0]), ST_IO);
    image_feed(&image, STR("late"));
    image_renew(&image);
    expect_no_reply();
    assert_int_equal(image.out.n, 0);
    assert_ok(send_call(&calls[2]));
    assert_ok(wire_frame(buf_view(&image.out), &head, &body));
    assert_int_equal(head.kind, WIRE_HELLO);
    assert_ok(wire_take_int(&body, &n));
    assert_int_equal(n, WIRE_VERSION);
    assert_ok(wire_take_string(&body, &text));
    assert_text(text, ECL_MCP_VERSION);
    assert_ok(wire_take_int(&body, &n));
    assert_int_equal(n, 77); // the lost supervisor's
    buf_reset(&input);
    put_reply(calls[2].id, 0, STR("third"));
    image_feed(&image, buf_view(&input));
    expect_reply(&calls[2], false, "third");
    expect_no_reply();
}

static void image_finds_replies_in_any_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(calls); i++)
        assert_ok(send_call(&calls[i]));
    put_reply(calls[2].id, 0, STR("third"));
    put_reply(calls[0].id, WIRE_ERROR, STR("first"));
    put_reply(calls[1].id, 0, STR(""));
    image_feed(&image, buf_view(&input));
    expect_reply(&calls[2], false, "third");
    expect_reply(&calls[0], true, "first");
    expect_reply(&calls[1], false, "");
    expect_no_reply();
    assert_int_equal(image.calls, 0);
    assert_int_equal(image.bytes, 0);
}

static void image_takes_replies_in_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 40; piece++) {
        assert_ok(send_call(&calls[0]));
        assert_ok(send_call(&calls[1]));
        buf_reset(&input);
        put_reply(calls[0].id, 0, STR("one"));
        put_reply(calls[1].id, 0, STR("two"));
        struct image_call *wanted = &calls[0];
        struct image_reply reply;
        for (size_t at = 0; at < input.n; at += piece) {
            size_t n = input.n - at < piece ? input.n - at : piece;
            image_feed(&image, str_make(input.p + at, n));
            while (image_next(&image, &reply)) {
                assert_ptr_equal(reply.call, wanted);
                assert_memory(!reply.error);
                assert_true(reply.text.n == 3);
                wanted++;
            }
        }
        assert_ptr_equal(wanted, &calls[2]);
    }
}

static void image_ignores_unexpected_frames(void **state)
{
    (void)state;
    assert_ok(send_call(&calls[0]));
    put_reply(77, 0, STR("lost"));
    size_t start = wire_begin(&input, (enum wire_kind)99, 0, calls[0].id);
    assert_memory(!buf_failed(&input));
    wire_end(&input, start);
    put_reply(calls[0].id, 0, STR("found"));
    image_feed(&image, buf_view(&input));
    expect_reply(&calls[0], false, "found");
    expect_no_reply();
    assert_memory(str_eq(buf_view(&lines),
                         STR("warn: image: reply to unknown call 77\n")));
}

static void image_tells_output_from_replies(void **state)
{
    (void)state;
    struct image_reply reply;
    assert_ok(send_call(&calls[0]));
    assert_ok(send_call(&calls[1]));
    put_text(WIRE_OUTPUT, 0, 77, STR("of no call"));
    put_text(WIRE_OUTPUT, 0, calls[1].id, STR("line"));
    put_reply(calls[1].id, 0, STR("=> 1"));
    put_text(WIRE_OUTPUT, 0, calls[1].id, STR("too late"));
    size_t start = wire_begin(&input, WIRE_OUTPUT, 0, calls[0].id);
    assert_memory(!buf_failed(&input)); // a body without text
    wire_end(&input, start);
    image_feed(&image, buf_view(&input));
    assert_true(image_next(&image, &reply));
    assert_ptr_equal(reply.call, &calls[1]);
    assert_true(reply.running && !reply.error);
    assert_text(reply.text, "line");
    expect_reply(&calls[1], false, "=> 1");
    expect_no_reply();
    assert_int_equal(image.calls, 1);
    assert_int_equal(lines.n, 0);
}

static void image_answers_for_a_reply_without_text(void **state)
{
    (void)state;
    assert_ok(send_call(&calls[0]));
    size_t start = wire_begin(&input, WIRE_REPLY, 0, calls[0].id);
    wire_put_int(&input, 5);
    assert_memory(!buf_failed(&input));
    wire_end(&input, start);
    image_feed(&image, buf_view(&input));
    expect_reply(&calls[0], true,
                 "The answer from the Lisp image could not be read.");
}

static void image_ends_all_calls_when_bytes_make_no_sense(void **state)
{
    (void)state;
    assert_ok(send_call(&calls[0]));
    assert_ok(send_call(&calls[1]));
    image_feed(&image, STR("\xff\xff\xff\xff this is no frame"));
    struct image_reply reply;
    for (int i = 0; i < 2; i++) {
        assert_true(image_next(&image, &reply));
        assert_true(reply.error);
        assert_text(reply.text, "The connection to the Lisp image is broken.");
    }
    expect_no_reply();
    assert_int_equal(send_call(&calls[2]), ST_IO);
    image_feed(&image, STR("more"));
    expect_no_reply();
}

/* A frame's body that does not fit into memory costs only its own call. */
static void image_skips_a_body_without_memory(void **state)
{
    (void)state;
    static char text[100 * 1000];
    memset(text, 'x', sizeof text);
    assert_ok(send_call(&calls[0]));
    assert_ok(send_call(&calls[1]));
    assert_memory(buf_reserve(&input, 2 * sizeof text) != NULL);
    put_reply(calls[0].id, 0, str_make(text, sizeof text));
    put_reply(calls[1].id, 0, STR("two"));

    struct image_reply reply = {.call = NULL};
    size_t seen = 0;
    bool lost = false;
    for (size_t at = 0; at < input.n; at += 7000) {
        size_t n = input.n - at < 7000 ? input.n - at : 7000;
        image_feed(&image, str_make(input.p + at, n));
        while (image_next(&image, &reply)) {
            assert_ptr_equal(reply.call, &calls[seen++]);
            if (seen == 1 && reply.error) {
                lost = true;
                assert_text(reply.text, "The answer was lost: out of memory.");
            } else if (seen == 1) {
                assert_int_equal(reply.text.n, sizeof text);
            }
        }
    }
    assert_int_equal(seen, 2);
    assert_int_equal(lost || reply.error, check_memory_is_back());
}

static void image_limits_waiting_calls(void **state)
{
    (void)state;
    struct image_call *many =
        test_calloc(LIMIT_PENDING_CALLS + 1, sizeof *many);
    enum status status = ST_OK;
    size_t n = 0;
    while (n <= LIMIT_PENDING_CALLS) {
        status = send_call(&many[n]);
        buf_reset(&image.out); // the supervisor takes it at once
        if (status != ST_OK)
            break;
        n++;
    }
    size_t taken = 0;
    while (image_take(&image) != NULL)
        taken++;
    assert_int_equal(taken, n);
    assert_int_equal(image.bytes, 0);
    test_free(many);
    assert_status(status, ST_LIMIT);
    assert_int_equal(n, LIMIT_PENDING_CALLS);
}

static void image_limits_waiting_bytes(void **state)
{
    (void)state;
    image.bytes = LIMIT_PENDING_BYTES;
    // a lone call may be of any size
    assert_ok(send_call(&calls[0]));
    assert_status(send_call(&calls[1]), ST_LIMIT);
    image.bytes = calls[0].bytes;
    assert_ok(send_call(&calls[1]));
    calls[2].owner_bytes = LIMIT_PENDING_BYTES; // the owner's bytes count, too
    assert_status(send_call(&calls[2]), ST_LIMIT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(image_writes_frames),
        TEST(image_takes_frames_back),
        TEST(image_reads_refusals),
        TEST(image_serves_the_next_supervisor),
        TEST(image_finds_replies_in_any_order),
        TEST(image_takes_replies_in_pieces),
        TEST(image_ignores_unexpected_frames),
        TEST(image_tells_output_from_replies),
        TEST(image_answers_for_a_reply_without_text),
        TEST(image_ends_all_calls_when_bytes_make_no_sense),
        TEST(image_skips_a_body_without_memory),
        TEST(image_limits_waiting_calls),
        TEST(image_limits_waiting_bytes),
    };
    return RUN_TESTS("image", tests);
}
