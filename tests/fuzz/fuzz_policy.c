/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy file is right or has a fault, and the strictest of its rules
   decides; the address of a resource shows what it names, or nothing. */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "gate/policy.h"
#include "mcp/resources.h"

/* A name is a tool with a path and a session, or without them if it begins with
   "-"; longer names are not tools. */
static const struct schema_field fields[] = {
    {.name = "path", .kind = SCHEMA_PATH},
    {.name = "session", .kind = SCHEMA_NAME},
    {0},
};
static const struct tool tool = {.name = "any", .fields = fields};
static const struct tool bare = {.name = "bare", .fields = fields + 2};

static const struct tool *find(struct str name)
{
    if (name.n >= 20)
        return NULL;
    return name.n > 0 && name.p[0] == '-' ? &bare : &tool;
}

/* What POLICY decides about a call of TOOL, whose path means a file if FOUND.
 */
static enum policy_decision decide(const struct policy *policy,
                                   const struct tool *called, bool found)
{
    static char name[] = "src/a.c";
    struct tool_place place = {
        .found = found, .name = {.p = name, .n = found ? sizeof name - 1 : 0}};
    struct schema_value values[2] = {
        {.given = true, .string = STR_INIT("src/a.c")}};
    const struct policy_question question = {called, values, &place};
    struct str why;
    enum policy_decision decision = policy_decide(policy, &question, &why);

    REQUIRE((decision == POLICY_NONE) == (why.n == 0));
    return decision;
}

static void try_policy(struct str text)
{
    struct policy policy;
    struct arena arena = ARENA_EMPTY;

    policy_init(&policy);
    if (policy_read(&policy, STR("p"), text, find) == ST_OK) {
        enum policy_decision known = decide(&policy, &tool, true);
        enum policy_decision unknown = decide(&policy, &tool, false);
        (void)decide(&policy, &bare, true); // it has no path at all
        // a path that means nothing fits no rule that allows
        REQUIRE(unknown != POLICY_ALLOW || known == POLICY_ALLOW ||
                known == POLICY_NONE);
        REQUIRE(utf8_is_valid(policy.fault));
        struct buf out = BUF_EMPTY;
        struct jsonw w;
        struct json root;
        struct json_error error;
        jsonw_init(&w, &out);
        policy_write(&w, &policy);
        REQUIRE(json_parse(&arena, buf_view(&out), &root, &error) == ST_OK);
        buf_release(&out);
    }
    arena_release(&arena);
    policy_release(&policy);
}

static void try_address(struct str text)
{
    struct arena arena = ARENA_EMPTY;
    const struct resources resources = {.sets = ~0u};
    struct resources_view view;

    if (resources_find(&arena, &resources, text, &view) == ST_OK) {
        struct str session = tool_session(view.tool, view.values);
        REQUIRE(session.n > 0 && session.n <= LIMIT_SESSION_NAME);
        REQUIRE(memchr(session.p, '/', session.n) == NULL);
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make((const char *)data, size);

    try_policy(text);
    try_address(text);
    return 0;
}
