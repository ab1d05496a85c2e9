/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.h: rules of the user about tools: what is denied, asked for, allowed.
   Deny beats ask, ask beats allow. */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "arena.h"
#include "schema.h"
#include "status.h"
#include "str.h"
#include "tool.h"

enum policy_decision {
    POLICY_NONE, /* no rule speaks about the call */
    POLICY_ALLOW,
    POLICY_ASK,
    POLICY_DENY
};

struct policy_rule;

struct policy {
    struct arena arena;        /* owns the rules and texts */
    struct policy_rule *rules; /* newest first */
    struct str fault; /* why the rules are not to be trusted, without full stop;
                         then nothing dangerous runs; empty: they are */
};

void policy_init(struct policy *policy);

/* Accepts a zeroed one. */
void policy_release(struct policy *policy);

/* A rule about a whole tool. */
enum status MUST_CHECK policy_add(struct policy *policy,
                                  const struct tool *tool,
                                  enum policy_decision decision);

/* What the rules say about a call of TOOL with VALUES (checked). *WHY is the
   rule as text for messages, "deny write-file"; empty without one. */
enum policy_decision policy_decide(const struct policy *policy,
                                   const struct tool *tool,
                                   const struct schema_value *values,
                                   struct str *why);

#endif
