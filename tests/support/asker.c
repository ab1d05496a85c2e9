/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asker.c: tools of every kind, and a client that calls them. */
#include "support/asker.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "gate/approval.h"
#include "support/client.h"
#include "support/states.h"

/* --- Tools -------------------------------------------------------------- */

struct world world;

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
    if (!plan)
        return ST_NOMEM;
    world.plans++;
    plan->base = (struct tool_plan){.free = free_plan};
    snprintf(plan->text, sizeof plan->text, "%s>%.*s", world.file,
             STR_ARG(text));
    request->call->plan = &plan->base;
    buf_printf(&question->message, "-%s\n+%.*s\n", world.file, STR_ARG(text));
    buf_str(&question->substance, str_from(world.file));
    question->hunks =
        request->values[1].given ? (size_t)request->values[1].integer : 0;
    return ST_OK;
}

/* The same after a step of work. */
static enum status prepare_slowly(const struct tool_request *request,
                                  struct tool_question *question,
                                  struct tool_answer *answer)
{
    enum status status = arena_spend(request->arena, LIMIT_STEP);

    return status == ST_OK ? prepare_it(request, question, answer) : status;
}

static enum status apply_it(const struct tool_request *request,
                            struct tool_answer *answer)
{
    const struct plan *plan = (const struct plan *)request->call->plan;
    const bool *chosen = request->decision->chosen;
    struct buf out = BUF_EMPTY;

    assert_int_equal(request->decision->consent, APPROVAL_APPROVED);
    world.runs++;
    buf_printf(&out, "%s", plan->text);
    for (size_t i = 0; i < request->call->question.hunks; i++)
        buf_printf(&out, " %d", !chosen || chosen[i]);
    bool failed = buf_failed(&out) || arena_str(request->arena, buf_view(&out),
                                                &answer->text) != ST_OK;
    buf_release(&out);
    answer->state = TOOL_ANSWERED;
    return failed ? ST_NOMEM : ST_OK;
}

/* Takes four steps. */
static enum status work_on(const struct tool_request *request,
                           struct tool_answer *answer)
{
    enum status status = ST_OK;

    world.plans++;
    for (int i = 0; i < 3 && status == ST_OK; i++)
        status = arena_spend(request->arena, LIMIT_STEP);
    world.plans--;
    answer->state = TOOL_ANSWERED;
    answer->text = STR("worked");
    return status;
}

/* Asks for a name, then for a number. */
static enum status interview(const struct tool_request *request,
                             struct tool_answer *answer)
{
    struct json reply = request->reply.value;
    struct json content = json_get(reply, "content");
    struct tool_question *question = &request->call->question;

    if (!json_is_absent(json_get(content, "n")) ||
        json_is_string(json_get(reply, "action"), "decline")) {
        answer->state = TOOL_ANSWERED;
        return arena_str(request->arena, json_raw(reply), &answer->text);
    }
    answer->state = TOOL_ASKS;
    question->name = json_is_absent(reply) ? "name" : "number";
    buf_str(&question->message, json_is_absent(reply)
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

const struct tool write_tool = {NAMED("write"), .fields = fields,
                                .handler = write_it};
const struct tool review_tool = {NAMED("review"), .fields = fields,
                                 .prepare = prepare_it, .handler = apply_it};
const struct tool slow_tool = {NAMED("slow"), .fields = fields,
                               .in_steps = true, .prepare = prepare_slowly,
                               .handler = apply_it};
const struct tool image_tool = {NAMED("run"), .fields = fields,
                                .operation = "run"};
const struct tool work_tool = {NAMED("work"), .fields = no_fields,
                               .level = TOOL_SAFE, .in_steps = true,
                               .handler = work_on};
const struct tool interview_tool = {NAMED("interview"), .fields = no_fields,
                                    .level = TOOL_SAFE, .handler = interview};
const struct tool editor_tool = {NAMED("edit"), .fields = fields,
                                 .in_editor = true};

/* --- Surroundings ------------------------------------------------------- */

struct asker at;

static void keep_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    if (level == LOG_DEBUG) {
        states_keep(&at.states, line);
        return;
    }
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

int asker_begin(void **state)
{
    const struct tool_limits limits = {.max_output = 500, .timeout_ms = 30000};
    static const unsigned char key[TICKET_KEY] = "a key";

    (void)state;
    world.runs = world.prepared = 0;
    world.written[0] = '\0';
    world.file = "old";
    at.now_ms = 1000;
    at.log = (struct log){LOG_DEBUG, keep_line, NULL};
    image_init(&at.image, &at.log);
    gate_init(&at.gate, &at.log, &at.image, &limits);
    editor_init(&at.editor, &at.log, &(struct editor_about){.pid = 17});
    calls_init(&at.calls, &at.gate, &at.output, &at.editor, 60000, key);
    if (buf_reserve(&at.output, RPC_SPARE) == NULL)
        return 1;
    return gate_add_hook(&at.gate, keep_event, NULL) != ST_OK;
}

int asker_end(void **state)
{
    (void)state;
    calls_release(&at.calls);
    editor_release(&at.editor);
    image_release(&at.image);
    buf_release(&at.lines);
    buf_release(&at.states);
    buf_release(&at.events);
    buf_release(&at.output);
    buf_release(&at.state);
    return world.plans;
}

static void keep_state(void)
{
    static const char before[] = "\"requestState\":\"";
    buf_byte(&at.output, '\0');
    assert_memory(!buf_failed(&at.output));
    const char *start = strstr(at.output.p, before);
    if (!start)
        return;
    start += sizeof before - 1;
    buf_reset(&at.state);
    buf_append(&at.state, start, strcspn(start, "\""));
    buf_byte(&at.state, '\0');
    assert_memory(!buf_failed(&at.state));
}

void expect(const char *pattern)
{
    struct str got = buf_view(&at.output);
    bool good = client_matches(got, pattern);

    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(got), pattern);
    assert_memory(good);
    keep_state();
    buf_reset(&at.output);
}

void expect_text(struct buf *buf, const char *text)
{
    bool good = str_eq(buf_view(buf), str_from(text));

    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(buf_view(buf)), text);
    assert_memory(good);
    buf_reset(buf);
}

const struct manner v2025 = {.version = MCP_2025_11_25};

void call_expecting(enum status wanted, const char *id, const struct tool *tool,
                    const char *arguments, struct manner manner)
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

    if (manner.token)
        request.texts.token = str_from(manner.token);
    if (manner.state)
        request.state = str_from(manner.state);
    if (status == ST_OK && manner.replies)
        status = json_parse(&arena, str_from(manner.replies), &request.replies,
                            &error);
    if (status == ST_OK)
        status = schema_check(&arena, tool->fields, request.arguments, values,
                              &notes);
    request.values = values;
    if (status == ST_OK)
        status = calls_start(&at.calls, &request);
    arena_release(&arena);
    assert_status(status, wanted);
}

void call(const char *id, const struct tool *tool, const char *arguments,
          struct manner manner)
{
    call_expecting(ST_OK, id, tool, arguments, manner);
}

/* The client's response to our request ID. */
void answer_with(const char *id, const char *member)
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

void tick(int64_t ms)
{
    struct arena arena = ARENA_EMPTY;

    at.now_ms += ms;
    calls_tick(&at.calls, &arena, at.now_ms);
}

/* The image answers the call with ID. */
void reply(uint64_t id, struct str text)
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

void cancel(const char *id)
{
    struct arena arena = ARENA_EMPTY;

    calls_cancel(&at.calls, &arena, str_from(id), at.now_ms);
    arena_release(&arena);
}

void finish(void)
{
    struct arena arena = ARENA_EMPTY;

    calls_finish(&at.calls, &arena, at.now_ms);
}

void stop_work(void)
{
    struct arena arena = ARENA_EMPTY;

    calls_stop_work(&at.calls, &arena, at.now_ms);
}
