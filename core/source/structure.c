/* SPDX-License-Identifier: GPL-3.0-or-later */
/* structure.c: see structure.h. */
#include "source/structure.h"

#include <string.h>

#include "source/datum.h"
#include "source/package.h"

/* Whether DATUM begins with what only the reader understands. */
static bool is_opaque(struct str datum)
{
    return datum.n > 0 && strchr("#,`", datum.p[0]) != NULL;
}

/* The name that DATUM, a symbol or a string, is; as a symbol is written. */
static enum status name_of(struct arena *arena, struct str datum,
                           struct str *out)
{
    bool lower = false;

    if (datum.n < 2 || datum.p[0] != '"')
        return arena_str(arena, token_split(datum).name, out);
    datum = str_make(datum.p + 1, datum.n - 2);
    for (size_t i = 0; i < datum.n; i++)
        lower = lower || (datum.p[i] >= 'a' && datum.p[i] <= 'z');
    *out = arena_printf(arena, lower ? "|%.*s|" : "%.*s", STR_ARG(datum));
    return out->n > 0 || datum.n == 0 ? ST_OK : ST_NOMEM;
}

/* Starts after the parenthesis of LIST. */
static struct tokens enter(struct str list)
{
    struct tokens tokens;

    tokens_init(&tokens, list);
    (void)tokens_next(&tokens);
    return tokens;
}

/* An option (:constructor NAME PARAMETERS) whose NAME is VALUE; TOKENS are
   after it. */
static enum status read_maker(struct arena *arena, struct str value,
                              struct tokens *tokens, struct structure *s)
{
    struct structure_maker *maker = arena_array(arena, 1, sizeof *maker);

    if (!maker)
        return ST_NOMEM;
    enum status status = name_of(arena, value, &maker->name);
    if (status == ST_OK)
        status = arena_str(arena, datum_next(tokens), &maker->parameters);
    maker->next = s->makers;
    s->makers = maker;
    return status;
}

/* OPTION is a keyword or a list that begins with one. */
static enum status read_option(struct arena *arena, struct str option,
                               struct structure *s)
{
    bool list = datum_is_list(option);
    struct str key = token_split(list ? datum_head(option) : option).name;
    struct str value = STR("");
    struct tokens tokens;

    if (list) {
        tokens = enter(option);
        (void)datum_next(&tokens);
        value = datum_next(&tokens);
    }
    if (is_opaque(value) && !str_starts(value, STR("#:")))
        s->sure = false;
    bool nil = token_same_name(value, STR("nil"));
    if (token_same_name(key, STR("include"))) {
        enum status status =
            arena_str(arena, token_split(value).package, &s->include_package);
        return status == ST_OK ? name_of(arena, value, &s->include) : status;
    }
    if (token_same_name(key, STR("conc-name"))) {
        s->own_prefix = true;
        if (str_starts(value, STR("#:")))
            value = str_make(value.p + 2, value.n - 2);
        return nil ? ST_OK : name_of(arena, value, &s->prefix);
    }
    // Without a value the name is the usual one.
    bool own = value.n > 0;
    if (own && !nil && token_same_name(key, STR("constructor"))) {
        s->own_maker = true;
        return read_maker(arena, value, &tokens, s);
    }
    s->own_maker =
        s->own_maker || (own && token_same_name(key, STR("constructor")));
    s->own_copier =
        s->own_copier || (own && token_same_name(key, STR("copier")));
    s->own_predicate =
        s->own_predicate || (own && token_same_name(key, STR("predicate")));
    return ST_OK;
}

/* The name and its options. */
static enum status read_header(struct arena *arena, struct str header,
                               struct structure *s)
{
    if (!datum_is_list(header))
        return name_of(arena, header, &s->name);
    struct tokens tokens = enter(header);
    enum status status = name_of(arena, datum_next(&tokens), &s->name);
    struct str option = datum_next(&tokens);

    for (; option.n > 0 && status == ST_OK; option = datum_next(&tokens)) {
        if (is_opaque(option))
            s->sure = false;
        else
            status = read_option(arena, option, s);
    }
    return status;
}

/* The name of the slot that DATUM describes; empty: it is none. */
static struct str slot_of(struct str datum)
{
    struct str name = datum_is_list(datum) ? datum_head(datum) : datum;

    return name.n > 0 && name.p[0] != '"' ? token_split(name).name : STR("");
}

enum status structure_read(struct arena *arena, struct tokens tokens,
                           struct structure *out)
{
    struct str header = datum_next(&tokens);
    struct structure s = {.sure = true};
    struct tokens slots = tokens;
    size_t count = 0;

    if (header.n == 0 || is_opaque(header))
        return ST_MISSING;
    enum status status = read_header(arena, header, &s);
    if (status == ST_OK && (s.name.n == 0 || is_opaque(s.name)))
        status = ST_MISSING;
    while (status == ST_OK && datum_next(&tokens).n > 0)
        count++;
    if (status != ST_OK)
        return status;
    s.slots = arena_array(arena, count + 1, sizeof *s.slots);
    if (!s.slots)
        return ST_NOMEM;
    for (size_t i = 0; i < count && status == ST_OK; i++) {
        struct str datum = datum_next(&slots);
        struct str slot = slot_of(datum);
        if (is_opaque(datum))
            s.sure = false;
        else if (slot.n > 0)
            status = arena_str(arena, slot, &s.slots[s.slot_count++]);
    }
    if (status == ST_OK)
        *out = s;
    return status;
}

/* Whether NAME is HEAD, the spelled WORD, and TAIL. */
static enum status is_made(struct arena *arena, const char *head,
                           struct str word, const char *tail, struct str name,
                           bool *out)
{
    size_t n = strlen(head);
    size_t m = strlen(tail);
    struct str middle;
    enum status status = package_spell(arena, word, &middle);

    *out = status == ST_OK && name.n == n + middle.n + m &&
           memcmp(name.p, head, n) == 0 &&
           str_eq(str_make(name.p + n, middle.n), middle) &&
           memcmp(name.p + n + middle.n, tail, m) == 0;
    return status;
}

/* *OUT is what follows the prefix of the accessors of S in NAME; empty: it has
   another one, or they have none, and are the slots. */
static enum status cut_prefix(struct arena *arena, const struct structure *s,
                              struct str name, struct str *out)
{
    struct str prefix;
    enum status status =
        package_spell(arena, s->own_prefix ? s->prefix : s->name, &prefix);
    size_t n = prefix.n + !s->own_prefix;

    *out = STR("");
    if (status == ST_OK && n > 0 && name.n > n &&
        str_eq(str_make(name.p, prefix.n), prefix) &&
        (s->own_prefix || name.p[prefix.n] == '-'))
        *out = str_make(name.p + n, name.n - n);
    return status;
}

/* The same for the accessors of S. */
static enum status find_accessor(struct arena *arena, const struct structure *s,
                                 struct str name, enum structure_part *out,
                                 struct str *slot)
{
    enum status status = cut_prefix(arena, s, name, slot);
    bool found = false;

    for (size_t i = 0;
         i < s->slot_count && status == ST_OK && slot->n > 0 && !found; i++)
        if (s->slots[i].n >= slot->n)
            status = is_made(arena, "", s->slots[i], "", *slot, &found);
    if (found)
        *out = STRUCTURE_ACCESSOR;
    else if (slot->n > 0 && s->include.n > 0)
        *out = STRUCTURE_INHERITED;
    return status;
}

enum status structure_part_of(struct arena *arena, const struct structure *s,
                              struct str name, enum structure_part *out,
                              struct str *slot)
{
    const struct {
        bool own;
        const char *head;
        const char *tail;
        enum structure_part part;
    } parts[] = {{s->own_maker, "MAKE-", "", STRUCTURE_MAKER},
                 {s->own_copier, "COPY-", "", STRUCTURE_COPIER},
                 {s->own_predicate, "", "-P", STRUCTURE_PREDICATE}};
    enum status status = ST_OK;
    bool found = false;

    *out = STRUCTURE_NONE;
    for (size_t i = 0;
         i < sizeof parts / sizeof *parts && status == ST_OK && !found; i++) {
        if (!parts[i].own)
            status = is_made(arena, parts[i].head, s->name, parts[i].tail, name,
                             &found);
        if (found)
            *out = parts[i].part;
    }
    return status == ST_OK && !found ? find_accessor(arena, s, name, out, slot)
                                     : status;
}

size_t structure_keywords(struct str parameters, struct str name)
{
    struct tokens tokens = enter(parameters);
    struct str datum = datum_next(&tokens);
    size_t first = 1;
    bool keys = false;
    bool counted = true; /* parameters that take a place in the call */

    for (; datum.n > 0; datum = datum_next(&tokens)) {
        struct str word =
            token_split(datum_is_list(datum) ? datum_head(datum) : datum).name;

        if (is_opaque(datum) || token_same_name(datum, STR("&aux")))
            return 0;
        if (datum.p[0] == '&') {
            keys = keys || token_same_name(datum, STR("&key"));
            counted = counted && token_same_name(datum, STR("&optional"));
        } else if (keys && word.n > 0 && word.p[0] != '(' &&
                   token_same_name(word, name)) {
            return first;
        }
        first += counted && datum.p[0] != '&';
    }
    return 0;
}

bool structure_has_slot(const struct structure *structure, struct str name)
{
    for (size_t i = 0; i < structure->slot_count; i++)
        if (token_same_name(structure->slots[i], name))
            return true;
    return false;
}
