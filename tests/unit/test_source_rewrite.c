/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of rewrite.c: texts before and after. */
#include <stdio.h>

#include "source/rewrite.h"
#include "support/check.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* After ACTION with CONTENT on the definition of f, BEFORE is AFTER. */
struct edit {
    enum rewrite_action action;
    const char *before;
    const char *content;
    const char *after;
};

static const struct edit edits[] = {
    {REWRITE_REPLACE, "(a)\n(defun f () 1) ; one\n(b)\n", "(defun f () 2)",
     "(a)\n(defun f () 2) ; one\n(b)\n"},
    // Blank lines and blanks around the content do not count.
    {REWRITE_REPLACE, "(defun f () 1)\n(b)", "\n\n(defun f () 2)  \n\n",
     "(defun f () 2)\n(b)"},
    // #+ and #- belong to the definition: kept, or replaced by others.
    {REWRITE_REPLACE, "#+sbcl\n(defun f () 1)\n(defun g () 2)",
     "#+sbcl\n(defun f () 3)", "#+sbcl\n(defun f () 3)\n(defun g () 2)"},
    {REWRITE_REPLACE, "#+sbcl\n(defun f () 1)\n(defun g () 2)",
     "(defun f () 3)", "#+sbcl\n(defun f () 3)\n(defun g () 2)"},
    {REWRITE_REPLACE, "#+a #-(or b\n c) (defun f () 1) (g)",
     "#-ecl (defun f () 3)", "#-ecl (defun f () 3) (g)"},
    {REWRITE_REPLACE, "(defun f () 1)\n(g)", "#+a\n(defun f () 3)",
     "#+a\n(defun f () 3)\n(g)"},
    {REWRITE_REPLACE, "#+a (defun f () 1) (g)", ";; gone", ";; gone\n (g)"},
    {REWRITE_DELETE, "#+a\n(defun f () 1)\n\n(g)", "", "(g)"},
    // Comments that touch it are replaced when the content brings some.
    {REWRITE_REPLACE, ";; old\n;; older\n(defun f () 1)\n",
     ";; new\n(defun f () 2)", ";; new\n(defun f () 2)\n"},
    {REWRITE_REPLACE, ";; old\n(defun f () 1)\n", "(defun f () 2)",
     ";; old\n(defun f () 2)\n"},
    {REWRITE_REPLACE, ";;;; Part\n\n;; old\n(defun f () 1)\n",
     ";; new\n(defun f () 2)", ";;;; Part\n\n;; new\n(defun f () 2)\n"},
    {REWRITE_REPLACE, ";; far\n\n(defun f () 1)\n", ";; new\n(defun f () 2)",
     ";; far\n\n;; new\n(defun f () 2)\n"},
    {REWRITE_REPLACE, ";; old\n#+a\n(defun f () 1)\n(g)",
     "#| new |#\n(defun f () 2)", "#| new |#\n#+a\n(defun f () 2)\n(g)"},
    {REWRITE_REPLACE, ";; old\n#+a (defun f () 1)\n(g)",
     ";; new\n(defun f () 2)", ";; new\n#+a (defun f () 2)\n(g)"},
    {REWRITE_REPLACE, ";; old\n#+a\n(defun f () 1)",
     ";; new\n#-a\n(defun f () 2)", ";; new\n#-a\n(defun f () 2)"},
    {REWRITE_REPLACE, "(defun f () 1) ; old\n", "(defun f () 2) ; new",
     "(defun f () 2) ; new\n"},
    // A comment at the end of the content takes nothing in.
    {REWRITE_REPLACE, "(progn (defun f () 1))", "(defun f () 2) ; new",
     "(progn (defun f () 2) ; new\n       )"},
    {REWRITE_AFTER, "(progn (defun f () 1))", "(defun g () 2) ; new",
     "(progn (defun f () 1)\n\n       (defun g () 2) ; new\n       )"},
    {REWRITE_AFTER, "(defun f () 1) (b)", "(c) ; c",
     "(defun f () 1)\n\n(c) ; c\n (b)"},
    {REWRITE_REPLACE, "(defun f () 1)b", "*c*", "*c*\nb"},
    // Indentation.
    {REWRITE_REPLACE, "(let ((n 0))\n  (defun f ()\n    n)\n  (g))",
     "(defun f ()\n  (incf n)\n\n  n)",
     "(let ((n 0))\n  (defun f ()\n    (incf n)\n\n    n)\n  (g))"},
    {REWRITE_REPLACE, "(let ((n 0))\n  (defun f ()\n    n)\n  (g))",
     "(defun f ()\n    (incf n)\n    n)",
     "(let ((n 0))\n  (defun f ()\n    (incf n)\n    n)\n  (g))"},
    {REWRITE_REPLACE, "(let ((n 0))\n  (defun f ()\n    n))",
     "  (defun f ()\n    (incf n))",
     "(let ((n 0))\n  (defun f ()\n    (incf n)))"},
    {REWRITE_REPLACE, "(defun f ()\n  n)\n", "    (defun f ()\n      m)",
     "(defun f ()\n  m)\n"},
    {REWRITE_REPLACE, "(let ()\n\t(defun f () 1))", "(defun f ()\n  2)",
     "(let ()\n\t(defun f ()\n\t  2))"},
    {REWRITE_REPLACE, "(let ()\n  (defun f () 1))",
     "(defun f ()\n  \"A string\nof two |lines\"\n  '|a\nb|\n  2)",
     "(let ()\n  (defun f ()\n    \"A string\nof two |lines\"\n    '|a\nb|\n"
     "    2))"},
    {REWRITE_BEFORE, "(let ()\n  ;; f\n  (defun f () 1))", "(defun e ()\n  2)",
     "(let ()\n  (defun e ()\n    2)\n\n  ;; f\n  (defun f () 1))"},
    {REWRITE_AFTER, "(let ()\n  (defun f () 1) ; one\n  (b))",
     "(defun g ()\n  2)",
     "(let ()\n  (defun f () 1) ; one\n\n  (defun g ()\n    2)\n  (b))"},
    {REWRITE_REPLACE, "(let ()\n  ;; old\n  #+a\n  (defun f () 1))",
     ";; new\n(defun f ()\n  2)",
     "(let ()\n  ;; new\n  #+a\n  (defun f ()\n    2))"},
    {REWRITE_REPLACE, "(let ()\n  (defun f () 1))",
     "(defun f () 1)\n\n(defun g ()\n  2)",
     "(let ()\n  (defun f () 1)\n\n  (defun g ()\n    2))"},
};

static void rewrite_keeps_what_is_not_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(edits); i++) {
        const struct edit *e = &edits[i];
        struct str text = str_from(e->before);
        struct definition form;
        struct str out = STR("");
        struct str why = STR("");
        assert_ok(
            definition_find(&arena, text, STR(""), STR("f"), &form, &why));
        assert_ok(rewrite_make(&arena, text, &form, e->action,
                               str_from(e->content), &out, &why));
        if (!str_eq(out, str_from(e->after))) {
            print_message("%s with %s:\n%.*s\n", e->before, e->content,
                          STR_ARG(out));
            fail();
        }
    }
}

/* What would take in the form that follows. */
static void rewrite_refuses_what_is_not_whole(void **state)
{
    static const char *const contents[] = {
        "(defun f () 2)\n#+sbcl",
        "(defun f () 2) '",
        "(defun f () 2)\n#'",
        "(defun f () 2)\n`",
        "(defun f () 2",
        "(defun f () 2))",
        "(defun f () \"2)",
        "(defun f () 2) #|",
        "#+sbcl",
        "(defun f () 2) #+(or a b)",
        "(defun f () 2) #.",
        "(defun f () 2) |",
        "(defun f () 2) #+sbcl ; no",
        "(defun f () 2) \\",
        "(f) ,",
        "#1=",
    };
    static const enum rewrite_action actions[] = {
        REWRITE_REPLACE, REWRITE_BEFORE, REWRITE_AFTER};
    struct str text = STR("(defun f () 1)\n\n(defun g () 2)\n");
    struct definition form;
    struct str out;
    struct str why;
    (void)state;
    assert_ok(
        definition_find(&arena, text, STR("defun"), STR("f"), &form, &why));
    for (size_t i = 0; i < COUNT(contents); i++)
        for (size_t j = 0; j < COUNT(actions); j++) {
            enum status status =
                rewrite_make(&arena, text, &form, actions[j],
                             str_from(contents[i]), &out, &why);
            if (status == ST_OK)
                print_message("accepted: %s\n", contents[i]);
            assert_status(status, ST_INVALID);
            assert_true(why.n > 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rewrite_keeps_what_is_not_meant, tear_down),
        cmocka_unit_test_teardown(rewrite_refuses_what_is_not_whole, tear_down),
    };
    return RUN_TESTS("source_rewrite", tests);
}
