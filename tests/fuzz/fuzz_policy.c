/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy file is right or has a fault, and the strictest of its rules
   decides; the address of a resource shows what it names, or nothing. */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "gate/policy.h"
#include "mcp/resources.h"

/* Every name is a tool with a path and a session. */
static const struct schema_field fields[] = {
    {.name = "path", .kind = SCHEMA_PATH},
    {.name = "session", .kind = SCHEMA_NAME},
    {0},
};
static const struct tool tool = {.name = "any", .fields = fields};

static const struct tool *find(struct str name)
{
    return name.n < 20 ? &tool : NULL;
}

static void try_policy(struct str text)
{
    static char name[] = "src/a.c";
    static const struct tool_place place = {
        .found = true, .name = {.p = name, .n = sizeof name - 1}};
    struct policy policy;
    struct arena arena = ARENA_EMPTY;
    struct schema_value values[2] = {
        {.given = true, .string = STR_INIT("src/a.c")}};
    const struct policy_question question = {&tool, values, &place};
    struct str why;

    policy_init(&policy);
    if (policy_read(&policy, STR("p"), text, find) == ST_OK) {
        enum policy_decision decision = policy_decide(&policy, &question, &why);
        REQUIRE((decision == POLICY_NONE) == (why.n == 0));
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
