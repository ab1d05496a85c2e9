/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever an editor says, calls that it did not approve do not run, the client
   hears lines of JSON, and every call is answered once the editor is gone. */
#include <string.h>

#include "core/core.h"
#include "fuzz/fuzz.h"
#include "gate/policy.h"
#include "json/json.h"

static void send(struct core *core, const char *line)
{
    core_feed(core, line, strlen(line), 0);
}

/* Whether TEXT has PART. */
static bool has(struct str text, struct str part)
{
    for (size_t i = 0; i + part.n <= text.n; i++)
        if (memcmp(text.p + i, part.p, part.n) == 0)
            return true;
    return false;
}

/* Each line of BUF is a JSON value. Returns how many have the member "id". */
static size_t check_lines(struct buf *buf)
{
    struct arena arena = ARENA_EMPTY;
    size_t answers = 0;

    for (size_t start = 0, i = 0; i < buf->n; i++) {
        struct json value;
        struct json_error error;
        if (buf->p[i] != '\n')
            continue;
        struct str line = str_make(buf->p + start, i - start);
        REQUIRE(json_parse(&arena, line, &value, &error) == ST_OK);
        answers += !json_is_absent(json_get(value, "id"));
        start = i + 1;
    }
    REQUIRE(buf->n == 0 || buf->p[buf->n - 1] == '\n');
    arena_release(&arena);
    return answers;
}

static struct core *start(struct policy *policy)
{
    struct core *core = NULL;

    policy_init(policy);
    if (policy_add(policy, core_find_tool(STR("evaluate-lisp")), POLICY_ASK) ==
        ST_OK)
        core =
            core_new(&(struct core_config){.policy = policy, .editor = true});
    REQUIRE(core);
    send(core, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
               "\"params\":{\"protocolVersion\":\"2025-11-25\","
               "\"capabilities\":{},\"clientInfo\":{\"name\":\"f\","
               "\"version\":\"1\"}}}\n");
    core_editor_open(core, 0);
    send(core, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
               "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":{"
               "\"code\":\"(f)\"}}}\n");
    return core;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str said = str_make((const char *)data, size);
    struct policy policy;
    struct core *core = start(&policy);

    for (size_t at = 0, n; at < size; at += n) { // in two pieces
        n = at == 0 ? size / 2 + 1 : size - at;
        core_editor_feed(core, data + at, n, 0);
    }
    bool runs = core_image_output(core)->n > 0;
    REQUIRE(!runs || has(said, STR("approve")) || has(said, STR("\\u")));
    core_editor_close(core, 0);
    // the answers to initialize and to the call, unless the image has the call
    size_t answers = check_lines(core_output(core));
    REQUIRE(answers == (runs ? 1 : 2));
    core_free(core);
    policy_release(&policy);
    return 0;
}
