/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.h: the user's rules about tools, which deny, ask or allow. Deny beats
   ask, and ask beats allow. The form of the file: docs/policy.md. */
#ifndef GATE_POLICY_H
#define GATE_POLICY_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "files/files.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "json/jsonw.h"

enum policy_decision {
    POLICY_NONE, /* no rule applies to the call */
    POLICY_ALLOW,
    POLICY_ASK,
    POLICY_DENY
};

struct policy_rule;

struct policy {
    struct arena arena;        /* owns the rules and texts */
    struct policy_rule *rules; /* newest first */
    bool no_allow;             /* rules of files that allow are left out */
    struct str fault; /* why the rules cannot be trusted, without a full stop;
                         then only safe tools run; empty: they can */
};

void policy_init(struct policy *policy);

/* Accepts a zeroed one. */
void policy_release(struct policy *policy);

/* In place of a tool, in rules: all tools that evaluate code (tool.h). */
extern const struct tool policy_evaluation;

/* The same for all tools that change files. */
extern const struct tool policy_editing;

/* Adds a rule about a whole tool. */
enum status MUST_CHECK policy_add(struct policy *policy,
                                  const struct tool *tool,
                                  enum policy_decision decision);

/* The tool of that name, or one of these two for its name; else NULL. */
typedef const struct tool *policy_find(struct str name);

/* Adds the rules in TEXT, that of the file NAME. The first mistake is kept in
   policy->fault, with name and line; the rules that are right hold
   nevertheless. ST_NOMEM only, which leaves a fault, too. */
enum status MUST_CHECK policy_read(struct policy *policy, struct str name,
                                   struct str text, policy_find *find);

/* The file NAME cannot be used at all, because of WHY. An earlier fault stays.
   ST_NOMEM as policy_read. */
enum status MUST_CHECK policy_fail(struct policy *policy, struct str name,
                                   const char *why);

/* A call with arguments that were checked. */
struct policy_question {
    const struct tool *tool;
    const struct schema_value *values;
    struct tool_place *place; /* of the call */
};

/* What the rules say about a call. When it is unclear which file it is about,
   every rule that denies or asks applies, and none that allows. A file that has
   several names (hard links) may be any: every rule that denies or asks applies
   to it, too; when it has only one and there is such a rule, its place becomes
   sole. *WHY is the rule as text for messages, "deny write-file in src/";
   empty without one. */
enum policy_decision policy_decide(const struct policy *policy,
                                   const struct policy_question *question,
                                   struct str *why);

/* Writes the rules as an array of such texts. */
void policy_write(struct jsonw *w, const struct policy *policy);

#endif
