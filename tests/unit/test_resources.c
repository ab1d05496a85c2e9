/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of resources.c and methods_resources.c, through the core: lists, pages,
   addresses, views. */
#include <stdio.h>

#include "base/limits.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"

#define READ(id, uri)                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"resources/read\",\"params\":{\"uri\":\"" uri "\"}}"
#define LIST(id, cursor)                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"resources/list\",\"params\":{\"cursor\":" cursor "}}"
#define UNKNOWN(id)                                                            \
    FAIL(id, "-32002",                                                         \
         "\"Resource not found: there is no resource …; resources/list and " \
         "resources/templates/list show those that exist\",\"data\":{"         \
         "\"uri\":\"…\"}")
#define CONTENTS(uri, type, text)                                              \
    "\"contents\":[{\"uri\":\"" uri "\",\"mimeType\":\"" type                  \
    "\",\"text\":\"" text "\"}]"

/* A view is a call with the flags VIEW and READS. */
static uint64_t take_view(const char *fields)
{
    struct str body;
    struct wire_head head = client_frame(&body);
    char shown[200] = "";
    struct wire_field field;
    assert_int_equal(head.kind, WIRE_CALL);
    assert_int_equal(head.flags, WIRE_VIEW | WIRE_READS);
    while (wire_field(&body, &field) == ST_OK) {
        char one[80];
        if (field.type == WIRE_STRING)
            (void)snprintf(one, sizeof one, "%.*s ", STR_ARG(field.string));
        else
            (void)snprintf(one, sizeof one, "%lld ", (long long)field.integer);
        size_t n = strlen(shown);
        (void)snprintf(shown + n, sizeof shown - n, "%s", one);
    }
    assert_string_equal(shown, fields);
    return head.id;
}

static void resources_show_sessions(void **state)
{
    static const struct {
        const char *sent;
        const char *frame;
        const char *answer;
    } cases[] = {
        {READ("1", "lisp://session/main/definitions"),
         "main list-definitions 10000 30000 ",
         CONTENTS("lisp://session/main/definitions", "text/plain", "a\\nb")},
        {READ("1", "lisp://session/a.B-1/last-error"),
         "a.B-1 describe-last-error 10000 30000 ",
         CONTENTS("lisp://session/a.B-1/last-error", "text/plain", "a\\nb")},
        {READ("1", "lisp://session/b/checkpoints"),
         "b describe-session 10000 30000 ",
         CONTENTS("lisp://session/b/checkpoints", "text/plain", "a\\nb")},
        {READ("1", "lisp://session/b/output/2147483647"),
         "b show-output 10000 30000 id 2147483647 ",
         CONTENTS("lisp://session/b/output/2147483647", "text/plain", "a\\nb")},
    };
    (void)state;
    client_initialize("2025-03-26");
    for (size_t i = 0; i < COUNT(cases); i++) {
        char answer[400];
        client_send(cases[i].sent);
        uint64_t id = take_view(cases[i].frame);
        client_expect("");
        client_reply(id, 0, STR("a\nb"));
        (void)snprintf(answer, sizeof answer, OK("1", "{%s}"), cases[i].answer);
        client_expect(answer);
    }
}

static void resources_fail_as_the_version_demands(void **state)
{
    (void)state;
    client_initialize("2025-11-25");
    client_send(READ("1", "lisp://session/b/checkpoints"));
    client_reply(take_view("b describe-session 10000 30000 "), WIRE_MISSING,
                 STR("Session b not found."));
    client_expect(FAIL("1", "-32002",
                       "\"Resource not found: Session b not found.\",\"data\":"
                       "{\"uri\":\"lisp://session/b/checkpoints\"}"));
    client_send(READ("1", "lisp://session/b/definitions"));
    client_reply(take_view("b list-definitions 10000 30000 "), WIRE_ERROR,
                 STR("It died."));
    client_expect(FAIL("1", "-32603",
                       "\"Internal error: It died.\",\"data\":\"It died.\""));
    client_send(MODERN_REQUEST("2", "resources/read",
                               "\"uri\":\"lisp://session/b/checkpoints\","));
    client_reply(take_view("b describe-session 10000 30000 "), WIRE_MISSING,
                 STR("Session b not found."));
    client_expect(FAIL("2", "-32602",
                       "\"Resource not found: Session b not found.\",\"data\":"
                       "{\"uri\":\"lisp://session/b/checkpoints\"}"));
    client_send(MODERN_REQUEST("3", "resources/read",
                               "\"uri\":\"lisp://session/b/checkpoints\","));
    client_reply(take_view("b describe-session 10000 30000 "), 0, STR("b"));
    client_expect(
        OK("3", "{\"resultType\":\"complete\"," CONTENTS(
                    "lisp://session/b/checkpoints", "text/plain",
                    "b") ",\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":"
                         "{" SERVER_META "}}"));
}

static void resources_have_exact_addresses(void **state)
{
    static const char *const wrong[] = {
        "",
        "lisp://metric",
        "lisp://metrics/",
        "lisp://metrics?x",
        "LISP://metrics",
        "lisp://session",
        "lisp://session/",
        "lisp://session/main",
        "lisp://session/main/",
        "lisp://session//definitions",
        "lisp://session/main/definitions/",
        "lisp://session/main/definitions/1",
        "lisp://session/main/Definitions",
        "lisp://session/ma in/definitions",
        "lisp://session/ma%20in/definitions",
        "lisp://session/main\\u0000/definitions",
        "lisp://session/main/output",
        "lisp://session/main/output/",
        "lisp://session/main/output/0",
        "lisp://session/main/output/-1",
        "lisp://session/main/output/1.0",
        "lisp://session/main/output/1/",
        "lisp://session/main/output/2147483648",
        "lisp://session/main/output/18446744073709551617",
    };
    (void)state;
    client_initialize("2025-06-18");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char line[300];
        (void)snprintf(line, sizeof line, READ("1", "%s"), wrong[i]);
        client_send(line);
        client_expect(UNKNOWN("1"));
        client_expect_no_frame();
    }
}

static void resources_check_names(void **state)
{
    char name[LIMIT_SESSION_NAME + 2];
    char line[300];
    (void)state;
    client_initialize("2025-06-18");
    for (size_t n = LIMIT_SESSION_NAME; n < sizeof name; n++) {
        memset(name, 'x', n);
        name[n] = '\0';
        (void)snprintf(line, sizeof line,
                       READ("1", "lisp://session/%s/definitions"), name);
        client_send(line);
    }
    struct str body;
    assert_int_equal(client_frame(&body).flags, WIRE_VIEW | WIRE_READS);
    client_expect(UNKNOWN("1"));
    client_expect_no_frame();
}

/* A call in the session NAME that succeeds. */
static void open_session(const char *name, bool closes)
{
    char line[300];
    struct str body;
    (void)snprintf(
        line, sizeof line,
        closes
            ? CALL("9", "reset-session", "{\"session\":\"%s\",\"close\":true}")
            : CALL("9", "evaluate-lisp", "{\"session\":\"%s\",\"code\":\"1\"}"),
        name);
    client_send(line);
    client_reply(client_frame(&body).id, 0, STR("=> 1"));
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":…}");
}

#define ENTRY(session, view)                                                   \
    "{\"uri\":\"lisp://session/" session "/" view "\",\"name\":\"" session     \
    "/" view "\",…\"mimeType\":\"text/plain\"}"
#define ENTRIES(session)                                                       \
    ENTRY(session, "definitions")                                              \
    "," ENTRY(session, "last-error") "," ENTRY(session, "checkpoints")
#define METRICS "{\"uri\":\"lisp://metrics\",…}"

static void resources_are_listed(void **state)
{
    (void)state;
    client_initialize("2025-03-26");
    client_send(LIST("1", "null"));
    client_expect(OK("1", "{\"resources\":[" METRICS "," ENTRIES("main") "]}"));
    open_session("b", false);
    open_session("c", false);
    open_session("b", false);
    client_send(LIST("1", "null"));
    client_expect(OK("1", "{\"resources\":[" METRICS "," ENTRIES(
                              "main") "," ENTRIES("b") "," ENTRIES("c") "]}"));
    open_session("b", true);
    open_session("main", true); // main opens again by itself
    client_send(LIST("1", "null"));
    client_expect(OK("1", "{\"resources\":[" METRICS
                          "," ENTRIES("main") "," ENTRIES("c") "]}"));
    // reading a resource opens nothing, nor does a call that did not run
    client_send(READ("1", "lisp://session/d/definitions"));
    client_reply(take_view("d list-definitions 10000 30000 "), WIRE_MISSING,
                 STR("none"));
    client_expect("{…-32002…}");
    client_send(LIST("1", "\"after-3\""));
    client_expect(OK("1", "{\"resources\":[]}"));
}

static void resources_have_titles_in_newer_versions(void **state)
{
    (void)state;
    client_initialize("2025-06-18");
    client_send(REQUEST("1", "resources/list"));
    client_expect("{…\"name\":\"metrics\",\"title\":\"Metrics\",…}");
    client_send(REQUEST("1", "resources/templates/list"));
    client_expect("{…\"name\":\"output\",\"title\":\"Long output\",…}");
}

/* A page begins after the last session of the page before, whatever closed
   meanwhile. */
static void resources_come_in_pages(void **state)
{
    char name[32];
    (void)state;
    client_initialize("2025-03-26");
    for (int i = 2; i <= LIMIT_RESOURCES_PAGE + 2; i++) {
        (void)snprintf(name, sizeof name, "s%d", i);
        open_session(name, false);
    }
    client_send(LIST("1", "null"));
    client_expect(OK("1", "{\"resources\":[" METRICS
                          ",…,{\"uri\":\"lisp://session/s32/checkpoints\",…}],"
                          "\"nextCursor\":\"after-32\"}"));
    open_session("s32", true);
    open_session("s33", true);
    open_session("s33", false);
    client_send(LIST("1", "\"after-32\""));
    client_expect(
        OK("1", "{\"resources\":[" ENTRIES("s34") "," ENTRIES("s33") "]}"));
}

static void resources_have_opaque_cursors(void **state)
{
    static const char *const wrong[] = {"\"\"",
                                        "\"after-\"",
                                        "\"after-0\"",
                                        "\"after-2\"",
                                        "1",
                                        "\"after-01\"",
                                        "\"after--1\"",
                                        "\"after-1 \"",
                                        "true",
                                        "{}",
                                        "\"before-1\"",
                                        "\"after-99999999999999999999\""};
    (void)state;
    client_initialize("2025-06-18");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char line[300];
        (void)snprintf(line, sizeof line, LIST("1", "%s"), wrong[i]);
        client_send(line);
        client_expect(FAIL("1", "-32602",
                           "\"Invalid params: unknown cursor: …\",\"data\":…"));
    }
}

static void resources_show_metrics(void **state)
{
    struct str body;
    (void)state;
    client_initialize("2025-06-18");
    client.now_ms = 100;
    client_send(CALL("1", "list-definitions", "{}"));
    uint64_t first = client_frame(&body).id;
    client_send(CALL("2", "list-definitions", "{}"));
    uint64_t second = client_frame(&body).id;
    client_send(CALL("3", "write-file", "{\"path\":\"x\",\"content\":\"\"}"));
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":3,…\"isError\":true…}");
    client.now_ms = 130;
    client_reply(first, 0, STR("12345"));
    client_expect("{…}");
    client_send(READ("4", "lisp://metrics"));
    client_expect(OK(
        "4",
        "{" CONTENTS(
            "lisp://metrics", "application/json",
            "{\\\"waiting\\\":1,\\\"calls\\\":2,\\\"errors\\\":0,"
            "\\\"refused\\\":1,\\\"decisionMs\\\":0,\\\"runMs\\\":30,"
            "\\\"longestRunMs\\\":30,\\\"argumentBytes\\\":27,"
            "\\\"answerBytes\\\":…,\\\"tools\\\":["
            "{\\\"name\\\":\\\"write-file\\\",\\\"level\\\":\\\"dangerous\\\","
            "\\\"calls\\\":1,\\\"errors\\\":0,\\\"refused\\\":1,…},"
            "{\\\"name\\\":\\\"list-definitions\\\",\\\"level\\\":\\\"safe\\\","
            "\\\"calls\\\":1,\\\"errors\\\":0,\\\"refused\\\":0,"
            "\\\"decisionMs\\\":0,\\\"runMs\\\":30,\\\"longestRunMs\\\":30,"
            "\\\"argumentBytes\\\":2,\\\"answerBytes\\\":5}],"
            "\\\"grants\\\":[],\\\"rules\\\":[],\\\"rulesFault\\\":null,"
            "\\\"limits\\\":{…}}") "}"));
    client.now_ms = 200;
    client_reply(second, WIRE_ERROR, STR("no"));
    client_expect("{…}");
    client_send(READ("5", "lisp://metrics"));
    client_expect("{…{\\\"waiting\\\":0,\\\"calls\\\":3,\\\"errors\\\":1,…"
                  "\\\"runMs\\\":130,\\\"longestRunMs\\\":100,…}");
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(resources_show_sessions),
        TEST(resources_fail_as_the_version_demands),
        TEST(resources_have_exact_addresses),
        TEST(resources_check_names),
        TEST(resources_are_listed),
        TEST(resources_have_titles_in_newer_versions),
        TEST(resources_come_in_pages),
        TEST(resources_have_opaque_cursors),
        TEST(resources_show_metrics),
    };
    return RUN_TESTS("resources", tests);
}
