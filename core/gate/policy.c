/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.c: the strictest rule that applies to a call decides. */
#include "gate/policy.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/json.h"

struct policy_rule {
    const struct policy_rule *next;
    const struct tool *tool; /* NULL: any */
    struct str path;         /* a glob; empty: any */
    struct str session;      /* empty: any */
    enum policy_decision decision;
    struct str text;
};

const struct tool policy_evaluation = {
    .name = "@evaluation",
    .title = "All tools that evaluate",
    .description = "Stands in rules for all tools that evaluate code.",
};

const struct tool policy_editing = {
    .name = "@editing",
    .title = "All tools that edit",
    .description = "Stands in rules for all tools that change files.",
};

/* The fault when memory runs out. */
#define NO_MEMORY STR("there was not enough memory to read them")

/* The names of the decisions, also in the file. */
static const char *const decisions[] = {
    [POLICY_ALLOW] = "allow", [POLICY_ASK] = "ask", [POLICY_DENY] = "deny"};

void policy_init(struct policy *policy)
{
    *policy = (struct policy){.arena = ARENA_EMPTY};
}

void policy_release(struct policy *policy)
{
    arena_release(&policy->arena);
    policy_init(policy);
}

/* --- Rules --------------------------------------------------------------- */

static struct str condition(struct arena *arena, const char *word,
                            struct str value)
{
    if (value.n == 0)
        return STR("");
    return arena_printf(arena, " %s %.*s", word, STR_ARG(value));
}

/* Adds RULE, whose texts live in the arena of POLICY. */
static enum status add(struct policy *policy, struct policy_rule rule)
{
    struct arena *arena = &policy->arena;
    struct policy_rule *kept = arena_alloc(arena, sizeof *kept);
    struct str in = condition(arena, "in", rule.path);
    struct str of = condition(arena, "of session", rule.session);

    rule.text = arena_printf(arena, "%s %s%.*s%.*s", decisions[rule.decision],
                             rule.tool ? rule.tool->name : "*", STR_ARG(in),
                             STR_ARG(of));
    rule.next = policy->rules;
    if (!kept || rule.text.n == 0 || (rule.path.n > 0 && in.n == 0) ||
        (rule.session.n > 0 && of.n == 0))
        return ST_NOMEM;
    *kept = rule;
    policy->rules = kept;
    return ST_OK;
}

enum status policy_add(struct policy *policy, const struct tool *tool,
                       enum policy_decision decision)
{
    return add(policy,
               (struct policy_rule){.tool = tool, .decision = decision});
}

/* The field of TOOL that RULE looks at, or NULL. */
static const struct schema_field *
find_field(const struct tool *tool, enum schema_kind kind, const char *name)
{
    for (size_t i = 0; i < schema_count(tool->fields); i++)
        if (tool->fields[i].kind == kind &&
            (!name || strcmp(tool->fields[i].name, name) == 0))
            return &tool->fields[i];
    return NULL;
}

static bool takes_path(const struct tool *tool)
{
    return tool->divide || tool == &policy_editing ||
           find_field(tool, SCHEMA_PATH, NULL);
}

static const struct schema_field *session_field(const struct tool *tool)
{
    return find_field(tool, SCHEMA_NAME, TOOL_SESSION);
}

/* --- The file ------------------------------------------------------------ */

struct reading {
    struct policy *policy;
    struct arena arena; /* of the document */
    struct str name;    /* of the file */
    struct str text;
    policy_find *find;
    bool no_memory;
};

/* Keeps a fault, unless there is one. */
static void keep_fault(struct reading *r, struct str fault)
{
    if (r->policy->fault.n > 0)
        return;
    r->policy->fault = fault.n > 0 ? fault : NO_MEMORY;
    r->no_memory = r->no_memory || fault.n == 0;
}

/* There is a mistake at the byte AT of the text. */
static void fault_at(struct reading *r, size_t at, const char *what,
                     struct str value)
{
    struct buf shown = BUF_EMPTY;
    size_t line = 1;

    for (size_t i = 0; i < at && i < r->text.n; i++)
        line += r->text.p[i] == '\n';
    struct str head = utf8_head(value, LIMIT_POLICY_SHOWN);
    utf8_append_visible(&shown, head);
    if (head.n < value.n)
        buf_str(&shown, STR("…"));
    keep_fault(r, buf_failed(&shown)
                      ? STR("")
                      : arena_printf(&r->policy->arena,
                                     "%.*s, line %zu: %s%.*s", STR_ARG(r->name),
                                     line, what, STR_ARG(buf_view(&shown))));
    buf_release(&shown);
}

static void fault_in(struct reading *r, struct json place, const char *what)
{
    struct str raw = json_raw(place);

    fault_at(r, (size_t)(raw.p - r->text.p), what, raw);
}

/* The text of VALUE, in the arena of the policy; false when it is not one. */
static bool read_text(struct reading *r, struct json value, struct str *out)
{
    enum status status = json_string(&r->policy->arena, value, out);

    if (status == ST_INVALID || (status == ST_OK && out->n == 0)) {
        fault_in(r, value, "expected a non-empty string, not ");
        return false;
    }
    if (status == ST_OK)
        status = arena_str(&r->policy->arena, *out, out);
    if (status != ST_OK)
        keep_fault(r, STR(""));
    return status == ST_OK;
}

/* "*" is any tool. */
static bool read_tool(struct reading *r, struct json value,
                      const struct tool **out)
{
    struct str name;

    if (!read_text(r, value, &name))
        return false;
    *out = str_eq(name, STR("*")) ? NULL : r->find(name);
    if (*out || str_eq(name, STR("*")))
        return true;
    fault_in(r, value, "there is no tool ");
    return false;
}

/* Whether GLOB can never match a path: paths are relative to the workspace, and
   have neither "." nor "..". */
static bool is_hopeless(struct str glob)
{
    size_t start = 0;

    for (size_t i = 0; i <= glob.n; i++) {
        size_t n = i - start;

        if (i < glob.n && glob.p[i] != '/')
            continue;
        if (n == 0 || (n == 1 && glob.p[start] == '.' && glob.n > 1) ||
            (n == 2 && memcmp(glob.p + start, "..", 2) == 0))
            return true;
        start = i + 1;
    }
    return false;
}

/* Whether calls of the tool of RULE can meet its conditions at all. */
static bool check_rule(struct reading *r, struct json place,
                       const struct policy_rule *rule)
{
    if (!rule->tool || rule->tool == &policy_evaluation ||
        (rule->tool == &policy_editing && rule->session.n == 0))
        return true;
    if (rule->path.n > 0 && !takes_path(rule->tool))
        fault_in(r, place, "the rule has a path, but its tool takes none: ");
    else if (rule->session.n > 0 && !session_field(rule->tool))
        fault_in(r, place, "the rule has a session, but its tool takes none: ");
    else
        return true;
    return false;
}

/* Reads a member of a rule. */
static bool read_member(struct reading *r, const struct json_walk *member,
                        struct policy_rule *rule, bool *has_tool)
{
    if (json_is_string(member->name, "tool") && !*has_tool) {
        *has_tool = true;
        return read_tool(r, member->value, &rule->tool);
    }
    if (json_is_string(member->name, "session") && rule->session.n == 0)
        return read_text(r, member->value, &rule->session);
    if (json_is_string(member->name, "path") && rule->path.n == 0) {
        if (!read_text(r, member->value, &rule->path))
            return false;
        if (!is_hopeless(rule->path))
            return true;
        fault_in(r, member->value,
                 "a path is relative to the workspace, without \"/\" at either "
                 "end, \".\" or \"..\", not ");
        return false;
    }
    fault_in(r, member->name,
             "a rule has the member tool and may have path and session, each "
             "once, not ");
    return false;
}

static bool read_members(struct reading *r, struct json value,
                         struct policy_rule *rule)
{
    struct json_walk walk;
    bool has_tool = false;
    bool good = true;

    json_walk_init(&walk, value);
    while (good && json_walk_next(&walk))
        good = read_member(r, &walk, rule, &has_tool);
    if (good && !has_tool)
        fault_in(r, value, "a rule must name a tool, unlike ");
    return good && has_tool && check_rule(r, value, rule);
}

static void read_rule(struct reading *r, struct json value,
                      enum policy_decision decision)
{
    struct policy_rule rule = {.decision = decision};
    bool good = false;

    if (json_type(value) == JSON_STRING)
        good = read_tool(r, value, &rule.tool);
    else if (json_type(value) == JSON_OBJECT)
        good = read_members(r, value, &rule);
    else
        fault_in(r, value, "a rule is the name of a tool or an object, not ");
    if (decision == POLICY_ALLOW && r->policy->no_allow)
        return;
    if (good && add(r->policy, rule) != ST_OK)
        keep_fault(r, STR(""));
}

static void read_rules(struct reading *r, struct json value,
                       enum policy_decision decision)
{
    struct json_walk walk;

    if (json_type(value) != JSON_ARRAY)
        fault_in(r, value, "expected an array of rules, not ");
    json_walk_init(&walk, value);
    while (json_walk_next(&walk))
        read_rule(r, walk.value, decision);
}

static void read_root(struct reading *r, struct json root)
{
    struct json_walk walk;
    unsigned seen = 0;

    if (json_type(root) != JSON_OBJECT) {
        fault_in(r, root, "expected an object, not ");
        return;
    }
    json_walk_init(&walk, root);
    while (json_walk_next(&walk)) {
        unsigned i = POLICY_ALLOW;

        while (i <= POLICY_DENY && !json_is_string(walk.name, decisions[i]))
            i++;
        if (i > POLICY_DENY || (seen & 1u << i))
            fault_in(
                r, walk.name,
                "the members are allow, ask and deny, each at most once, not ");
        else
            read_rules(r, walk.value, (enum policy_decision)i);
        seen |= 1u << i;
    }
}

enum status policy_read(struct policy *policy, struct str name, struct str text,
                        policy_find *find)
{
    struct reading r = {policy, ARENA_EMPTY, name, text, find, false};
    struct json root;
    struct json_error error;
    enum status status = json_parse(&r.arena, text, &root, &error);

    if (status == ST_OK)
        read_root(&r, root);
    else if (status == ST_NOMEM)
        keep_fault(&r, STR(""));
    else
        fault_at(&r, error.at, error.what, STR(""));
    arena_release(&r.arena);
    return r.no_memory || status == ST_NOMEM ? ST_NOMEM : ST_OK;
}

enum status policy_fail(struct policy *policy, struct str name, const char *why)
{
    struct reading r = {.policy = policy};

    keep_fault(&r,
               arena_printf(&policy->arena, "%.*s: %s", STR_ARG(name), why));
    return r.no_memory ? ST_NOMEM : ST_OK;
}

/* --- Deciding ------------------------------------------------------------ */

static bool tool_fits(const struct policy_rule *rule, const struct tool *tool)
{
    return !rule->tool || rule->tool == tool ||
           (rule->tool == &policy_evaluation && tool->evaluates) ||
           (rule->tool == &policy_editing && tool->edits);
}

/* Whether RULE is about such calls, whatever their file is. */
static bool call_fits(const struct policy_rule *rule,
                      const struct policy_question *q)
{
    const struct tool *tool = q->tool->rules_of ? q->tool->rules_of : q->tool;

    return tool_fits(rule, tool) &&
           (rule->session.n == 0 ||
            str_eq(rule->session, tool_session(q->tool, q->values))) &&
           (rule->path.n == 0 || takes_path(q->tool));
}

static bool path_fits(const struct policy_rule *rule,
                      const struct tool_place *place)
{
    if (rule->path.n == 0)
        return true;
    bool known = place->found && place->result == FILES_OK;
    if (rule->decision != POLICY_ALLOW && (!known || place->linked))
        return true;
    return known && glob_matches(rule->path, buf_view(&place->name));
}

/* Whether a rule that denies or asks could apply to the call if its file had
   another name. */
static bool binds_names(const struct policy *policy,
                        const struct policy_question *question)
{
    for (const struct policy_rule *rule = policy->rules; rule;
         rule = rule->next)
        if (rule->path.n > 0 && rule->decision != POLICY_ALLOW &&
            call_fits(rule, question))
            return true;
    return false;
}

enum policy_decision policy_decide(const struct policy *policy,
                                   const struct policy_question *question,
                                   struct str *why)
{
    enum policy_decision decision = POLICY_NONE;

    *why = STR("");
    for (const struct policy_rule *rule = policy->rules; rule;
         rule = rule->next) {
        if (rule->decision <= decision || !call_fits(rule, question) ||
            !path_fits(rule, question->place))
            continue;
        decision = rule->decision;
        *why = rule->text;
    }
    question->place->sole =
        !question->place->linked && binds_names(policy, question);
    return decision;
}

void policy_write(struct jsonw *w, const struct policy *policy)
{
    jsonw_array(w);
    for (const struct policy_rule *rule = policy->rules; rule;
         rule = rule->next)
        jsonw_string(w, rule->text);
    jsonw_end_array(w);
}
