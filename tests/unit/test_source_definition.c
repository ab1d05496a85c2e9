/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of definition.c and datum.c. */
#include <stdio.h>

#include "base/limits.h"
#include "source/definition.h"
#include "support/check.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* KIND and NAME find FORM in TEXT. */
struct found {
    const char *text;
    const char *kind;
    const char *name;
    const char *form; /* START to END */
    const char *all;  /* COMMENT to TAIL; NULL: the same */
};

static const struct found found[] = {
    {"(defun f () 1)", "defun", "f", "(defun f () 1)", NULL},
    {"(DEFUN F () 1)", "defun", "f", "(DEFUN F () 1)", NULL},
    {"(cl:defun f () 1)", "defun", "p::f", "(cl:defun f () 1)", NULL},
    {"(cl:defun p:f () 1)", "cl:defun", "F", "(cl:defun p:f () 1)", NULL},
    {"(a:def x) (b:def x)", "b:def", "x", "(b:def x)", NULL},
    {"(def a:x) (def b:x)", "def", "b::x", "(def b:x)", NULL},
    {"(defun |f| () 1) (defun f () 2)", "defun", "f", "(defun f () 2)", NULL},
    {"(defun |f| () 1) (defun f () 2)", "defun", "|f|", "(defun |f| () 1)",
     NULL},
    {"(defun |F| () 1)", "defun", "f", "(defun |F| () 1)", NULL},
    {"(defun \\f () 1) (defun f ())", "defun", "\\f", "(defun \\f () 1)", NULL},
    // Names that are lists.
    {"(defun f (x) x) (defun (setf f) (v x) v)", "defun", "(setf f)",
     "(defun (setf f) (v x) v)", NULL},
    {"(defun (setf f) (v x) v) (defun f (x) x)", "defun", "f",
     "(defun f (x) x)", NULL},
    {"(defun ( SETF\n f) (v) v)", "defun", "(setf  f)",
     "(defun ( SETF\n f) (v) v)", NULL},
    {"(defstruct (point (:conc-name p-)) x y)", "defstruct", "point",
     "(defstruct (point (:conc-name p-)) x y)", NULL},
    {"(defstruct point x y)", "defstruct", "point", "(defstruct point x y)",
     NULL},
    // Names that are designators.
    {"(defpackage #:my-app (:use :cl))", "defpackage", "my-app",
     "(defpackage #:my-app (:use :cl))", NULL},
    {"(defpackage \"MY-APP\" (:use :cl))", "defpackage", "my-app",
     "(defpackage \"MY-APP\" (:use :cl))", NULL},
    {"(defsystem \"my-app\" :version \"1\")", "defsystem", "my-app",
     "(defsystem \"my-app\" :version \"1\")", NULL},
    {"(asdf:defsystem :my-app)", "defsystem", "\"my-app\"",
     "(asdf:defsystem :my-app)", NULL},
    {"(in-package :app)", "in-package", "app", "(in-package :app)", NULL},
    // Methods.
    {"(defmethod area ((c circle)) 1)\n(defmethod area ((s square)) 2)",
     "defmethod", "area (square)", "(defmethod area ((s square)) 2)", NULL},
    {"(defmethod area ((c circle)) 1)\n(defmethod area ((s square)) 2)",
     "defmethod", "area ((s square))", "(defmethod area ((s square)) 2)", NULL},
    {"(defmethod area ((c circle)) 1)\n(defmethod area :around ((c circle)) 2)",
     "defmethod", "area (circle)", "(defmethod area ((c circle)) 1)", NULL},
    {"(defmethod area ((c circle)) 1)\n(defmethod area :around ((c circle)) 2)",
     "defmethod", "area :around", "(defmethod area :around ((c circle)) 2)",
     NULL},
    {"(defmethod area :around (x) 1)\n(defmethod area :around ((x c) y) 2)",
     "defmethod", "area :around (c t)", "(defmethod area :around ((x c) y) 2)",
     NULL},
    {"(defmethod f ((x (eql 1)) &key y) 1) (defmethod f ((x (eql 2))) 2)",
     "defmethod", "f ((eql 1))", "(defmethod f ((x (eql 1)) &key y) 1)", NULL},
    {"(defmethod f (circle) 1) (defmethod f ((x circle)) 2)", "defmethod",
     "f (circle)", "(defmethod f ((x circle)) 2)", NULL},
    {"(defmethod f () 1) (defmethod f (x) 2)", "defmethod", "f ()",
     "(defmethod f () 1)", NULL},
    {"(defmethod (setf f) (v (x a)) 1) (defmethod (setf f) (v (x b)) 2)",
     "defmethod", "(setf f) (t b)", "(defmethod (setf f) (v (x b)) 2)", NULL},
    // Definitions inside other forms.
    {"(progn (defun f () 1))", "defun", "f", "(defun f () 1)", NULL},
    {"(eval-when (:compile-toplevel)\n  (progn\n    (defun f () 1)) 2)",
     "defun", "f", "(defun f () 1)", NULL},
    {"(let ((n 0))\n  (defun f () (incf n)))", "defun", "f",
     "(defun f () (incf n))", NULL},
    {"(defun g () (defun f () 1)) (defun f () 2)", "defun", "f",
     "(defun f () 2)", NULL},
    {"'(defun f () 1) (defun f () 2)", "defun", "f", "(defun f () 2)", NULL},
    {"#'(defun f () 1) #.(defun f () 3) (defun f () 2)", "defun", "f",
     "(defun f () 2)", NULL},
    {"\"(defun f () 1)\" #|(defun f () 1)|# ; (defun f () 1)\n(defun f () 2)",
     "defun", "f", "(defun f () 2)", NULL},
    {"#\\((defun f () 1)", "defun", "f", "(defun f () 1)", NULL},
    // The comments and prefixes that belong to a definition.
    {"(a)\n\n;; About f.\n;; More.\n(defun f () 1) ; end\n(b)", "defun", "f",
     "(defun f () 1)", ";; About f.\n;; More.\n(defun f () 1) ; end"},
    {"(a) ; of a\n(defun f () 1)\n; of b\n(b)", "defun", "f", "(defun f () 1)",
     NULL},
    {";;;; Title\n;; f\n(defun f () 1)", "defun", "f", "(defun f () 1)",
     ";; f\n(defun f () 1)"},
    {"; -*- lisp -*-\n(defun f () 1)", "defun", "f", "(defun f () 1)", NULL},
    {";; not f\n\n(defun f () 1)", "defun", "f", "(defun f () 1)", NULL},
    {"; f\n#+sbcl #-(or a\n b)\n(defun f () 1)", "defun", "f", "(defun f () 1)",
     "; f\n#+sbcl #-(or a\n b)\n(defun f () 1)"},
    {"(progn\n  ; f\n  (defun f () 1)) ; end", "defun", "f", "(defun f () 1)",
     "; f\n  (defun f () 1)"},
    {"#|\n; no\n|#\n(defun f () 1)", "defun", "f", "(defun f () 1)", NULL},
    {"(a) #| b |# (defun f () 1)", "defun", "f", "(defun f () 1)", NULL},
    {"; f\r\n(defun f () 1) ; end\r\n", "defun", "f", "(defun f () 1)",
     "; f\r\n(defun f () 1) ; end"},
    // Equal definitions, told apart by line.
    {"(defun f () 1)\n(defun f () 2)", "defun", "f @2", "(defun f () 2)", NULL},
    {"#+a (defun f () 1)\n#-a (defun f () 2)", "defun", "f @1",
     "(defun f () 1)", "#+a (defun f () 1)"},
    // Without a kind: a definition before other forms.
    {"(list f) (defun f () 1) (setq f 2)", "", "f", "(defun f () 1)", NULL},
    {"(defun g ()) (test f (is t))", "", "f", "(test f (is t))", NULL},
    {"(defmethod a (x) 1) (defmethod a ((y b)) 2)", "", "a (b)",
     "(defmethod a ((y b)) 2)", NULL},
    {"(defgeneric f (x))\n(defmethod f (x))", " ", "f @1", "(defgeneric f (x))",
     NULL},
    // Texts that do not balance.
    {"(defun f ()\n  (g\n\n(defun h () 1)", "defun", "h", "(defun h () 1)",
     NULL},
    {"(defun f ()\n  (g\n\n(defun h () 1)", "defun", "f", "(defun f ()\n  (g",
     NULL},
    {"(progn\n(defun f ()\n  (g)\n(defun h () 1))", "defun", "f",
     "(defun f ()\n  (g)", NULL},
};

static void definition_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(found); i++) {
        const struct found *f = &found[i];
        struct str text = str_from(f->text);
        struct definition d;
        struct str why = STR("");
        enum status status = definition_find(&arena, text, str_from(f->kind),
                                             str_from(f->name), &d, &why);
        if (status == ST_OK || status == ST_NOMEM) {
            assert_ok(status);
        } else {
            printf("%s %s in %s: %.*s\n", f->kind, f->name, f->text,
                   STR_ARG(why));
            fail();
        }
        struct str form = str_make(text.p + d.start, d.end - d.start);
        struct str all = str_make(text.p + d.comment, d.tail - d.comment);
        const char *wanted = f->all ? f->all : f->form;
        if (!str_eq(form, str_from(f->form)) ||
            !str_eq(all, str_from(wanted))) {
            printf("%s %s: %.*s and %.*s\n", f->kind, f->name, STR_ARG(form),
                   STR_ARG(all));
            fail();
        }
    }
}

static struct str refusal(const char *text, const char *kind, const char *name,
                          enum status wanted)
{
    struct definition d;
    struct str why = STR("");
    assert_status(definition_find(&arena, str_from(text), str_from(kind),
                                  str_from(name), &d, &why),
                  wanted);
    return why;
}

static void definition_lists_those_that_exist(void **state)
{
    (void)state;
    assert_text(
        refusal("(defun a () 1)\n(defun b () 2)", "defun", "c", ST_MISSING),
        "There is no definition (defun c …). The file has:"
        "\n  line 1: defun a\n  line 2: defun b");
    assert_text(
        refusal("(in-package :x)\n(f y)\n(defvar *v*)", "", "c", ST_MISSING),
        "There is no definition c. The file has:"
        "\n  line 3: defvar *v*");
    assert_text(refusal("(cl:in-package :x)\n(f y)", "", "c", ST_MISSING),
                "There is no definition c. The file has no definitions.");
    assert_text(refusal("(in-package :x)", "in-package", "c", ST_MISSING),
                "There is no definition (in-package c …). The file has:"
                "\n  line 1: in-package :x");
    assert_text(refusal("(defun square (x))\n(defmacro squire (x))\n(f sqar)",
                        "defun", "sqare", ST_MISSING),
                "There is no definition (defun sqare …). The nearest is defun "
                "square in line 1.");
    assert_text(refusal("\n(defmethod (setf area) (v (s square)) v)", "",
                        "aria", ST_MISSING),
                "There is no definition aria. The file has:"
                "\n  line 2: defmethod (setf area) (t square)");
    assert_text(
        refusal("\n(defmethod area ((s square)) v)", "", "aera", ST_MISSING),
        "There is no definition aera. The nearest is defmethod area "
        "(square) in line 2.");
    assert_text(
        refusal("(defgeneric a (x))\n(defmethod a (x))\n(list a)", "", "a",
                ST_INVALID),
        "2 definitions match a. Add the kind, or specialisers to the name, or "
        "@1 for the first of these lines:"
        "\n  line 1: defgeneric a\n  line 2: defmethod a (t)");
    assert_text(
        refusal("(defmacro a () 1)\n(defun b () 2)", "defun", "a", ST_MISSING),
        "There is no definition (defun a …). Definitions with this name:"
        "\n  line 1: defmacro a");
    assert_text(
        refusal("(defmethod a (x) 1)", "defmethod", "a (b)", ST_MISSING),
        "There is no definition (defmethod a (b) …). Definitions with this "
        "name:\n  line 1: defmethod a (t)");
    assert_text(refusal("(defun a () 1)", "defun", "a @2", ST_MISSING),
                "There is no definition (defun a …) in line 2. Definitions "
                "with this name:\n  line 1: defun a");
    assert_text(refusal("; (defun a ())", "defun", "a", ST_MISSING),
                "There is no definition (defun a …). The file has no "
                "definitions.");
    assert_text(
        refusal("(defmethod a ((x c)) 1)\n#+b\n(defmethod a :before (x) 2)",
                "defmethod", "a", ST_INVALID),
        "2 definitions match (defmethod a …). Add qualifiers and "
        "specialisers to the name, or @1 for the first of these lines:"
        "\n  line 1: defmethod a (c)"
        "\n  line 3: defmethod a :before (t), after #+b");
}

static void definition_refuses_malformed_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "", " ", "(", "a)", "\"a", "|a", "'", "#<a>", "a b:::c", "(setf a"};
    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(refusal("(defun a () 1)", "defun", names[i], ST_INVALID).n >
                    0);
}

/* Each form of a text that does not balance used to be read to the end of the
   text. */
static void definition_takes_linear_time(void **state)
{
    (void)state;
    static char text[4 * 200000];
    struct definition d;
    struct str why;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "(a\n "[i % 4];
    assert_status(definition_find(&arena, str_make(text, sizeof text),
                                  STR("defun"), STR("f"), &d, &why),
                  ST_MISSING);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "\n(a "[i % 4];
    assert_status(definition_find(&arena, str_make(text, sizeof text),
                                  STR("defun"), STR("f"), &d, &why),
                  ST_MISSING);
}

static void definition_refuses_long_names(void **state)
{
    (void)state;
    static char name[LIMIT_SOURCE_NAME + 2];
    memset(name, 'a', LIMIT_SOURCE_NAME);
    (void)refusal("(defun a () 1)", "defun", name, ST_MISSING);
    name[LIMIT_SOURCE_NAME] = 'a';
    assert_text(refusal("(defun a () 1)", "defun", name, ST_LIMIT),
                "kind and name of a definition have at most 1000 bytes.");
}

/* COUNT times PART, in the arena. */
static const char *many(const char *part, size_t count)
{
    struct buf text = BUF_EMPTY;
    struct str kept = STR("");
    for (size_t i = 0; i < count; i++)
        buf_str(&text, str_from(part));
    buf_byte(&text, '\0');
    bool good = !buf_failed(&text) && arena_take(&arena, &text, &kept) == ST_OK;
    buf_release(&text);
    assert_memory(good);
    return kept.p;
}

static void check_ends(struct str text, const char *end)
{
    size_t n = strlen(end);
    assert_true(text.n >= n && memcmp(text.p + text.n - n, end, n) == 0);
}

static void definition_lists_some_candidates(void **state)
{
    (void)state;
    static const char form[] = "(defun a ())\n";
    char last[60];
    (void)snprintf(last, sizeof last, "defun a\n  line %d: defun a",
                   LIMIT_SOURCE_CANDIDATES);
    check_ends(
        refusal(many(form, LIMIT_SOURCE_CANDIDATES), "defun", "a", ST_INVALID),
        last);
    (void)snprintf(last, sizeof last, "line %d: defun a\n  and 1 more",
                   LIMIT_SOURCE_CANDIDATES);
    check_ends(refusal(many(form, LIMIT_SOURCE_CANDIDATES + 1), "defun", "a",
                       ST_INVALID),
               last);
    // with another kind
    check_ends(refusal(many(form, LIMIT_SOURCE_CANDIDATES + 3), "defmacro", "a",
                       ST_MISSING),
               "defun a\n  and 3 more");
    // with another name
    check_ends(refusal(many(form, LIMIT_SOURCE_CANDIDATES + 1), "defun", "zzz",
                       ST_MISSING),
               last);
}

/* The limit is one of characters. */
static void definition_quotes_short_names(void **state)
{
    (void)state;
    const char *name = many("\xC3\xA9", LIMIT_SOURCE_EXCERPT);
    for (size_t more = 0; more <= 1; more++) {
        struct str why = refusal(
            "", "", many("\xC3\xA9", LIMIT_SOURCE_EXCERPT + more), ST_MISSING);
        struct str wanted = arena_printf(&arena,
                                         "There is no definition %s%s. The "
                                         "file has no definitions.",
                                         name, more > 0 ? "\xE2\x80\xA6" : "");
        assert_memory(wanted.n > 0);
        assert_true(str_eq(why, wanted));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(definition_is_found, tear_down),
        cmocka_unit_test_teardown(definition_lists_those_that_exist, tear_down),
        cmocka_unit_test_teardown(definition_refuses_malformed_names,
                                  tear_down),
        cmocka_unit_test_teardown(definition_refuses_long_names, tear_down),
        cmocka_unit_test_teardown(definition_takes_linear_time, tear_down),
        cmocka_unit_test_teardown(definition_lists_some_candidates, tear_down),
        cmocka_unit_test_teardown(definition_quotes_short_names, tear_down),
    };
    return RUN_TESTS("source_definition", tests);
}
