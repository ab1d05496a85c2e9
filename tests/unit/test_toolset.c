/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of toolset.c, and of the tools and resources that a host adds. */
#include <stdio.h>

#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"
#include "tools/registry.h"
#include "tools/toolset.h"

static enum status greet(const struct tool_request *request,
                         struct tool_answer *answer)
{
    struct str name = request->values[0].string;

    answer->state = TOOL_ANSWERED;
    answer->text = arena_printf(request->arena, "hello %.*s", STR_ARG(name));
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

static enum status draw(const struct tool_request *request,
                        struct tool_answer *answer)
{
    (void)request;
    answer->state = TOOL_ANSWERED;
    answer->content = STR("[{\"uri\":\"t://picture\",\"blob\":\"AA==\"}]");
    return ST_OK;
}

static enum status need_roots(const struct tool_request *request,
                              struct tool_answer *answer)
{
    (void)request;
    answer->state = TOOL_FAILED;
    answer->requires = "roots";
    answer->text = STR("no roots");
    return ST_OK;
}

static const struct schema_field fields[] = {
    {.name = "name", .required = true, .help = "A name."},
    {0},
};

static const struct tool greet_tool = {.name = "say-hello",
                                       .title = "T",
                                       .description = "D.",
                                       .fields = fields,
                                       .level = TOOL_SAFE,
                                       .handler = greet};
static const struct tool hidden_tool = {.name = "evaluate-lisp",
                                        .title = "T",
                                        .description = "D.",
                                        .level = TOOL_SAFE,
                                        .handler = draw};
static const struct tool draw_tool = {.name = "draw",
                                      .title = "T",
                                      .description = "D.",
                                      .level = TOOL_SAFE,
                                      .handler = draw};
static const struct tool roots_tool = {.name = "need-roots",
                                       .title = "T",
                                       .description = "D.",
                                       .level = TOOL_SAFE,
                                       .handler = need_roots};

static const struct tool *const more[] = {&greet_tool, &hidden_tool,
                                          &roots_tool, NULL};

static const struct resource resources[] = {
    {"t://picture", "picture", "Picture", "A picture.", "image/png",
     &draw_tool},
    {"t://hello/{who}/text", "hello", "Hello", "A greeting.", "text/html",
     &greet_tool},
    {0},
};

static void restart(void)
{
    client_restart((struct core_config){
        .tools = "files", .more_tools = more, .more_resources = resources});
}

static void toolset_has_tools_of_both(void **state)
{
    unsigned eval;
    unsigned files;
    size_t count = 0;
    (void)state;
    assert_ok(registry_read_sets(STR("eval"), &eval));
    assert_ok(registry_read_sets(STR("files"), &files));
    const struct toolset all = {.sets = eval, .more = more};
    const struct toolset some = {.sets = files, .more = more};
    const struct toolset plain = {.sets = eval};

    while (registry_at(eval, count) != NULL) {
        assert_ptr_equal(toolset_at(&all, count), registry_at(eval, count));
        count++;
    }
    assert_ptr_equal(toolset_at(&all, count), &greet_tool);
    assert_ptr_equal(toolset_at(&all, count + 1), &roots_tool);
    assert_null(toolset_at(&all, count + 2));
    assert_null(toolset_at(&plain, count));
    assert_ptr_equal(toolset_find(&all, STR("say-hello")), &greet_tool);
    assert_ptr_equal(toolset_find(&all, STR("say_hello")), &greet_tool);
    assert_null(toolset_find(&all, STR("draw")));
    assert_null(toolset_find(&plain, STR("say-hello")));
    assert_string_equal(toolset_find(&all, STR("evaluate_lisp"))->title,
                        "Evaluate Lisp");
    assert_ptr_equal(toolset_find(&some, STR("evaluate_lisp")), &hidden_tool);
}

static void hosts_bring_tools(void **state)
{
    (void)state;
    restart();
    client_initialize("2025-11-25");
    client_send(REQUEST("1", "tools/list"));
    client_expect("{…\"name\":\"edit-definition\",…,{\"name\":\"say-hello\",…,{"
                  "\"name\":\"evaluate-lisp\",…,{\"name\":\"need-roots\",…}");
    client_send(CALL("2", "say_hello", "{\"name\":\"n\"}"));
    client_expect(OK("2", TEXT("hello n")));
    client_send(CALL("3", "say-hello", "{}"));
    client_expect(OK("3", PROBLEM("missing required argument: name")));
}

static void tools_say_what_clients_lack(void **state)
{
    (void)state;
    restart();
    client_initialize("2025-11-25");
    client_send(CALL("1", "need-roots", "{}"));
    client_expect("{…\"text\":\"no roots\"}],\"isError\":true,…}");
    client_send(MODERN_REQUEST("2", "tools/call", "\"name\":\"need-roots\","));
    client_expect(FAIL("2", "-32021",
                       "\"Missing required client capability: no roots\","
                       "\"data\":{\"requiredCapabilities\":{\"roots\":{}}}"));
}

static void hosts_bring_resources(void **state)
{
    static const char *const wrong[] = {
        "t://hello//text",  "t://hello/text",      "t://hello/a/b/text",
        "t://hello/a/TEXT", "t://hello/{who}text", "t://picture/",
    };
    (void)state;
    restart();
    client_initialize("2025-06-18");
    client_send(REQUEST("1", "resources/list"));
    client_expect(OK(
        "1", "{\"resources\":[{\"uri\":\"lisp://metrics\",…},{\"uri\":"
             "\"t://picture\",\"name\":\"picture\",\"title\":\"Picture\","
             "\"description\":\"A picture.\",\"mimeType\":\"image/png\"}]}"));
    client_send(REQUEST("2", "resources/templates/list"));
    client_expect(
        OK("2", "{\"resourceTemplates\":[{\"uriTemplate\":\"t://hello/{who}/"
                "text\",\"name\":\"hello\",…\"mimeType\":\"text/html\"}]}"));
    client_send(
        MODERN_REQUEST("3", "resources/read", "\"uri\":\"t://picture\","));
    client_expect(OK("3",
                     "{\"resultType\":\"complete\",\"contents\":[{\"uri\":"
                     "\"t://picture\",\"blob\":\"AA==\"}],\"ttlMs\":0,…}"));
    client_send(MODERN_REQUEST("4", "resources/read",
                               "\"uri\":\"t://hello/a \\\"/text\","));
    client_expect(OK("4", "{…\"contents\":[{\"uri\":\"t://hello/a \\\"/text\","
                          "\"mimeType\":\"text/html\",\"text\":\"hello a \\\""
                          "\"}],…}"));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char line[300];
        (void)snprintf(line, sizeof line,
                       MODERN_REQUEST("5", "resources/read", "\"uri\":\"%s\","),
                       wrong[i]);
        client_send(line);
        client_expect("{…\"code\":-32602,\"message\":\"Resource not found: …\","
                      "\"data\":{\"uri\":\"t://…\"}…}");
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(toolset_has_tools_of_both),
        TEST(hosts_bring_tools),
        TEST(tools_say_what_clients_lack),
        TEST(hosts_bring_resources),
    };
    return RUN_TESTS("toolset", tests);
}
