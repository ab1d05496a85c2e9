/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename_ahead.c: what a whole list says about words in it, as soon as its
   first word is known: which keywords are those of a slot, since only a place
   in a call shows that; and which slots are those of classes. */
#include <string.h>

#include "source/datum.h"
#include "source/rename.h"

/* The list in which the search is. */
struct ahead {
    const struct rename *rename;
    struct arena *arena;
    const struct package_walk *walk;
    const struct package_list *list;
    struct tokens tokens;    /* after its first word */
    struct rename_mark **at; /* where the next mark goes */
};

/* Marks the word at START, which is after those that were marked here before.
 */
static enum status mark(struct ahead *a, size_t start)
{
    while (*a->at && (*a->at)->start < start)
        a->at = &(*a->at)->next;
    if (*a->at && (*a->at)->start == start)
        return ST_OK;
    struct rename_mark *new = arena_alloc(a->arena, sizeof *new);
    if (!new)
        return ST_NOMEM;
    *new = (struct rename_mark){*a->at, start};
    *a->at = new;
    a->at = &new->next;
    return ST_OK;
}

/* *OUT is the maker that WORD is for certain, LITERAL after #S; NULL: none. */
static enum status find_maker(const struct ahead *a, struct str word,
                              bool literal, const struct rename_maker **out)
{
    struct str name = token_split(word).name;
    const struct rename_entry *entry =
        a->rename->names[rename_hash_word(name)].first;
    enum status status = ST_OK;

    *out = NULL;
    for (; entry && !*out && status == ST_OK; entry = entry->next) {
        const struct rename_maker *maker = entry->maker;
        enum rename_verdict verdict = RENAME_NO;

        if (!maker || maker->literal != literal ||
            !token_same_name(name, maker->name_text))
            continue;
        const struct rename_target as = {.name = maker->name,
                                         .package = maker->package};
        status = rename_judge_word(a->rename, a->arena, a->walk->current, word,
                                   &as, &verdict);
        if (verdict == RENAME_YES)
            *out = maker;
    }
    return status;
}

/* Whether DATUM may be none, or several: what follows it has no certain place.
 */
static bool is_open(struct str datum)
{
    return str_starts(datum, STR("#+")) || str_starts(datum, STR("#-")) ||
           str_starts(datum, STR("#.")) || str_starts(datum, STR(",@")) ||
           str_starts(datum, STR(",.")) || str_eq(datum, STR("."));
}

/* Marks the slot among the keywords that follow, from the place MAKER says on.
 */
static enum status mark_keywords(struct ahead *a,
                                 const struct rename_maker *maker)
{
    struct str datum = datum_next(&a->tokens);
    enum status status = ST_OK;

    for (size_t i = 1; datum.n > 0 && !is_open(datum) && status == ST_OK; i++) {
        bool key = i >= maker->first && (i - maker->first) % 2 == 0;
        bool word = maker->literal || datum.p[0] == ':' ||
                    token_same_name(token_split(datum).package, STR("keyword"));
        if (key && word &&
            token_same_name(token_split(datum).name, a->rename->name_text))
            status = mark(a, (size_t)(datum.p - a->walk->tokens.text.p));
        datum = datum_next(&a->tokens);
    }
    return status;
}

/* A call of funcall or apply with the name of a maker. */
static enum status look_at_funcall(struct ahead *a)
{
    struct str datum = datum_next(&a->tokens);
    size_t n =
        str_starts(datum, STR("#'")) ? 2 : datum.n > 0 && *datum.p == '\'';
    const struct rename_maker *maker;

    if (n == 0 || datum_is_list(str_make(datum.p + n, datum.n - n)))
        return ST_OK;
    enum status status =
        find_maker(a, str_make(datum.p + n, datum.n - n), false, &maker);
    return status == ST_OK && maker ? mark_keywords(a, maker) : status;
}

/* Whether SLOT, a list, has options besides its name that name something. */
static bool has_options(struct str slot)
{
    static const char *const options[] = {"initarg", "accessor", "reader",
                                          "writer"};
    struct tokens tokens;
    struct str datum;

    tokens_init(&tokens, slot);
    (void)tokens_next(&tokens);
    while ((datum = datum_next(&tokens)).n > 0)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (datum.p[0] == ':' &&
                token_same_name(token_split(datum).name, str_from(options[i])))
                return true;
    return false;
}

/* A class or condition: tells of the slot whose options stay as they are. */
static enum status look_at_class(struct ahead *a, rename_visit *visit,
                                 void *context)
{
    const struct rename *rename = a->rename;
    enum status status = ST_OK;
    struct tokens tokens;
    struct str slot;

    (void)datum_next(&a->tokens); // its name
    (void)datum_next(&a->tokens); // what it inherits from
    struct token open = tokens_next(&a->tokens);
    if (open.kind != TOKEN_OPEN)
        return ST_OK;
    for (;;) {
        tokens = a->tokens;
        struct token token = tokens_next(&tokens);
        slot = datum_next(&a->tokens);
        if (slot.n == 0 || status != ST_OK)
            return status;
        struct str name = datum_head(slot);
        enum rename_verdict verdict = RENAME_NO;
        if (name.n == 0 ||
            !token_same_name(token_split(name).name, rename->name_text))
            continue;
        status = rename_judge_word(rename, a->arena, a->walk->current, name,
                                   rename->targets, &verdict);
        const struct rename_place place = {RENAME_OPTIONS, token.start,
                                           token.start, token.line, STR("")};
        if (verdict == RENAME_YES && status == ST_OK && has_options(slot))
            status = visit(context, &place);
    }
}

enum status rename_look_ahead(const struct rename *rename, struct arena *arena,
                              const struct package_walk *walk,
                              struct rename_mark **marks, rename_visit *visit,
                              void *context)
{
    struct ahead a = {.rename = rename,
                      .arena = arena,
                      .walk = walk,
                      .tokens = walk->tokens,
                      .at = marks};
    struct str word = tokens_text(&walk->tokens, walk->token);
    struct str name = token_split(word).name;
    const struct rename_maker *maker = NULL;
    enum status status = ST_OK;

    if (walk->depth == 0 || walk->depth > PACKAGE_DEPTH)
        return ST_OK;
    a.list = &walk->lists[walk->depth - 1];
    if (a.list->index != 1 || a.list->quoted)
        return ST_OK;
    if (token_same_name(name, STR("defclass")) ||
        token_same_name(name, STR("define-condition")))
        return look_at_class(&a, visit, context);
    if (!rename->is_slot)
        return ST_OK;
    bool literal = a.list->prefix == 's';
    if (!literal && (token_same_name(name, STR("funcall")) ||
                     token_same_name(name, STR("apply"))))
        return look_at_funcall(&a);
    status = find_maker(&a, word, literal, &maker);
    return status == ST_OK && maker ? mark_keywords(&a, maker) : status;
}
