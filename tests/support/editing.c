/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editing.c: see editing.h. */
#include "support/editing.h"

#include <stdio.h>

/* --- A file and its folder ---------------------------------------------- */

struct disk disk;

static enum files_result locate(void *context, struct arena *arena,
                                struct str path, struct files_place *out,
                                struct str *problem)
{
    (void)context;
    (void)arena;
    *problem = STR("../x: it lies outside.");
    *out = (struct files_place){.asked = path, .name = path};
    return str_eq(path, STR("../x")) ? FILES_REFUSED : FILES_OK;
}

static enum files_result read_file(void *context, struct arena *arena,
                                   const struct files_place *place,
                                   uint64_t max, struct files_content *out,
                                   struct str *problem)
{
    (void)context;
    (void)max;
    *out = (struct files_content){.exists = disk.exists};
    if (arena_str(arena, place->name, &out->name) != ST_OK ||
        arena_str(arena, str_from(disk.text), &out->bytes) != ST_OK)
        return FILES_NOMEM;
    digest_of(out->bytes, out->hash);
    *problem = STR("f: there is no such file.");
    return disk.exists ? FILES_OK : FILES_MISSING;
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
    disk.writes++;
    snprintf(disk.text, sizeof disk.text, "%.*s", STR_ARG(bytes));
    disk.exists = true;
    return FILES_OK;
}

void write_disk(const char *text)
{
    snprintf(disk.text, sizeof disk.text, "%s", text);
    disk.exists = true;
}

/* --- Both ends ---------------------------------------------------------- */

int editing_begin(void **state)
{
    disk = (struct disk){.files = {.root = "/w",
                                   .locate = locate,
                                   .read = read_file,
                                   .read_again = read_file_again,
                                   .write = write_file}};
    policy_init(&disk.policy);
    return client_begin(state);
}

int editing_end(void **state)
{
    int result = client_end(state);

    policy_release(&disk.policy);
    return result;
}

void hears(const char *pattern)
{
    struct buf *output = core_editor_output(client.core);
    struct str got = buf_view(output);
    bool good = client_matches(got, pattern);

    if (!good && !check_memory_is_back())
        print_error("the editor heard %.*s\nnot %s\n", STR_ARG(got), pattern);
    assert_memory(good);
    buf_consume(output, output->n);
}

void says(const char *line)
{
    core_editor_feed(client.core, line, strlen(line), client.now_ms);
    core_editor_feed(client.core, "\n", 1, client.now_ms);
}

void pass_time(int64_t ms)
{
    client.now_ms += ms;
    core_tick(client.core, client.now_ms);
}

void start_editing(void)
{
    const struct tool *tool = core_find_tool(STR("evaluate-lisp"));

    assert_ok(policy_add(&disk.policy, tool, POLICY_ASK));
    client_restart((struct core_config){.policy = &disk.policy,
                                        .files = &disk.files,
                                        .approval_ms = 60000,
                                        .editor = true,
                                        .pid = 17});
    client_initialize("2025-11-25");
    core_editor_open(client.core, client.now_ms);
    hears(HELLO);
}

void start_asking(void)
{
    start_editing();
    client_send(EVAL);
    client_expect("");
    hears(ASKED("1", "approve", "…"));
    says(RECEIVED("1"));
}

void start_review(const char *call, const char *buffer)
{
    char line[400];

    start_editing();
    client_send(call);
    hears(ASKED("1", "text", "\"path\":\"/w/f\""));
    says(RECEIVED("1"));
    snprintf(line, sizeof line, OK("1", "%s"), buffer);
    says(line);
}
