/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of rpc.c. */
#include "json/rpc.h"
#include "support/check.h"

static struct arena arena;
static struct buf out;
static struct rpc_batch *batch;

static int set_up(void **state)
{
    (void)state;
    batch = NULL;
    return buf_reserve(&out, RPC_SPARE) == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    bool whole = out.n == 0 || out.p[out.n - 1] == '\n';
    if (batch)
        assert_int_equal(rpc_batch_done(batch, NULL), ST_OK);
    arena_release(&arena);
    buf_release(&out);
    return whole ? 0 : 1;
}

static struct rpc_to to_line(const char *id)
{
    return (struct rpc_to){.output = &out, .id = str_from(id)};
}

static struct rpc_message read_text(const char *text)
{
    struct json value;
    struct json_error error;
    struct rpc_message message;
    assert_ok(json_parse(&arena, str_from(text), &value, &error));
    assert_ok(rpc_read(&arena, value, &message));
    return message;
}

static void rpc_reads_requests(void **state)
{
    static const struct {
        const char *text, *id;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"m\"}", "1.0"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5e3,\"method\":\"m\"}", "1.5e3"},
        {"{\"method\":\"m\",\"id\":100000000000000000000,\"jsonrpc\":\"2.0\"}",
         "100000000000000000000"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}", "\"\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\",\"method\":\"\\u006d\"}",
         "\"\\u00e9\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":3,\"id\":4,\"method\":\"m\"}", "4"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}",
         "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":1}", "1"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rpc_message message = read_text(cases[i].text);
        assert_int_equal(message.kind, RPC_REQUEST);
        assert_true(str_eq(message.id, str_from(cases[i].id)));
        assert_text(message.method, "m");
        assert_true(json_is_absent(message.params));
    }
}

static void rpc_reads_params(void **state)
{
    (void)state;
    struct rpc_message message = read_text(
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"a\":[1]}}");
    assert_int_equal(message.kind, RPC_NOTIFICATION);
    assert_text(message.id, "null");
    assert_text(json_raw(message.params), "{\"a\":[1]}");

    // Notifications get no answer, so these cannot be refused.
    message =
        read_text("{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":\"p\"}");
    assert_int_equal(message.kind, RPC_NOTIFICATION);
    assert_true(json_is_absent(message.params));
}

static void rpc_ignores_responses(void **state)
{
    static const char *const cases[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":905,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1}}",
        "{\"id\":1,\"result\":null}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(read_text(cases[i]).kind, RPC_RESPONSE);
}

static void rpc_refuses(void **state)
{
    static const struct {
        const char *text, *id;
        enum rpc_code code;
        const char *fault;
    } cases[] = {
        {"5", "null", RPC_INVALID_REQUEST, "a message must be an object"},
        {"\"x\"", "null", RPC_INVALID_REQUEST, "a message must be an object"},
        {"[]", "null", RPC_INVALID_REQUEST, "a message must be an object"},
        {"{}", "null", RPC_INVALID_REQUEST, "missing required field: jsonrpc"},
        {"{\"id\":901,\"method\":\"ping\"}", "901", RPC_INVALID_REQUEST,
         "missing required field: jsonrpc"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", "1",
         RPC_INVALID_REQUEST, "field jsonrpc must be \"2.0\""},
        {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", "1",
         RPC_INVALID_REQUEST, "field jsonrpc must be \"2.0\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", "1", RPC_INVALID_REQUEST,
         "missing required field: method"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":5}", "\"a\"",
         RPC_INVALID_REQUEST, "field method must be a string"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", "null",
         RPC_INVALID_REQUEST, "field id must be a string or a number"},
        {"{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"method\":\"m\"}", "null",
         RPC_INVALID_REQUEST, "field id must be a string or a number"},
        {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", "null",
         RPC_INVALID_REQUEST, "field id must be a string or a number"},
        {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", "null",
         RPC_INVALID_REQUEST, "field id must be a string or a number"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":\"s\"}",
         "1", RPC_INVALID_REQUEST, "field params must be an object"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", "1",
         RPC_INVALID_PARAMS, "field params must be an object"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rpc_message message = read_text(cases[i].text);
        assert_int_equal(message.kind, RPC_INVALID);
        assert_int_equal(message.code, cases[i].code);
        assert_string_equal(message.fault, cases[i].fault);
        assert_true(str_eq(message.id, str_from(cases[i].id)));
    }
}

static void rpc_writes_results(void **state)
{
    (void)state;
    struct rpc_reply reply;
    struct rpc_to to = to_line("1.0");
    rpc_begin_result(&reply, &to);
    jsonw_object(&reply.json);
    jsonw_member_int(&reply.json, "n", 3);
    jsonw_end_object(&reply.json);
    assert_ok(rpc_end(&reply));
    assert_memory(
        str_eq(buf_view(&out),
               STR("{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":{\"n\":3}}\n")));
}

static void rpc_writes_notifications(void **state)
{
    (void)state;
    struct rpc_reply note;
    rpc_begin_notification(&note, &out, "notifications/x");
    jsonw_int(&note.json, 5);
    enum status status = rpc_end_notification(&note);
    if (status != ST_OK)
        assert_int_equal(out.n, 0);
    assert_ok(status);
    assert_text(
        buf_view(&out),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":5}\n");
    assert_true(out.cap - out.n >= RPC_SPARE);
}

static void rpc_writes_errors(void **state)
{
    (void)state;
    struct rpc_to to = to_line("\"a\"");
    assert_ok(rpc_error(&to, RPC_INVALID_REQUEST,
                        STR("missing required field: jsonrpc")));
    assert_memory(str_eq(
        buf_view(&out),
        STR("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32600,"
            "\"message\":\"Invalid Request: missing required field: jsonrpc\","
            "\"data\":\"Missing required field: jsonrpc\"}}\n")));
    buf_reset(&out);
    assert_ok(rpc_error(&to, RPC_INTERNAL_ERROR, STR("")));
    assert_memory(str_eq(
        buf_view(&out),
        STR("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32603,"
            "\"message\":\"Internal error\"}}\n")));
}

static void write_long_result(const struct rpc_to *to)
{
    static char text[100 * 1000];
    struct rpc_reply reply;
    memset(text, 'x', sizeof text);
    rpc_begin_result(&reply, to);
    jsonw_string(&reply.json, str_make(text, sizeof text));
    assert_ok(rpc_end(&reply));
}

/* An answer that does not fit into memory becomes a short one that does. */
static void rpc_answers_without_memory(void **state)
{
    (void)state;
    struct rpc_to to = to_line("17");
    write_long_result(&to);
    if (!check_memory_is_back())
        return;
    assert_text(buf_view(&out),
                "{\"jsonrpc\":\"2.0\",\"id\":17,\"error\":{\"code\":-32603,"
                "\"message\":\"Internal error: out of memory\","
                "\"data\":\"Out of memory\"}}\n");
    buf_reset(&out);
    write_long_result(&to);
    assert_true(out.n > 100 * 1000);
    assert_false(buf_failed(&out));
}

/* Without room there is no half line, only a status. */
static void rpc_gives_up_without_room(void **state)
{
    (void)state;
    struct buf full = BUF_EMPTY;
    char small[8] = "";
    struct rpc_to to = {.output = &full, .id = STR("1")};
    struct rpc_reply reply;
    full.p = small; // it can never grow: appends fail from the start
    full.cap = sizeof small;
    full.failed = true;
    rpc_begin_result(&reply, &to);
    jsonw_null(&reply.json);
    assert_int_equal(rpc_end(&reply), ST_NOMEM);
    assert_int_equal(full.n, 0);
    assert_false(full.failed);
    full.failed = true;
    rpc_begin_notification(&reply, &full, "n");
    jsonw_null(&reply.json);
    assert_int_equal(rpc_end_notification(&reply), ST_NOMEM);
    assert_int_equal(full.n, 0);
    assert_false(full.failed);
}

static void answer_null(const char *id)
{
    struct rpc_reply reply;
    struct rpc_to to = to_line(id);
    to.batch = batch;
    rpc_begin_result(&reply, &to);
    jsonw_null(&reply.json);
    assert_ok(rpc_end(&reply));
}

/* Marks the batch as gone first, so that tear_down leaves it alone. */
static void finish_batch(void)
{
    struct rpc_batch *last = batch;
    batch = NULL;
    assert_ok(rpc_batch_done(last, &out));
}

static void rpc_writes_batches_together(void **state)
{
    (void)state;
    batch = rpc_batch_new();
    assert_memory(batch != NULL);
    rpc_batch_wait(batch); // a member that answers later
    answer_null("1");
    struct rpc_to to = {.output = &out, .batch = batch, .id = STR("2")};
    assert_ok(rpc_error(&to, RPC_METHOD_NOT_FOUND, STR("")));
    assert_ok(rpc_batch_done(batch, &out)); // all members are read
    assert_int_equal(out.n, 0);
    answer_null("3");
    finish_batch();
    assert_memory(
        str_eq(buf_view(&out),
               STR("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null},"
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,"
                   "\"message\":\"Method not found\"}},"
                   "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":null}]\n")));
}

static void rpc_is_silent_about_an_empty_batch(void **state)
{
    (void)state;
    batch = rpc_batch_new();
    assert_memory(batch != NULL);
    finish_batch();
    assert_int_equal(out.n, 0);
}

static void rpc_reports_a_lost_batch(void **state)
{
    (void)state;
    batch = rpc_batch_new();
    assert_memory(batch != NULL);
    struct rpc_to to = {.output = &out, .batch = batch, .id = STR("1")};
    answer_null("0");
    write_long_result(&to);
    bool lost = batch->lost;
    finish_batch();
    if (lost)
        assert_text(buf_view(&out),
                    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-"
                    "32603,\"message\":\"Internal error: out of memory\","
                    "\"data\":\"Out of memory\"}}\n");
    else
        assert_memory(out.n > 100 * 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rpc_reads_requests),
        TEST(rpc_reads_params),
        TEST(rpc_ignores_responses),
        TEST(rpc_refuses),
        TEST(rpc_writes_results),
        TEST(rpc_writes_notifications),
        TEST(rpc_writes_errors),
        TEST(rpc_answers_without_memory),
        TEST(rpc_gives_up_without_room),
        TEST(rpc_writes_batches_together),
        TEST(rpc_is_silent_about_an_empty_batch),
        TEST(rpc_reports_a_lost_batch),
    };
    return RUN_TESTS("rpc", tests);
}
