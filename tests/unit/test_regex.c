/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of regex.c and regex_read.c: by a table, and against the C library. */
#include <regex.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/regex.h"
#include "support/check.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

#define NONE (-1)

static const struct {
    const char *pattern;
    const char *text;
    int start; /* of the match, or NONE */
} cases[] = {
    {"abc", "xabcx", 1},
    {"abc", "ab", NONE},
    {"", "abc", 0},
    {"a.c", "abc", 0},
    {"a.c",
     "a\xC3\xA4"
     "c",
     0}, // a character, not a byte
    {"a..c",
     "a\xC3\xA4"
     "c",
     NONE},
    {"defun.*deep", "(defun very-deep ()", 1},
    {"defun.*deep", "(defun shallow ()", NONE},
    {"\\(defun", "(defun x", 0},
    {"^\\(def(un|macro|method) ", "(defmacro x", 0},
    {"^\\(def(un|macro|method) ", " (defmacro x", NONE},
    {"x$", "xx", 1},
    {"^$", "", 0},
    {"^$", "a", NONE},
    {"a|b|c", "xxc", 2},
    {"a||b", "x", 0},
    {"(a|b)*c", "ababc", 0},
    {"a*", "b", 0},
    {"a+b", "caab", 1},
    {"ab?c", "ac", 0},
    {"ab{2}c", "abbc", 0},
    {"ab{2}c", "abc", NONE},
    {"ab{2,}c", "abbbbc", 0},
    {"ab{,2}c", "ac", 0},
    {"ab{1,2}c", "abbbc", NONE},
    {"ab{0}c", "ac", 0},
    {"a{x}", "a{x}", 0}, // braces that count nothing
    {"(a{2}){2}b", "aaaab", 0},
    {"(a{2}){2}b", "aaab", NONE},
    {"(a*)*b", "aaab", 0},
    {"(a|b*)+c", "bbac", 0},
    {"a*?b", "aab", 0},
    {"[abc]+x", "zbcax", 1},
    {"[^abc]x", "ax", NONE},
    {"[]]", "]", 0},
    {"[^]]", "]", NONE},
    {"[a-c-]", "-", 0},
    {"[\\]\\\\]", "\\", 0},
    {"[[:digit:]x]+y", "a12xy", 1},
    {"[[:upper:]][[:lower:]]", "aBc", 1},
    {"[\\d_]+z", "1_z", 0},
    {"[\xC3\xA0-\xC3\xBC]", "x\xC3\xA4", 1},
    {"\\d\\d", "a12", 1},
    {"\\D", "12a", 2},
    {"\\w+\\s\\w+", "- ab cd", 2},
    {"\\S", "  x", 2},
    {"\\bfoo\\b", "a foo b", 2},
    {"\\bfoo\\b", "food", NONE},
    {"\\<foo\\>", "foo", 0},
    {"\\Bo", "foo", 1},
    {"\\.", "a.b", 1},
    {"\\*print-.*\\*", "(setf *print-level* 3)", 6},
    {"(?i)DeFuN", "(dEfUn", 1},
    {"(?i)[A-C]x", "bX", 0},
    {"(?:ab)+c", "ababc", 0},
    {"(?i)\xC3\xA4", "\xC3\xA4", 0},
    {"a\\tb", "a\tb", 0},
    {"abc|abd", "xabd", 1},
    {"(abc)?d", "d", 0},
    {"x*yy*z", "yz", 0},
};

static void regex_finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct regex regex;
        struct str why = STR("");
        size_t start = 0;
        bool found;
        enum status status =
            regex_init(&regex, &arena, str_from(cases[i].pattern), &why);
        if (status != ST_OK)
            print_message("%s: %.*s\n", cases[i].pattern, STR_ARG(why));
        assert_ok(status);
        assert_ok(regex_search(&regex, &arena, str_from(cases[i].text), &found,
                               &start));
        int got = found ? (int)start : NONE;
        if (got != cases[i].start)
            print_message("%s in %s: %d\n", cases[i].pattern, cases[i].text,
                          got);
        assert_int_equal(got, cases[i].start);
        // what every match contains
        assert_true(!found || regex.literal.n == 0 ||
                    strstr(cases[i].text, regex.literal.p) != NULL);
    }
}

static void regex_knows_what_every_match_has(void **state)
{
    static const char *const literals[][2] = {
        {"defun.*deep", "defun"},
        {"a.*defun", "defun"},
        {"ab+cd", "cd"},
        {"abc?", "ab"},
        {"abc*d", "ab"},
        {"x{0}yz", "yz"},
        {"ab|cd", ""},
        {"(ab|cd)ef", "ef"},
        {"(abc)*d", "d"},
        {"(?i)abc", ""},
        {"\\(defun", "(defun"},
        {"[a]bc", "bc"},
        {"a\xC3\xA4?b", "a"},
        {"", ""},
        {"(a(b)c)d", "d"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(literals); i++) {
        struct regex regex;
        struct str why;
        assert_ok(regex_init(&regex, &arena, str_from(literals[i][0]), &why));
        if (!str_eq(regex.literal, str_from(literals[i][1])))
            print_message("%s: %.*s\n", literals[i][0], STR_ARG(regex.literal));
        assert_memory(str_eq(regex.literal, str_from(literals[i][1])));
    }
}

static void regex_refuses(void **state)
{
    static const char *const bad[] = {
        "(",
        "a)",
        "[a",
        "[b-a]",
        "*a",
        "a|*",
        "\\",
        "[\\",
        "\\1(a)",
        "(?=a)",
        "(?<x>a)",
        "a{3,2}",
        "a{2000}",
        "\\q",
        "[[:x:]]",
        "a\nb",
        "a\\nb",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((a",
        "((a{100}){100}){100}",
        "(a|b){1000}",
    };
    static char huge[LIMIT_REGEX + 2];
    struct regex regex;
    struct str why;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        enum status status = regex_init(&regex, &arena, str_from(bad[i]), &why);
        if (status == ST_OK)
            print_message("accepted: %s\n", bad[i]);
        assert_status(status, ST_INVALID);
        assert_true(why.n > 0);
    }
    memset(huge, 'a', LIMIT_REGEX + 1);
    assert_status(regex_init(&regex, &arena, str_from(huge), &why), ST_INVALID);
}

/* DEPTH groups, each in the one before. */
static enum status nest(size_t depth, struct str *why)
{
    char nested[2 * LIMIT_REGEX_DEPTH + 4];
    struct regex regex;

    memset(nested, '(', depth);
    nested[depth] = 'a';
    memset(nested + depth + 1, ')', depth);
    return regex_init(&regex, &arena, str_make(nested, 2 * depth + 1), why);
}

static void regex_bounds_its_depth(void **state)
{
    struct str why = STR("");

    (void)state;
    assert_ok(nest(LIMIT_REGEX_DEPTH, &why));
    assert_status(nest(LIMIT_REGEX_DEPTH + 1, &why), ST_INVALID);
    assert_true(why.n > 0 && strstr(why.p, "groups are nested too deep"));
}

/* What takes others exponential time takes this one states times characters. */
static void regex_takes_linear_time(void **state)
{
    static const char *const patterns[] = {
        "(a*)*b",         "(a|a)*b",    "(a|aa)+$x", "(.*)(.*)(.*)(.*)(.*)b",
        "(a?){30}a{30}b", "([a-z]+)*1", "(x+x+)+y",
    };
    static char text[20000];
    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        struct regex regex;
        struct str why;
        size_t start;
        bool found;
        assert_ok(regex_init(&regex, &arena, str_from(patterns[i]), &why));
        assert_ok(regex_search(&regex, &arena, str_make(text, sizeof text),
                               &found, &start));
        assert_false(found);
        assert_true(regex.work <= 3 * regex.count * (sizeof text + 1));
    }
}

static unsigned seed = 1;

static unsigned chance(unsigned n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

static void put_random(struct buf *out, int depth)
{
    static const char *const atoms[] = {"a",    "b",    "c",    ".",
                                        "[ab]", "[^a]", "[a-c]"};
    static const char *const repeats[] = {"*",   "+",     "?",
                                          "{2}", "{1,2}", "{0,1}"};
    unsigned n = 1 + chance(3);

    for (unsigned i = 0; i < n; i++) {
        bool group = depth > 0 && chance(3) == 0;
        unsigned atom = chance(COUNT(atoms));

        if (group) {
            buf_byte(out, '(');
            put_random(out, depth - 1);
            if (chance(2) == 0) {
                buf_byte(out, '|');
                put_random(out, depth - 1);
            }
            buf_byte(out, ')');
        } else {
            buf_str(out, str_from(atoms[atom]));
        }
        if (chance(3) == 0)
            buf_str(out, str_from(repeats[chance(COUNT(repeats))]));
    }
}

/* Thousands of small expressions find what those of the C library find. */
static void regex_agrees_with_the_library(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct buf pattern = BUF_EMPTY;
        struct regex ours;
        struct str text;
        struct str why;
        char line[9] = "";
        regex_t theirs;
        regmatch_t match;

        // the library is wrong about ^ within a group
        buf_str(&pattern, chance(4) == 0 ? STR("^") : STR(""));
        put_random(&pattern, 2);
        buf_str(&pattern, chance(4) == 0 ? STR("$") : STR(""));
        assert_memory(arena_take(&arena, &pattern, &text) == ST_OK);
        assert_ok(regex_init(&ours, &arena, text, &why));
        assert_int_equal(regcomp(&theirs, text.p, REG_EXTENDED), 0);
        for (int j = 0; j < 10; j++) {
            size_t n = chance(8);
            size_t start = 0;
            bool found;

            for (size_t k = 0; k < n; k++)
                line[k] = (char)('a' + chance(4));
            line[n] = '\0';
            assert_ok(
                regex_search(&ours, &arena, str_make(line, n), &found, &start));
            bool wanted = regexec(&theirs, line, 1, &match, 0) == 0;
            if (found != wanted)
                print_message("%s in %s: %d\n", text.p, line, found);
            assert_int_equal(found, wanted);
            assert_true(!found || ours.literal.n == 0 ||
                        strstr(line, ours.literal.p) != NULL);
        }
        regfree(&theirs);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(regex_finds, tear_down),
        cmocka_unit_test_teardown(regex_knows_what_every_match_has, tear_down),
        cmocka_unit_test_teardown(regex_refuses, tear_down),
        cmocka_unit_test_teardown(regex_bounds_its_depth, tear_down),
        cmocka_unit_test_teardown(regex_takes_linear_time, tear_down),
        cmocka_unit_test_teardown(regex_agrees_with_the_library, tear_down),
    };
    return RUN_TESTS("regex", tests);
}
