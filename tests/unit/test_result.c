/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of result.c: the result that an answer becomes in each version. */
#include "mcp/result.h"
#include "support/check.h"
#include "support/client.h"

static struct buf output;
static const struct tool tool = {.name = "tool", .level = TOOL_CAUTIOUS};

static int set_up(void **state)
{
    (void)state;
    return buf_reserve(&output, RPC_SPARE) == NULL;
}

static struct str notice;

static int tear_down(void **state)
{
    (void)state;
    notice = STR("");
    buf_release(&output);
    return 0;
}

static void expect_result(enum mcp_version version,
                          const struct tool_answer *answer,
                          const struct tool_call *call, const char *pattern)
{
    const struct rpc_to to = {.output = &output, .id = STR("1")};

    assert_ok(result_of_call(&to, version, call, answer, notice, 1250));
    assert_memory(client_matches(buf_view(&output), pattern));
    buf_reset(&output);
}

static void result_has_structured_content_from_2025_06_18(void **state)
{
    const struct tool_call call = {.tool = &tool, .started_ms = 1000};
    const struct tool_answer answer = {.state = TOOL_ANSWERED,
                                       .text = STR("text"),
                                       .structured = STR("{\"a\":1}")};
    (void)state;
    for (int v = MCP_2024_11_05; v <= MCP_2026_07_28; v++)
        expect_result((enum mcp_version)v, &answer, &call,
                      v < MCP_2025_06_18
                          ? "{…\"content\":[{\"type\":\"text\",\"text\":"
                            "\"text\"}],\"isError\":false,…}\n"
                          : "{…\"content\":[{\"type\":\"text\",\"text\":"
                            "\"text\"}],\"structuredContent\":{\"a\":1},"
                            "\"isError\":false,…}\n");
}

static void result_has_other_content(void **state)
{
    const struct tool_call call = {.tool = &tool, .started_ms = 1000};
    const struct tool_answer answer = {
        .state = TOOL_FAILED,
        .text = STR("text"),
        .content = STR("[{\"type\":\"image\",\"data\":\"\"}]")};
    (void)state;
    expect_result(MCP_2025_11_25, &answer, &call,
                  "{…\"content\":[{\"type\":\"image\",\"data\":\"\"}],"
                  "\"isError\":true,\"_meta\":{\"ecl-mcp/executionTimeMs\":250,"
                  "\"ecl-mcp/safetyLevel\":\"cautious\","
                  "\"ecl-mcp/approved\":false}}}\n");
}

/* What the host has to say comes first, in the only form of the answer. */
static void result_begins_with_a_notice(void **state)
{
    const struct tool_call call = {.tool = &tool, .started_ms = 1000};
    struct tool_answer answer = {.state = TOOL_ANSWERED,
                                 .text = STR("text"),
                                 .structured = STR("{\"a\":1}")};
    (void)state;
    notice = STR("[notice] x");
    expect_result(MCP_2025_11_25, &answer, &call,
                  "{…\"content\":[{\"type\":\"text\",\"text\":\"[notice] "
                  "x\\ntext\"}],\"isError\":false,…}\n");
    answer.content = STR("[{\"type\":\"image\",\"data\":\"\"}]");
    expect_result(MCP_2025_11_25, &answer, &call,
                  "{…\"content\":[{\"type\":\"text\",\"text\":\"[notice] x\"},"
                  "{\"type\":\"image\",\"data\":\"\"}],\"isError\":false,…}\n");
}

/* The time that the human took does not count as execution. */
static void result_counts_from_the_decision(void **state)
{
    const struct tool_call call = {.tool = &tool,
                                   .started_ms = 1000,
                                   .decision = "approved",
                                   .decided_ms = 1240,
                                   .approved = true};
    const struct tool_answer answer = {.state = TOOL_ANSWERED};
    (void)state;
    expect_result(MCP_2025_11_25, &answer, &call,
                  "{…\"ecl-mcp/executionTimeMs\":10,…"
                  "\"ecl-mcp/approved\":true}}}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(result_has_structured_content_from_2025_06_18),
        TEST(result_has_other_content),
        TEST(result_begins_with_a_notice),
        TEST(result_counts_from_the_decision),
    };
    return RUN_TESTS("result", tests);
}
