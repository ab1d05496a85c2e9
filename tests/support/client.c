/* SPDX-License-Identifier: GPL-3.0-or-later */
/* client.c: see client.h. */
#include "support/client.h"

#include <inttypes.h>
#include <stdio.h>

#include "support/check.h"
#include "support/frames.h"

struct client client;

static void keep_log(void *context, enum log_level level, struct str line)
{
    struct buf *log = context;
    buf_printf(log, "%s: ", log_level_name(level));
    buf_str(log, line);
    buf_byte(log, '\n');
    log->failed = false;
}

void client_restart(struct core_config config)
{
    core_free(client.core);
    config.log = (struct log){LOG_DEBUG, keep_log, &client.log};
    client.core = core_new(&config);
    assert_memory(client.core != NULL);
}

int client_begin(void **state)
{
    (void)state;
    client = (struct client){.core = NULL};
    return 0;
}

int client_end(void **state)
{
    (void)state;
    bool whole = true;
    if (client.core) {
        struct str rest = buf_view(core_output(client.core));
        whole = rest.n == 0 || rest.p[rest.n - 1] == '\n';
    }
    core_free(client.core);
    buf_release(&client.log);
    buf_release(&client.frames);
    return whole ? 0 : 1;
}

void client_send(const char *line)
{
    if (!client.core)
        client_restart((struct core_config){.tools = NULL});
    core_feed(client.core, line, strlen(line), client.now_ms);
    core_feed(client.core, "\n", 1, client.now_ms);
    client_let_read();
}

void client_let_read(void)
{
    while (!core_wants_input(client.core) &&
           core_deadline(client.core, client.now_ms) == client.now_ms)
        core_tick(client.core, client.now_ms);
}

bool client_matches(struct str text, const char *pattern)
{
    const char any[] = "…";
    const char *gap = strstr(pattern, any);
    size_t n = !gap ? strlen(pattern) : (size_t)(gap - pattern);
    if (!str_starts(text, str_make(pattern, n)))
        return false;
    if (!gap)
        return text.n == n;
    for (size_t i = n; i <= text.n; i++)
        if (client_matches(str_make(text.p + i, text.n - i),
                           gap + sizeof any - 1))
            return true;
    return false;
}

void client_expect(const char *pattern)
{
    struct buf *output = core_output(client.core);
    struct str got = buf_view(output);
    if (got.n > 0 && got.p[got.n - 1] == '\n')
        got.n--;
    bool good = client_matches(got, pattern) && (got.n == 0) == !*pattern;
    if (!good && !check_memory_is_back())
        print_error("got %.*s\nnot %s\n", STR_ARG(got), pattern);
    assert_memory(good);
    buf_consume(output, output->n);
}

void client_play(const struct client_exchange *exchanges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        client_send(exchanges[i].sent);
        client_expect(exchanges[i].answer);
    }
}

void client_initialize(const char *version)
{
    char line[300];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
             "\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":{},"
             "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}",
             version);
    client_send(line);
    client_expect("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":…}");
}

struct wire_head client_frame(struct str *body)
{
    struct buf *out = core_image_output(client.core);
    struct wire_head head = {.kind = 0};
    frames_skip_hello(out);
    buf_reset(&client.frames);
    buf_str(&client.frames, buf_view(out));
    assert_memory(!buf_failed(&client.frames));
    assert_memory(wire_frame(buf_view(&client.frames), &head, body) == ST_OK);
    buf_consume(out, WIRE_HEAD + head.size);
    return head;
}

static void show_field(struct buf *shown, const struct wire_field *field)
{
    switch (field->type) {
    case WIRE_NULL:
        buf_str(shown, STR("null"));
        break;
    case WIRE_FALSE:
        buf_str(shown, STR("false"));
        break;
    case WIRE_TRUE:
        buf_str(shown, STR("true"));
        break;
    case WIRE_INT:
        buf_printf(shown, "%" PRId64, field->integer);
        break;
    case WIRE_REAL:
        buf_printf(shown, "%g", field->real);
        break;
    case WIRE_STRING:
        buf_str(shown, field->string);
        break;
    }
}

uint64_t client_expect_frame(enum wire_kind kind, const char *text)
{
    struct str body;
    struct wire_field field;
    struct wire_head head = client_frame(&body);
    struct buf shown = BUF_EMPTY;
    while (wire_field(&body, &field) == ST_OK) {
        if (shown.n > 0)
            buf_byte(&shown, ' ');
        show_field(&shown, &field);
    }
    bool good = !buf_failed(&shown) && head.kind == kind && body.n == 0 &&
                str_eq(buf_view(&shown), str_from(text));
    if (!good && !check_memory_is_back())
        print_error("got frame %d %.*s\nnot %d %s\n", head.kind,
                    STR_ARG(buf_view(&shown)), (int)kind, text);
    buf_release(&shown);
    assert_memory(good);
    return head.id;
}

void client_expect_no_frame(void)
{
    assert_memory(core_image_output(client.core)->n == 0);
}

static void send_text(enum wire_kind kind, unsigned flags, uint64_t id,
                      struct str text)
{
    struct buf frame = BUF_EMPTY;
    size_t start = wire_begin(&frame, kind, flags, id);
    wire_put_string(&frame, text);
    bool good = !buf_failed(&frame);
    if (good) {
        wire_end(&frame, start);
        core_image_feed(client.core, frame.p, frame.n, client.now_ms);
        client_let_read();
    }
    buf_release(&frame);
    assert_memory(good);
}

void client_reply(uint64_t id, unsigned flags, struct str text)
{
    send_text(WIRE_REPLY, flags, id, text);
}

void client_output(uint64_t id, struct str text)
{
    send_text(WIRE_OUTPUT, 0, id, text);
}
