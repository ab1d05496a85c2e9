/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of diff.c and apply.c; tests/diff compares them with diff(1) and
   patch(1). */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "diff/diff.h"
#include "support/check.h"

static struct arena arena;
static struct buf out;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    buf_release(&out);
    return 0;
}

static void diff_writes_the_unified_format(void **state)
{
    static const struct {
        const char *before;
        const char *after;
        const char *diff;
    } cases[] = {
        {"", "", ""},
        {"a\n", "a\n", ""},
        {"", "a\n", "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"},
        {"a\nb", "",
         "--- a/f\n+++ b/f\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline "
         "at end of file\n"},
        {"a\nb\nc\n", "a\nx\nc\n",
         "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
        // the end of a block goes with the block
        {"(\n)\n(\n)\n", "(\n)\n(\n)\n(\n)\n",
         "--- a/f\n+++ b/f\n@@ -2,3 +2,5 @@\n )\n (\n )\n+(\n+)\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct diff diff;
        assert_ok(diff_make(&arena, str_from(cases[i].before),
                            str_from(cases[i].after), &diff));
        assert_false(diff.capped);
        buf_reset(&out);
        diff_write(&out, &diff, STR("f"), SIZE_MAX);
        assert_memory(!buf_failed(&out));
        assert_true(str_eq(buf_view(&out), str_from(cases[i].diff)));
    }
}

#define LINES "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n"
#define CHANGED "1\nB\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\nQ\n18\n"

static void diff_applies_any_hunks(void **state)
{
    static const struct {
        bool chosen[2];
        const char *text;
    } cases[] = {
        {{false, false}, LINES},
        {{true, false},
         "1\nB\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n"},
        {{false, true},
         "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\nQ\n18\n"},
        {{true, true}, CHANGED},
    };
    struct diff diff;
    struct str text;
    (void)state;
    assert_ok(diff_make(&arena, STR(LINES), STR(CHANGED), &diff));
    assert_int_equal(diff.hunk_count, 2);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_ok(diff_apply(&arena, &diff, cases[i].chosen, &text));
        assert_true(str_eq(text, str_from(cases[i].text)));
    }
    assert_ok(diff_apply(&arena, &diff, NULL, &text));
    assert_text(text, CHANGED);
}

#define BLOCK "1\n2\n3\n4\n5\n6\n7\n"

/* A hunk goes where its lines are, if they are in one place only. */
static void diff_finds_hunks_again(void **state)
{
    static const struct {
        const char *before;
        const char *after;
        const char *current;
        enum diff_outcome outcome;
        const char *text;
    } cases[] = {
        {"a\nb\nc\n", "a\nx\nc\n", "new\na\nb\nc\n", DIFF_APPLIED,
         "new\na\nx\nc\n"},
        {"a\nb\nc\n", "a\nx\nc\n", "a\nb\nc\na\nb\nc\n", DIFF_STALE,
         "a\nb\nc\na\nb\nc\n"},
        {"a\nb\nc\n", "a\nx\nc\n", "a\nb\nd\n", DIFF_STALE, "a\nb\nd\n"},
        {"a\nb\nc\n", "a\nx\nc\n", "", DIFF_STALE, ""},
        {"", "x\n", "", DIFF_APPLIED, "x\n"},
        {"", "x\n", "y\n", DIFF_STALE, "y\n"},
        // one of two equal blocks is gone: the other may be the wrong one
        {BLOCK BLOCK, BLOCK "1\n2\n3\nx\n5\n6\n7\n", BLOCK, DIFF_STALE, BLOCK},
        // the last line stays last
        {"a\n", "b", "a\n", DIFF_APPLIED, "b"},
        {"a\n", "b", "a\nmore\n", DIFF_STALE, "a\nmore\n"},
        {"a", "b", "a\n", DIFF_STALE, "a\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct diff diff;
        struct str text;
        enum diff_outcome outcome;
        assert_ok(diff_make(&arena, str_from(cases[i].before),
                            str_from(cases[i].after), &diff));
        assert_int_equal(diff.hunk_count, 1);
        assert_ok(diff_apply_to(&arena, &diff, NULL, str_from(cases[i].current),
                                &outcome, &text));
        assert_int_equal(outcome, cases[i].outcome);
        assert_true(str_eq(text, str_from(cases[i].text)));
    }
}

/* Equal lines more than LIMIT_DIFF_DRIFT lines away are not the same lines. */
static void diff_looks_nearby_only(void **state)
{
    struct diff diff;
    struct str text;
    enum diff_outcome outcome;
    (void)state;
    assert_ok(diff_make(&arena, STR("a\nb\n"), STR("a\nc\n"), &diff));
    for (int far = 0; far < 2; far++) {
        buf_reset(&out);
        for (int i = 0; i < LIMIT_DIFF_DRIFT + far; i++)
            buf_str(&out, STR("-\n"));
        buf_str(&out, STR("a\nb\n"));
        assert_memory(!buf_failed(&out));
        assert_ok(diff_apply_to(&arena, &diff, NULL, buf_view(&out), &outcome,
                                &text));
        assert_int_equal(outcome, far ? DIFF_STALE : DIFF_APPLIED);
    }
}

/* Appends a line of N bytes that begins with letters and ends with NUMBER. */
static void add_line(size_t n, int number)
{
    char *room = buf_reserve(&out, n + 1);

    assert_memory(room != NULL);
    memset(room, 'x', n);
    if (n > 3)
        (void)snprintf(room + n - 4, 5, "%03d\n", number);
    room[n - 1] = '\n';
    out.n += n;
}

#define BLOCKS 64 /* each is compared with all of them, in two texts */
#define BLOCK_BYTES 131071
#define CONTEXT (5 + 6 + 7 + 1 + 2 + 3)

/* Hunks as large as BLOCK_BYTES, and one of LAST bytes. The lines between have
   lengths by which no other place has as many bytes as a hunk. Returns what
   becomes of the last hunk; the others are applied. */
static enum diff_outcome apply_blocks(size_t last)
{
    static enum diff_outcome outcomes[BLOCKS + 1];
    struct buf *old = &out;
    struct str before;
    struct str after;
    struct str text;
    struct diff diff;

    for (int changed = 0; changed < 2; changed++) {
        size_t start = old->n;
        for (int i = 0; i <= BLOCKS; i++) {
            size_t n = i < BLOCKS ? BLOCK_BYTES : last;
            for (size_t j = i > 0 ? 1 : 5; j < 8; j++)
                add_line(j, 0);
            add_line(changed ? 10 : n - CONTEXT, i);
        }
        for (size_t j = 1; j < 4; j++)
            add_line(j, 0);
        if (!changed)
            before.n = old->n;
        else
            after.n = old->n - start;
    }
    before.p = old->p;
    after.p = old->p + before.n;
    assert_ok(diff_make(&arena, before, after, &diff));
    assert_int_equal(diff.hunk_count, BLOCKS + 1);
    assert_int_equal(diff_old_lines(&diff, 1).n, BLOCK_BYTES);
    assert_int_equal(diff_old_lines(&diff, BLOCKS).n, last);
    assert_ok(diff_apply_to(&arena, &diff, NULL, before, outcomes, &text));
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(outcomes[i], DIFF_APPLIED);
    return outcomes[BLOCKS];
}

/* At the end of the bytes that may be compared, a hunk is out of date. */
static void diff_compares_a_limited_number_of_bytes(void **state)
{
    size_t left = LIMIT_DIFF_COMPARED - 2ul * BLOCKS * BLOCKS * BLOCK_BYTES;

    (void)state;
    assert_int_equal(apply_blocks(left / 2), DIFF_APPLIED);
    buf_reset(&out);
    arena_release(&arena);
    assert_int_equal(apply_blocks(left / 2 + 1), DIFF_STALE);
}

static void diff_refuses_too_many_lines(void **state)
{
    struct diff diff;
    (void)state;
    char *feeds = buf_reserve(&out, LIMIT_DIFF_LINES + 1);
    assert_memory(feeds != NULL);
    memset(feeds, '\n', LIMIT_DIFF_LINES + 1);
    assert_status(diff_make(&arena, str_make(feeds, LIMIT_DIFF_LINES + 1),
                            STR(""), &diff),
                  ST_LIMIT);
}

/* The length is checked before the text. */
static void diff_refuses_texts_that_are_too_long(void **state)
{
    struct str text = {"", (size_t)LIMIT_DIFF_TEXT + 1};
    struct diff diff;
    enum diff_outcome outcome;
    (void)state;
    assert_status(diff_make(&arena, STR(""), text, &diff), ST_LIMIT);
    assert_status(diff_make(&arena, text, STR(""), &diff), ST_LIMIT);
    assert_ok(diff_make(&arena, STR("a"), STR("b"), &diff));
    assert_status(diff_apply_to(&arena, &diff, NULL, text, &outcome, &text),
                  ST_LIMIT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(diff_writes_the_unified_format, tear_down),
        cmocka_unit_test_teardown(diff_applies_any_hunks, tear_down),
        cmocka_unit_test_teardown(diff_finds_hunks_again, tear_down),
        cmocka_unit_test_teardown(diff_looks_nearby_only, tear_down),
        cmocka_unit_test_teardown(diff_refuses_texts_that_are_too_long,
                                  tear_down),
        cmocka_unit_test_teardown(diff_refuses_too_many_lines, tear_down),
        cmocka_unit_test_teardown(diff_compares_a_limited_number_of_bytes,
                                  tear_down),
    };
    return RUN_TESTS("diff", tests);
}
