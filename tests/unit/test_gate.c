/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of gate.c, with a table of tools of its own. */
#include <stdio.h>

#include "base/limits.h"
#include "gate/gate.h"
#include "gate/metrics.h"
#include "support/check.h"
#include "support/frames.h"

/* --- Tools --------------------------------------------------------------- */

static int runs; /* of any handler */

static enum status answer_text(const struct tool_request *request,
                               struct tool_answer *answer)
{
    runs++;
    answer->state = TOOL_ANSWERED;
    answer->text = request->values[0].string;
    return ST_OK;
}

static enum status answer_failure(const struct tool_request *request,
                                  struct tool_answer *answer)
{
    (void)request;
    runs++;
    answer->state = TOOL_FAILED;
    answer->text = STR("it broke");
    return ST_OK;
}

static enum status out_of_memory(const struct tool_request *request,
                                 struct tool_answer *answer)
{
    (void)request;
    (void)answer;
    runs++;
    return ST_NOMEM;
}

static const struct schema_field fields[] = {
    {.name = "text", .kind = SCHEMA_STRING, .help = "A text."},
    {.name = "n", .kind = SCHEMA_INTEGER, .help = "A number."},
    {.name = "x", .kind = SCHEMA_NUMBER, .help = "A number."},
    {.name = "on", .kind = SCHEMA_BOOLEAN, .help = "A flag."},
    {0},
};

#define NAMED(text) .name = (text), .title = "T", .description = "D."
#define TOOL(text) NAMED(text), .fields = fields

static const struct tool safe = {TOOL("safe"), .level = TOOL_SAFE,
                                 .handler = answer_text};
static const struct tool cautious = {TOOL("cautious"), .level = TOOL_CAUTIOUS,
                                     .handler = answer_text};
static const struct tool dangerous = {
    TOOL("dangerous"), .level = TOOL_DANGEROUS, .handler = answer_text};
static const struct tool no_level = {TOOL("no-level"), .handler = answer_text};
static const struct tool unknown_level = {
    TOOL("odd"), .level = (enum tool_level)7, .handler = answer_text};
static const struct tool failing = {TOOL("failing"), .level = TOOL_SAFE,
                                    .handler = answer_failure};
static const struct tool hungry = {TOOL("hungry"), .level = TOOL_SAFE,
                                   .handler = out_of_memory};
static const struct tool in_image = {TOOL("in-image"), .level = TOOL_CAUTIOUS,
                                     .operation = "operate"};
static const struct tool dangerous_image = {TOOL("bad-image"),
                                            .operation = "operate"};

/* --- A gate with its surroundings ---------------------------------------- */

static struct arena arena;
static struct buf lines; /* of the log */
static struct buf events;
static struct log sink;
static struct image image;
static struct gate gate;
static struct tool_call call;
static struct gate_step step;
static const struct schema_value values[] = {
    {.given = true, .string = {"hello", 5}},
    {.given = true, .integer = -7},
    {.given = false},
    {.given = true, .boolean = true},
};

static void keep_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    buf_printf(&lines, "%s: ", log_level_name(level));
    buf_str(&lines, line);
    buf_byte(&lines, '\n');
}

static void keep_event(void *context, const struct gate_event *event)
{
    static const char *const phases[] = {"before", "after", "error"};
    const char *mark = context;
    buf_printf(&events, "%s%s %s", mark, phases[event->phase],
               event->call->tool->name);
    if (event->phase == GATE_BEFORE)
        buf_printf(&events, " (%.*s)", STR_ARG(event->arguments));
    if (event->text.n > 0)
        buf_printf(&events, " [%.*s] %d ms", STR_ARG(event->text),
                   (int)(event->now_ms - event->call->started_ms));
    buf_byte(&events, '\n');
}

static char first_mark[] = "";
static char second_mark[] = "2 ";

static int set_up(void **state)
{
    (void)state;
    runs = 0;
    sink = (struct log){LOG_DEBUG, keep_line, NULL};
    image_init(&image, &sink);
    const struct tool_limits limits = {.max_output = 500, .timeout_ms = 30000};
    gate_init(&gate, &sink, &image, &limits);
    return gate_add_hook(&gate, keep_event, first_mark) != ST_OK;
}

static int tear_down(void **state)
{
    (void)state;
    tool_call_release(&call);
    image_release(&image);
    arena_release(&arena);
    buf_release(&lines);
    buf_release(&events);
    return 0;
}

static enum status begin(const struct schema_value *given)
{
    step = (struct gate_step){
        .gate = &gate, .arena = &arena, .call = &call, .now_ms = 1000};
    return gate_start(&step, (struct json){0}, given);
}

static enum status start(const struct tool *tool)
{
    tool_call_release(&call);
    call = (struct tool_call){.tool = tool, .image.owner = &call};
    return begin(values);
}

static void expect_log(const char *text)
{
    assert_memory(str_eq(buf_view(&lines), str_from(text)));
}

static void expect_events(const char *text)
{
    assert_memory(str_eq(buf_view(&events), str_from(text)));
}

/* --- Tests --------------------------------------------------------------- */

static void gate_runs_safe_and_cautious(void **state)
{
    const struct tool *const tools[] = {&safe, &cautious, NULL};
    (void)state;
    for (size_t i = 0; tools[i]; i++) {
        assert_ok(start(tools[i]));
        assert_int_equal(step.answer.state, TOOL_ANSWERED);
        assert_text(step.answer.text, "hello");
        assert_true(call.approved);
        assert_int_equal(runs, i + 1);
    }
    expect_log("info: gate: safe (safe) allowed by level, 0 ms\n"
               "debug: gate: safe succeeded after 0 ms\n"
               "info: gate: cautious (cautious) allowed by level, 0 ms\n"
               "debug: gate: cautious succeeded after 0 ms\n");
    expect_events("before safe ({})\nafter safe [hello] 0 ms\n"
                  "before cautious ({})\nafter cautious [hello] 0 ms\n");
}

/* A missing or unknown level counts as the strictest one. */
static void gate_refuses_without_approval(void **state)
{
    const struct tool *const tools[] = {&dangerous, &no_level, &unknown_level,
                                        &dangerous_image, NULL};
    (void)state;
    for (size_t i = 0; tools[i]; i++) {
        buf_reset(&lines);
        buf_reset(&events);
        assert_ok(start(tools[i]));
        assert_int_equal(step.answer.state, TOOL_FAILED);
        assert_false(call.approved);
        assert_non_null(strstr(step.answer.text.p, "approval"));
        struct str line = arena_printf(
            &arena,
            "info: gate: %s (dangerous) refused by no approver, 0 ms\n"
            "debug: gate: %s failed after 0 ms\n",
            tools[i]->name, tools[i]->name);
        assert_memory(line.n > 0);
        expect_log(line.p);
        assert_memory(!buf_failed(&events));
        assert_true(str_starts(buf_view(&events), STR("error ")));
    }
    assert_int_equal(runs, 0);
    assert_int_equal(image.out.n, 0);
    assert_int_equal(image.calls, 0);
}

static void gate_reports_failures(void **state)
{
    (void)state;
    assert_ok(start(&failing));
    assert_int_equal(step.answer.state, TOOL_FAILED);
    assert_text(step.answer.text, "it broke");
    assert_true(call.approved);
    expect_events("before failing ({})\nerror failing [it broke] 0 ms\n");
}

static void gate_passes_out_of_memory_on(void **state)
{
    (void)state;
    assert_int_equal(start(&hungry), ST_NOMEM);
    expect_events("before hungry ({})\nerror hungry [Out of memory.] 0 ms\n");
}

static void gate_sends_operations(void **state)
{
    (void)state;
    struct wire_head head;
    struct str body;
    struct str text;
    struct wire_field field;
    int64_t n;
    assert_ok(start(&in_image));
    assert_int_equal(step.answer.state, TOOL_WAITS);
    assert_int_equal(image.calls, 1);
    frames_skip_hello(&image.out);
    assert_ok(wire_frame(buf_view(&image.out), &head, &body));
    assert_int_equal(head.kind, WIRE_CALL);
    assert_int_equal(head.id, call.image.id);
    assert_ok(wire_take_string(&body, &text));
    assert_text(text, "main");
    assert_ok(wire_take_string(&body, &text));
    assert_text(text, "operate");
    assert_ok(wire_take_int(&body, &n));
    assert_int_equal(n, 500);
    assert_ok(wire_take_int(&body, &n));
    assert_int_equal(n, LIMIT_TIMEOUT_MS);
    assert_ok(wire_take_string(&body, &text));
    assert_text(text, "text");
    assert_ok(wire_take_string(&body, &text));
    assert_text(text, "hello");
    assert_ok(wire_take_string(&body, &text));
    assert_text(text, "n");
    assert_ok(wire_take_int(&body, &n));
    assert_int_equal(n, -7);
    assert_ok(wire_take_string(&body, &text));
    assert_text(text, "on"); // x was not given
    assert_ok(wire_field(&body, &field));
    assert_int_equal(field.type, WIRE_TRUE);
    assert_int_equal(body.n, 0);
}

/* Starts a call of TOOL with the values GIVEN, a session and a time; checks
   that it goes to session WANTED with a limit of WANTED_MS and without
   arguments. */
static void check_task(const struct tool *tool,
                       const struct schema_value *given, const char *wanted,
                       int64_t wanted_ms)
{
    struct wire_head head;
    struct str body;
    struct str text;
    int64_t n;
    buf_reset(&image.out);
    tool_call_release(&call);
    call = (struct tool_call){.tool = tool, .image.owner = &call};
    assert_ok(begin(given));
    assert_ptr_equal(image_take(&image), &call.image);
    frames_skip_hello(&image.out);
    assert_ok(wire_frame(buf_view(&image.out), &head, &body));
    assert_ok(wire_take_string(&body, &text));
    assert_memory(str_eq(text, str_from(wanted)));
    assert_ok(wire_take_string(&body, &text));
    assert_ok(wire_take_int(&body, &n));
    assert_ok(wire_take_int(&body, &n));
    assert_true(n == wanted_ms);
    assert_int_equal(body.n, 0);
}

static void gate_sends_session_and_time_limit(void **state)
{
    static const struct schema_field both[] = {
        {.name = "session", .kind = SCHEMA_NAME, .help = "A name."},
        {.name = "timeout", .kind = SCHEMA_NUMBER, .help = "A time."},
        {0},
    };
    static const struct tool plain = {NAMED("plain"), .fields = both,
                                      .level = TOOL_SAFE,
                                      .operation = "operate"};
    static const struct tool slow = {NAMED("slow"), .fields = both,
                                     .level = TOOL_SAFE, .timeout_ms = 60000,
                                     .operation = "operate"};
    static const struct {
        double seconds; // -1: not given
        int64_t general_ms, plain_ms, slow_ms;
    } cases[] = {
        {-1, 30000, 30000, 60000},
        {-1, 90000, 90000, 90000},
        {-1, 0, 0, 0},
        {5, 30000, 5000, 5000},
        {0, 30000, 0, 0},
        {0.0001, 30000, 1, 1},
        {1.5, 0, 1500, 1500},
        {86400, 1, 86400000, 86400000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct schema_value given[] = {
            {.given = i % 2 == 0, .string = {"other", 5}},
            {.given = cases[i].seconds >= 0, .real = cases[i].seconds},
        };
        const char *session = i % 2 == 0 ? "other" : "main";
        gate.limits.timeout_ms = cases[i].general_ms;
        check_task(&plain, given, session, cases[i].plain_ms);
        check_task(&slow, given, session, cases[i].slow_ms);
    }
}

static void gate_ends_waiting_calls(void **state)
{
    (void)state;
    assert_ok(start(&in_image));
    assert_ptr_equal(image_take(&image), &call.image);
    step.now_ms = 1250;
    step.answer = (struct tool_answer){.state = TOOL_FAILED,
                                       .text = STR("no such thing")};
    gate_end(&step);
    expect_log("info: gate: in-image (cautious) allowed by level, 0 ms\n"
               "debug: gate: in-image failed after 250 ms\n");
    expect_events("before in-image ({})\n"
                  "error in-image [no such thing] 250 ms\n");
}

static void gate_names_the_limit_of_waiting_calls(void **state)
{
    (void)state;
    image.calls = LIMIT_PENDING_CALLS;
    assert_ok(start(&in_image));
    assert_int_equal(step.answer.state, TOOL_FAILED);
    assert_non_null(
        strstr(step.answer.text.p, "4096 calls and 67108864 bytes"));
    assert_int_equal(image.out.n, 0);
    image.calls = 0;
}

static void gate_reports_a_broken_connection(void **state)
{
    (void)state;
    image.broken = true;
    assert_ok(start(&in_image));
    assert_int_equal(step.answer.state, TOOL_FAILED);
    assert_text(step.answer.text, "The connection to the Lisp image is broken. "
                                  "Restart the server.");
}

static void gate_calls_all_hooks_in_order(void **state)
{
    (void)state;
    for (size_t i = 1; i < GATE_HOOKS; i++)
        assert_int_equal(gate_add_hook(&gate, keep_event, second_mark), ST_OK);
    assert_int_equal(gate_add_hook(&gate, keep_event, second_mark), ST_LIMIT);
    assert_ok(start(&safe));
    expect_events("before safe ({})\n2 before safe ({})\n"
                  "2 before safe ({})\n2 before safe ({})\n"
                  "after safe [hello] 0 ms\n2 after safe [hello] 0 ms\n"
                  "2 after safe [hello] 0 ms\n2 after safe [hello] 0 ms\n");
}

/* --- Metrics and grants -------------------------------------------------- */

#define MANY (LIMIT_METRICS > LIMIT_GRANTS ? LIMIT_METRICS : LIMIT_GRANTS)

static char names[MANY + 2][16];
static struct tool tools[MANY + 2];

static void make_tools(void)
{
    for (size_t i = 0; i < COUNT(tools); i++) {
        (void)snprintf(names[i], sizeof names[i], "t%zu", i);
        tools[i] = (struct tool){TOOL(names[i]), .level = TOOL_SAFE};
    }
}

/* Checks that METRICS, as they are written, have PART if and only if WANTED. */
static void expect_metrics(const struct metrics *metrics, const char *part,
                           bool wanted)
{
    struct buf out = BUF_EMPTY;
    struct jsonw w;

    jsonw_init(&w, &out);
    metrics_write(&w, metrics, &gate, 0);
    buf_byte(&out, '\0');
    bool written = !buf_failed(&out);
    bool found = written && strstr(out.p, part) != NULL;
    buf_release(&out);
    assert_memory(written);
    assert_int_equal(found, wanted);
}

/* Calls of further tools used to be counted nowhere. */
static void metrics_count_many_tools_together(void **state)
{
    static struct metrics metrics;

    (void)state;
    make_tools();
    metrics = (struct metrics){.count = 0};
    for (size_t i = 0; i < LIMIT_METRICS + 2; i++) {
        call = (struct tool_call){.tool = &tools[i]};
        metrics_event(&metrics, &(struct gate_event){.phase = GATE_AFTER,
                                                     .call = &call,
                                                     .text = STR("12345")});
        if (i == LIMIT_METRICS - 1)
            expect_metrics(&metrics, "otherTools", false);
    }
    assert_int_equal(metrics.count, LIMIT_METRICS);
    assert_int_equal(metrics.tools[LIMIT_METRICS - 1].calls, 1);
    expect_metrics(&metrics, "\"waiting\":0,\"calls\":130,", true);
    expect_metrics(&metrics, "\"otherTools\":{\"calls\":2,", true);
    expect_metrics(&metrics, "\"answerBytes\":10}", true);
}

static void grants_have_a_limit(void **state)
{
    struct grants grants = {.count = 0};

    (void)state;
    make_tools();
    for (size_t i = 0; i < LIMIT_GRANTS; i++)
        assert_ok(grants_add(&grants, &tools[i]));
    assert_status(grants_add(&grants, &tools[LIMIT_GRANTS]), ST_LIMIT);
    assert_false(grants_has(&grants, &tools[LIMIT_GRANTS]));
    assert_ok(grants_add(&grants, &tools[LIMIT_GRANTS - 1])); // it is there
    grants_remove(&grants, &tools[0]);
    assert_ok(grants_add(&grants, &tools[LIMIT_GRANTS]));
    assert_true(grants_has(&grants, &tools[LIMIT_GRANTS]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gate_runs_safe_and_cautious),
        TEST(gate_refuses_without_approval),
        TEST(gate_reports_failures),
        TEST(gate_passes_out_of_memory_on),
        TEST(gate_sends_operations),
        TEST(gate_sends_session_and_time_limit),
        TEST(gate_ends_waiting_calls),
        TEST(gate_names_the_limit_of_waiting_calls),
        TEST(gate_reports_a_broken_connection),
        TEST(gate_calls_all_hooks_in_order),
        TEST(metrics_count_many_tools_together),
        TEST(grants_have_a_limit),
    };
    return RUN_TESTS("gate", tests);
}
