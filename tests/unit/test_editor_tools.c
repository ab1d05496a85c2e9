/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of editor_tools.c, tool_list.c and subscriptions.c: the tools of an
   editor, and the clients that hear of them. */
#include <stdio.h>

#include "base/limits.h"
#include "editor/editor_tools.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"
#include "tools/registry.h"

static struct {
    struct log log;
    struct buf lines;
    struct arena arena;
    struct editor_tools editor_tools;
    struct buf output;
} at;

static void keep_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    (void)level;
    buf_str(&at.lines, line);
    buf_byte(&at.lines, '\n');
}

static int begin(void **state)
{
    at.log = (struct log){LOG_DEBUG, keep_line, NULL};
    at.editor_tools = (struct editor_tools){
        .log = &at.log, .reserved = {REGISTRY_ALL_SETS, NULL}};
    return client_begin(state);
}

static int end(void **state)
{
    editor_tools_release(&at.editor_tools);
    buf_release(&at.lines);
    buf_release(&at.output);
    arena_release(&at.arena);
    return client_end(state);
}

/* The editor offers the tools of TEXT, a JSON array. */
static bool take(const char *text)
{
    struct json tools;
    struct json_error error;
    bool changed = false;

    assert_ok(json_parse(&at.arena, str_from(text), &tools, &error));
    assert_ok(editor_tools_replace(&at.editor_tools, tools, &changed));
    return changed;
}

/* Checks the whole list, as clients see it. */
static void expect_list(const char *pattern)
{
    struct jsonw w;
    const struct tool *tool;

    buf_reset(&at.output);
    jsonw_init(&w, &at.output);
    jsonw_array(&w);
    for (size_t i = 0; (tool = editor_tools_at(&at.editor_tools, i)) != NULL;
         i++)
        tool_write(&w, tool, true);
    jsonw_end_array(&w);
    bool good = client_matches(buf_view(&at.output), pattern);
    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(buf_view(&at.output)),
                    pattern);
    assert_memory(good);
}

static void editor_tools_makes_tools(void **state)
{
    (void)state;
    assert_null(editor_tools_at(&at.editor_tools, 0));
    assert_null(editor_tools_find(&at.editor_tools, STR("a")));
    assert_true(take(
        "[{\"name\":\"a-b\",\"title\":\"A\",\"description\":\"D\\u00e9.\\nE.\","
        "\"level\":\"safe\",\"fields\":[{\"name\":\"text\",\"kind\":\"text\","
        "\"required\":true,\"help\":\"H.\"},{\"name\":\"n\",\"kind\":"
        "\"integer\",\"least\":-2,\"most\":9},{\"name\":\"x\",\"kind\":"
        "\"number\",\"required\":false},{\"name\":\"on\",\"kind\":\"boolean\"},"
        "{\"name\":\"id\",\"kind\":\"name\"},{\"name\":\"one\",\"kind\":"
        "\"text\",\"choices\":[\"p\",\"q r\"]}],\"later\":1},{\"name\":\"c\","
        "\"title\":null,\"description\":\"D.\",\"level\":\"cautious\","
        "\"fields\":null},{\"name\":\"d\",\"description\":\"D.\",\"level\":"
        "\"harmless\"}]"));
    expect_list(
        "[{\"name\":\"a-b\",\"title\":\"A\",\"description\":\"D\xc3\xa9.\\nE."
        "\","
        "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{"
        "\"type\":\"string\",\"description\":\"H.\"},\"n\":{\"type\":"
        "\"integer\",\"minimum\":-2,\"maximum\":9},\"x\":{\"type\":\"number\"},"
        "\"on\":{\"type\":\"boolean\"},\"id\":{\"type\":\"string\"},\"one\":{"
        "\"type\":\"string\",\"enum\":[\"p\",\"q r\"]}},\"required\":[\"text\"]"
        ",\"additionalProperties\":false},\"annotations\":{\"title\":\"A\","
        "\"readOnlyHint\":true,\"destructiveHint\":false,…}},{\"name\":\"c\","
        "\"title\":\"c\",…\"readOnlyHint\":false,\"destructiveHint\":false,…},{"
        "\"name\":\"d\",…\"readOnlyHint\":false,\"destructiveHint\":true,…}]");
    assert_string_equal(editor_tools_find(&at.editor_tools, STR("a_b"))->name,
                        "a-b");
    assert_int_equal(editor_tools_find(&at.editor_tools, STR("d"))->level,
                     TOOL_DANGEROUS);
    assert_true(editor_tools_find(&at.editor_tools, STR("d"))->in_editor);
    assert_memory(at.lines.n == 0);
}

#define D "\"description\":\"D.\""
#define FIELD(rest) "{\"name\":\"t\"," D ",\"fields\":[{" rest "}]}"

static const struct odd_case {
    const char *tool;
    const char *why;
} odd_cases[] = {
    {"7", "a name may have lower-case letters, digits and hyphens only"},
    {"{" D "}", "a name may have lower-case letters, digits and hyphens only"},
    {"{\"name\":7," D "}", "a text is not a string, or has control characters"},
    {"{\"name\":\"\"," D "}",
     "a name may have lower-case letters, digits and hyphens only"},
    {"{\"name\":\"A\"," D "}",
     "a name may have lower-case letters, digits and hyphens only"},
    {"{\"name\":\"a_b\"," D "}",
     "a name may have lower-case letters, digits and hyphens only"},
    {"{\"name\":\"a\\u0000b\"," D "}",
     "a text is not a string, or has control characters"},
    {"{\"name\":\"t\"}", "the description is missing"},
    {"{\"name\":\"t\",\"description\":7}",
     "a text is not a string, or has control characters"},
    {"{\"name\":\"t\",\"description\":\"\\u0007\"}",
     "a text is not a string, or has control characters"},
    {"{\"name\":\"t\",\"title\":[]," D "}",
     "a text is not a string, or has control characters"},
    {"{\"name\":\"evaluate-lisp\"," D "}", "the name is taken"},
    {"{\"name\":\"quickload\"," D "}", "the name is taken"},
    {"{\"name\":\"t\"," D ",\"fields\":{}}", "fields must be an array"},
    {FIELD(""), "a name may have lower-case letters, digits and hyphens only"},
    {FIELD("\"name\":\"f\""), "unknown kind of field"},
    {FIELD("\"name\":\"f\",\"kind\":\"list\""), "unknown kind of field"},
    {FIELD("\"name\":\"f\",\"kind\":\"text\",\"help\":1"),
     "a text is not a string, or has control characters"},
    {FIELD("\"name\":\"f\",\"kind\":\"text\",\"required\":1"),
     "required must be true or false"},
    {FIELD("\"name\":\"f\",\"kind\":\"text\",\"least\":1"),
     "only numbers can have bounds"},
    {FIELD("\"name\":\"f\",\"kind\":\"integer\",\"least\":\"1\""),
     "a bound is not a number"},
    {FIELD("\"name\":\"f\",\"kind\":\"integer\",\"least\":1e300"),
     "a bound is too large"},
    {FIELD("\"name\":\"f\",\"kind\":\"integer\",\"least\":2,\"most\":1"),
     "the range is empty or ends at 0"},
    {FIELD("\"name\":\"f\",\"kind\":\"integer\",\"most\":0"),
     "the range is empty or ends at 0"},
    {FIELD("\"name\":\"f\",\"kind\":\"integer\",\"choices\":[\"a\"]"),
     "only texts can have choices"},
    {FIELD("\"name\":\"f\",\"kind\":\"text\",\"choices\":[]"),
     "choices must be an array of texts"},
    {FIELD("\"name\":\"f\",\"kind\":\"text\",\"choices\":\"a\""),
     "choices must be an array of texts"},
    {FIELD("\"name\":\"f\",\"kind\":\"text\",\"choices\":[1]"),
     "a text is not a string, or has control characters"},
    {FIELD("\"name\":\"f\",\"kind\":\"text\"},{\"name\":\"f\",\"kind\":"
           "\"text\""),
     "two fields have the same name"},
};

static void editor_tools_leaves_out_odd_tools(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(odd_cases); i++) {
        char text[300];
        char line[300];
        snprintf(text, sizeof text, "[%s,{\"name\":\"good%zu\"," D "}]",
                 odd_cases[i].tool, i);
        buf_reset(&at.lines);
        assert_true(take(text));
        snprintf(line, sizeof line, "editor: tool …is left out: %s\n",
                 odd_cases[i].why);
        bool good = client_matches(buf_view(&at.lines), line);
        if (!good && !check_memory_is_back())
            print_error("%s: got %.*s", text, STR_ARG(buf_view(&at.lines)));
        assert_memory(good);
        assert_non_null(editor_tools_at(&at.editor_tools, 0));
        assert_null(editor_tools_at(&at.editor_tools, 1));
    }
}

static void editor_tools_has_a_limit(void **state)
{
    struct buf text = BUF_EMPTY;

    (void)state;
    buf_byte(&text, '[');
    for (int i = 0; i <= LIMIT_EDITOR_TOOLS; i++)
        buf_printf(&text, "%s{\"name\":\"t%d\"," D "}", i > 0 ? "," : "", i);
    buf_str(&text, STR("]\0"));
    bool good = !buf_failed(&text);
    struct str kept = STR("");
    if (arena_take(&at.arena, &text, &kept) != ST_OK)
        good = false;
    assert_memory(good);
    assert_true(take(kept.p));
    assert_non_null(editor_tools_at(&at.editor_tools, LIMIT_EDITOR_TOOLS - 1));
    assert_null(editor_tools_at(&at.editor_tools, LIMIT_EDITOR_TOOLS));
    assert_memory(client_matches(buf_view(&at.lines),
                                 "editor: more than 64 tools: \"t64\" and "
                                 "those after it are left out\n"));
}

/* Texts and parts of a tool: around what is repeated, and how often. */
static const struct limit_case {
    const char *before;
    const char *part;
    const char *after;
    size_t most;
    const char *why;
} limit_cases[] = {
    {"{" D ",\"name\":\"", "n", "\"}", LIMIT_TOOL_NAME,
     "a name has more than 64 bytes"},
    {"{\"name\":\"t\"," D ",\"title\":\"", "t", "\"}", LIMIT_EDITOR_TITLE,
     "the title has more than 100 bytes"},
    {"{\"name\":\"t\",\"description\":\"", "\xc3\xa9", "\"}",
     LIMIT_EDITOR_DESCRIPTION / 2, "the description has more than 2000 bytes"},
    {"{\"name\":\"t\"," D ",\"fields\":[{\"name\":\"", "f",
     "\",\"kind\":\"text\"}]}", LIMIT_TOOL_NAME,
     "a name has more than 64 bytes"},
    {"{\"name\":\"t\"," D ",\"fields\":[{\"name\":\"f\",\"kind\":\"text\","
     "\"help\":\"",
     "h", "\"}]}", LIMIT_EDITOR_HELP, "a help has more than 300 bytes"},
    {"{\"name\":\"t\"," D ",\"fields\":[{\"name\":\"f\",\"kind\":\"text\","
     "\"choices\":[\"",
     "c", "\"]}]}", LIMIT_EDITOR_TITLE, "a choice has more than 100 bytes"},
    {"{\"name\":\"t\"," D ",\"fields\":[{\"name\":\"f\",\"kind\":\"text\","
     "\"choices\":[\"a\"",
     ",\"c\"", "]}]}", LIMIT_EDITOR_CHOICES - 1,
     "a field has more than 32 choices"},
};

/* The editor offers the one tool of TEXT, a buffer that is released. Returns
   whether it is there. */
static bool takes(struct buf *text)
{
    struct str kept = STR("");

    buf_byte(text, '\0');
    bool good =
        !buf_failed(text) && arena_take(&at.arena, text, &kept) == ST_OK;
    buf_release(text);
    assert_memory(good);
    buf_reset(&at.lines);
    (void)take(kept.p);
    return editor_tools_at(&at.editor_tools, 0) != NULL;
}

/* Checks that the log says that the tool was left out, because of WHY. */
static void expect_left_out(const char *why)
{
    char line[300];

    snprintf(line, sizeof line, "editor: tool …is left out: %s\n", why);
    assert_memory(client_matches(buf_view(&at.lines), line));
}

static void editor_tools_limits_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(limit_cases); i++)
        for (size_t more = 0; more <= 1; more++) {
            const struct limit_case *one = &limit_cases[i];
            struct buf text = BUF_EMPTY;

            buf_printf(&text, "[%s", one->before);
            for (size_t n = 0; n < one->most + more; n++)
                buf_str(&text, str_from(one->part));
            buf_printf(&text, "%s]", one->after);
            assert_int_equal(takes(&text), more == 0);
            if (more > 0)
                expect_left_out(one->why);
        }
}

static void editor_tools_limits_fields(void **state)
{
    (void)state;
    for (int n = LIMIT_EDITOR_FIELDS; n <= LIMIT_EDITOR_FIELDS + 1; n++) {
        struct buf text = BUF_EMPTY;

        buf_printf(&text, "[{\"name\":\"t\"," D ",\"fields\":[");
        for (int i = 0; i < n; i++)
            buf_printf(&text, "%s{\"name\":\"f%d\",\"kind\":\"text\"}",
                       i > 0 ? "," : "", i);
        buf_str(&text, STR("]}]"));
        assert_int_equal(takes(&text), n == LIMIT_EDITOR_FIELDS);
    }
    expect_left_out("a tool has more than 16 fields");
}

static void editor_tools_knows_what_has_changed(void **state)
{
    (void)state;
    assert_false(take("[]"));
    assert_true(take("[{\"name\":\"a\"," D "}]"));
    assert_false(take("[{\"name\":\"a\"," D "}]"));
    assert_true(take("[{\"name\":\"a\"," D "},{\"name\":\"a\"," D "}]"));
    assert_null(editor_tools_at(&at.editor_tools, 1)); // twice the same name
    assert_true(take("[]"));
    assert_false(take("[ ]"));
}

static void editor_tools_stays_while_it_is_held(void **state)
{
    (void)state;
    editor_tools_hold(NULL);
    editor_tools_drop(NULL);
    take("[{\"name\":\"a\"," D "}]");
    struct editor_tools_list *held = at.editor_tools.now;
    const struct tool *tool = editor_tools_at(&at.editor_tools, 0);
    editor_tools_hold(held);
    editor_tools_release(&at.editor_tools);
    assert_string_equal(tool->name, "a");
    editor_tools_drop(held);
}

/* --- In the core -------------------------------------------------------- */

#define CHANGED                                                                \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","    \
    "\"params\":{}}"
#define STREAM(id)                                                             \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","    \
    "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id    \
    "}}}"
#define LISTEN(id, filter)                                                     \
    MODERN_REQUEST(id, "subscriptions/listen", "\"notifications\":" filter ",")
#define TOOLS(name)                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"tools\",\"params\":{\"tools\":[{"       \
    "\"name\":\"" name "\"," D ",\"level\":\"safe\"}]}}\n"

static void says(const char *line)
{
    core_editor_feed(client.core, line, strlen(line), 0);
}

static void tool_list_announces_changes(void **state)
{
    (void)state;
    client_restart((struct core_config){.editor = true});
    core_editor_open(client.core, 0);
    client_initialize("2024-11-05");
    says(TOOLS("a"));
    client_expect(""); // the client has not said that it is ready
    client_send(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    says(TOOLS("a"));
    client_expect("");
    says(TOOLS("b"));
    client_expect(CHANGED);
    client_send(LISTEN("\"s\"", "{\"toolsListChanged\":true}"));
    client_expect("…acknowledged…");
    client_send(LISTEN("2", "{\"resourcesListChanged\":true}"));
    client_expect("…acknowledged…\"notifications\":{}}}");
    says(TOOLS("c"));
    client_expect(CHANGED "\n" STREAM("\"s\""));
    client_send(CANCEL("\"s\""));
    core_editor_close(client.core, 0);
    client_expect(CHANGED);
    core_finish(client.core, 0, 0);
    client_expect(OK("2", "{\"resultType\":\"complete\",\"_meta\":{"
                          "\"io.modelcontextprotocol/subscriptionId\":2,"
                          "\"io.modelcontextprotocol/serverInfo\":{…}}}"));
}

static void tool_list_streams_are_limited(void **state)
{
    (void)state;
    client_restart((struct core_config){.editor = true});
    for (int i = 0; i < LIMIT_SUBSCRIPTIONS; i++) {
        char line[300];
        snprintf(line, sizeof line, LISTEN("%d", "{}"), i);
        client_send(line);
        client_expect("…acknowledged…");
    }
    client_send(LISTEN("\"x\"", "{}"));
    client_expect(FAIL("\"x\"", "-32600",
                       "\"Invalid Request: too many subscriptions: 16 are "
                       "open\",…"));
}

static void tool_list_may_exclude_editor_tools(void **state)
{
    (void)state;
    client_restart((struct core_config){.editor = true, .tools = "eval"});
    core_editor_open(client.core, 0);
    client_initialize("2025-11-25");
    client_send(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    says(TOOLS("a"));
    client_expect("");
    client_send(CALL("1", "a", "{}"));
    client_expect(FAIL("1", "-32602", "\"Unknown tool: a\""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(editor_tools_makes_tools),
        TEST(editor_tools_leaves_out_odd_tools),
        TEST(editor_tools_has_a_limit),
        TEST(editor_tools_limits_texts),
        TEST(editor_tools_limits_fields),
        TEST(editor_tools_knows_what_has_changed),
        TEST(editor_tools_stays_while_it_is_held),
        TEST(tool_list_announces_changes),
        TEST(tool_list_streams_are_limited),
        TEST(tool_list_may_exclude_editor_tools),
    };
    return RUN_TESTS("editor_tools", tests);
}
