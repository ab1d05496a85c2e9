/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.c: the strictest rule that speaks about a call decides. */
#include "policy.h"

struct policy_rule {
    const struct policy_rule *next;
    const struct tool *tool;
    enum policy_decision decision;
    struct str text;
};

void policy_init(struct policy *policy)
{
    *policy = (struct policy){.arena = ARENA_EMPTY};
}

void policy_release(struct policy *policy)
{
    arena_release(&policy->arena);
    policy_init(policy);
}

static const char *decision_name(enum policy_decision decision)
{
    switch (decision) {
    case POLICY_ALLOW:
        return "allow";
    case POLICY_ASK:
        return "ask";
    case POLICY_NONE:
    case POLICY_DENY:
        break;
    }
    return "deny";
}

enum status policy_add(struct policy *policy, const struct tool *tool,
                       enum policy_decision decision)
{
    struct policy_rule *rule = arena_alloc(&policy->arena, sizeof *rule);
    struct str text = arena_printf(&policy->arena, "%s %s",
                                   decision_name(decision), tool->name);

    if (rule == NULL || text.n == 0)
        return ST_NOMEM;
    *rule = (struct policy_rule){policy->rules, tool, decision, text};
    policy->rules = rule;
    return ST_OK;
}

enum policy_decision policy_decide(const struct policy *policy,
                                   const struct tool *tool,
                                   const struct schema_value *values,
                                   struct str *why)
{
    enum policy_decision decision = POLICY_NONE;

    (void)values; // no rule looks at them yet
    *why = STR("");
    for (const struct policy_rule *rule = policy->rules; rule != NULL;
         rule = rule->next) {
        if (rule->tool != tool || rule->decision <= decision)
            continue;
        decision = rule->decision;
        *why = rule->text;
    }
    return decision;
}
