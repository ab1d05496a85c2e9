/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions_diff.c: the differences between two texts, for Emacs Lisp. */
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "diff/diff.h"
#include "module/functions.h"
#include "module/values.h"

#define NIL value_symbol(SYM_NIL)

/* What one call holds. */
struct comparison {
    emacs_env *env;
    struct arena arena;
    struct buf before;
    struct buf after;
    struct buf current;
    struct diff diff;
};

static void release(struct comparison *c)
{
    arena_release(&c->arena);
    buf_release(&c->before);
    buf_release(&c->after);
    buf_release(&c->current);
}

static bool check(struct comparison *c, enum status status)
{
    if (status == ST_LIMIT)
        signal_error(c->env,
                     "A text has more than %d lines, too many to compare",
                     LIMIT_DIFF_LINES);
    else if (status != ST_OK)
        signal_nomem(c->env);
    return status == ST_OK;
}

static bool read_text(struct comparison *c, emacs_value value, struct buf *out)
{
    if (!value_bytes(c->env, value, out))
        return false;
    if (out->n <= LIMIT_MODULE_TEXT)
        return true;
    signal_error(c->env, "A text has %zu bytes; Emacs compares at most %u",
                 out->n, LIMIT_MODULE_TEXT);
    return false;
}

/* Whether the user wants to stop; a quit is pending then. */
static bool is_stopped(emacs_env *env)
{
    return env->process_input(env) == emacs_process_input_quit || !is_fine(env);
}

static bool compare(struct comparison *c, emacs_value before, emacs_value after)
{
    if (!read_text(c, before, &c->before) || !read_text(c, after, &c->after) ||
        is_stopped(c->env))
        return false;
    return check(c, diff_make(&c->arena, buf_view(&c->before),
                              buf_view(&c->after), &c->diff)) &&
           !is_stopped(c->env);
}

/* The lines of hunk INDEX, without line ends. TEXT is storage. */
static emacs_value hunk_lines(struct comparison *c, size_t index,
                              struct buf *text)
{
    buf_reset(text);
    diff_write_hunk(text, &c->diff, index, SIZE_MAX);
    if (buf_failed(text)) {
        signal_nomem(c->env);
        return NIL;
    }
    const char *body = (const char *)memchr(text->p, '\n', text->n) + 1;
    size_t n = text->n - (size_t)(body - text->p) - 1; // not the last one
    emacs_value args[] = {value_text(c->env, str_make(body, n)),
                          value_text(c->env, STR("\n"))};
    return value_call(c->env, FN_SPLIT_STRING, 2, args);
}

/* The number of line START in the unified format. */
static emacs_value line_number(emacs_env *env, size_t start, size_t count)
{
    if (!is_fine(env))
        return NIL;
    return env->make_integer(env, (intmax_t)(count == 0 ? start : start + 1));
}

static emacs_value number(emacs_env *env, size_t n)
{
    return is_fine(env) ? env->make_integer(env, (intmax_t)n) : NIL;
}

static emacs_value hunk_value(struct comparison *c, size_t index,
                              struct buf *text)
{
    const struct diff_range *range = &c->diff.hunks[index].range;
    emacs_env *env = c->env;
    emacs_value args[] = {line_number(env, range->old_start, range->old_count),
                          number(env, range->old_count),
                          line_number(env, range->new_start, range->new_count),
                          number(env, range->new_count),
                          hunk_lines(c, index, text)};

    return value_call(env, FN_LIST, 5, args);
}

static emacs_value hunk_list(struct comparison *c)
{
    emacs_env *env = c->env;
    struct buf text = BUF_EMPTY;
    emacs_value list = NIL;
    emacs_value match = value_call(env, FN_MATCH_DATA, 0, NULL);

    for (size_t i = c->diff.hunk_count; i-- > 0 && is_fine(env);)
        list = value_cons(env, hunk_value(c, i, &text), list);
    buf_release(&text);
    (void)value_call(env, FN_SET_MATCH_DATA, 1, &match);
    return list;
}

static emacs_value diff(emacs_env *env, ptrdiff_t count, emacs_value *args,
                        void *data)
{
    struct comparison c = {.env = env};
    emacs_value list = NIL;

    (void)count;
    (void)data;
    if (compare(&c, args[0], args[1]))
        list = hunk_list(&c);
    release(&c);
    return list;
}

/* Sets *OUT to what LIST says of each hunk; NULL means all. */
static bool read_chosen(struct comparison *c, emacs_value list,
                        const bool **out)
{
    emacs_env *env = c->env;
    size_t hunks = c->diff.hunk_count;
    emacs_value vector;
    ptrdiff_t count;

    *out = NULL;
    if (value_is(env, list, SYM_T))
        return true;
    if (!value_elements(env, list, &vector, &count))
        return false;
    if ((size_t)count != hunks) {
        signal_error(env, "CHOSEN has %td elements for %zu hunks", count,
                     hunks);
        return false;
    }
    bool *chosen = arena_array(&c->arena, hunks + 1, sizeof *chosen);
    if (!chosen) {
        signal_nomem(env);
        return false;
    }
    for (size_t i = 0; i < hunks && is_fine(env); i++)
        chosen[i] =
            env->is_not_nil(env, env->vec_get(env, vector, (ptrdiff_t)i));
    *out = chosen;
    return is_fine(env);
}

static emacs_value apply_hunks(struct comparison *c, const bool *chosen)
{
    static const enum symbol symbols[] = {[DIFF_SKIPPED] = SYM_SKIPPED,
                                          [DIFF_APPLIED] = SYM_APPLIED,
                                          [DIFF_STALE] = SYM_STALE};
    emacs_env *env = c->env;
    size_t hunks = c->diff.hunk_count;
    enum diff_outcome *outcomes =
        arena_array(&c->arena, hunks + 1, sizeof *outcomes);
    struct str text;
    emacs_value list = NIL;

    if (!check(c, outcomes ? ST_OK : ST_NOMEM) ||
        !check(c, diff_apply_to(&c->arena, &c->diff, chosen,
                                buf_view(&c->current), outcomes, &text)))
        return NIL;
    for (size_t i = hunks; i-- > 0 && is_fine(env);)
        list = value_cons(env, value_symbol(symbols[outcomes[i]]), list);
    return value_cons(env, value_text(env, text), list);
}

static emacs_value apply(emacs_env *env, ptrdiff_t count, emacs_value *args,
                         void *data)
{
    struct comparison c = {.env = env};
    const bool *chosen;
    emacs_value list = NIL;

    (void)count;
    (void)data;
    if (compare(&c, args[0], args[1]) && read_chosen(&c, args[2], &chosen) &&
        read_text(&c, args[3], &c.current))
        list = apply_hunks(&c, chosen);
    release(&c);
    return list;
}

const struct function FUNCTIONS_DIFF[] = {
    {"ecl-mcp-module-diff", 2, diff,
     "Compare the strings BEFORE and AFTER line by line.\n"
     "Return a list of hunks (OLD-START OLD-COUNT NEW-START NEW-COUNT\n"
     "LINES), in order; nil when they are equal.  Lines count from 1, as in\n"
     "unified diffs.  LINES are strings that start with \" \", \"-\" "
     "or\n"
     "\"+\" and have no line end; \"\\\\ No newline at end of file\" is a "
     "line\n"
     "of its own.\n"
     "Signal `ecl-mcp-error' when a text is longer than 4 MiB.\n"
     "\n(fn BEFORE AFTER)"},
    {"ecl-mcp-module-apply", 4, apply,
     "Make changes from BEFORE to AFTER in CURRENT.\n"
     "All are strings; CURRENT is BEFORE or a later version of it.  CHOSEN\n"
     "is a list with one element for each hunk that `ecl-mcp-module-diff'\n"
     "returns for BEFORE and AFTER, non-nil to make that change, or t for\n"
     "all.  Return (TEXT OUTCOME...): the changed text, and for each hunk\n"
     "`applied', `skipped' (it was not chosen) or `stale' (its lines do not\n"
     "stand exactly once near their old place in CURRENT).\n"
     "Signal `ecl-mcp-error' when a text is longer than 4 MiB.\n"
     "\n(fn BEFORE AFTER CHOSEN CURRENT)"},
    {0}};
