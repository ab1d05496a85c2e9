/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of calls that wait for a human or work in steps: gate.c, approval.c and
   calls.c together, with tools of their own. */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"
#include "check.h"
#include "client.h"
#include "limits.h"
#include "messages.h"

/* --- Tools -------------------------------------------------------------- */

static struct {
    int runs;
    int prepared;
    int plans;        /* that are not freed */
    char written[64]; /* what the last run wrote */
    const char *file; /* what prepare finds */
} world;

static enum status write_it(const struct tool_request *request,
                            struct tool_answer *answer)
{
    world.runs++;
    snprintf(world.written, sizeof world.written, "%.*s",
             STR_ARG(request->values[0].string));
    answer->state = TOOL_ANSWERED;
    answer->text = arena_printf(request->arena, "wrote %.*s",
                                STR_ARG(request->values[0].string));
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

struct plan {
    struct tool_plan base;
    char text[40];
};

static void free_plan(struct tool_plan *plan)
{
    world.plans--;
    free(plan);
}

static enum status prepare_it(const struct tool_request *request,
                              struct tool_question *question,
                              struct tool_answer *answer)
{
    struct str text = request->values[0].string;
    struct plan *plan;

    world.prepared++;
    if (str_eq(text, str_from(world.file))) {
        answer->state = TOOL_ANSWERED;
        answer->text = STR("no change");
        return ST_OK;
    }
    if (str_eq(text, STR("../x"))) {
        answer->state = TOOL_FAILED;
        answer->text = STR("outside");
        return ST_OK;
    }
    plan = malloc(sizeof *plan);
    if (plan == NULL)
        return ST_NOMEM;
    world.plans++;
    plan->base.free = free_plan;
    snprintf(plan->text, sizeof plan->text, "%s>%.*s", world.file,
             STR_ARG(text));
    request->call->plan = &plan->base;
    buf_printf(&question->message, "-%s\n+%.*s\n", world.file, STR_ARG(text));
    buf_str(&question->substance, str_from(world.file));
    question->hunks =
        request->values[1].given ? (size_t)request->values[1].integer : 0;
    return ST_OK;
}

static enum status apply_it(const struct tool_request *request,
                            struct tool_answer *answer)
{
    const struct plan *plan = (const struct plan *)request->call->plan;
    const bool *chosen = request->decision->chosen;
    struct buf out = BUF_EMPTY;

    assert_int_equal(request->decision->consent, TOOL_APPROVED);
    world.runs++;
    buf_printf(&out, "%s", plan->text);
    for (size_t i = 0; i < request->call->question.hunks; i++)
        buf_printf(&out, " %d", chosen == NULL || chosen[i]);
    bool failed = buf_failed(&out) || arena_str(request->arena, buf_view(&out),
                                                &answer->text) != ST_OK;
    buf_release(&out);
    answer->state = TOOL_ANSWERED;
    return failed ? ST_NOMEM : ST_OK;
}

struct work {
    struct tool_work base;
    int left;
};

static enum status work_on(struct tool_work *base,
                           const struct tool_request *request,
                           struct tool_answer *answer)
{
    struct work *work = (struct work *)base;

    assert_null(request->values);
    if (--work->left > 0)
        return ST_OK;
    answer->state = TOOL_ANSWERED;
    answer->text = STR("worked");
    return ST_OK;
}

static void free_work(struct tool_work *work)
{
    world.plans--;
    free(work);
}

static enum status start_work(const struct tool_request *request,
                              struct tool_answer *answer)
{
    struct work *work = malloc(sizeof *work);

    if (work == NULL)
        return ST_NOMEM;
    *work = (struct work){{work_on, free_work}, 3};
    world.plans++;
    request->call->work = &work->base;
    answer->state = TOOL_WORKS;
    return ST_OK;
}

/* Asks for a name, then for a number. */
static enum status interview(const struct tool_request *request,
                             struct tool_answer *answer)
{
    struct json content = json_get(request->reply, "content");
    struct tool_question *question = &request->call->question;

    if (!json_is_absent(json_get(content, "n")) ||
        json_is_string(json_get(request->reply, "action"), "decline")) {
        answer->state = TOOL_ANSWERED;
        return arena_str(request->arena, json_raw(request->reply),
                         &answer->text);
    }
    answer->state = TOOL_ASKS;
    buf_str(&question->message, json_is_absent(request->reply)
                                    ? STR("What is your name?")
                                    : STR("And the number?"));
    buf_str(&question->form, STR("{\"type\":\"object\",\"properties\":{}}"));
    return ST_OK;
}

static const struct schema_field fields[] = {
    {.name = "text", .kind = SCHEMA_STRING, .required = true, .help = "A."},
    {.name = "n", .kind = SCHEMA_INTEGER, .help = "N."},
    {0},
};

static const struct schema_field no_fields[] = {{0}};

#define NAMED(text) .name = (text), .title = "T", .description = "D."

static const struct tool write_tool = {NAMED("write"), .fields = fields,
                                       .handler = write_it};
static const struct tool review_tool = {NAMED("review"), .fields = fields,
                                        .prepare = prepare_it,
                                        .handler = apply_it};
static const struct tool image_tool = {NAMED("run"), .fields = fields,
                                       .operation = "run"};
static const struct tool work_tool = {NAMED("work"), .fields = no_fields,
                                      .level = TOOL_SAFE,
                                      .handler = start_work};
static const struct tool interview_tool = {
    NAMED("interview"), .fields = no_fields, .level = TOOL_SAFE,
    .handler = interview};

/* --- Surroundings ------------------------------------------------------- */

static struct {
    struct log log;
    struct buf lines;
    struct buf events;
    struct buf output;
    struct image image;
    struct gate gate;
    struct calls calls;
    int64_t now_ms;
} at;

static void keep_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    if (level == LOG_DEBUG)
        return;
    buf_str(&at.lines, line);
    buf_byte(&at.lines, '\n');
}

static void keep_event(void *context, const struct gate_event *event)
{
    static const char *const phases[] = {"before", "after", "error"};

    (void)context;
    buf_printf(&at.events, "%s %s %.*s\n", phases[event->phase],
               event->call->tool->name, STR_ARG(event->arguments));
}

static int set_up(void **state)
{
    const struct tool_limits limits = {.max_output = 500, .timeout_ms = 30000};

    (void)state;
    world.runs = world.prepared = 0;
    world.written[0] = '\0';
    world.file = "old";
    at.now_ms = 1000;
    at.log = (struct log){LOG_DEBUG, keep_line, NULL};
    image_init(&at.image, &at.log);
    gate_init(&at.gate, &at.log, &at.image, &limits);
    at.calls = (struct calls){.log = &at.log,
                              .gate = &at.gate,
                              .image = &at.image,
                              .output = &at.output,
                              .approval_ms = 60000};
    if (buf_reserve(&at.output, RPC_SPARE) == NULL)
        return 1;
    return gate_add_hook(&at.gate, keep_event, NULL) != ST_OK;
}

static int tear_down(void **state)
{
    (void)state;
    calls_release(&at.calls);
    image_release(&at.image);
    buf_release(&at.lines);
    buf_release(&at.events);
    buf_release(&at.output);
    return world.plans;
}

static void expect(const char *pattern)
{
    struct str got = buf_view(&at.output);
    bool good = client_matches(got, pattern);

    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(got), pattern);
    assert_memory(good);
    buf_reset(&at.output);
}

static void expect_text(struct buf *buf, const char *text)
{
    bool good = str_eq(buf_view(buf), str_from(text));

    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(buf_view(buf)), text);
    assert_memory(good);
    buf_reset(buf);
}

/* How a client calls. */
struct manner {
    enum mcp_version version;
    bool cannot_ask;
    const char *token;
};

static void call(const char *id, const struct tool *tool, const char *arguments,
                 struct manner manner)
{
    struct arena arena = ARENA_EMPTY;
    struct json_error error;
    struct schema_notes notes;
    struct calls_request request = {
        .arena = &arena,
        .to = {.output = &at.output, .id = str_from(id)},
        .version = manner.version,
        .can_ask = !manner.cannot_ask,
        .tool = tool,
        .now_ms = at.now_ms,
    };
    struct schema_value values[2] = {{0}};
    enum status status =
        json_parse(&arena, str_from(arguments), &request.arguments, &error);

    if (manner.token != NULL)
        request.token = str_from(manner.token);
    if (status == ST_OK)
        status = schema_check(&arena, tool->fields, request.arguments, values,
                              &notes);
    request.values = values;
    if (status == ST_OK)
        status = calls_start(&at.calls, &request);
    arena_release(&arena);
    assert_ok(status);
}

static const struct manner v2025 = {.version = MCP_2025_11_25};

/* The client's response to our request ID. */
static void answer_with(const char *id, const char *member)
{
    struct arena arena = ARENA_EMPTY;
    struct json_error error;
    struct json value;
    struct rpc_message message;
    struct str line =
        arena_printf(&arena, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, member);
    enum status status =
        line.n == 0 ? ST_NOMEM : json_parse(&arena, line, &value, &error);

    if (status == ST_OK)
        status = rpc_read(&arena, value, &message);
    if (status == ST_OK)
        calls_answer(&at.calls, &arena, &message, at.now_ms);
    arena_release(&arena);
    assert_ok(status);
}

static void tick(int64_t ms)
{
    struct arena arena = ARENA_EMPTY;

    at.now_ms += ms;
    calls_tick(&at.calls, &arena, at.now_ms);
}

/* The image answers the call with ID. */
static void reply(uint64_t id, struct str text)
{
    struct buf frame = BUF_EMPTY;
    size_t start = wire_begin(&frame, WIRE_REPLY, 0, id);

    wire_put_string(&frame, text);
    wire_end(&frame, start);
    bool failed = buf_failed(&frame);
    if (!failed) {
        image_feed(&at.image, buf_view(&frame));
        calls_take_replies(&at.calls, at.now_ms);
    }
    buf_release(&frame);
    assert_memory(!failed);
}

#define QUESTION(number, rest)                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":\"ecl-mcp-" number                            \
    "\",\"method\":\"elicitation/create\",\"params\":{" rest "}}\n"
#define DECISION                                                               \
    "\"decision\":{\"type\":\"string\",\"title\":\"Decision\",\"enum\":["      \
    "\"approve\",\"deny\"]}"
#define FORM(content)                                                          \
    "\"result\":{\"action\":\"accept\",\"content\":" content "}"
#define APPROVE FORM("{\"decision\":\"approve\"}")
#define RESULT(id, text, error, approved)                                      \
    OK(id, "{\"content\":[{\"type\":\"text\",\"text\":\"" text                 \
           "\"}],\"isError\":" error ",\"_meta\":{"                            \
           "\"ecl-mcp/executionTimeMs\":…,\"ecl-mcp/safetyLevel\":"          \
           "\"dangerous\",\"ecl-mcp/approved\":" approved "…}}")               \
    "\n"

/* --- Tests -------------------------------------------------------------- */

static void asking_runs_what_is_approved(void **state)
{
    (void)state;
    call("7", &write_tool, "{\"text\": \"a\\nb\"}", v2025);
    expect(QUESTION("1",
                    "\"mode\":\"form\",\"message\":\"write (T) asks to be "
                    "run.\\n\\ntext:\\n    a\\n    b\",\"requestedSchema\":"
                    "{\"type\":\"object\",\"properties\":{" DECISION
                    ",\"reason\":{…},\"arguments\":{…,\"default\":\"{"
                    "\\\"text\\\": \\\"a\\\\nb\\\"}\"},\"remember\":{…}},"
                    "\"required\":[\"decision\"]}"));
    assert_int_equal(world.runs, 0);
    at.now_ms += 250;
    answer_with("\"ecl-mcp-1\"", APPROVE);
    expect(RESULT("7", "wrote a\\nb", "false", "true"));
    assert_int_equal(world.runs, 1);
    assert_int_equal(at.calls.waiting, 0);
    expect_text(&at.lines,
                "gate: write (dangerous) approved by human, 250 ms\n");
    expect_text(&at.events, "before write {\"text\": \"a\\nb\"}\n"
                            "after write {\"text\": \"a\\nb\"}\n");
    answer_with("\"ecl-mcp-1\"", APPROVE); // a second answer
    expect("");
    assert_int_equal(world.runs, 1);
}

/* What is no clear approval is none. */
static void asking_refuses_everything_else(void **state)
{
    static const struct {
        const char *answer;
        const char *text;
        const char *decision;
    } cases[] = {
        {FORM("{\"decision\":\"deny\",\"reason\":\" not now \"}"),
         "User denied tool execution: not now", "denied by human"},
        {FORM("{\"decision\":\"deny\"}"), "User denied tool execution",
         "denied by human"},
        {"\"result\":{\"action\":\"decline\"}", "User denied tool execution",
         "denied by human"},
        {"\"result\":{\"action\":\"cancel\"}",
         "write was not run: there is no approval: the user dismissed the "
         "request. Nothing was changed.",
         "refused by no decision"},
        {FORM("{}"), "…the form has no decision…", "refused by no decision"},
        {FORM("{\"decision\":true}"), "…no decision…",
         "refused by no decision"},
        {FORM("{\"decision\":\"Approve\"}"), "…no decision…",
         "refused by no decision"},
        {FORM("[\"approve\"]"), "…no decision…", "refused by no decision"},
        {"\"result\":{\"action\":\"accept\"}", "…no decision…",
         "refused by no decision"},
        {"\"result\":{\"content\":{\"decision\":\"approve\"}}",
         "…makes no sense…", "refused by no decision"},
        {"\"result\":{\"action\":\"ACCEPT\",\"content\":{\"decision\":"
         "\"approve\"}}",
         "…makes no sense…", "refused by no decision"},
        {"\"result\":null", "…makes no sense…", "refused by no decision"},
        {"\"result\":\"approve\"", "…makes no sense…",
         "refused by no decision"},
        {"\"error\":{\"code\":-32601,\"message\":\"no \\u0007 forms\"}",
         "…the client could not ask its user (no \\u0007 forms)…",
         "refused by no decision"},
        {"\"error\":17", "…the client could not ask its user…",
         "refused by no decision"},
        {FORM("{\"decision\":\"approve\",\"arguments\":\"{\"}"),
         "…with other arguments, but no JSON: …",
         "refused by human, with bad arguments"},
        {FORM("{\"decision\":\"approve\",\"arguments\":\"7\"}"),
         "…they are no JSON object…", "refused by human, with bad arguments"},
        {FORM("{\"decision\":\"approve\",\"arguments\":\"{\\\"n\\\":1}\"}"),
         "…missing required argument: text…",
         "refused by human, with bad arguments"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char id[40];
        char text[400];
        snprintf(id, sizeof id, "\"ecl-mcp-%zu\"", i + 1);
        call("1", &write_tool, "{\"text\":\"x\"}", v2025);
        expect("{…\"method\":\"elicitation/create\"…}\n");
        answer_with(id, cases[i].answer);
        snprintf(text, sizeof text, RESULT("1", "%s", "true", "false"),
                 cases[i].text);
        expect(text);
        snprintf(text, sizeof text, "gate: write (dangerous) %s, 0 ms\n",
                 cases[i].decision);
        expect_text(&at.lines, text);
        expect_text(&at.events, "error write {\"text\":\"x\"}\n");
    }
    assert_int_equal(world.runs, 0);
    assert_int_equal(at.calls.waiting, 0);
}

static void asking_needs_somebody_to_ask(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_11_25, .cannot_ask = true});
    expect(RESULT("1", "…approval…--allow write…", "true", "false"));
    call("2", &review_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_11_25, .cannot_ask = true});
    expect(RESULT("2", "REFUSED\\n…approval…", "true", "false"));
    assert_int_equal(world.runs + world.prepared, 0);
}

static void asking_runs_modified_arguments(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\",\"n\":1}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\": \\\"y\\\"}\"}"));
    expect(RESULT("1",
                  "The user changed the arguments: \\\"text\\\" is "
                  "\\\"y\\\", \\\"n\\\" is left out.\\nwrote y",
                  "false", "true"));
    assert_string_equal(world.written, "y");
    expect_text(&at.lines, "gate: write (dangerous) modified by human, 0 ms\n");
    expect_text(&at.events, "before write {\"text\": \"y\"}\n"
                            "after write {\"text\": \"y\"}\n");
    // the same in other words is no change
    call("2", &write_tool, "{\"text\":\"x\",\"n\":1}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-2\"",
                FORM("{\"decision\":\"approve\",\"arguments\":"
                     "\" { \\\"n\\\": 1, \\\"text\\\": \\\"x\\\" }\"}"));
    expect(RESULT("2", "wrote x", "false", "true"));
    expect_text(&at.lines, "gate: write (dangerous) approved by human, 0 ms\n");
}

static void asking_modifies_calls_to_the_image(void **state)
{
    struct str body;
    struct wire_head head;
    (void)state;
    call("1", &image_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n");
    assert_int_equal(at.image.out.n, 0);
    answer_with("\"ecl-mcp-1\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"y\\\"}\"}"));
    expect("");
    assert_memory(wire_frame(buf_view(&at.image.out), &head, &body) == ST_OK);
    assert_int_equal(head.kind, WIRE_CALL);
    reply(head.id, STR("=> 1"));
    expect(RESULT("1",
                  "The user changed the arguments: \\\"text\\\" is "
                  "\\\"y\\\".\\n=> 1",
                  "false", "true"));
}

static void asking_reviews_hunks(void **state)
{
    static const struct {
        const char *hunks;
        const char *text;
    } cases[] = {
        {"", "old>x 1 1 1"},
        {",\"hunks\":\"\"", "old>x 1 1 1"},
        {",\"hunks\":\" \"", "old>x 1 1 1"},
        {",\"hunks\":7", "old>x 1 1 1"},
        {",\"hunks\":\"1,3\"", "old>x 1 0 1"},
        {",\"hunks\":\" 3 , 2-2 \"", "old>x 0 1 1"},
        {",\"hunks\":\"1-3\"", "old>x 1 1 1"},
        {",\"hunks\":\"4\"", NULL},
        {",\"hunks\":\"0\"", NULL},
        {",\"hunks\":\"1,\"", NULL},
        {",\"hunks\":\"3-1\"", NULL},
        {",\"hunks\":\"all\"", NULL},
        {",\"hunks\":\"1 2\"", NULL},
        {",\"hunks\":\"99999999999999999999999\"", NULL},
        {",\"hunks\":\"-1\"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char id[40];
        char text[300];
        call("1", &review_tool, "{\"text\":\"x\",\"n\":3}", v2025);
        expect("{…\"message\":\"-old\\n+x\\n\",\"requestedSchema\":{"
               "\"type\":\"object\",\"properties\":{" DECISION
               ",\"hunks\":{…},\"reason\":{…},\"remember\":{…}},\"required\":"
               "[\"decision\"]}}}\n");
        snprintf(id, sizeof id, "\"ecl-mcp-%zu\"", i + 1);
        snprintf(text, sizeof text, FORM("{\"decision\":\"approve\"%s}"),
                 cases[i].hunks);
        answer_with(id, text);
        if (cases[i].text != NULL)
            snprintf(text, sizeof text, RESULT("1", "%s", "false", "true"),
                     cases[i].text);
        else
            snprintf(text, sizeof text,
                     RESULT("1", "NO DECISION\\n…numbers from 1 to 3…", "true",
                            "false"));
        expect(text);
    }
}

/* What a review can answer by itself nobody is asked. */
static void asking_prepares_first(void **state)
{
    (void)state;
    call("1", &review_tool, "{\"text\":\"old\"}", v2025);
    expect(RESULT("1", "no change", "false", "false"));
    call("2", &review_tool, "{\"text\":\"../x\"}", v2025);
    expect(RESULT("2", "outside", "true", "false"));
    expect_text(&at.lines,
                "gate: review (dangerous) settled by preparation, 0 ms\n"
                "gate: review (dangerous) settled by preparation, 0 ms\n");
    expect_text(&at.events, "after review {\"text\":\"old\"}\n"
                            "error review {\"text\":\"../x\"}\n");
    call("3", &review_tool, "{\"text\":\"x\"}", v2025);
    expect("{…\"arguments\":{…}}\n");
    answer_with("\"ecl-mcp-1\"", "\"result\":{\"action\":\"decline\"}");
    expect(
        RESULT("3", "REFUSED\\nUser denied tool execution", "true", "false"));
    // other arguments are prepared again
    call("4", &review_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-2\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"y\\\"}\"}"));
    expect(RESULT("4", "The user changed the arguments: …\\nold>y", "false",
                  "true"));
    call("5", &review_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-3\"", FORM("{\"decision\":\"approve\",\"arguments\":"
                                      "\"{\\\"text\\\":\\\"../x\\\"}\"}"));
    expect(RESULT("5", "The user changed the arguments: …\\noutside", "true",
                  "false"));
    assert_int_equal(world.runs, 1);
}

static void asking_remembers(void **state)
{
    (void)state;
    call("1", &review_tool, "{\"text\":\"x\",\"n\":2}", v2025);
    call("2", &review_tool, "{\"text\":\"y\"}", v2025);
    expect("{…}\n{…}\n");
    answer_with("\"ecl-mcp-1\"",
                FORM("{\"decision\":\"approve\",\"remember\":true}"));
    expect(RESULT("1", "old>x 1 1", "false", "true"));
    expect_text(&at.lines, "gate: review (dangerous) approved by human, 0 ms\n"
                           "gate: review is granted from now on\n");
    call("3", &review_tool, "{\"text\":\"z\",\"n\":2}", v2025);
    expect(RESULT("3", "old>z 1 1", "false", "true"));
    expect_text(&at.lines, "gate: review (dangerous) allowed by grant, 0 ms\n");
    // who was asked already decides
    answer_with("\"ecl-mcp-2\"", FORM("{\"decision\":\"deny\"}"));
    expect(RESULT("2", "REFUSED…denied…", "true", "false"));
    call("4", &write_tool, "{\"text\":\"x\"}", v2025); // another tool
    expect("{…elicitation…}\n");
    assert_true(gate_has_grant(&at.gate, &review_tool));
    gate_revoke(&at.gate, &review_tool);
    gate_revoke(&at.gate, &review_tool);
    call("5", &review_tool, "{\"text\":\"z\"}", v2025);
    expect("{…elicitation…}\n");
    // only a clear yes is remembered
    answer_with("\"ecl-mcp-4\"",
                FORM("{\"decision\":\"approve\",\"remember\":\"true\"}"));
    expect(RESULT("5", "old>z", "false", "true"));
    answer_with("\"ecl-mcp-3\"",
                FORM("{\"decision\":\"deny\",\"remember\":true}"));
    expect("{…}\n");
    assert_int_equal(at.gate.grant_count, 0);
}

static void asking_knows_versions(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_06_18});
    expect(QUESTION("1",
                    "\"message\":\"…\",\"requestedSchema\":{\"type\":"
                    "\"object\",\"properties\":{" DECISION
                    ",\"reason\":{\"type\":\"string\",\"title\":\"Reason\","
                    "\"description\":\"…\"},\"arguments\":{\"type\":"
                    "\"string\",\"title\":\"Arguments (JSON)\","
                    "\"description\":\"…\"},\"remember\":{…\"default\":"
                    "false}},\"required\":[\"decision\"]}"));
}

static void asking_ends_in_time(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}",
         (struct manner){.version = MCP_2025_11_25, .token = "\"t\""});
    expect("{…}\n");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms),
                     1000 + LIMIT_APPROVAL_PROGRESS_MS);
    tick(LIMIT_APPROVAL_PROGRESS_MS - 1);
    expect("");
    tick(1);
    expect(
        PROGRESS("\"t\"", "1,\"message\":\"waiting for the user, 10 s\"") "\n");
    tick(1);
    expect("");
    tick(LIMIT_APPROVAL_PROGRESS_MS);
    expect(
        PROGRESS("\"t\"", "2,\"message\":\"waiting for the user, 20 s\"") "\n");
    call("2", &write_tool, "{\"text\":\"y\"}", v2025);
    expect("{…}\n");
    tick(60000 - 1 - 2 * LIMIT_APPROVAL_PROGRESS_MS);
    expect(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
        "\"params\":{\"requestId\":\"ecl-mcp-1\",\"reason\":\"the user did not "
        "answer within 60 s\"}}\n" RESULT(
            "1",
            "write was not run: there is no approval: the user did not "
            "answer within 60 s. Nothing was changed.",
            "true", "false"));
    expect_text(&at.lines,
                "gate: write (dangerous) refused by no decision, 60000 ms\n");
    answer_with("\"ecl-mcp-1\"", APPROVE); // too late
    expect("");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), 61000 + 20001);
    answer_with("\"ecl-mcp-2\"", APPROVE);
    expect(RESULT("2", "wrote y", "false", "true"));
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), -1);
    assert_int_equal(world.runs, 1);
}

static void cancel(const char *id)
{
    struct arena arena = ARENA_EMPTY;

    calls_cancel(&at.calls, &arena, str_from(id), at.now_ms);
    arena_release(&arena);
}

static void asking_is_cancelled(void **state)
{
    (void)state;
    call("1", &review_tool, "{\"text\":\"x\"}", v2025);
    call("2", &work_tool, "{}", v2025);
    expect("{…}\n");
    cancel("3");
    expect("");
    cancel("1");
    expect("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
           "\"params\":{\"requestId\":\"ecl-mcp-1\",\"reason\":\"the call was "
           "cancelled\"}}\n");
    answer_with("\"ecl-mcp-1\"", APPROVE);
    expect("");
    assert_int_equal(at.calls.waiting, 1);
    cancel("2");
    expect("");
    assert_int_equal(at.calls.waiting, 0);
    assert_int_equal(world.runs, 0);
    expect_text(&at.events, "before work {}\nerror review {\"text\":\"x\"}\n"
                            "error work {}\n");
}

static void finish(void)
{
    struct arena arena = ARENA_EMPTY;

    calls_finish(&at.calls, &arena, at.now_ms);
}

static void asking_ends_with_the_input(void **state)
{
    (void)state;
    call("1", &write_tool, "{\"text\":\"x\"}", v2025);
    call("2", &write_tool, "{\"text\":\"x\"}", v2025);
    expect("{…}\n{…}\n");
    finish();
    expect(RESULT("2", "…no approval: the client has closed…", "true", "false")
               RESULT("1", "…no approval: the client has closed…", "true",
                      "false"));
    assert_int_equal(at.calls.waiting, 0);
    assert_int_equal(world.runs, 0);
}

static void asking_is_limited(void **state)
{
    char id[40];
    static char text[LIMIT_QUESTION + 100];
    (void)state;
    for (int i = 0; i < LIMIT_APPROVALS; i++) {
        snprintf(id, sizeof id, "%d", i);
        call(id, &write_tool, "{\"text\":\"x\"}", v2025);
    }
    expect("{…}\n");
    call("64", &write_tool, "{\"text\":\"x\"}", v2025);
    expect(RESULT("64", "…no approval: …the limit is 64…", "true", "false"));
    answer_with("\"ecl-mcp-64\"", APPROVE);
    expect(RESULT("63", "wrote x", "false", "true"));
    memset(text, 'x', sizeof text);
    memcpy(text, STR("{\"text\":\"").p, 9);
    memcpy(text + sizeof text - 3, "\"}", 3);
    call("65", &write_tool, text, v2025);
    expect(RESULT("65", "…approval has …, the limit is 1048576…", "true",
                  "false"));
    call("66", &write_tool, "{\"text\":\"x\"}", v2025);
    expect("{…elicitation…}\n");
}

/* What would not be seen is made visible. */
static void asking_shows_everything(void **state)
{
    (void)state;
    call(
        "1", &write_tool,
        "{\"text\":\"a\\u0000b\\u001b[2K\\u202e\\tc\\n\\r\",\"x\\u001b\":\"\"}",
        v2025);
    expect("{…text:\\n    a\\\\x00b\\\\x1b[2K\\\\u202e\\tc\\n    "
           "\\\\r\\nx\\\\x1b: …}\n");
}

static void calls_work_in_steps(void **state)
{
    (void)state;
    call("1", &work_tool, "{}", v2025);
    call("2", &work_tool, "{}", v2025);
    expect("");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), at.now_ms);
    tick(1);
    tick(1);
    expect("");
    tick(1);
    expect("{…\"id\":2,…worked…}\n{…\"id\":1,…worked…}\n");
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), -1);
    assert_int_equal(world.plans, 0);
    call("3", &work_tool, "{}", v2025);
    calls_stop_work(&at.calls, at.now_ms);
    expect("{…\"id\":3,…\"Stopped: the server ends.\"}],\"isError\":true…}\n");
}

static void handlers_ask(void **state)
{
    (void)state;
    call("1", &interview_tool, "{}", v2025);
    expect(QUESTION("1", "\"mode\":\"form\",\"message\":\"What is your name?\","
                         "\"requestedSchema\":{\"type\":\"object\","
                         "\"properties\":{}}"));
    answer_with("\"ecl-mcp-1\"", FORM("{\"name\":\"N\"}"));
    expect(QUESTION("2", "\"mode\":\"form\",\"message\":\"And the number?\","
                         "\"requestedSchema\":{\"type\":\"object\","
                         "\"properties\":{}}"));
    answer_with("\"ecl-mcp-2\"", FORM("{\"n\":3}"));
    expect("{…\"text\":\"{\\\"action\\\":\\\"accept\\\",\\\"content\\\":{"
           "\\\"n\\\":3}}\"…}\n");
    expect_text(&at.events, "before interview {}\nafter interview {}\n");
    call("2", &interview_tool, "{}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-3\"", "\"result\":{\"action\":\"decline\"}");
    expect("{…decline…}\n");
    call("3", &interview_tool, "{}", v2025);
    expect("{…}\n");
    answer_with("\"ecl-mcp-4\"", "\"error\":{}");
    expect(
        "{…interview has no answer to its question: the client could not…}\n");
    call("4", &interview_tool, "{}",
         (struct manner){.version = MCP_2025_11_25, .cannot_ask = true});
    expect("{…interview has a question, but this client cannot…}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(asking_runs_what_is_approved),
        TEST(asking_refuses_everything_else),
        TEST(asking_needs_somebody_to_ask),
        TEST(asking_runs_modified_arguments),
        TEST(asking_modifies_calls_to_the_image),
        TEST(asking_reviews_hunks),
        TEST(asking_prepares_first),
        TEST(asking_remembers),
        TEST(asking_knows_versions),
        TEST(asking_ends_in_time),
        TEST(asking_is_cancelled),
        TEST(asking_ends_with_the_input),
        TEST(asking_is_limited),
        TEST(asking_shows_everything),
        TEST(calls_work_in_steps),
        TEST(handlers_ask),
    };
    return RUN_TESTS("asking", tests);
}
