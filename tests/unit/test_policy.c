/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of policy.c, and of gate.c with rules. */
#include <stdio.h>

#include "asker.h"
#include "policy.h"

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

static void policy_strictest_rule_wins(void **state)
{
    static const enum policy_decision all[] = {POLICY_ALLOW, POLICY_ASK,
                                               POLICY_DENY};
    struct str why;
    (void)state;
    assert_int_equal(policy_decide(&policy, &write_tool, NULL, &why),
                     POLICY_NONE);
    assert_text(why, "");
    assert_ok(policy_add(&policy, &review_tool, POLICY_DENY));
    for (size_t first = 0; first < COUNT(all); first++)
        for (size_t second = 0; second < COUNT(all); second++) {
            enum policy_decision wanted =
                all[first] > all[second] ? all[first] : all[second];
            assert_int_equal(policy_decide(&policy, &write_tool, NULL, &why),
                             POLICY_NONE);
            assert_ok(policy_add(&policy, &write_tool, all[first]));
            assert_ok(policy_add(&policy, &write_tool, all[second]));
            assert_int_equal(policy_decide(&policy, &write_tool, NULL, &why),
                             wanted);
            assert_int_equal(policy_decide(&policy, &work_tool, NULL, &why),
                             POLICY_NONE);
            policy_release(&policy);
        }
    assert_ok(policy_add(&policy, &write_tool, POLICY_ASK));
    assert_int_equal(policy_decide(&policy, &write_tool, NULL, &why),
                     POLICY_ASK);
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
    assert_ok(gate_grant(&at.gate, &write_tool));
    call("1", &write_tool, X, v2025);
    expect(RESULT("1",
                  "write was not run: the rule \\\"deny write\\\" of the "
                  "user denies it, and no approval changes that.",
                  "true", "false"));
    call("2", &work_tool, "{}", v2025); // a safe one
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
    assert_ok(gate_grant(&at.gate, &write_tool));
    // always, so that there is nothing to remember
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
    gate_revoke(&at.gate, &write_tool);
    call("2", &write_tool, X, v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-2\"",
                FORM("{\"decision\":\"approve\",\"remember\":true}"));
    expect(RESULT("2", "wrote x", "false", "true"));
    assert_int_equal(at.gate.grant_count, 0);
    // a safe tool, too
    call("3", &work_tool, "{}", mute);
    expect("{…work was not run: the rule \\\"ask work\\\" of the user says "
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
                  "write was not run: the rules of the user cannot be "
                  "trusted, so that no approval is asked for: rules.json, "
                  "line 3: no JSON. The user has to mend them and restart "
                  "ecl-mcp.",
                  "true", "false"));
    call("2", &interview_tool, "{}", v2025); // no dangerous one
    expect("{…elicitation…}\n");
    assert_int_equal(world.runs, 0);
}

/* A rule may look at arguments; here one that denies comes up meanwhile. */
static void gate_checks_modified_arguments(void **state)
{
    (void)state;
    call("1", &write_tool, X, v2025);
    expect("{…}\n");
    assert_ok(policy_add(&policy, &write_tool, POLICY_DENY));
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"y\\\"}\"}"));
    expect(RESULT("1", "…the rule \\\"deny write\\\"…", "true", "false"));
    assert_int_equal(world.runs, 0);
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
    };
    return RUN_TESTS("policy", tests);
}
