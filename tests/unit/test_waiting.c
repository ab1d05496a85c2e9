/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that wait, in random order with everything that can happen to them:
   each gets exactly one answer, but none after its cancellation, and nothing
   runs that was not approved. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "support/asker.h"

#define CALLS 400

static struct arena arena;

static struct {
    uint32_t random;
    int answers[CALLS]; /* to the call of this number */
    bool cancelled[CALLS];
    int calls;
    uint64_t asked[CALLS]; /* numbers of open questions */
    int asked_n;
    uint64_t images[CALLS]; /* ids of calls to the image */
    int images_n;
} run;

static unsigned pick(unsigned n)
{
    run.random = run.random * 1664525u + 1013904223u;
    return (run.random >> 8) % n;
}

/* Takes one line of what the client was sent. */
static void take_line(struct str line)
{
    struct json_error error;
    const struct str before = STR("\"ecl-mcp-");
    struct json message;
    double id;

    assert_ok(json_parse(&arena, line, &message, &error));
    struct str text = json_raw(json_get(message, "id"));
    if (json_is_string(json_get(message, "method"), "elicitation/create")) {
        assert_true(str_starts(text, before));
        run.asked[run.asked_n++] = strtoull(text.p + before.n, NULL, 10);
    } else if (json_number(json_get(message, "id"), &id) == ST_OK) {
        int n = (int)id;
        assert_false(run.cancelled[n]);
        run.answers[n]++;
        assert_true(run.answers[n] == 1);
    } else {
        assert_true(json_is_string(json_get(message, "method"),
                                   "notifications/cancelled") ||
                    json_is_string(json_get(message, "method"),
                                   "notifications/progress"));
    }
}

static void take_output(void)
{
    struct str rest = buf_view(&at.output);

    while (rest.n > 0) {
        const char *end = memchr(rest.p, '\n', rest.n);
        assert_non_null(end);
        size_t n = (size_t)(end - rest.p);
        take_line(str_make(rest.p, n));
        rest = str_make(rest.p + n + 1, rest.n - n - 1);
    }
    arena_release(&arena);
    buf_reset(&at.output);
    struct str body;
    struct wire_head head;
    while (wire_frame(buf_view(&at.image.out), &head, &body) == ST_OK) {
        if (head.kind == WIRE_CALL)
            run.images[run.images_n++] = head.id;
        buf_consume(&at.image.out, WIRE_HEAD + head.size);
    }
}

static void start_one(void)
{
    static const struct tool *const tools[] = {
        &write_tool, &review_tool, &image_tool, &work_tool, &interview_tool};
    const struct tool *tool = tools[pick(5)];
    struct manner manner = {.version = MCP_2025_06_18,
                            .cannot_ask = pick(8) == 0,
                            .token = pick(2) ? "\"t\"" : NULL};
    char id[20];

    if (run.calls == CALLS)
        return;
    if (pick(3) == 0)
        manner.version = MCP_2026_07_28;
    snprintf(id, sizeof id, "%d", run.calls++);
    call(id, tool, tool->fields[0].name == NULL ? "{}" : "{\"text\":\"x\"}",
         manner);
}

static void answer_one(void)
{
    static const char *const answers[] = {
        APPROVE, FORM("{\"decision\":\"deny\"}"), FORM("{\"n\":1}"),
        "\"result\":{\"action\":\"cancel\"}", "\"error\":{}"};
    unsigned which = pick(5);
    char id[40];

    if (run.asked_n == 0)
        return;
    unsigned i = pick((unsigned)run.asked_n);
    snprintf(id, sizeof id, "\"ecl-mcp-%llu\"",
             (unsigned long long)run.asked[i]);
    if (pick(10) > 0) // else it is answered again
        run.asked[i] = run.asked[--run.asked_n];
    answer_with(id, answers[which]);
}

static void cancel_one(void)
{
    char id[20];

    if (run.calls == 0)
        return;
    unsigned n = pick((unsigned)run.calls);
    snprintf(id, sizeof id, "%u", n);
    cancel(id);
    if (run.answers[n] == 0)
        run.cancelled[n] = true;
}

static void reply_one(void)
{
    if (run.images_n == 0)
        return;
    unsigned i = pick((unsigned)run.images_n);
    uint64_t id = run.images[i];
    run.images[i] = run.images[--run.images_n];
    reply(id, STR("=> 1"));
}

static void do_something(void)
{
    switch (pick(6)) {
    case 0:
        tick((int64_t)pick(20000));
        break;
    case 1:
        answer_one();
        break;
    case 2:
        cancel_one();
        break;
    case 3:
        reply_one();
        break;
    default:
        start_one();
    }
    take_output();
}

static void play(uint32_t seed)
{
    memset(&run, 0, sizeof run);
    run.random = seed;
    while (run.calls < CALLS)
        do_something();
    while (run.images_n > 0) {
        reply_one();
        take_output();
    }
    finish();
    stop_work();
    take_output();
    for (int i = 0; i < CALLS; i++)
        assert_memory(run.answers[i] == !run.cancelled[i]);
    assert_int_equal(calls_waiting(&at.calls), 0);
    assert_int_equal(at.calls.pending.count[PENDING_ASKING_CLIENT], 0);
    assert_int_equal(at.calls.pending.asked_bytes, 0);
    assert_int_equal(calls_deadline(&at.calls, at.now_ms), -1);
}

/* How often TEXT occurs. */
static int count(const struct buf *buf, const char *text)
{
    int n = 0;

    for (size_t i = 0; i < buf->n; i++)
        n += str_starts(str_make(buf->p + i, buf->n - i), str_from(text));
    return n;
}

static void calls_survive_anything(void **state)
{
    int approved = 0;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        play(seed);
        int n = count(&at.lines, " approved by human");
        assert_memory(n == count(&at.events, "before write") +
                               count(&at.events, "before review") +
                               count(&at.events, "before run"));
        approved += n;
        assert_int_equal(asker_end(state), 0);
        assert_int_equal(asker_begin(state), 0);
    }
    assert_true(approved > 100);
}

static int tear_down(void **state)
{
    arena_release(&arena);
    return asker_end(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_survive_anything, asker_begin,
                                        tear_down),
    };
    return RUN_TESTS("waiting", tests);
}
