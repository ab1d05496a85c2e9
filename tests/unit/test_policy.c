/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of policy.c, and of gate.c with rules. */
#include <stdio.h>

#include "base/limits.h"
#include "gate/policy.h"
#include "support/asker.h"

static struct policy policy;

static int set_up(void **state)
{
    policy_init(&policy);
    int status = asker_begin(state);
    at.gate.policy = &policy;
    return status;
}

static int tear_down(void **state)
{
    policy_release(&policy);
    return asker_end(state);
}

static const struct manner mute = {.version = MCP_2025_11_25,
                                   .cannot_ask = true};

#define X "{\"text\":\"x\"}"

/* What the rules decide about a call of TOOL without arguments. */
static enum policy_decision decide(const struct tool *tool, struct str *why)
{
    static const struct schema_value none[8];
    static struct tool_place nowhere;
    const struct policy_question question = {
        .tool = tool, .values = none, .place = &nowhere};
    return policy_decide(&policy, &question, why);
}

static void policy_strictest_rule_wins(void **state)
{
    static const enum policy_decision all[] = {POLICY_ALLOW, POLICY_ASK,
                                               POLICY_DENY};
    struct str why;
    (void)state;
    assert_int_equal(decide(&write_tool, &why), POLICY_NONE);
    assert_text(why, "");
    assert_ok(policy_add(&policy, &review_tool, POLICY_DENY));
    for (size_t first = 0; first < COUNT(all); first++)
        for (size_t second = 0; second < COUNT(all); second++) {
            enum policy_decision wanted =
                all[first] > all[second] ? all[first] : all[second];
            assert_int_equal(decide(&write_tool, &why), POLICY_NONE);
            assert_ok(policy_add(&policy, &write_tool, all[first]));
            assert_ok(policy_add(&policy, &write_tool, all[second]));
            assert_int_equal(decide(&write_tool, &why), wanted);
            assert_int_equal(decide(&work_tool, &why), POLICY_NONE);
            policy_release(&policy);
        }
    assert_ok(policy_add(&policy, &write_tool, POLICY_ASK));
    assert_int_equal(decide(&write_tool, &why), POLICY_ASK);
    assert_text(why, "ask write");
}

static void gate_follows_allow(void **state)
{
    (void)state;
    assert_ok(policy_add(&policy, &write_tool, POLICY_ALLOW));
    assert_ok(policy_add(&policy, &review_tool, POLICY_ALLOW));
    call("1", &write_tool, X, mute);
    expect(RESULT("1", "wrote x", "false", "true"));
    call("2", &review_tool, "{\"text\":\"x\",\"n\":2}", mute);
    expect(RESULT("2", "old>x 1 1", "false", "true"));
    call("3", &review_tool, "{\"text\":\"../x\"}", mute);
    expect(RESULT("3", "outside", "true", "false"));
    expect_text(&at.lines,
                "gate: write (dangerous) allowed by policy, 0 ms\n"
                "gate: review (dangerous) allowed by policy, 0 ms\n"
                "gate: review (dangerous) settled by preparation, 0 ms\n");
}

static void gate_follows_deny(void **state)
{
    (void)state;
    assert_ok(policy_add(&policy, &write_tool, POLICY_DENY));
    assert_ok(policy_add(&policy, &write_tool, POLICY_ALLOW));
    assert_ok(policy_add(&policy, &work_tool, POLICY_DENY));
    assert_ok(grants_add(&at.gate.grants, &write_tool));
    call("1", &write_tool, X, v2025);
    expect(
        RESULT("1",
               "write was not run: the user's rule "
               "\\\"deny write\\\" denies it, and no approval can change that.",
               "true", "false"));
    call("2", &work_tool, "{}", v2025); // a safe tool
    expect("{…deny work…\"isError\":true…\"ecl-mcp/approved\":false}}}\n");
    assert_int_equal(world.runs, 0);
    expect_text(&at.events, "error write " X "\nerror work {}\n");
}

static void gate_follows_ask(void **state)
{
    (void)state;
    assert_ok(policy_add(&policy, &write_tool, POLICY_ASK));
    assert_ok(policy_add(&policy, &write_tool, POLICY_ALLOW));
    assert_ok(policy_add(&policy, &work_tool, POLICY_ASK));
    assert_ok(grants_add(&at.gate.grants, &write_tool));
    // the rule asks every time, so there is nothing to remember
    call("1", &write_tool, X, v2025);
    expect(QUESTION("1", "\"mode\":\"form\",\"message\":\"…\","
                         "\"requestedSchema\":{\"type\":\"object\","
                         "\"properties\":{" DECISION
                         ",\"reason\":{…},\"arguments\":{\"type\":\"string\","
                         "\"title\":\"…\",\"description\":\"…\",\"default\":"
                         "\"{\\\"text\\\":\\\"x\\\"}\"}},\"required\":["
                         "\"decision\"]}"));
    answer_with("\"ecl-mcp-1\"",
                FORM("{\"decision\":\"approve\",\"remember\":true}"));
    expect(RESULT("1", "wrote x", "false", "true"));
    grants_remove(&at.gate.grants, &write_tool);
    call("2", &write_tool, X, v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-2\"",
                FORM("{\"decision\":\"approve\",\"remember\":true}"));
    expect(RESULT("2", "wrote x", "false", "true"));
    assert_int_equal(at.gate.grants.count, 0);
    // a safe tool, too
    call("3", &work_tool, "{}", mute);
    expect("{…work was not run: the user's rule \\\"ask work\\\" says "
           "that it needs an approval…\"isError\":true…}\n");
    call("4", &work_tool, "{}", v2025);
    expect("{…elicitation…}\n");
    answer_with("\"ecl-mcp-3\"", APPROVE);
    expect("");
    tick(1);
    tick(1);
    tick(1);
    expect("{…worked…}\n");
}

static void gate_refuses_with_a_broken_policy(void **state)
{
    (void)state;
    assert_ok(policy_add(&policy, &write_tool, POLICY_ALLOW));
    policy.fault = STR("rules.json, line 3: no JSON");
    call("1", &write_tool, X, v2025);
    expect(RESULT("1",
                  "write was not run: the user's rules cannot be trusted, so "
                  "only safe tools run, and nobody is asked for an approval: "
                  "rules.json, "
                  "line 3: no JSON. The user has to fix them and restart "
                  "ecl-mcp.",
                  "true", "false"));
    call("2", &interview_tool, "{}", v2025); // not a dangerous tool
    expect("{…elicitation…}\n");
    assert_int_equal(world.runs, 0);
}

/* A rule may depend on arguments; here, a denial appears meanwhile. */
static void gate_checks_modified_arguments(void **state)
{
    (void)state;
    call("1", &write_tool, X, v2025);
    expect("{…}\n");
    assert_ok(policy_add(&policy, &write_tool, POLICY_DENY));
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"y\\\"}\"}"));
    expect(
        RESULT("1", "…the user's rule \\\"deny write\\\"…", "true", "false"));
    assert_int_equal(world.runs, 0);
}

/* --- The file ------------------------------------------------------------ */

static const struct tool *find(struct str name)
{
    static const struct tool *const tools[] = {&write_tool, &review_tool,
                                               &work_tool, NULL};
    for (const struct tool *const *tool = tools; *tool; tool++)
        if (tool_has_name(*tool, name))
            return *tool;
    return NULL;
}

static void read_rules(const char *text)
{
    assert_ok(policy_read(&policy, STR("p.json"), str_from(text), find));
}

static void check_rules(const char *text)
{
    struct buf out = BUF_EMPTY;
    struct jsonw w;
    jsonw_init(&w, &out);
    policy_write(&w, &policy);
    bool good = str_eq(buf_view(&out), str_from(text));
    bool failed = buf_failed(&out);
    if (!good && !failed)
        print_error("got %.*s\n", STR_ARG(buf_view(&out)));
    buf_release(&out);
    assert_memory(good || !failed);
    assert_true(good || failed);
}

static void policy_reads_rules(void **state)
{
    (void)state;
    struct str why;
    read_rules("{}");
    check_rules("[]");
    read_rules("{\"allow\": [\"write\", {\"tool\": \"*\"}],\n"
               " \"deny\": [], \"ask\": [{\"tool\": \"review\"}]}");
    check_rules("[\"ask review\",\"allow *\",\"allow write\"]");
    assert_text(policy.fault, "");
    assert_int_equal(decide(&work_tool, &why), POLICY_ALLOW);
    assert_text(why, "allow *");
    assert_int_equal(decide(&review_tool, &why), POLICY_ASK);
}

static void policy_names_what_is_wrong(void **state)
{
    static const struct {
        const char *text;
        const char *fault;
    } wrong[] = {
        {"", "p.json, line 1: unexpected end of text"},
        {"{\n\n\"deny\": [\"write\",]}", "p.json, line 3: expected a value"},
        {"[]", "p.json, line 1: expected an object, not []"},
        {"{\"denny\": []}", "p.json, line 1: the members are allow, ask and "
                            "deny, each at most once, not \"denny\""},
        {"{\"ask\": [],\n\"ask\": []}",
         "p.json, line 2: the members are allow, ask and deny, each at most "
         "once, not "
         "\"ask\""},
        {"{\"ask\": \"write\"}",
         "p.json, line 1: expected an array of rules, not \"write\""},
        {"{\"ask\": null}",
         "p.json, line 1: expected an array of rules, not null"},
        {"{\"ask\":\n[\n\"write\",\n\"wrote\"]}",
         "p.json, line 4: there is no tool \"wrote\""},
        {"{\"ask\": [\"\"]}",
         "p.json, line 1: expected a non-empty string, not \"\""},
        {"{\"ask\": [1]}", "p.json, line 1: a rule is the name of a tool or an "
                           "object, not 1"},
        {"{\"ask\": [{}]}",
         "p.json, line 1: a rule must name a tool, unlike {}"},
        {"{\"ask\": [{\"tool\": 1}]}",
         "p.json, line 1: expected a non-empty string, not 1"},
        {"{\"ask\": [{\"tool\": \"write\", \"tool\": \"write\"}]}",
         "p.json, line 1: a rule has the member tool and may have path and "
         "session, each once, not \"tool\""},
        {"{\"ask\": [{\"tool\": \"write\", \"if\": 1}]}",
         "p.json, line 1: a rule has the member tool and may have path and "
         "session, each once, not \"if\""},
        {"{\"ask\": [{\"tool\": \"write\", \"path\": \"a\"}]}",
         "p.json, line 1: the rule has a path, but its tool takes none: "
         "{\"tool\": "
         "\"write\", \"path\": \"a\"}"},
        {"{\"ask\": [{\"session\": \"s\", \"tool\": \"write\"}]}",
         "p.json, line 1: the rule has a session, but its tool takes none: "
         "{\"session\": \"s\", "
         "\"tool\": \"write\"}"},
        {"{\"ask\": [{\"tool\": \"*\", \"path\": \"/etc\"}]}",
         "p.json, line 1: a path is relative to the workspace, without "
         "\"/\" at either end, \".\" or \"..\", not \"/etc\""},
        // a name that would forge a line or hide
        {"{\"ask\": [\"a\\u200b\xe2\x80\x8b\"]}",
         "p.json, line 1: there is no tool \"a\\u200b\\u200b\""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        read_rules(wrong[i].text);
        if (!str_eq(policy.fault, str_from(wrong[i].fault)))
            print_error("%s\n", wrong[i].text);
        check_text(policy.fault, str_from(wrong[i].fault), __FILE__, __LINE__);
        policy_release(&policy);
    }
}

static void policy_refuses_hopeless_paths(void **state)
{
    static const char *const paths[] = {"/",   "/a",  "a/",     "a//b", "..",
                                        "./a", "a/.", "a/../b", "../**"};
    static const char *const good[] = {".", "*", "**", "...", "a/.b/..c", "~"};
    (void)state;
    for (size_t i = 0; i < COUNT(paths) + COUNT(good); i++) {
        const char *path = i < COUNT(paths) ? paths[i] : good[i - COUNT(paths)];
        char text[200];
        snprintf(text, sizeof text,
                 "{\"deny\":[{\"tool\":\"*\",\"path\":\"%s\"}]}", path);
        read_rules(text);
        if ((policy.fault.n > 0) != (i < COUNT(paths)))
            fail_msg("%s", path);
        policy_release(&policy);
    }
}

/* The rules that can be read from a broken file still hold, except those that
   allow, which the gate ignores. The first fault stays. */
static void policy_keeps_good_rules(void **state)
{
    (void)state;
    read_rules("{\"deny\": [\"nope\", \"write\", 5], \"ask\": [\"review\"]}");
    check_rules("[\"ask review\",\"deny write\"]");
    assert_text(policy.fault, "p.json, line 1: there is no tool \"nope\"");
    assert_ok(policy_fail(&policy, STR("q.json"), "it is a mess"));
    assert_text(policy.fault, "p.json, line 1: there is no tool \"nope\"");
    policy_release(&policy);
    assert_ok(policy_fail(&policy, STR("q.json"), "it is a mess"));
    assert_text(policy.fault, "q.json: it is a mess");
}

/* Without memory nothing dangerous runs, whatever rules were read. */
static void policy_without_memory_is_broken(void **state)
{
    (void)state;
    enum status status =
        policy_read(&policy, STR("p.json"),
                    STR("{\"allow\": [\"write\", \"work\"]}"), find);
    if (status != ST_OK && policy.fault.n == 0)
        fail_msg("no fault");
    assert_ok(status);
    check_rules("[\"allow work\",\"allow write\"]");
}

/* What a message quotes of a mistake, with its quotes. */
static void policy_quotes_short_mistakes(void **state)
{
    char name[LIMIT_POLICY_SHOWN] = "";
    char text[LIMIT_POLICY_SHOWN + 50];
    char fault[LIMIT_POLICY_SHOWN + 50];
    (void)state;
    memset(name, 'x', LIMIT_POLICY_SHOWN - 2);
    for (int more = 0; more <= 1; more++) {
        (void)snprintf(text, sizeof text, "{\"deny\":[\"%s%s\"]}", name,
                       more > 0 ? "x" : "");
        (void)snprintf(fault, sizeof fault,
                       "p.json, line 1: there is no tool \"%s%s", name,
                       more > 0 ? "x…" : "\"");
        read_rules(text);
        assert_true(str_eq(policy.fault, str_from(fault)));
        policy_release(&policy);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(policy_strictest_rule_wins),
        TEST(gate_follows_allow),
        TEST(gate_follows_deny),
        TEST(gate_follows_ask),
        TEST(gate_refuses_with_a_broken_policy),
        TEST(gate_checks_modified_arguments),
        TEST(policy_reads_rules),
        TEST(policy_names_what_is_wrong),
        TEST(policy_refuses_hopeless_paths),
        TEST(policy_keeps_good_rules),
        TEST(policy_without_memory_is_broken),
        TEST(policy_quotes_short_mistakes),
    };
    return RUN_TESTS("policy", tests);
}
