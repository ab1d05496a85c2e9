/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever an editor says: what it did not approve does not run, the client
   hears lines of JSON, and every call is answered once the editor is gone. */
#include <string.h>

#include "fuzz.h"
#include "json.h"
#include "policy.h"
#include "session.h"

static void send(struct session *session, const char *line)
{
    session_feed(session, line, strlen(line), 0);
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

static struct session *start(struct policy *policy)
{
    struct session *session = NULL;

    policy_init(policy);
    if (policy_add(policy, session_find_tool(STR("evaluate-lisp")),
                   POLICY_ASK) == ST_OK)
        session = session_new(
            &(struct session_config){.policy = policy, .editor = true});
    REQUIRE(session != NULL);
    send(session, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                  "\"params\":{\"protocolVersion\":\"2025-11-25\","
                  "\"capabilities\":{},\"clientInfo\":{\"name\":\"f\","
                  "\"version\":\"1\"}}}\n");
    session_editor_open(session, 0);
    send(session, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                  "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":{"
                  "\"code\":\"(f)\"}}}\n");
    return session;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str said = str_make((const char *)data, size);
    struct policy policy;
    struct session *session = start(&policy);

    for (size_t at = 0, n; at < size; at += n) { // in two pieces
        n = at == 0 ? size / 2 + 1 : size - at;
        session_editor_feed(session, data + at, n, 0);
    }
    bool runs = session_image_output(session)->n > 0;
    REQUIRE(!runs || has(said, STR("approve")) || has(said, STR("\\u")));
    session_editor_close(session, 0);
    // the answer of initialize, and that of the call unless the image has it
    size_t answers = check_lines(session_output(session));
    REQUIRE(answers == (runs ? 1 : 2));
    session_free(session);
    policy_release(&policy);
    return 0;
}
