/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of mcp.c, handshake.c, request.c and the methods, through the core:
   messages and their answers. */
#include <stdio.h>

#include "base/limits.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"

static void mcp_needs_initialize_first(void **state)
{
    static const struct client_exchange cases[] = {
        {REQUEST("1", "ping"), OK("1", "{}")},
        {REQUEST("2", "tools/list"),
         FAIL("2", "-32600", "\"Invalid Request: server not initialized\",…")},
        {REQUEST("3", "no/such"),
         FAIL("3", "-32600", "\"Invalid Request: server not initialized\",…")},
        {CALL("4", "evaluate-lisp", "{\"code\":\"1\"}"),
         FAIL("4", "-32600", "\"Invalid Request: server not initialized\",…")},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", ""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}", ""},
    };
    (void)state;
    client_play(cases, COUNT(cases));
    client_initialize("2025-11-25");
    client_send(REQUEST("5", "tools/list"));
    client_expect(OK("5", "{\"tools\":[…]}"));
    client_send("{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"initialize\"}");
    client_expect(
        FAIL("6", "-32600", "\"Invalid Request: already initialized\",…"));
    client_expect_no_frame();
}

static void mcp_negotiates_the_version(void **state)
{
    static const char *const cases[][2] = {
        {"2024-11-05", "2024-11-05"}, {"2025-03-26", "2025-03-26"},
        {"2025-06-18", "2025-06-18"}, {"2025-11-25", "2025-11-25"},
        {"2026-07-28", "2025-11-25"}, {"1999-01-01", "2025-11-25"},
        {"", "2025-11-25"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char line[300];
        char answer[300];
        client_restart((struct core_config){.tools = NULL});
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\","
                 "\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"\\u001b[31m\"}}}",
                 cases[i][0]);
        snprintf(answer, sizeof answer,
                 OK("\"i\"",
                    "{\"protocolVersion\":\"%s\",\"serverInfo\":"
                    "{\"name\":\"ecl-mcp\",…\"version\":\"" //
                    ECL_MCP_VERSION "\"…},\"capabilities\":"
                    "{\"tools\":{},\"resources\":{},\"prompts\":{}%s},"
                    "\"instructions\":\"Common Lisp REPL…\"}"),
                 cases[i][1],
                 strcmp(cases[i][1], "2024-11-05") > 0 ? ",\"completions\":{}"
                                                       : "");
        client_send(line);
        client_expect(answer);
    }
}

static void mcp_shows_what_the_version_knows(void **state)
{
    static const struct {
        const char *version;
        bool title, description;
    } cases[] = {
        {"2024-11-05", false, false},
        {"2025-03-26", false, false},
        {"2025-06-18", true, false},
        {"2025-11-25", true, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        client_restart((struct core_config){.tools = NULL});
        client_initialize(cases[i].version);
        client_send(REQUEST("1", "tools/list"));
        struct str got = buf_view(core_output(client.core));
        assert_memory(client_matches(got, "…\"annotations\":{\"title\":…"));
        assert_memory(client_matches(got, "…\"evaluate-lisp\",\"title\":…") ==
                      cases[i].title);
        assert_false(client_matches(got, "…resultType…"));
        assert_false(client_matches(got, "…ttlMs…"));
        assert_in_range(got.n, 100, 22000);
    }
}

static void mcp_names_what_initialize_lacks(void **state)
{
#define INIT(params)                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"      \
    "{" params "}}"
#define MISSING(name)                                                          \
    FAIL("1", "-32602",                                                        \
         "\"Invalid params: missing required field: " name "\",…")
    static const struct client_exchange cases[] = {
        {REQUEST("1", "initialize"), MISSING("protocolVersion")},
        {INIT("\"capabilities\":{},\"clientInfo\":{}"),
         MISSING("protocolVersion")},
        {INIT("\"protocolVersion\":\"2025-11-25\",\"clientInfo\":{}"),
         MISSING("capabilities")},
        {INIT("\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}"),
         MISSING("clientInfo")},
        {INIT("\"protocolVersion\":7,\"capabilities\":{},\"clientInfo\":{}"),
         FAIL("1", "-32602",
              "\"Invalid params: field protocolVersion must be a string\",…")},
        {INIT("\"protocolVersion\":\"\",\"capabilities\":[]"),
         FAIL("1", "-32602",
              "\"Invalid params: field capabilities must be an object\",…")},
    };
    (void)state;
    client_play(cases, COUNT(cases));
    client_initialize("2025-11-25"); // none of those has counted
}

static void mcp_answers_protocol_errors(void **state)
{
    static const struct client_exchange cases[] = {
        {"{oops", FAIL("null", "-32700", "\"Parse error: …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xff\"}",
         FAIL("null", "-32700", "\"Parse error: invalid UTF-8 …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}",
         FAIL("null", "-32700", "\"Parse error: unpaired surrogate …\",…")},
        {"5", FAIL("null", "-32600", "\"Invalid Request: …\",…")},
        {"[]", FAIL("null", "-32600", "\"Invalid Request: empty batch\",…")},
        {"{\"not-jsonrpc\":\"2.0\",\"method\":\"initialize\"}",
         FAIL("null", "-32600",
              "\"Invalid Request: missing required field: jsonrpc\","
              "\"data\":\"Missing required field: jsonrpc\"")},
        {"{\"jsonrpc\":\"2.0\",\"id\":8}",
         FAIL("8", "-32600",
              "\"Invalid Request: missing required field: method\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":\"x\"}",
         FAIL("9", "-32600", "\"Invalid Request: field params must be …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":[1]}",
         FAIL("9", "-32602", "\"Invalid params: field params must be …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
         FAIL("null", "-32600", "\"Invalid Request: field id must be …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"ping\"}",
         OK("1.0", "{}")},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\",\"method\":\"ping\"}",
         OK("\"\\u00e9\"", "{}")},
        {REQUEST("10", "unknown-method"),
         FAIL("10", "-32601",
              "\"Method not found: unknown-method\","
              "\"data\":\"Method 'unknown-method' is not supported\"")},
        {REQUEST("11", "resources/subscribe"), FAIL("11", "-32601", "…")},
        {REQUEST("12", "logging/setLevel"), FAIL("12", "-32601", "…")},
        {REQUEST("13", "notifications/initialized"), FAIL("13", "-32601", "…")},
        {REQUEST("14", "a\\u0000\\n\\\"b"),
         FAIL("14", "-32601", "\"Method not found: …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":905,\"result\":{}}", ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1}}", ""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nope\"}", ""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":7}", ""},
        {CANCEL("777"), ""},
        {CANCEL("{}"), ""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}", ""},
    };
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-06-18");
    client_play(cases, COUNT(cases));
}

static void mcp_lists_one_page(void **state)
{
    static const struct client_exchange cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
         "\"params\":{\"cursor\":\"bogus\"}}",
         FAIL("1", "-32602", "\"Invalid params: unknown cursor: …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\","
         "\"params\":{\"cursor\":null}}",
         OK("2", "{\"tools\":[…]}")},
    };
    (void)state;
    client_restart((struct core_config){.tools = "session"});
    client_initialize("2025-11-25");
    client_play(cases, COUNT(cases));
    client_send(REQUEST("3", "tools/list"));
    client_expect(OK("3", "{\"tools\":[{\"name\":\"list-definitions\",…},"
                          "{\"name\":\"reset-session\",…},"
                          "{\"name\":\"configure-limits\",…},"
                          "{\"name\":\"checkpoint-session\",…},"
                          "{\"name\":\"restore-session\",…},"
                          "{\"name\":\"list-sessions\",…},"
                          "{\"name\":\"read-output\",…}]}"));
    client_send(CALL("4", "evaluate-lisp", "{\"code\":\"1\"}"));
    client_expect(FAIL("4", "-32602", "\"Unknown tool: evaluate-lisp\""));
}

static void mcp_refuses_malformed_calls(void **state)
{
#define PARAMS(params)                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"" params "}"
    static const struct client_exchange cases[] = {
        {PARAMS(""), MISSING("name")},
        {PARAMS(",\"params\":{}"), MISSING("name")},
        {PARAMS(",\"params\":{\"name\":5}"),
         FAIL("1", "-32602",
              "\"Invalid params: field name must be a string\",…")},
        {CALL("1", "nope", "{}"),
         FAIL("1", "-32602", "\"Unknown tool: nope\"")},
        {CALL("1", "", "{}"), FAIL("1", "-32602", "\"Unknown tool: \"")},
        {CALL("1", "nope", "[]"),
         FAIL("1", "-32602", "\"Unknown tool: nope\"")},
        {CALL("1", "evaluate-lisp", "\"code\""),
         FAIL("1", "-32602",
              "\"Invalid params: field arguments must be an object\",…")},
        {CALL("1", "evaluate-lisp", "[1]"),
         FAIL("1", "-32602",
              "\"Invalid params: field arguments must be an object\",…")},
        {CALL("1", "evaluate-lisp", "null"),
         FAIL("1", "-32602",
              "\"Invalid params: field arguments must be an object\",…")},
    };
    static const char *const versions[] = {"2024-11-05", "2025-11-25"};
    (void)state;
    for (size_t i = 0; i < COUNT(versions); i++) {
        client_restart((struct core_config){.tools = NULL});
        client_initialize(versions[i]);
        client_play(cases, COUNT(cases));
    }
    client_expect_no_frame();
}

/* The model can correct its arguments only when it sees what was wrong. */
static void mcp_reports_bad_arguments_by_version(void **state)
{
    static const struct {
        const char *version;
        bool result;
    } cases[] = {
        {"2024-11-05", false},
        {"2025-03-26", false},
        {"2025-06-18", false},
        {"2025-11-25", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        client_restart((struct core_config){.tools = NULL});
        client_initialize(cases[i].version);
        client_send(CALL("1", "evaluate-lisp", "{\"code\":17}"));
        if (cases[i].result)
            client_expect(
                OK("1", "{\"content\":[{\"type\":\"text\",\"text\":\"Invalid "
                        "params: argument code must be a string, not 17\"}],"
                        "\"isError\":true,\"_meta\":{"
                        "\"ecl-mcp/executionTimeMs\":0,"
                        "\"ecl-mcp/safetyLevel\":\"cautious\","
                        "\"ecl-mcp/approved\":false}}"));
        else
            client_expect(FAIL(
                "1", "-32602",
                "\"Invalid params: argument code must be a string, not 17\","
                "\"data\":\"Argument code must be a string, not 17\""));
    }
    client_send(MODERN_REQUEST("2", "tools/call", "\"name\":\"read-output\","));
    client_expect(OK("2", "{\"resultType\":\"complete\",\"content\":"
                          "[{\"type\":\"text\",\"text\":\"Invalid params: "
                          "missing required argument: id\"}],"
                          "\"isError\":true,…}"));
    client_expect_no_frame();
}

static void mcp_serves_the_modern_era(void **state)
{
    static const struct client_exchange cases[] = {
        {MODERN_REQUEST("1", "server/discover", ""),
         OK("1",
            "{\"resultType\":\"complete\",\"supportedVersions\":"
            "[\"2026-07-28\"],\"capabilities\":{\"tools\":{},\"resources\":{},"
            "\"prompts\":{},\"completions\":{}},"
            "\"instructions\":\"Common Lisp REPL…\",\"ttlMs\":…,"
            "\"cacheScope\":\"public\",\"_meta\":{" SERVER_META "}}")},
        {MODERN_REQUEST("2", "tools/list", ""),
         OK("2", "{\"resultType\":\"complete\",\"tools\":[{\"name\":"
                 "\"evaluate-lisp\",\"title\":…}],\"ttlMs\":…,"
                 "\"cacheScope\":\"public\",\"_meta\":{" SERVER_META "}}")},
        {MODERN_REQUEST("3", "ping", ""), FAIL("3", "-32601", "…")},
        {MODERN_REQUEST("4", "initialize", ""), FAIL("4", "-32601", "…")},
        {MODERN_REQUEST("5", "subscriptions/listen", ""),
         FAIL("5", "-32601", "…")},
        {MODERN_REQUEST("6", "no/such", ""), FAIL("6", "-32601", "…")},
        {MODERN_REQUEST("7", "tools/list", "\"cursor\":\"x\","),
         FAIL("7", "-32602", "…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\","
         "\"params\":{" MODERN("2099-01-01") "}}",
         FAIL("8", "-32022",
              "\"Unsupported protocol version\",\"data\":{\"supported\":"
              "[\"2026-07-28\"],\"requested\":\"2099-01-01\"}")},
        {"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\","
         "\"params\":{" MODERN("2025-11-25") "}}",
         FAIL("8", "-32022", "…\"requested\":\"2025-11-25\"}")},
        {"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/list\",\"params\":{"
         "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":5}}}",
         FAIL("9", "-32602", "\"Invalid params: …protocolVersion…\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/list\",\"params\":{"
         "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
         "\"2026-07-28\"}}}",
         FAIL("9", "-32602", "\"Invalid params: …clientCapabilities…\",…")},
        {REQUEST("10", "server/discover"),
         FAIL("10", "-32602", "\"Invalid params: …protocolVersion…\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":11,\"method\":\"server/discover\","
         "\"params\":{\"_meta\":[]}}",
         FAIL("11", "-32602", "…")},
        // none of these was an initialize
        {REQUEST("12", "tools/list"), FAIL("12", "-32600", "…")},
    };
    (void)state;
    client_play(cases, COUNT(cases));
    client.now_ms = 50;
    client_send(MODERN_REQUEST(
        "20", "tools/call",
        "\"name\":\"evaluate-lisp\",\"arguments\":{\"code\":\"1\"},"));
    uint64_t id =
        client_expect_frame(WIRE_CALL, "main evaluate 10000 30000 code 1");
    client_initialize("2025-03-26"); // the other era, meanwhile
    client_reply(id, 0, STR("=> 1"));
    client_expect(
        OK("20", "{\"resultType\":\"complete\",\"content\":[{\"type\":"
                 "\"text\",\"text\":\"=> 1\"}],\"isError\":false,\"_meta\":{"
                 "\"ecl-mcp/executionTimeMs\":0,"
                 "\"ecl-mcp/safetyLevel\":\"cautious\","
                 "\"ecl-mcp/approved\":true," SERVER_META "}}"));
}

static void mcp_handles_batches(void **state)
{
    (void)state;
    client_restart((struct core_config){.tools = NULL});
    client_send("[" REQUEST("1", "ping") "]");
    client_expect(FAIL("null", "-32600", "\"Invalid Request: batches …\",…"));
    client_initialize("2025-03-26");
    static const struct client_exchange cases[] = {
        {"[" REQUEST("\"b1\"", "ping") ",{\"jsonrpc\":\"2.0\",\"method\":"
                                       "\"notifications/nope\"}," //
         REQUEST("\"b2\"", "nope") ",5,[]]",
         "[" OK("\"b1\"", "{}") "," FAIL("\"b2\"", "-32601", "…") "," //
         FAIL("null", "-32600", "…") "," FAIL("null", "-32600", "…") "]"},
        {" [ {\"jsonrpc\":\"2.0\",\"method\":\"notifications/nope\"} ] ", ""},
        {"[" REQUEST("1", "initialize") "]",
         "[" FAIL("1", "-32600",
                  "\"Invalid Request: already initialized\",…") "]"},
        {"[]", FAIL("null", "-32600", "\"Invalid Request: empty batch\",…")},
    };
    client_play(cases, COUNT(cases));
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-06-18");
    client_send("[" REQUEST("1", "ping") "]");
    client_expect(FAIL("null", "-32600", "\"Invalid Request: batches …\",…"));
}

static void mcp_limits_batches(void **state)
{
    (void)state;
    struct buf line = BUF_EMPTY;
    client_restart((struct core_config){.tools = NULL});
    client_initialize("2025-03-26");
    for (int i = 0; i <= LIMIT_BATCH; i++)
        buf_str(&line, i == 0 ? STR("[1") : STR(",1"));
    buf_str(&line, STR("]"));
    buf_byte(&line, '\0');
    if (!buf_failed(&line))
        client_send(line.p);
    bool sent = !buf_failed(&line);
    buf_release(&line);
    assert_memory(sent);
    client_expect(
        FAIL("null", "-32600",
             "\"Invalid Request: batch of more than 1000 messages\",…"));
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mcp_needs_initialize_first),
        TEST(mcp_negotiates_the_version),
        TEST(mcp_shows_what_the_version_knows),
        TEST(mcp_names_what_initialize_lacks),
        TEST(mcp_answers_protocol_errors),
        TEST(mcp_lists_one_page),
        TEST(mcp_refuses_malformed_calls),
        TEST(mcp_reports_bad_arguments_by_version),
        TEST(mcp_serves_the_modern_era),
        TEST(mcp_handles_batches),
        TEST(mcp_limits_batches),
    };
    return RUN_TESTS("mcp", tests);
}
