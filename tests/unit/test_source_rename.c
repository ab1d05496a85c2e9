/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of rename.c and what belongs to it, package.c and structure.c. */
#include "base/limits.h"
#include "source/rename.h"
#include "support/check.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* In TEXT, the symbol f of package p becomes g: that gives AFTER. UNSURE places
   are not certain, and the name is MENTIONED. */
struct renamed {
    const char *text;
    const char *after; /* NULL: nothing changes */
    size_t unsure;
    size_t mentioned;
    size_t taken;
};

#define P "(in-package :p)"

static const struct renamed cases[] = {
    {P "(f)", P "(g)", 0, 0, 0},
    {P "(F 'f #'F \\f f1 ff)", P "(G 'g #'G \\f f1 ff)", 0, 0, 0},
    {P ":f #:f", NULL, 0, 0, 0},
    {P "; f\n\"f ff\" #|F|#", NULL, 0, 3, 0},
    {P "#+f f #-(or f g) f", P "#+f g #-(or f g) g", 0, 0, 0},
    {P "#\\; f ; f\n#\\f f", P "#\\; g ; f\n#\\f g", 0, 1, 0},
    {P "`(,f ,@f #.f)", P "`(,g ,@g #.g)", 0, 0, 0},
    {P "(g)(f)", P "(g)(g)", 0, 0, 1},
    {"(f)", NULL, 1, 0, 0},
    {"(p:f p::f P::F |P|:f)", "(p:g p::g P::G |P|:g)", 0, 0, 0},
    {"(in-package \"P\")(f)", "(in-package \"P\")(g)", 0, 0, 0},
    {"(in-package p)f(in-package #:q)f", "(in-package p)g(in-package #:q)f", 1,
     0, 0},
    {"(cl:in-package p)f", "(cl:in-package p)g", 0, 0, 0},
    {"(in-package cl-user)(f)", NULL, 0, 0, 0},
    {"(in-package q)(q::f)", NULL, 1, 0, 0},
    {P "#+nil (in-package q)(f)#+(or)(in-package q)(f)#+q (in-package q)(f)",
     P "#+nil (in-package q)(g)#+(or)(in-package q)(g)#+q (in-package q)(f)", 1,
     0, 0},
    // What packages say.
    {"(defpackage p (:export f))", "(defpackage p (:export g))", 0, 0, 0},
    {"(defpackage p (:export \"F\" \"f\" :f #:F))",
     "(defpackage p (:export \"G\" \"f\" :g #:G))", 0, 0, 0},
    {"(defpackage q (:use cl))(in-package q)(f)", NULL, 0, 0, 0},
    {"(defpackage p (:export f))(defpackage q (:use p))(in-package q)(f)",
     "(defpackage p (:export g))(defpackage q (:use p))(in-package q)(g)", 0, 0,
     0},
    {"(defpackage p)(defpackage q (:use p))(in-package q)(f)", NULL, 0, 0, 0},
    {"(defpackage p (:export f))(defpackage q (:use p) (:shadow f))"
     "(in-package q)(f)",
     "(defpackage p (:export g))(defpackage q (:use p) (:shadow f))"
     "(in-package q)(f)",
     0, 0, 0},
    {"(defpackage q (:use p))(in-package q)(f)", NULL, 1, 0, 0},
    {"(defpackage q (:import-from p f))(q::f)",
     "(defpackage q (:import-from p g))(q::g)", 0, 0, 0},
    {"(defpackage q (:import-from r f))(q::f)", NULL, 1, 0, 0},
    {"(defpackage p (:nicknames n))(n::f)",
     "(defpackage p (:nicknames n))(n::g)", 0, 0, 0},
    {"(defpackage q (:local-nicknames (l p)))(in-package q)(l:f)",
     "(defpackage q (:local-nicknames (l p)))(in-package q)(l:g)", 0, 0, 0},
    {"(defpackage q (:use p q))(defpackage p (:use q) (:export f))"
     "(in-package q)f",
     "(defpackage q (:use p q))(defpackage p (:use q) (:export g))"
     "(in-package q)g",
     0, 0, 0},
    {"(eval-when (:execute) (defpackage p (:export f)))",
     "(eval-when (:execute) (defpackage p (:export g)))", 0, 0, 0},
    // What defstruct makes of the name of a structure.
    {P "(defstruct f x (y 0 :type t))(make-f :x (F-X (copy-f f-y)) f-p f-z)",
     P "(defstruct g x (y 0 :type t))(make-g :x (G-X (copy-g g-y)) g-p f-z)", 0,
     0, 0},
    {P "(defstruct (f (:include base) :copier) \"Doc.\" x)(f-x copy-f)",
     P "(defstruct (g (:include base) :copier) \"Doc.\" x)(g-x copy-g)", 0, 0,
     0},
    {P "(defstruct (f (:conc-name q-)) x)(q-x make-f f-x)",
     P "(defstruct (g (:conc-name q-)) x)(q-x make-g f-x)", 1, 0, 0},
    {P "(defstruct (f (:constructor make-f (x)) (:copier nil) (:predicate f?)) "
       "x)(make-f copy-f f-p f-x)",
     P "(defstruct (g (:constructor make-f (x)) (:copier nil) (:predicate f?)) "
       "x)(make-f copy-f f-p g-x)",
     4, 0, 0},
    {P "(defstruct f #+q x y)(f-y)", P "(defstruct g #+q x y)(f-y)", 1, 0, 0},
    {P "`(defstruct ,f x)(f-x)", P "`(defstruct ,g x)(f-x)", 0, 0, 0},
    {P "(defstruct f x)(f-\\X)(in-package q)(f-x)(p::f-x)",
     P "(defstruct g x)(f-\\X)(in-package q)(f-x)(p::g-x)", 2, 0, 0},
    {P "(defstruct f x)(defun g-x ())", P "(defstruct g x)(defun g-x ())", 0, 0,
     1},
    {"(defpackage p (:export f #:make-f \"F-X\"))(defpackage q (:use p))" P
     "(defstruct f x)(in-package q)(make-f f-x f-p)",
     "(defpackage p (:export g #:make-g \"G-X\"))(defpackage q (:use p))" P
     "(defstruct g x)(in-package q)(make-g g-x f-p)",
     0, 0, 0},
    {P "(defstruct f x) ; make-f\n\"f-x\"",
     P "(defstruct g x) ; make-f\n\"f-x\"", 0, 2, 0},
    {"(in-package :q)(defstruct f x)(f-x p::f)",
     "(in-package :q)(defstruct f x)(f-x p::g)", 1, 0, 0},
    // And of that of a slot.
    {P "(defstruct a f (x f))(a-f a-x)(make-a :f 1)",
     P "(defstruct a g (x g))(a-g a-x)(make-a :g 1)", 0, 0, 0},
    // Its keywords, in calls of what makes such structures.
    {P "(defstruct a f x)(make-a :x :f :f (make-a :F :f) keyword:f 1)",
     P "(defstruct a g x)(make-a :x :f :g (make-a :G :f) keyword:g 1)", 2, 0,
     0},
    {P "(defstruct a f)#S(a :f 1)#s(a f 1)#(a :f 1)(a :f 1)",
     P "(defstruct a g)#S(a :g 1)#s(a g 1)#(a :f 1)(a :f 1)", 2, 0, 0},
    {P "(defstruct a f)`(make-a :f ,x)'(make-a :f 1)'(b (make-a :f 1))",
     P "(defstruct a g)`(make-a :g ,x)'(make-a :f 1)'(b (make-a :f 1))", 2, 0,
     0},
    {P "(defstruct a f)`(make-a ,@x :f 1)(make-a #+x :f #-x :y 1 :f 2)",
     P "(defstruct a g)`(make-a ,@x :f 1)(make-a #+x :f #-x :y 1 :f 2)", 3, 0,
     0},
    {P "(defstruct a f)(make-a :y #+x 1 #-x 2 :f 3)(make-a :f . :f)",
     P "(defstruct a g)(make-a :y #+x 1 #-x 2 :f 3)(make-a :g . :f)", 2, 0, 0},
    {P "(defstruct a f)(apply #'make-a :f 1 r)(funcall 'make-a :f 1 :f 2)",
     P "(defstruct a g)(apply #'make-a :g 1 r)(funcall 'make-a :g 1 :g 2)", 0,
     0, 0},
    {P "(defstruct a f)(list 'make-a :f 1)(apply (k #'make-a) :f)(apply",
     P "(defstruct a g)(list 'make-a :f 1)(apply (k #'make-a) :f)(apply", 2, 0,
     0},
    {P "(defstruct (a (:constructor mk) (:constructor b (f &key x))) f x)"
       "(mk :f 1)(b :f :x 2)(make-a :f 1)",
     P "(defstruct (a (:constructor mk) (:constructor b (g &key x))) g x)"
       "(mk :g 1)(b :f :x 2)(make-a :f 1)",
     2, 0, 0},
    {P "(defstruct (a (:constructor b (x &optional y &rest r &key z (f 1)))) "
       "f)(b :f :f :f 1)",
     P "(defstruct (a (:constructor b (x &optional y &rest r &key z (g 1)))) "
       "g)(b :f :f :g 1)",
     2, 0, 0},
    {P
     "(defstruct (a (:constructor b (&key ((:f f) 1) &aux (f 2)))) f)(b :f 1)",
     P
     "(defstruct (a (:constructor b (&key ((:f g) 1) &aux (g 2)))) g)(b :f 1)",
     2, 0, 0},
    {P "(defstruct (a (:constructor nil)) f)(make-a :f 1)",
     P "(defstruct (a (:constructor nil)) g)(make-a :f 1)", 1, 0, 0},
    {P "(defstruct (a #+x (:constructor b)) f)(make-a :f 1)",
     P "(defstruct (a #+x (:constructor b)) g)(make-a :f 1)", 1, 0, 0},
    {P "(defstruct |a| f)(|make-a| :f 1)(make-a :f 1)(make-|a| :f 1)",
     P "(defstruct |a| g)(|make-a| :f 1)(make-a :f 1)(make-|a| :g 1)", 2, 0, 0},
    // Of structures that include it, whatever their packages.
    {"(defpackage p (:use cl) (:export a make-a))(defpackage q (:use p cl))" P
     "(defstruct a f)(in-package q)(defstruct (c (:include a)))"
     "(make-c :f 1)(c-f)(make-a :f)(make-b :f)",
     "(defpackage p (:use cl) (:export a make-a))(defpackage q (:use p cl))" P
     "(defstruct a g)(in-package q)(defstruct (c (:include a)))"
     "(make-c :g 1)(c-g)(make-a :g)(make-b :f)",
     0, 0, 0},
    {P "(defstruct a f)(in-package q)(defstruct (c (:include p::a)))(c-f)"
       "(defstruct (d (:include a)))(d-f)(defstruct a f)(make-a :f 1)",
     P "(defstruct a g)(in-package q)(defstruct (c (:include p::a)))(c-g)"
       "(defstruct (d (:include a)))(d-f)(defstruct a f)(make-a :f 1)",
     1, 0, 0},
    {P "(defstruct (a (:conc-name #:q-)) (f 1))(q-f a-f)",
     P "(defstruct (a (:conc-name #:q-)) (g 1))(q-g a-f)", 0, 0, 0},
    {P "(defstruct (a (:conc-name nil)) f)(f)(q-f)",
     P "(defstruct (a (:conc-name nil)) g)(g)(q-f)", 0, 0, 0},
    {P "(defstruct (a (:conc-name \"Q-\")) f)(q-f)",
     P "(defstruct (a (:conc-name \"Q-\")) g)(q-g)", 0, 0, 0},
    {P "(defstruct (c (:include b)))(defstruct (b (:include a)))"
       "(defstruct a f)(c-f b-f a-f)",
     P "(defstruct (c (:include b)))(defstruct (b (:include a)))"
       "(defstruct a g)(c-g b-g a-g)",
     0, 0, 0},
    // The names in defclass are symbols like others.
    {P "(defclass a () ((x :accessor f :initarg :f)))(f 1 :f)",
     P "(defclass a () ((x :accessor g :initarg :f)))(g 1 :f)", 0, 0, 0},
    {P "(defclass a () ((f :accessor a-f :initarg :f) f (f :type t)))(a-f)",
     P "(defclass a () ((g :accessor a-f :initarg :f) g (g :type t)))(a-f)", 0,
     0, 0},
    {P "(defclass f () ((x :reader f-x)))(f-x make-f)",
     P "(defclass g () ((x :reader f-x)))(f-x make-f)", 0, 0, 0},
    // Texts that are not complete.
    {P "(defstruct", NULL, 0, 0, 0},
    {P "(defstruct (f (:conc-name", P "(defstruct (g (:conc-name", 0, 0, 0},
    {P "\"f", NULL, 0, 1, 0},
    {"(defpackage p (:export \"", NULL, 0, 0, 0},
    {P "#|f", NULL, 0, 1, 0},
    {P "#|f #|f|# f|# f #||# f #|f|# f", P "#|f #|f|# f|# g #||# g #|f|# g", 0,
     4, 0},
    {P ";\n;\n;f", NULL, 0, 1, 0},
    {P "(f", P "(g", 0, 0, 0},
    {"))))" P "f", "))))" P "g", 0, 0, 0},
};

struct result {
    struct str text;
    struct buf out;
    size_t done;
    size_t counts[RENAME_TAKEN + 1];
};

static enum status take(void *context, const struct rename_place *place)
{
    struct result *r = context;

    r->counts[place->kind]++;
    if (place->kind != RENAME_SURE)
        return ST_OK;
    buf_append(&r->out, r->text.p + r->done, place->start - r->done);
    buf_str(&r->out, place->text);
    r->done = place->end;
    return ST_OK;
}

static void check_case(const struct renamed *c)
{
    struct result r = {.text = str_from(c->text)};
    struct rename rename;
    const char *fault = NULL;
    struct str why;

    assert_int_equal(rename_init(&rename, &arena, STR("f"), STR("g"), &fault),
                     ST_OK);
    assert_int_equal(rename_learn(&rename, r.text), ST_OK);
    assert_int_equal(rename_settle(&rename, STR("p"), &why), ST_OK);
    assert_int_equal(rename_scan(&rename, &arena, r.text, take, &r), ST_OK);
    buf_append(&r.out, r.text.p + r.done, r.text.n - r.done);
    struct str after = str_from(c->after ? c->after : c->text);
    if (!str_eq(buf_view(&r.out), after))
        fail_msg("%s became %.*s", c->text, STR_ARG(buf_view(&r.out)));
    if (r.counts[RENAME_UNSURE] != c->unsure ||
        r.counts[RENAME_MENTION] != c->mentioned ||
        r.counts[RENAME_TAKEN] != c->taken)
        fail_msg("%s: %zu unsure, %zu mentioned, %zu taken", c->text,
                 r.counts[RENAME_UNSURE], r.counts[RENAME_MENTION],
                 r.counts[RENAME_TAKEN]);
    buf_release(&r.out);
}

static void rename_finds_the_symbol(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* The home of SYMBOL, looked for in PACKAGE, in TEXT; or why there is none. */
static const char *home(const char *text, const char *symbol,
                        const char *package)
{
    struct rename rename;
    const char *fault = NULL;
    struct str why = STR("");

    if (rename_init(&rename, &arena, str_from(symbol), STR("new"), &fault) !=
        ST_OK)
        return fault;
    assert_int_equal(rename_learn(&rename, str_from(text)), ST_OK);
    if (rename_settle(&rename, str_from(package), &why) != ST_OK)
        return arena_printf(&arena, "%.*s", STR_ARG(why)).p;
    return arena_printf(&arena, "%.*s", STR_ARG(rename.package)).p;
}

static void rename_knows_the_home(void **state)
{
    (void)state;
    assert_string_equal(home("", "p::f", ""), "P");
    assert_string_equal(home("", "f", "common-lisp-user"), "CL-USER");
    assert_string_equal(home(P "(defun f ())", "f", ""), "P");
    assert_string_equal(home(P "(defmacro f ())(define-x f)", "f", ""), "P");
    assert_string_equal(home(P "(defstruct (f (:copier nil)))", "f", ""), "P");
    assert_string_equal(home("(defpackage q (:import-from p f))", "q::f", ""),
                        "P");
    assert_string_equal(home("(defpackage p (:export f) (:nicknames n))"
                             "(defpackage q (:use n))",
                             "f", "q"),
                        "P");
    assert_non_null(strstr(home("", "f", ""), "no file defines it"));
    assert_non_null(
        strstr(home(P "(defun f ())(in-package :q)(defun f ())", "f", ""),
               "packages P and Q"));
    assert_non_null(strstr(home("", ":f", ""), "must be the name of a symbol"));
    assert_non_null(strstr(home("", "12", ""), "must be the name of a symbol"));
    assert_non_null(strstr(home("", "NEW", ""), "the same symbol"));
}

/* A name that a structure makes of others is not renamed by itself. */
static void rename_names_what_a_structure_makes(void **state)
{
    (void)state;
    assert_string_equal(
        home(P "(defstruct point x)", "point-x", ""),
        "defstruct makes it from the slot X of the structure point, so nothing "
        "would define the new name; the name of a slot always follows the "
        "prefix of the structure, which (:conc-name PREFIX) changes");
    assert_non_null(strstr(
        home(P "(defstruct (p (:conc-name new-)) x)", "new-x", ""), "slot X"));
    static const char *const made[][2] = {{"make-p", "(:constructor NEW-NAME)"},
                                          {"copy-p", "(:copier NEW-NAME)"},
                                          {"p-p", "(:predicate NEW-NAME)"},
                                          {"p-y", "which is included"}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        assert_non_null(
            strstr(home(P "(defstruct (p (:include b)) x)", made[i][0], "p"),
                   made[i][1]));
    // These have definitions of their own.
    assert_string_equal(
        home(P "(defstruct (p (:constructor make-p)) x)", "make-p", "p"), "P");
    assert_string_equal(home(P "(defstruct (p (:copier nil)))", "copy-p", "p"),
                        "P");
    assert_string_equal(
        home(P "(defstruct (p (:include b)))(defun p-y ())", "p-y", ""), "P");
    assert_string_equal(home(P "(defstruct p x)", "q::p-x", ""), "Q");
    assert_string_equal(home(P "(defstruct (p (:conc-name nil)) x)", "x", "p"),
                        "P");
}

/* Takes time in proportion to the slots, of which each has a name. */
static void rename_takes_many_slots(void **state)
{
    struct rename rename;
    const char *fault = NULL;
    struct buf text = BUF_EMPTY;
    struct str why;
    struct result r = {.done = 0};
    const int slots = LIMIT_RENAME_FACTS / 2;
    (void)state;
    buf_str(&text, STR("(in-package :p)(defstruct f"));
    for (int i = 0; i < slots; i++)
        buf_printf(&text, " s%d", i);
    buf_str(&text, STR(") ;"));
    for (int i = 0; i < slots; i++)
        buf_printf(&text, " f-s%d", i);
    buf_str(&text, STR("\n"));
    for (int i = 0; i < slots; i++)
        buf_printf(&text, " f-s%d", i);
    r.text = buf_view(&text);
    assert_int_equal(rename_init(&rename, &arena, STR("f"), STR("g"), &fault),
                     ST_OK);
    assert_int_equal(rename_learn(&rename, r.text), ST_OK);
    assert_int_equal(rename_settle(&rename, STR("p"), &why), ST_OK);
    assert_int_equal(rename_scan(&rename, &arena, r.text, take, &r), ST_OK);
    assert_int_equal(r.counts[RENAME_SURE], slots + 1);
    assert_int_equal(r.counts[RENAME_MENTION], slots);
    buf_release(&r.out);
    buf_release(&text);
}

static void rename_keeps_a_limited_number_of_facts(void **state)
{
    struct rename rename;
    const char *fault = NULL;
    struct buf text = BUF_EMPTY;
    (void)state;
    assert_int_equal(rename_init(&rename, &arena, STR("f"), STR("g"), &fault),
                     ST_OK);
    buf_str(&text, STR("(defpackage p (:use"));
    for (int i = 0; i < LIMIT_RENAME_FACTS - 1; i++)
        buf_str(&text, STR(" a"));
    assert_int_equal(rename_learn(&rename, buf_view(&text)), ST_OK);
    assert_int_equal(rename_learn(&rename, STR("(defpackage q)")), ST_LIMIT);
    assert_int_equal(rename_learn(&rename, STR("(defstruct f)")), ST_LIMIT);
    buf_release(&text);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rename_finds_the_symbol),
        TEST(rename_knows_the_home),
        TEST(rename_names_what_a_structure_makes),
        TEST(rename_takes_many_slots),
        TEST(rename_keeps_a_limited_number_of_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
