/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of prompts.c, methods_prompts.c, through the core: texts, what they
   leave out, and completion without a workspace. Paths and systems are tested
   by the transcript prompts.mcp. */
#include "base/limits.h"
#include "mcp/prompts.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"
#include "tools/registry.h"

#define GET(id, params)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"prompts/get\",\"params\":{" params "}}"
#define COMPLETE(id, ref, name, value)                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                          \
    ",\"method\":\"completion/complete\",\"params\":{\"ref\":{" ref            \
    "},\"argument\":{\"name\":\"" name "\",\"value\":\"" value "\"}}}"
#define PROMPT(name) "\"type\":\"ref/prompt\",\"name\":\"" name "\""
#define NOTHING "{\"completion\":{\"values\":[],\"hasMore\":false}}"
#define SAYS(text)                                                             \
    "{\"description\":\"…\",\"messages\":[{\"role\":\"user\",\"content\":"   \
    "{\"type\":\"text\",\"text\":\"" text "\"}}]}"

static void prompts_write_their_texts(void **state)
{
    static const struct client_exchange cases[] = {
        {GET("1", "\"name\":\"explain-error\""),
         OK("1", SAYS("…Call describe-last-error and explain…"))},
        {GET("2", "\"name\":\"explain-error\",\"arguments\":{\"session\":"
                  "\"a\"}"),
         OK("2", SAYS("…Call describe-last-error with session a and…"))},
        {GET("3", "\"name\":\"review-file\",\"arguments\":{\"path\":"
                  "\"{focus}[x]\",\"focus\":\"speed\"}"),
         OK("3", SAYS("…file {focus}[x] with a focus on speed. Read it…"))},
        {GET("4", "\"name\":\"review-file\",\"arguments\":{\"path\":\"\"}"),
         FAIL("4", "-32602", "\"…needs the argument path\",\"data\":…")},
    };
    (void)state;
    client_initialize("2025-06-18");
    client_play(cases, COUNT(cases));
}

static void prompts_complete_without_files(void **state)
{
    static const struct client_exchange cases[] = {
        {COMPLETE("1", PROMPT("explain-error"), "session", "m"),
         OK("1", "{\"completion\":{\"values\":[\"main\"],\"total\":1,"
                 "\"hasMore\":false}}")},
        {COMPLETE("2", PROMPT("explain-error"), "session", "x"),
         OK("2", "{\"completion\":{\"values\":[],\"total\":0,"
                 "\"hasMore\":false}}")},
        {COMPLETE("3", PROMPT("review-file"), "path", "a"), OK("3", NOTHING)},
        {COMPLETE("4", PROMPT("explore-system"), "system", "a"),
         OK("4", NOTHING)},
        {COMPLETE("5", PROMPT("speed-up"), "code", "a"), OK("5", NOTHING)},
    };
    (void)state;
    client_initialize("2025-06-18");
    client_play(cases, COUNT(cases));
    client_expect_no_frame();
}

/* Each argument of each prompt stands in its text, each brace names an
   argument, and a required argument is in no part that may be left out. */
static void prompts_are_well_formed(void **state)
{
    const struct prompts_entry *prompt;

    (void)state;
    for (size_t k = 0; (prompt = prompts_at(REGISTRY_ALL_SETS, k)) != NULL;
         k++) {
        struct str values[PROMPTS_ARGUMENTS] = {{0}};
        struct buf text = BUF_EMPTY;
        for (int i = 0; prompt->arguments[i].name; i++)
            if (prompt->arguments[i].required)
                values[i] = STR("\x01");
        prompts_write(&text, prompt, values);
        if (buf_failed(&text)) {
            buf_release(&text);
            assert_memory(false);
        }
        struct str got = buf_view(&text);
        assert_null(memchr(got.p, '{', got.n));
        assert_null(memchr(got.p, '[', got.n));
        for (int i = 0; prompt->arguments[i].name; i++)
            assert_true(!prompt->arguments[i].required ||
                        memchr(got.p, '\x01', got.n));
        buf_release(&text);
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, client_begin, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(prompts_write_their_texts),
        TEST(prompts_complete_without_files),
        TEST(prompts_are_well_formed),
    };
    return RUN_TESTS("prompts", tests);
}
