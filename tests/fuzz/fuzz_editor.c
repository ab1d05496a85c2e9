/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever an editor says, and in whatever order the client asks meanwhile:
   code runs and files change only after an approval, the client hears lines of
   JSON, and every call is answered once the editor is gone. The input is lines
   of the editor, and among them lines of the test that begin with "!". */
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "fuzz/fuzz.h"
#include "gate/policy.h"
#include "json/json.h"

/* Calls that a client makes in all. */
#define CALLS 12

struct fuzz {
    struct core *core;
    struct policy policy;
    int64_t now_ms;
    int made; /* calls */
    bool said_yes;
};

/* --- A folder with one file, f ------------------------------------------ */

static char text[200];
static int writes;

static enum files_result locate(void *context, struct arena *arena,
                                struct str path, struct files_place *out,
                                struct str *problem)
{
    (void)context;
    (void)arena;
    *problem = STR("");
    *out = (struct files_place){.asked = path, .name = path};
    return FILES_OK;
}

static enum files_result read_file(void *context, struct arena *arena,
                                   const struct files_place *place,
                                   uint64_t max, struct files_content *out,
                                   struct str *problem)
{
    (void)context;
    (void)max;
    *problem = STR("");
    *out = (struct files_content){.exists = true};
    if (arena_str(arena, place->name, &out->name) != ST_OK ||
        arena_str(arena, str_from(text), &out->bytes) != ST_OK)
        return FILES_NOMEM;
    digest_of(out->bytes, out->hash);
    return FILES_OK;
}

static enum files_result read_file_again(void *context, struct arena *arena,
                                         const struct files_place *place,
                                         const struct files_content *known,
                                         struct files_content *out,
                                         struct str *problem)
{
    (void)known;
    return read_file(context, arena, place, 0, out, problem);
}

static enum files_result write_file(void *context, struct arena *arena,
                                    const struct files_content *expected,
                                    struct str bytes, struct str *problem)
{
    (void)context;
    (void)arena;
    (void)expected;
    (void)problem;
    writes++;
    (void)snprintf(text, sizeof text, "%.*s", STR_ARG(bytes));
    return FILES_OK;
}

static const struct files files = {.root = "/w",
                                   .locate = locate,
                                   .read = read_file,
                                   .read_again = read_file_again,
                                   .write = write_file};

/* --- The client --------------------------------------------------------- */

static void client_says(struct fuzz *f, const char *line)
{
    core_feed(f->core, line, strlen(line), f->now_ms);
}

static void client_calls(struct fuzz *f, const char *tool,
                         const char *arguments)
{
    char line[600];

    if (f->made >= CALLS)
        return;
    f->made++;
    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
                   "\"params\":{\"name\":\"%s\",\"arguments\":%s}}\n",
                   f->made, tool, arguments);
    client_says(f, line);
}

/* Each line of BUF is a JSON value. Returns how many are answers. */
static int check_lines(struct buf *buf)
{
    struct arena arena = ARENA_EMPTY;
    int answers = 0;

    for (size_t start = 0, i = 0; i < buf->n; i++) {
        struct json value;
        struct json_error error;
        if (buf->p[i] != '\n')
            continue;
        struct str line = str_make(buf->p + start, i - start);
        REQUIRE(json_parse(&arena, line, &value, &error) == ST_OK);
        answers += json_is_absent(json_get(value, "method")) &&
                   !json_is_absent(json_get(value, "id"));
        start = i + 1;
    }
    REQUIRE(buf->n == 0 || buf->p[buf->n - 1] == '\n');
    arena_release(&arena);
    return answers;
}

/* --- The test ----------------------------------------------------------- */

static void start(struct fuzz *f)
{
    memset(f, 0, sizeof *f);
    (void)snprintf(text, sizeof text, "one\ntwo\nthree\n");
    writes = 0;
    policy_init(&f->policy);
    REQUIRE(policy_add(&f->policy, core_find_tool(STR("evaluate-lisp")),
                       POLICY_ASK) == ST_OK);
    f->core = core_new(&(struct core_config){.policy = &f->policy,
                                             .files = &files,
                                             .approval_ms = 60000,
                                             .editor = true});
    REQUIRE(f->core);
    client_says(f, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                   "\"params\":{\"protocolVersion\":\"2025-11-25\","
                   "\"capabilities\":{},\"clientInfo\":{\"name\":\"f\","
                   "\"version\":\"1\"}}}\n");
    core_editor_open(f->core, 0);
}

/* Does what the line "!X" orders. */
static void obey(struct fuzz *f, char order)
{
    switch (order) {
    case 'e':
        client_calls(f, "evaluate-lisp", "{\"code\":\"(f)\"}");
        break;
    case 'w':
        client_calls(f, "write-file",
                     "{\"path\":\"f\",\"content\":\"one\\n2\\nthree\\nfour\"}");
        break;
    case 'p':
        client_calls(f, "propose-file-edit",
                     "{\"path\":\"f\",\"edits\":[{\"old\":\"two\","
                     "\"new\":\"2\"},{\"old\":\"three\",\"new\":\"3\"}]}");
        break;
    case 't': // a tool of the editor
        client_calls(f, "t", "{\"t\":\"x\"}");
        break;
    case 's': // time passes
        f->now_ms += 1500;
        core_tick(f->core, f->now_ms);
        break;
    case 'l':
        f->now_ms += 61000;
        core_tick(f->core, f->now_ms);
        break;
    case 'o': // the editor is replaced
        core_editor_open(f->core, f->now_ms);
        break;
    case 'c':
        client_says(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                       "cancelled\",\"params\":{\"requestId\":1}}\n");
        break;
    default:
        break;
    }
}

/* Whether LINE may be an approval. */
static bool may_approve(struct str line)
{
    for (size_t i = 0; i < line.n; i++) // also in its escaped form
        if (line.p[i] == '\\' ||
            (line.n - i >= 7 && memcmp(line.p + i, "approve", 7) == 0))
            return true;
    return false;
}

static void take_line(struct fuzz *f, struct str line)
{
    if (line.n >= 2 && line.p[0] == '!') {
        obey(f, line.p[1]);
        return;
    }
    f->said_yes = f->said_yes || may_approve(line);
    core_editor_feed(f->core, line.p, line.n / 2, f->now_ms); // in two pieces
    core_editor_feed(f->core, line.p + line.n / 2, line.n - line.n / 2,
                     f->now_ms);
    core_editor_feed(f->core, "\n", 1, f->now_ms);
}

static void check(struct fuzz *f)
{
    bool runs = core_image_output(f->core)->n > 0;

    REQUIRE((!runs && writes == 0) || f->said_yes);
    core_editor_close(f->core, f->now_ms);
    core_image_lost(f->core, STR("It is gone."), f->now_ms);
    core_finish(f->core, 0, f->now_ms);
    core_tick(f->core, f->now_ms);
    REQUIRE(core_is_idle(f->core));
    // the answers to initialize and to the calls; one may be cancelled
    int answers = check_lines(core_output(f->core));
    REQUIRE(answers == f->made + 1 || answers == f->made);
    struct buf *output = core_editor_output(f->core);
    REQUIRE(output->n == 0 || output->p[output->n - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_make((const char *)data, size);
    struct fuzz f;

    start(&f);
    while (rest.n > 0) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;

        take_line(&f, str_make(rest.p, n));
        n += end ? 1 : 0;
        rest = str_make(rest.p + n, rest.n - n);
    }
    check(&f);
    core_free(f.core);
    policy_release(&f.policy);
    return 0;
}
