/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the text, a report names places in it. A definition found in a text
   without problems is a form by itself, and the text has no problems without
   it, either. The places of a symbol are in it, and in order. The input is a
   kind and a name, each on a line, then the text. */
#include "fuzz/fuzz.h"
#include "source/definition.h"
#include "source/outline.h"
#include "source/rename.h"
#include "source/rewrite.h"
#include "source/source.h"

static struct str cut_line(struct str *rest)
{
    const char *end = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    struct str line = str_make(rest->p, n);
    n += end ? 1 : 0;
    *rest = str_make(rest->p + n, rest->n - n);
    return line;
}

/* The number of problems of TEXT. */
static size_t check(struct arena *arena, struct str text, size_t *forms)
{
    struct source_report report;
    REQUIRE(source_check(NULL, text, &report) == ST_OK);
    REQUIRE(source_describe(arena, &report).n > 0);
    REQUIRE(report.kept <= report.count && report.certain <= report.count);
    for (size_t i = 0; i < report.kept; i++) {
        const struct source_problem *problem = &report.problems[i];
        REQUIRE(problem->place.offset + problem->text.n <= text.n);
        REQUIRE(problem->place.line > 0 && problem->fault != TOKEN_FINE);
        REQUIRE(problem->guess.offset <= text.n && problem->count > 0);
    }
    *forms = report.forms;
    return report.count;
}

/* Whether TEXT may have parts for another Lisp, which are checked less. */
static bool is_conditional(struct str text)
{
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i - 1] == '#' && (text.p[i] == '+' || text.p[i] == '-'))
            return true;
    return false;
}

/* The end of the place before. */
struct renamed {
    struct str text;
    size_t end;
};

static enum status check_place(void *context, const struct rename_place *place)
{
    struct renamed *renamed = context;
    REQUIRE(place->end <= renamed->text.n && place->start <= place->end);
    REQUIRE(place->line > 0);
    if (place->kind != RENAME_SURE)
        return ST_OK;
    REQUIRE(place->start >= renamed->end && place->start < place->end);
    renamed->end = place->end;
    return ST_OK;
}

static void check_rename(struct arena *arena, struct str text, struct str name)
{
    struct rename rename;
    struct renamed renamed = {.text = text};
    const char *fault;
    struct str why;
    if (rename_init(&rename, arena, name, STR("new-name"), &fault) != ST_OK ||
        rename_learn(&rename, text) != ST_OK ||
        rename_settle(&rename, STR("P"), &why) != ST_OK)
        return;
    REQUIRE(rename_scan(&rename, arena, text, check_place, &renamed) == ST_OK);
}

/* A text without problems has none after its definition D was replaced, or got
   neighbours, by whole forms. */
static void rewrite(struct arena *arena, struct str text,
                    const struct definition *d)
{
    static const char *const contents[] = {"(a)", ";; c\n(a\n b)",
                                           "#+x (a) ; c", "(a) (b)",
                                           "#| |#\n#-(or y z)\n(a)"};
    struct str why;
    struct str out;
    size_t forms;

    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        for (int action = REWRITE_REPLACE; action <= REWRITE_DELETE; action++) {
            const struct rewrite what = {text, d, (enum rewrite_action)action,
                                         str_from(contents[i])};
            REQUIRE(rewrite_make(arena, &what, &out, &why) == ST_OK);
            REQUIRE(check(arena, out, &forms) == 0);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_EMPTY;
    struct str text = str_make((const char *)data, size);
    struct str kind = cut_line(&text);
    struct str name = cut_line(&text);
    struct str why = STR("");
    struct definition d;
    size_t forms;
    size_t problems = check(&arena, text, &forms);
    if (definition_find(&arena, text, kind, name, &d, &why) != ST_OK) {
        REQUIRE(why.n > 0);
    } else {
        REQUIRE(d.comment <= d.whole && d.whole <= d.start);
        REQUIRE(d.start < d.end && d.end <= d.tail && d.tail <= text.n);
        struct str form = str_make(text.p + d.start, d.end - d.start);
        struct str rest = arena_printf(
            &arena, "%.*s %.*s", STR_ARG(str_make(text.p, d.comment)),
            STR_ARG(str_make(text.p + d.tail, text.n - d.tail)));
        REQUIRE(problems > 0 || !d.broken);
        REQUIRE(problems > 0 || check(&arena, rest, &forms) == 0 ||
                memchr(text.p, 0, text.n) != NULL); // which ends "%.*s"
        REQUIRE(problems > 0 || is_conditional(text) ||
                (check(&arena, form, &forms) == 0 && forms == 1));
    }
    check_rename(&arena, text, name);
    if (problems == 0 && why.n == 0)
        rewrite(&arena, text, &d);
    struct outline outline;
    if (outline_make(NULL, text, 1, 1000, &outline) == ST_OK)
        buf_release(&outline.text);
    arena_release(&arena);
    return 0;
}
