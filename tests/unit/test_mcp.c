/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of mcp.c: what is sent and what is answered, through a session. */
#include <stdio.h>

#include "check.h"
#include "client.h"
#include "limits.h"

/* In answers "…" stands for any text. */
#define OK(id, rest) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" rest "}"
#define FAIL(id, code, rest)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code             \
    ",\"message\":" rest "}}"
#define CALL(id, name, arguments)                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name                  \
    "\",\"arguments\":" arguments "}}"
#define REQUEST(id, method)                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define MODERN(version)                                                        \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version        \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN_REQUEST(id, method, params)                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{" params MODERN("2026-07-28") "}}"
#define SERVER_META                                                            \
    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"ecl-mcp\","            \
    "\"title\":\"ECL Common Lisp\",\"version\":\"" ECL_MCP_VERSION             \
    "\",\"description\":\"…\"}"
#define CANCEL(id)                                                             \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","             \
    "\"params\":{\"requestId\":" id ",\"reason\":\"r\"}}"

#define CALL_WITH_TOKEN(id, token)                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"evaluate-lisp\","       \
    "\"arguments\":{\"code\":\"1\"},\"_meta\":{\"progressToken\":" token "}}}"
#define PROGRESS(token, rest)                                                  \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"   \
    "{\"progressToken\":" token ",\"progress\":" rest "}}"

struct exchange {
    const char *sent;
    const char *answer; /* "" is none */
};

static void play(const struct exchange *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        client_send(cases[i].sent);
        client_expect(cases[i].answer);
    }
}

static void mcp_wants_initialize_first(void **state)
{
    static const struct exchange cases[] = {
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
    play(cases, COUNT(cases));
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
        client_restart((struct session_config){.tools = NULL});
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\","
                 "\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"\\u001b[31m\"}}}",
                 cases[i][0]);
        snprintf(answer, sizeof answer,
                 OK("\"i\"", "{\"protocolVersion\":\"%s\",\"serverInfo\":"
                             "{\"name\":\"ecl-mcp\",…\"version\":\"" //
                    ECL_MCP_VERSION "\"…},\"capabilities\":"
                             "{\"tools\":{}},\"instructions\":\"Common Lisp "
                             "REPL…\"}"),
                 cases[i][1]);
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
        client_restart((struct session_config){.tools = NULL});
        client_initialize(cases[i].version);
        client_send(REQUEST("1", "tools/list"));
        struct str got = buf_view(session_output(client.session));
        assert_memory(client_matches(got, "…\"annotations\":{\"title\":…"));
        assert_memory(client_matches(got, "…\"evaluate-lisp\",\"title\":…") ==
                      cases[i].title);
        assert_false(client_matches(got, "…resultType…"));
        assert_false(client_matches(got, "…ttlMs…"));
        assert_in_range(got.n, 100, 20000);
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
    static const struct exchange cases[] = {
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
    play(cases, COUNT(cases));
    client_initialize("2025-11-25"); // nothing of that has counted
}

static void mcp_answers_protocol_errors(void **state)
{
    static const struct exchange cases[] = {
        {"{oops", FAIL("null", "-32700", "\"Parse error: …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xff\"}",
         FAIL("null", "-32700", "\"Parse error: invalid UTF-8 …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}",
         FAIL("null", "-32700", "\"Parse error: surrogate …\",…")},
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
        {REQUEST("11", "resources/list"), FAIL("11", "-32601", "…")},
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
    client_restart((struct session_config){.tools = NULL});
    client_initialize("2025-06-18");
    play(cases, COUNT(cases));
}

static void mcp_lists_one_page(void **state)
{
    static const struct exchange cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
         "\"params\":{\"cursor\":\"bogus\"}}",
         FAIL("1", "-32602", "\"Invalid params: unknown cursor: …\",…")},
        {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\","
         "\"params\":{\"cursor\":null}}",
         OK("2", "{\"tools\":[…]}")},
    };
    (void)state;
    client_restart((struct session_config){.tools = "session"});
    client_initialize("2025-11-25");
    play(cases, COUNT(cases));
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

static void mcp_calls_tools(void **state)
{
    static const struct {
        const char *sent;
        enum wire_kind kind;
        const char *frame;
        const char *level;
    } cases[] = {
        {CALL("7", "evaluate-lisp",
              "{\"code\":\"(+ 1\\n2)\",\"package\":\"P\","
              "\"capture-time\":true}"),
         WIRE_CALL,
         "main evaluate 10000 30000 code (+ 1\n2) package P capture-time true",
         "cautious"},
        {CALL("7", "eval_form",
              "{\"unknown\":1,\"capture_time\":false,\"code\":\"\"}"),
         WIRE_CALL, "main evaluate 10000 30000 code  capture-time false",
         "cautious"},
        {CALL("7", "list-definitions", "{\"type\":\"macros\"}"), WIRE_CALL,
         "main list-definitions 10000 30000 type macros", "safe"},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
         "{\"name\":\"list_definitions\",\"task\":{},"
         "\"_meta\":{\"progressToken\":7}}}",
         WIRE_CALL, "main list-definitions 10000 30000", "safe"},
        {CALL("7", "reset-session", "{}"), WIRE_CALL,
         "main reset-session 10000 30000", "cautious"},
        {CALL("7", "reset-session", "{\"close\":false}"), WIRE_CALL,
         "main reset-session 10000 30000", "cautious"},
        {CALL("7", "reset-session", "{\"close\":true,\"session\":\"b\"}"),
         WIRE_CALL, "b close-session 10000 30000", "cautious"},
        {CALL("7", "evaluate-lisp",
              "{\"code\":\"1\",\"session\":\"a.B_c-1\",\"timeout\":0.25}"),
         WIRE_CALL, "a.B_c-1 evaluate 10000 250 code 1", "cautious"},
        {CALL("7", "evaluate-lisp", "{\"code\":\"1\",\"timeout\":\"0\"}"),
         WIRE_CALL, "main evaluate 10000 0 code 1", "cautious"},
        {CALL("7", "list-definitions", "{\"session\":\"b\"}"), WIRE_CALL,
         "b list-definitions 10000 30000", "safe"},
        {CALL("7", "checkpoint-session", "{\"name\":\"good\"}"), WIRE_CALL,
         "main checkpoint-session 10000 30000 name good", "safe"},
        {CALL("7", "restore-session", "{\"name\":\"good\"}"), WIRE_CALL,
         "main restore-session 10000 30000 name good", "cautious"},
        {CALL("7", "restore-session", "{\"back\":3,\"session\":\"b\"}"),
         WIRE_CALL, "b restore-session 10000 30000 back 3", "cautious"},
        {CALL("7", "restore-session", "{}"), WIRE_CALL,
         "main restore-session 10000 30000", "cautious"},
        {CALL("7", "list-sessions", "{}"), WIRE_CALL,
         "main list-sessions 10000 30000", "safe"},
        {CALL("7", "describe-last-error", "{}"), WIRE_CALL,
         "main describe-last-error 10000 30000", "safe"},
        {CALL("7", "describe-last-error",
              "{\"frames\":true,\"session\":\"b\"}"),
         WIRE_CALL, "b describe-last-error 10000 30000 frames true", "safe"},
        {CALL("7", "quickload", "{\"system-name\":\"alexandria\"}"), WIRE_CALL,
         "main load-system 10000 600000 system alexandria", "cautious"},
        {CALL("7", "read-output", "{\"id\":\"3\"}"), WIRE_READ, "3 0 10000",
         "safe"},
        {CALL("7", "read-output", "{\"id\":3,\"offset\":5,\"limit\":20.0}"),
         WIRE_READ, "3 5 20", "safe"},
    };
    (void)state;
    client_restart((struct session_config){.tools = NULL});
    client_initialize("2025-03-26");
    for (size_t i = 0; i < COUNT(cases); i++) {
        client.now_ms = 100;
        client_send(cases[i].sent);
        client_expect("");
        uint64_t id = client_expect_frame(cases[i].kind, cases[i].frame);
        client.now_ms = 112;
        client_reply(id, i % 2 ? WIRE_ERROR : 0, STR("=> \"\xff\n"));
        char answer[300];
        snprintf(answer, sizeof answer,
                 OK("7", "{\"content\":[{\"type\":\"text\",\"text\":"
                         "\"=> \\\"\xef\xbf\xbd\\n\"}],\"isError\":%s,"
                         "\"_meta\":{\"ecl-mcp/executionTimeMs\":12,"
                         "\"ecl-mcp/safetyLevel\":\"%s\","
                         "\"ecl-mcp/approved\":true}}"),
                 i % 2 ? "true" : "false", cases[i].level);
        client_expect(answer);
    }
    assert_memory(client_matches(
        buf_view(&client.log),
        "…info: mcp: evaluate-lisp: 1 unknown arguments ignored, the first "
        "is unknown\n…"));
}

static void mcp_refuses_malformed_calls(void **state)
{
#define PARAMS(params)                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"" params "}"
    static const struct exchange cases[] = {
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
        client_restart((struct session_config){.tools = NULL});
        client_initialize(versions[i]);
        play(cases, COUNT(cases));
    }
    client_expect_no_frame();
}

#define TEXT(text)                                                             \
    "{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],"                \
    "\"isError\":false,…}"
#define PROBLEM(text)                                                          \
    "{\"content\":[{\"type\":\"text\",\"text\":\"Invalid params: " text        \
    "\"}],\"isError\":true,…}"

static void mcp_configures_limits(void **state)
{
    static const struct exchange cases[] = {
        {CALL("1", "configure-limits", "{}"),
         OK("1", TEXT("timeout: 30 s\\nmax-output: 10000 characters\\n"
                      "memory: 2 GiB"))},
        {CALL("1", "configure-limits", "{\"timeout\":1.5}"),
         OK("1", TEXT("timeout: 1.5 s"))},
        {CALL("1", "configure_limits",
              "{\"max_output\":\"2000\",\"timeout\":0}"),
         OK("1", TEXT("timeout: none\\nmax-output: 2000 characters"))},
        {CALL("1", "configure-limits", "{\"timeout\":86401}"),
         OK("1", PROBLEM("argument timeout must be a number from 0 to 86400, "
                         "not 86401"))},
        {CALL("1", "configure-limits", "{\"timeout\":-1}"),
         OK("1", PROBLEM("argument timeout must be a number …, not -1"))},
        {CALL("1", "configure-limits", "{\"timeout\":5,\"max-output\":999}"),
         OK("1", PROBLEM("argument max-output must be an integer from 1000 to "
                         "1000000, not 999"))},
        {CALL("1", "configure-limits", "{\"memory\":\"63M\"}"),
         OK("1", PROBLEM("argument memory must be a size from 64 MiB to 1 TiB, "
                         "such as \\\"2G\\\", not \\\"63M\\\""))},
        {CALL("1", "configure-limits", "{\"memory\":1}"),
         OK("1", PROBLEM("argument memory must be …, not 1"))},
        {CALL("1", "configure-limits", "{}"), // nothing bad has counted
         OK("1", TEXT("timeout: none\\nmax-output: 2000 characters\\n"
                      "memory: 2 GiB"))},
    };
    (void)state;
    client_restart((struct session_config){.memory = 2ull << 30});
    client_initialize("2025-11-25");
    play(cases, COUNT(cases));
    client_expect_no_frame();
    client_send(CALL("2", "evaluate-lisp", "{\"code\":\"1\"}"));
    client_send(CALL("3", "load-system", "{\"system\":\"s\"}"));
    client_send(CALL("4", "configure-limits", "{\"timeout\":900}"));
    client_expect(OK("4", TEXT("timeout: 900 s")));
    client_send(CALL("5", "load-system", "{\"system\":\"s\"}"));
    client_expect_frame(WIRE_CALL, "main evaluate 2000 0 code 1");
    client_expect_frame(WIRE_CALL, "main load-system 2000 0 system s");
    client_expect_frame(WIRE_CALL, "main load-system 2000 900000 system s");
}

/* The supervisor keeps the limit of memory; there is one answer for all. */
static void mcp_configures_memory(void **state)
{
    (void)state;
    client_restart((struct session_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(
        CALL("1", "configure-limits", "{\"memory\":\"512M\",\"timeout\":60}"));
    client_expect("");
    uint64_t id = client_expect_frame(
        WIRE_CALL, "main configure-limits 10000 60000 memory 536870912 text "
                   "timeout: 60 s\nmemory: 512 MiB");
    client_reply(id, 0, STR("timeout: 60 s\nmemory: 512 MiB"));
    client_expect(OK("1", TEXT("timeout: 60 s\\nmemory: 512 MiB")));
    client_send(CALL("2", "configure-limits", "{}"));
    client_expect(OK("2", TEXT("timeout: 60 s\\nmax-output: 10000 characters\\n"
                               "memory: 512 MiB")));
}

static void mcp_checks_arguments_of_sessions(void **state)
{
    static const struct exchange cases[] = {
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\",\"session\":\"a b\"}"),
         OK("1", PROBLEM("argument session must be a name of 1 to 64 letters, "
                         "digits, \\\".\\\", \\\"_\\\" and \\\"-\\\", not "
                         "\\\"a b\\\""))},
        {CALL("1", "evaluate-lisp", "{\"code\":\"1\",\"timeout\":1e6}"),
         OK("1", PROBLEM("argument timeout must be a number from 0 to 86400, "
                         "not 1e6"))},
        {CALL("1", "restore-session", "{\"name\":\"a\",\"back\":1}"),
         OK("1", PROBLEM("arguments name and back exclude each other"))},
        {CALL("1", "restore-session", "{\"back\":0}"),
         OK("1", PROBLEM("argument back must be an integer from 1 to "
                         "2147483647, not 0"))},
        {CALL("1", "checkpoint-session", "{}"),
         OK("1", PROBLEM("missing required argument: name"))},
        {CALL("1", "checkpoint-session", "{\"name\":\"\"}"),
         OK("1", PROBLEM("argument name must be a name of …"))},
    };
    (void)state;
    client_restart((struct session_config){.tools = NULL});
    client_initialize("2025-11-25");
    play(cases, COUNT(cases));
    client_expect_no_frame();
}

/* The model can mend its arguments only when it sees what was wrong. */
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
        client_restart((struct session_config){.tools = NULL});
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
    static const struct exchange cases[] = {
        {MODERN_REQUEST("1", "server/discover", ""),
         OK("1", "{\"resultType\":\"complete\",\"supportedVersions\":"
                 "[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},"
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
        // nothing of this was an initialize
        {REQUEST("12", "tools/list"), FAIL("12", "-32600", "…")},
    };
    (void)state;
    play(cases, COUNT(cases));
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

static void mcp_answers_in_the_order_of_replies(void **state)
{
    (void)state;
    client_restart((struct session_config){.tools = NULL});
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

static void mcp_cancels_by_request_id(void **state)
{
    (void)state;
    client_restart((struct session_config){.tools = NULL});
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
    client_send(CANCEL("5.0")); // late, as some clients do for every call
    client_expect_no_frame();
    assert_memory(client_matches(buf_view(&client.log),
                                 "…info: mcp: evaluate-lisp is cancelled\n…"));
}

/* The next frame is the call of CALL_WITH_TOKEN; whether its output is wanted
   is WANTED. Returns its id. */
static uint64_t take_call(bool wanted)
{
    struct str body;
    struct wire_head head = client_frame(&body);
    assert_int_equal(head.kind, WIRE_CALL);
    assert_int_equal(head.flags, wanted ? WIRE_PROGRESS : 0);
    return head.id;
}

static void mcp_reports_progress(void **state)
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
        client_restart((struct session_config){.tools = NULL});
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

static void mcp_takes_strings_and_integers_as_tokens(void **state)
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
    client_restart((struct session_config){.tools = NULL});
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

static void mcp_bounds_progress(void **state)
{
    (void)state;
    static char text[LIMIT_PROGRESS + 100];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '!';
    client_restart((struct session_config){.tools = NULL});
    client_initialize("2025-11-25");
    client_send(CALL_WITH_TOKEN("1", "7"));
    uint64_t id = take_call(true);
    const struct buf *output = session_output(client.session);
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
    buf_consume(session_output(client.session), full);
    client_output(id, STR("again"));
    client_expect(PROGRESS("7", "…\"again\""));
}

/* A notification is never in the array of a batch's answers. */
static void mcp_reports_progress_outside_of_batches(void **state)
{
    (void)state;
    client_restart((struct session_config){.tools = NULL});
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

static void mcp_handles_batches(void **state)
{
    (void)state;
    client_restart((struct session_config){.tools = NULL});
    client_send("[" REQUEST("1", "ping") "]");
    client_expect(FAIL("null", "-32600", "\"Invalid Request: batches …\",…"));
    client_initialize("2025-03-26");
    static const struct exchange cases[] = {
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
    play(cases, COUNT(cases));
    client_restart((struct session_config){.tools = NULL});
    client_initialize("2025-06-18");
    client_send("[" REQUEST("1", "ping") "]");
    client_expect(FAIL("null", "-32600", "\"Invalid Request: batches …\",…"));
}

static void mcp_answers_a_batch_when_all_calls_are_done(void **state)
{
    (void)state;
    client_restart((struct session_config){.tools = NULL});
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

static void mcp_limits_batches(void **state)
{
    (void)state;
    struct buf line = BUF_EMPTY;
    client_restart((struct session_config){.tools = NULL});
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
        TEST(mcp_wants_initialize_first),
        TEST(mcp_negotiates_the_version),
        TEST(mcp_shows_what_the_version_knows),
        TEST(mcp_names_what_initialize_lacks),
        TEST(mcp_answers_protocol_errors),
        TEST(mcp_lists_one_page),
        TEST(mcp_calls_tools),
        TEST(mcp_refuses_malformed_calls),
        TEST(mcp_configures_limits),
        TEST(mcp_configures_memory),
        TEST(mcp_checks_arguments_of_sessions),
        TEST(mcp_reports_bad_arguments_by_version),
        TEST(mcp_serves_the_modern_era),
        TEST(mcp_answers_in_the_order_of_replies),
        TEST(mcp_cancels_by_request_id),
        TEST(mcp_reports_progress),
        TEST(mcp_takes_strings_and_integers_as_tokens),
        TEST(mcp_bounds_progress),
        TEST(mcp_reports_progress_outside_of_batches),
        TEST(mcp_handles_batches),
        TEST(mcp_answers_a_batch_when_all_calls_are_done),
        TEST(mcp_limits_batches),
    };
    return RUN_TESTS("mcp", tests);
}
