/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of reviews in an editor: review.c with approval_editor.c. */
#include <stdio.h>

#include "gate/editor_buffer.h"
#include "support/editing.h"

static void editor_reviews_hunks(void **state)
{
    (void)state;
    write_disk("1\n2\n3\n4\n5\n6\n7\n8\n9\nten");
    start_review(
        CALL("1", "propose-file-edit",
             "{\"path\":\"f\",\"description\":\"w\\ny\",\"edits\":[{\"old\":"
             "\"1\\n\",\"new\":\"one\\n\"},{\"old\":\"ten\",\"new\":\"10\"}]}"),
        "null");
    hears(ASKED(
        "2", "approve",
        "…\"message\":\"Change f: 2 hunks\\nReason given: w\\\\ny\\n…\","
        "\"remember\":true,\"seconds\":60,\"review\":{\"path\":\"/w/f\","
        "\"name\":\"f\",\"reason\":\"w\\ny\",\"exists\":true,"
        "\"buffer\":false,\"hunks\":[{\"old_start\":1,\"old_count\":4,"
        "\"new_start\":1,\"new_count\":4,\"lines\":[\"-1\",\"+one\",\" 2\",\" "
        "3\",\" 4\"]},{\"old_start\":7,\"old_count\":4,\"new_start\":7,"
        "\"new_count\":4,\"lines\":[\" 7\",\" 8\",\" 9\",\"-ten\",\"\\\\ No "
        "newline at end of file\",\"+10\",\"\\\\ No newline at end of "
        "file\"]}]}"));
    says(OK("2", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true,"
                 "\"lines\":[\"1\",\"2\",\"3\",\"4\"],\"reason\":\"keep it\"},"
                 "{\"accept\":true,\"lines\":[\"7\",\"8\",\"nine\",\"10\"],"
                 "\"unended\":true}]}"));
    client_expect(ANSWER(
        "PARTIAL: 1 of 2 hunks applied to f\\nhunk 1: rejected: keep "
        "it\\nhunk 2: applied after the user edited it\\n\\n--- a/f\\n+++ "
        "b/f\\n…\\nDo not propose hunk 1 again unchanged.",
        "false"));
    assert_string_equal(disk.text, "1\n2\n3\n4\n5\n6\n7\n8\nnine\n10");
    assert_int_equal(disk.writes, 1);
}

/* When the file has changed meanwhile, edited hunks find their places like all
   hunks. */
static void editor_edits_are_anchored_again(void **state)
{
    (void)state;
    write_disk("1\n2\n3\n");
    start_review(EDIT("2\\n", "two\\n"), "null");
    hears(ASKED("2", "approve", "…"));
    write_disk("0\n1\n2\n3\n");
    says(OK("2", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true,"
                 "\"lines\":[\"1\",\"zwei\",\"3\"]}]}"));
    client_expect(ANSWER("APPLIED: 1 of 1 hunk applied to f\\nhunk 1: applied "
                         "after the user edited it\\n…",
                         "false"));
    assert_string_equal(disk.text, "0\n1\nzwei\n3\n");
    hears(CALLED);
    client_send(EDIT("zwei\\n", "2\\n"));
    hears(ASKED("3", "text", "…"));
    says(OK("3", "null"));
    hears(ASKED("4", "approve", "…"));
    write_disk("gone\n");
    says(OK("4", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true,"
                 "\"lines\":[],\"part\":true}]}"));
    client_expect(ANSWER("STALE: 0 of 1 hunk applied to f\\nhunk 1: stale: its "
                         "lines are no longer in the file",
                         "true"));
    assert_string_equal(disk.text, "gone\n");
}

/* A line within a text keeps its line end, whatever the editor says. */
static void editor_glues_no_lines(void **state)
{
    (void)state;
    write_disk("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    start_review(EDIT("2\\n", "two\\n"), "null");
    hears(ASKED("2", "approve", "…"));
    says(OK("2", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true,"
                 "\"lines\":[\"1\",\"zwei\"],\"unended\":true}]}"));
    client_expect(ANSWER("APPLIED: …", "false"));
    assert_string_equal(disk.text, "1\nzwei\n6\n7\n8\n9\n");
}

static void editor_hunks_must_make_sense(void **state)
{
    static const char *const hunks[] = {
        "{}",
        "[]",
        "[1]",
        "[{}]",
        "[{\"accept\":1}]",
        "[{\"accept\":true},{\"accept\":true}]",
        "[{\"accept\":true,\"reason\":1}]",
        "[{\"accept\":true,\"lines\":\"x\"}]",
        "[{\"accept\":true,\"lines\":[1]}]",
        "[{\"accept\":true,\"lines\":[\"a\\nb\"]}]",
        "[{\"accept\":true,\"lines\":[\"a\\u0000b\"]}]",
        "[{\"accept\":true,\"part\":true}]",
        "[{\"accept\":true,\"part\":1,\"lines\":[]}]",
    };

    (void)state;
    write_disk("1\n2\n3\n");
    start_editing();
    for (size_t i = 0; i < COUNT(hunks); i++) {
        char line[200];
        client_send(EDIT("2\\n", "two\\n"));
        hears("{…\"method\":\"text\"…}\n");
        snprintf(line, sizeof line, OK("%zu", "null"), 2 * i + 1);
        says(line);
        hears("{…\"method\":\"approve\"…}\n");
        snprintf(line, sizeof line,
                 OK("%zu", "{\"decision\":\"approve\",\"hunks\":%s}"),
                 2 * i + 2, hunks[i]);
        says(line);
        client_expect(ANSWER("NO DECISION\\n…is not valid…", "true"));
        hears(CALLED);
    }
    assert_int_equal(disk.writes, 0);
}

static void editor_changes_buffers(void **state)
{
    (void)state;
    write_disk("disk\n");
    start_review(EDIT("old", "new"),
                 "{\"text\":\"old\\r\\nmine\\n\",\"modified\":true}");
    hears(ASKED("2", "approve",
                "…\"buffer\":true,\"hunks\":[{…\"lines\":[\"-old\\r\","
                "\"+new\\r\",\" mine\"]}]}"));
    says(OK("2", "{\"decision\":\"approve\",\"applied\":{\"before\":\"old\\r\\n"
                 "mine\\n\",\"after\":\"new\\r\\nmine\\n\",\"saved\":false,"
                 "\"note\":\"you had unsaved changes\"}}"));
    client_expect(ANSWER(
        "APPLIED: 1 of 1 hunk applied to f (buffer; not saved: you had unsaved "
        "changes)\\nhunk 1: applied",
        "false"));
    assert_int_equal(disk.writes, 0);
}

static void editor_buffers_must_be_accounted_for(void **state)
{
    static const char *const applied[] = {
        "null",
        "7",
        "{}",
        "{\"before\":\"a\"}",
        "{\"before\":\"a\",\"after\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"saved\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"note\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":1}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[0]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[2]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[0.5]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[1e99]}",
        "{\"before\":\"a\",\"after\":\"b\",\"stale\":[\"1\"]}",
    };

    (void)state;
    write_disk("disk\n");
    start_editing();
    for (size_t i = 0; i < COUNT(applied); i++) {
        char line[200];
        client_send(EDIT("old", "new"));
        hears("{…\"method\":\"text\"…}\n");
        snprintf(line, sizeof line, OK("%zu", "{\"text\":\"old\\n\"}"),
                 2 * i + 1);
        says(line);
        hears("{…\"method\":\"approve\"…}\n");
        snprintf(line, sizeof line,
                 OK("%zu", "{\"decision\":\"approve\",\"applied\":%s}"),
                 2 * i + 2, applied[i]);
        says(line);
        client_expect(ANSWER("NO DECISION\\n…is not valid…The file was not "
                             "written; the editor may have changed its buffer.",
                             "true"));
        hears(CALLED);
    }
    assert_int_equal(disk.writes, 0);
}

/* The hunks of a file that is written whole are decided one by one, too. */
static void editor_takes_whole_files(void **state)
{
    (void)state;
    write_disk("disk\n");
    start_review(WRITE("A\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nB\\n"),
                 "{\"text\":\"a\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nb\\n\"}");
    hears(ASKED("2", "approve", "…\"buffer\":true,…"));
    says(OK("2", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":true},"
                 "{\"accept\":true}],\"applied\":{\"before\":\"a\\nc\\n\","
                 "\"after\":\"A\\nc\\n\",\"saved\":false,\"stale\":[2]}}"));
    client_expect(ANSWER("PARTIAL: 1 of 2 hunks applied to f (buffer; not "
                         "saved)\\nhunk 1: applied\\nhunk 2: stale: …",
                         "false"));
    hears(CALLED);
    client_send(WRITE("A\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nB\\n"));
    hears("{…\"method\":\"text\"…}\n");
    says(OK("3", "{\"text\":\"a\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\nb\\n\"}"));
    hears(ASKED("4", "approve", "…"));
    says(OK("4", "{\"decision\":\"approve\",\"hunks\":[{\"accept\":false},"
                 "{\"accept\":false,\"reason\":\"no\"}]}"));
    client_expect(ANSWER("REFUSED: 0 of 2 hunks applied to f…\\nhunk 1: "
                         "rejected\\nhunk 2: rejected: no\\n…",
                         "true"));
}

/* A malformed answer to "text" counts as: no buffer visits the file. */
static void editor_texts_may_be_odd(void **state)
{
    static const char *const texts[] = {"7", "{}", "{\"text\":7}", "[]",
                                        "\"text\""};

    (void)state;
    write_disk("a\n");
    start_editing();
    for (size_t i = 0; i < COUNT(texts); i++) {
        char line[200];
        client_send(EDIT("a", "b"));
        hears("{…\"method\":\"text\"…}\n");
        snprintf(line, sizeof line, OK("%zu", "%s"), 2 * i + 1, texts[i]);
        says(line);
        hears("{…\"buffer\":false…}\n");
        snprintf(line, sizeof line, OK("%zu", "{\"decision\":\"deny\"}"),
                 2 * i + 2);
        says(line);
        client_expect(ANSWER("REFUSED\\nUser denied tool execution", "true"));
        hears(CALLED);
    }
    client_send(EDIT("a", "b"));
    hears("{…\"method\":\"text\"…}\n");
    says(OK("11", "{\"text\":\"a\\u0000\"}"));
    client_expect(ANSWER("ERROR\\nf has NUL bytes, so it is not a text file. "
                         "Nothing was written.",
                         "true"));
}

/* The editor never hears of a path that is refused. */
static void editor_is_not_asked_about_foreign_files(void **state)
{
    (void)state;
    start_editing();
    client_send(
        CALL("1", "write-file", "{\"path\":\"../x\",\"content\":\"\"}"));
    client_expect(
        ANSWER("ERROR\\n../x: it lies outside. Nothing was written.", "true"));
    hears(CALLED);
}

static void editor_sees_changed_reviews(void **state)
{
    (void)state;
    start_review(WRITE("a"), "null");
    hears(ASKED("2", "approve", "…"));
    says(OK("2", "{\"decision\":\"approve\",\"arguments\":{\"path\":\"f\","
                 "\"content\":\"b\"}}"));
    hears(ASKED("3", "text", "…"));
    says(OK("3", "{\"text\":\"old\\n\"}"));
    hears(ASKED("4", "approve", "…\"content\":\"b\"…\"buffer\":true…"));
    assert_int_equal(disk.writes, 0);
    says(OK("4", "{\"decision\":\"approve\",\"applied\":{\"before\":\"old\\n\","
                 "\"after\":\"b\",\"saved\":false}}"));
    client_expect(ANSWER("The user changed the arguments: \\\"content\\\" is "
                         "\\\"b\\\".\\nAPPLIED: …",
                         "false"));
    hears("…\"decision\":\"modified\"…\n");
}

/* Of many files with unsaved changes, it is only known that there are more. */
static void editor_names_some_unsaved_files(void **state)
{
    const struct files files = {.root = "/w"};
    struct arena arena = ARENA_EMPTY;
    struct tool_call call = {.tool = NULL};
    enum status status = ST_NOMEM;

    (void)state;
    for (int n = LIMIT_EDITOR_UNSAVED; n <= LIMIT_EDITOR_UNSAVED + 1; n++) {
        struct buf text = BUF_EMPTY;
        struct json_error error;
        struct json result;

        tool_unsaved_release(&call.unsaved);
        call.unsaved = (struct tool_unsaved){.count = 0};
        for (int i = 0; i < n; i++)
            buf_printf(&text, "%s{\"path\":\"/w/f%d\",\"text\":\"x\"}",
                       i == 0 ? "{\"files\":[" : ",", i);
        buf_str(&text, STR("]}"));
        status = buf_failed(&text)
                     ? ST_NOMEM
                     : json_parse(&arena, buf_view(&text), &result, &error);
        if (status == ST_OK)
            status = editor_buffer_read_unsaved(&arena, &files, result, &call);
        buf_release(&text);
        arena_release(&arena);
        if (status != ST_OK)
            break;
        assert_int_equal(call.unsaved.count, LIMIT_EDITOR_UNSAVED);
        assert_int_equal(call.unsaved.more, n > LIMIT_EDITOR_UNSAVED);
    }
    tool_unsaved_release(&call.unsaved);
    assert_ok(status);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, editing_begin, editing_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(editor_reviews_hunks),
        TEST(editor_edits_are_anchored_again),
        TEST(editor_glues_no_lines),
        TEST(editor_hunks_must_make_sense),
        TEST(editor_changes_buffers),
        TEST(editor_buffers_must_be_accounted_for),
        TEST(editor_takes_whole_files),
        TEST(editor_texts_may_be_odd),
        TEST(editor_is_not_asked_about_foreign_files),
        TEST(editor_sees_changed_reviews),
        TEST(editor_names_some_unsaved_files),
    };
    return RUN_TESTS("editor_review", tests);
}
