/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of source.c, guess.c and nesting.c: reports about texts. */
#include <stdio.h>

#include "base/buf.h"
#include "source/source.h"
#include "support/check.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* The report about TEXT. */
static struct str said_of(struct str text, struct source_report *report)
{
    assert_ok(source_check(NULL, text, report));
    struct str said = source_describe(&arena, report);
    assert_memory(said.n > 0);
    return said;
}

struct said {
    const char *text;
    const char *report;
};

static void check_table(const struct said *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct source_report report;
        struct str said = said_of(str_from(cases[i].text), &report);
        if (!str_eq(said, str_from(cases[i].report))) {
            printf("%s\n%.*s\n", cases[i].text, STR_ARG(said));
            fail();
        }
    }
}

/* Texts without problems, and the number of their forms. */
static const struct {
    const char *text;
    size_t forms;
} fine[] = {
    {"", 0},
    {" \n\t\f\r ; (\n", 0},
    {"\xEF\xBB\xBF(a)", 1},
    {"#!/usr/bin/ecl --shell\n(a)", 1},
    {"a 1 :k \"s\" (b)", 5},
    {"\"(\" \"\\\"(\" |(| \\( a\\(b #\\( #\\) #\\; #\\\" #\\| #\\\\", 11},
    {"#| ( #| ( |# \" |# a #|||#", 1},
    {"; ( \" |\na", 1},
    {"'a `(a ,b ,@c ,.d) #'f #:g #.h", 5},
    {"``(a ,,b ,(c) ,`(d ,e))", 1},
    {"#(1 2) #2(a) #2A((1) (2)) #C(1 2) #S(p :x 1) #P\"x\" #0A5", 7},
    {"#b101 #O17 #xFf/2 #36rZz #*01 #* #3*01 #b-1", 8},
    {"#1=(a . #1#)", 1},
    {"(a . b) (a .b) (a. b) `(a .,b) (.5) a..b", 6},
    {"#+sbcl (a:::b ,c #\\Foo (. d) #?x) #-(or a b) c #+(and) #+x d", 3},
    {"(a . #+x b #-x c)", 1},
    {"#\\Space #\\newline #\\u41 #\\U+1F600 #\\Latin_Small_Letter_A "
     "#\\\xC3\xA9",
     6},
    {"cl:car sb-ext::foo |a:b| a\\:b |:| keyword:x", 6},
    {"\xC3\xA9t\xC3\xA9 (\xF0\x9F\x98\x80)", 2},
};

static void source_accepts_good_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fine); i++) {
        struct source_report report;
        struct str said = said_of(str_from(fine[i].text), &report);
        if (report.count > 0) {
            printf("%s\n%.*s\n", fine[i].text, STR_ARG(said));
            fail();
        }
        assert_int_equal(report.forms, fine[i].forms);
    }
}

/* The first problem of a text, and where it is. */
static const struct {
    const char *text;
    enum token_fault fault;
    uint32_t line;
    uint32_t column;
} wrong[] = {
    {"(a", TOKEN_UNCLOSED, 1, 0},
    {"a\n #(b", TOKEN_UNCLOSED, 2, 1},
    {"a)", TOKEN_EXTRA, 1, 1},
    {"')", TOKEN_EXTRA, 1, 1},
    {"(a \"b)", TOKEN_OPEN_STRING, 1, 3},
    {"\"\\\"", TOKEN_OPEN_STRING, 1, 0},
    {"a #| #| |#", TOKEN_OPEN_COMMENT, 1, 2},
    {"#|", TOKEN_OPEN_COMMENT, 1, 0},
    {"a|b", TOKEN_OPEN_SYMBOL, 1, 0},
    {"|#", TOKEN_OPEN_SYMBOL, 1, 0},
    {"a\\", TOKEN_OPEN_ESCAPE, 1, 0},
    {"#\\", TOKEN_OPEN_ESCAPE, 1, 0},
    {"#", TOKEN_OPEN_DISPATCH, 1, 0},
    {"#12", TOKEN_OPEN_DISPATCH, 1, 0},
    {"(#<a b>)", TOKEN_UNREADABLE, 1, 1},
    {"#+x #<a>", TOKEN_UNREADABLE, 1, 4},
    {"# a", TOKEN_BARE_SHARP, 1, 0},
    {"(#)", TOKEN_BARE_SHARP, 1, 1},
    {"#\n", TOKEN_BARE_SHARP, 1, 0},
    {"#?a", TOKEN_NO_DISPATCH, 1, 0},
    {"#[a]", TOKEN_NO_DISPATCH, 1, 0},
    {"#\xC3\xA9", TOKEN_NO_DISPATCH, 1, 0},
    {"#=a", TOKEN_NUMBER_NEEDED, 1, 0},
    {"(##)", TOKEN_NUMBER_NEEDED, 1, 1},
    {"#r1", TOKEN_NUMBER_NEEDED, 1, 0},
    {"#1+a b", TOKEN_NO_NUMBER, 1, 0},
    {"#37r1", TOKEN_NO_RADIX, 1, 0},
    {"#99999999999999999999r1", TOKEN_NO_RADIX, 1, 0},
    {"#b102", TOKEN_DIGITS, 1, 0},
    {"#b", TOKEN_DIGITS, 1, 0},
    {"#xFG", TOKEN_DIGITS, 1, 0},
    {"#x1/", TOKEN_DIGITS, 1, 0},
    {"#x1/2/3", TOKEN_DIGITS, 1, 0},
    {"#*012", TOKEN_BITS, 1, 0},
    {"#\\Foo", TOKEN_CHARACTER, 1, 0},
    {"#\\(a", TOKEN_CHARACTER, 1, 0},
    {"#\\xFFFFFF", TOKEN_CHARACTER, 1, 0},
    {"#\\U110000", TOKEN_CHARACTER, 1, 0},
    {"#\\U", TOKEN_FINE, 0, 0},
    {"foo::", TOKEN_MARKER, 1, 0},
    {"foo:", TOKEN_MARKER, 1, 0},
    {"a:b:c", TOKEN_MARKER, 1, 0},
    {"a:::b", TOKEN_MARKER, 1, 0},
    {"::a", TOKEN_MARKER, 1, 0},
    {":a:b", TOKEN_MARKER, 1, 0},
    {"(a :)", TOKEN_MARKER, 1, 3},
    {"#:a:b", TOKEN_MARKER, 1, 0},
    {"..", TOKEN_DOTS, 1, 0},
    {"(a ... b)", TOKEN_DOTS, 1, 3},
    {"(a '\n)", TOKEN_NOTHING, 1, 3},
    {"a '", TOKEN_NOTHING, 1, 2},
    {"#'", TOKEN_NOTHING, 1, 0},
    {"#+a", TOKEN_NOTHING, 1, 0},
    {"(#+)", TOKEN_NOTHING, 1, 1},
    {",a", TOKEN_COMMA, 1, 0},
    {"`(a ,,b)", TOKEN_COMMA, 1, 5},
    {"`(a) (,b)", TOKEN_COMMA, 1, 6},
    {".", TOKEN_DOT, 1, 0},
    {"(. a)", TOKEN_DOT, 1, 1},
    {"(a . . b)", TOKEN_DOT, 1, 5},
    {"#(a . b)", TOKEN_DOT, 1, 4},
    {"(a . b . c)", TOKEN_DOT, 1, 7},
    {"('. a)", TOKEN_DOT, 1, 2},
    {"(a . )", TOKEN_DOT_NOTHING, 1, 5},
    {"(a . b c)", TOKEN_DOT_TOO_MUCH, 1, 7},
    {"\xC3\xA9\xF0\x9F\x98\x80\t )", TOKEN_EXTRA, 1, 4},
};

static void source_names_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct source_report report;
        (void)said_of(str_from(wrong[i].text), &report);
        const struct source_problem *problem = &report.problems[0];
        if (report.count == 0)
            report.problems[0] = (struct source_problem){.fault = TOKEN_FINE};
        if (problem->fault != wrong[i].fault ||
            problem->place.line != wrong[i].line ||
            problem->place.column != wrong[i].column) {
            printf("%s: fault %d in line %u, column %u\n", wrong[i].text,
                   (int)problem->fault, (unsigned)problem->place.line,
                   (unsigned)problem->place.column);
            fail();
        }
        assert_int_equal(report.certain,
                         report.count -
                             (source_is_doubtful(problem->fault) ? 1 : 0));
    }
}

static const struct said reports[] = {
    {"(defun foo (x)\n"
     "  (let ((y 1)\n"
     "    (print y)\n"
     "    y))\n"
     "\n"
     "(defun bar () 1)\n",
     "1 syntax problem.\n"
     "Line 2, column 7: \"((y 1)\" is not closed.\n"
     "  Most likely ) is missing in line 2, column 13, judging by how line 3 "
     "is "
     "indented\n"
     "  At ▶ in \"  (let ((y 1)▶\"\n"
     "  Open there (3, outermost first): 1:0 \"(defun foo (x)\" 2:2 \"(let ((y "
     "1)\" 2:7 \"((y 1)\""},
    {"(a (b (c (d (e (f (g (h",
     "1 syntax problem.\n"
     "Line 1, column 21: \"(h\" and 7 more around it are not closed.\n"
     "  Most likely 8 ) are missing in line 1, column 23\n"
     "  At ▶ in \"(a (b (c (d (e (f (g (h▶\"\n"
     "  Open there (8, outermost first): 1:0 \"(a (b (c (d (e (f (g (h\" … 1:9 "
     "\"(d (e (f (g (h\" 1:12 \"(e (f (g (h\" 1:15 \"(f (g (h\" 1:18 \"(g "
     "(h\" 1:21 \"(h\""},
    {"(defun foo (x)\n"
     "  (print x))\n"
     "  (print 2))\n"
     "\n"
     "(defun bar () 1))))\n",
     "2 syntax problems.\n"
     "Line 3, column 11: \")\" is one too many.\n"
     "  Most likely the one in line 2, column 11, judging by how line 3 is "
     "indented\n"
     "  At ▶ in \"  (print x)▶)\"\n"
     "Line 5, column 16: \")\" and what follows: 3 too many.\n"
     "  At ▶ in \"(defun bar () 1)▶)))\""},
    {"(defun a () (print \"hello))\n"
     "(defun b () (print \"world\"))\n",
     "1 syntax problem.\n"
     "Line 2, column 25: \"\"))\" begins a string that is not closed.\n"
     "  Most likely the string that begins in line 1, column 19 lacks its end\n"
     "  At ▶ in \"(defun a () (print ▶\"hello))\"\n"
     "  Open there (2, outermost first): 1:0 \"(defun a () (print \"hello))\" "
     "1:12 \"(print \"hello))\""},
    {"(defun a ()\n"
     "  (foo)\n"
     "\n"
     "(defun b ()\n"
     "  (bar)))\n",
     "Syntax OK: 1 form.\n"
     "Line 4, column 0: \"(defun b ()\" begins inside another definition: a ) "
     "may be missing before it, and one too many may follow it.\n"
     "  Open there (1, outermost first): 1:0 \"(defun a ()\""},
    {"a: b: c: d: e: f: g:\x1b",
     "6 syntax problems.\n"
     "Line 1, column 0: \"a:\" has colons where no package prefix can be.\n"
     "Line 1, column 3: \"b:\" has colons where no package prefix can be.\n"
     "Line 1, column 6: \"c:\" has colons where no package prefix can be.\n"
     "Line 1, column 9: \"d:\" has colons where no package prefix can be.\n"
     "Line 1, column 12: \"e:\" has colons where no package prefix can be.\n"
     "and 1 more"},
    {"(a #\\Foo\x01)",
     "1 syntax problem.\n"
     "Line 1, column 3: \"#\\Foo\\x01\" does not name a character that ECL "
     "knows.\n"
     "  Open there (1, outermost first): 1:0 \"(a #\\Foo\\x01)\""},
    {"(a b)\n(c)\n", "Syntax OK: 2 forms."},
    {"a", "Syntax OK: 1 form."},
};

static void source_describes(void **state)
{
    (void)state;
    check_table(reports, COUNT(reports));
}

/* Broken code as people write it, and where it has a parenthesis too few or too
   many. */
static const struct {
    const char *text;
    uint32_t line;
    uint32_t column;
    size_t count;
} guesses[] = {
    // Missing within an argument, a clause, at the end.
    {"(defun foo (x)\n"
     "  (if (> x 0)\n"
     "      (print x\n"
     "      (print 1)))\n",
     3, 14, 1},
    {"(defun f (x)\n"
     "  (cond ((a x) 1)\n"
     "        ((b x) 2\n"
     "        (t 3)))\n",
     3, 16, 1},
    {"(defun foo (x)\n"
     "  (if x\n"
     "      1\n"
     "      2)\n"
     "\n"
     "(defun bar ())\n",
     4, 8, 1},
    {"(defun foo (x)\n"
     "  (when x\n"
     "    (dolist (y x)\n"
     "      (print y)\n"
     "\n"
     "(defun bar ())\n",
     4, 15, 3},
    {"(let* ((a 1)\n"
     "       (b 2)\n"
     "  (+ a b))\n",
     2, 12, 1},
    {"(let* ((a 1\n"
     "       (b 2))\n"
     "  (+ a b))\n",
     1, 11, 1},
    {"(let ((a 1)\n"
     "      (b 2))\n"
     "  a\n",
     3, 3, 1},
    {"(let ((a 1)\n"
     "      b\n"
     "  a)\n",
     2, 7, 1},
    // Comments, strings and blank lines in between.
    {"(defun foo ()\n"
     "  \"Text.\n"
     "(not a form)\"\n"
     "  (bar) ; (\n"
     "\n"
     ";; (baz\n"
     "#| ( |#\n"
     "(defun bar ())\n",
     4, 7, 1},
    // Lines that are indented at random.
    {"(defun foo ()\n"
     "#+sbcl\n"
     "  (a)\n"
     "  (tagbody\n"
     "start\n"
     "    (go start)\n"
     "  (c))\n",
     6, 14, 1},
    {"(foo\n"
     "  (bar)\n"
     ")\n"
     "(foo\n"
     "  (bar\n"
     ")\n",
     6, 1, 1},
    {"(a\n\t(b\n        (c))\n(defun d ())\n", 2, 3, 1},
    // Lines that are not indented.
    {"(defun a ()\n"
     "(if x\n"
     "(foo)\n"
     "(bar)\n"
     ")\n"
     "\n"
     "(defun b () 2)\n",
     5, 1, 1},
    // Several forms inside one form.
    {"(progn\n"
     "(defun foo (x)\n"
     "  (bar x)\n"
     "\n"
     "(defun baz (y) y)\n"
     ")\n",
     3, 9, 1},
    {"(eval-when (:execute)\n"
     "  (defun foo (x)\n"
     "    (bar x)\n"
     "  (defun baz (y) y))\n",
     3, 11, 1},
    {"(progn\n"
     "(a)\n"
     "(b)\n",
     3, 3, 1},
    // Prefixes.
    {"(a\n"
     "  '(b\n"
     "  `(c ,d))\n",
     2, 5, 1},
    {"#+x (defun a ()\n"
     "      (b)\n"
     "\n"
     "(defun c ())\n",
     2, 9, 1},
    // Too many.
    {"(defun foo (x)\n"
     "  (let ((y 1)))\n"
     "    (print y)\n"
     "    y))\n",
     2, 14, 1},
    {"(defun foo (x)\n"
     "  (print x))\n"
     "  (print 2))\n",
     2, 11, 1},
    {"(defun foo (x)\n"
     "  (when x))\n"
     "    (print 2)))\n",
     2, 9, 2},
    {"(defmacro foo (x)\n"
     "  `(let ((y ,x)))\n"
     "     ,x\n"
     "     (list ,x y)))\n",
     2, 16, 1},
    {"(defun foo (x)\n"
     "  (cond ((a) 1))\n"
     "        ((b) 2)))\n",
     2, 15, 1},
};

static void source_guesses_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(guesses); i++) {
        struct source_report report;
        struct str said = said_of(str_from(guesses[i].text), &report);
        const struct source_problem *problem = &report.problems[0];
        if (report.count != 1 || !problem->guessed ||
            problem->guess.line != guesses[i].line ||
            problem->guess.column != guesses[i].column ||
            problem->count != guesses[i].count) {
            printf("%s%.*s\n", guesses[i].text, STR_ARG(said));
            fail();
        }
    }
}

/* TEXT repeated COUNT times, valid until the next call. */
static struct str many(const char *text, size_t count)
{
    static char storage[LIMIT_SOURCE_DEPTH + 1];
    size_t n = strlen(text);
    assert_true(n * count <= sizeof storage);
    for (size_t i = 0; i < count; i++)
        memcpy(storage + i * n, text, n);
    return str_make(storage, n * count);
}

static void source_survives_depth(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum token_fault fault;
        size_t count;
    } cases[] = {
        {"(", TOKEN_UNCLOSED, 20000},   {"(\n", TOKEN_UNCLOSED, 20000},
        {"#(", TOKEN_UNCLOSED, 20000},  {")", TOKEN_EXTRA, 20000},
        {"'", TOKEN_NOTHING, 1},        {"#+x ", TOKEN_NOTHING, 1},
        {"#+(", TOKEN_UNCLOSED, 20000}, {"#|", TOKEN_OPEN_COMMENT, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct source_report report;
        assert_ok(source_check(NULL, many(cases[i].text, 20000), &report));
        assert_int_equal(report.problems[0].fault, cases[i].fault);
        assert_int_equal(report.problems[0].count, cases[i].count);
    }
}

static void source_names_its_limit(void **state)
{
    (void)state;
    struct source_report report;
    assert_ok(source_check(NULL, many("(", LIMIT_SOURCE_DEPTH + 1), &report));
    struct str said = source_describe(&arena, &report);
    assert_memory(said.n > 0);
    const char *wanted = "1 syntax problem.\nLine 1, column 1000000: \"(\" is "
                         "nested deeper than 1000000: what follows was not "
                         "checked.";
    said.n = strlen(wanted);
    assert_true(str_eq(said, str_from(wanted)));
}

/* Checks that the report about TEXT says PART if and only if WANTED. */
static void check_part(struct str text, const char *part, bool wanted)
{
    struct source_report report;
    struct str said = said_of(text, &report);
    struct str kept = STR("");
    assert_memory(arena_str(&arena, said, &kept) == ST_OK); // with a NUL
    if ((strstr(kept.p, part) != NULL) != wanted)
        fail_msg("%s in: %s", part, kept.p);
}

static void source_reports_the_first_problems(void **state)
{
    (void)state;
    struct source_report report;
    assert_ok(source_check(NULL, many("a: ", LIMIT_SOURCE_PROBLEMS), &report));
    assert_int_equal(report.kept, LIMIT_SOURCE_PROBLEMS);
    check_part(report.text, "more", false);
    assert_ok(
        source_check(NULL, many("a: ", LIMIT_SOURCE_PROBLEMS + 1), &report));
    assert_int_equal(report.kept, LIMIT_SOURCE_PROBLEMS);
    assert_int_equal(report.count, LIMIT_SOURCE_PROBLEMS + 1);
    check_part(report.text, "\nand 1 more", true);
}

static void source_names_some_open_lists(void **state)
{
    (void)state;
    for (size_t n = LIMIT_SOURCE_OPEN; n <= LIMIT_SOURCE_OPEN + 1; n++) {
        struct source_report report;
        assert_ok(source_check(NULL, many("(a ", n), &report));
        const struct source_problem *problem = &report.problems[0];
        assert_int_equal(problem->open_count, n);
        assert_int_equal(problem->open_kept, LIMIT_SOURCE_OPEN);
        // the outermost one, and the innermost ones
        assert_int_equal(problem->open[0].place.offset, 0);
        for (size_t i = 1; i < LIMIT_SOURCE_OPEN; i++)
            assert_int_equal(problem->open[i].place.offset,
                             3 * (n - LIMIT_SOURCE_OPEN + i));
        check_part(report.text, "\" … 1:", n > LIMIT_SOURCE_OPEN);
    }
}

/* What is quoted ends with a whole character. */
static void source_quotes_short_texts(void **state)
{
    (void)state;
    for (size_t n = LIMIT_SOURCE_EXCERPT - 1; n <= LIMIT_SOURCE_EXCERPT; n++) {
        struct source_report report;
        struct buf text = BUF_EMPTY;
        struct str kept = STR("");
        buf_byte(&text, '(');
        for (size_t i = 0; i < n; i++)
            buf_str(&text, STR("\xC3\xA9"));
        bool good =
            !buf_failed(&text) && arena_take(&arena, &text, &kept) == ST_OK;
        buf_release(&text);
        assert_memory(good);
        assert_ok(source_check(NULL, kept, &report));
        assert_int_equal(report.problems[0].open[0].text.n,
                         1 + 2 * (LIMIT_SOURCE_EXCERPT - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(source_accepts_good_texts, tear_down),
        cmocka_unit_test_teardown(source_names_what_is_wrong, tear_down),
        cmocka_unit_test_teardown(source_describes, tear_down),
        cmocka_unit_test_teardown(source_guesses_where, tear_down),
        cmocka_unit_test_teardown(source_survives_depth, tear_down),
        cmocka_unit_test_teardown(source_names_its_limit, tear_down),
        cmocka_unit_test_teardown(source_reports_the_first_problems, tear_down),
        cmocka_unit_test_teardown(source_names_some_open_lists, tear_down),
        cmocka_unit_test_teardown(source_quotes_short_texts, tear_down),
    };
    return RUN_TESTS("source", tests);
}
