/* SPDX-License-Identifier: GPL-3.0-or-later */
/* structure.c: see structure.h. */
#include "source/structure.h"

#include <string.h>

#include "source/datum.h"

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

/* OPTION is a keyword or a list that begins with one. */
static enum status read_option(struct arena *arena, struct str option,
                               struct structure *s)
{
    bool list = datum_is_list(option);
    struct str key = token_split(list ? datum_head(option) : option).name;
    struct str value = STR("");

    if (list) {
        struct tokens tokens = enter(option);
        (void)datum_next(&tokens);
        value = datum_next(&tokens);
    }
    if (is_opaque(value) && !str_starts(value, STR("#:")))
        s->sure = false;
    bool nil = token_same_name(value, STR("nil"));
    if (token_same_name(key, STR("include")))
        return name_of(arena, value, &s->include);
    if (token_same_name(key, STR("conc-name"))) {
        s->own_prefix = true;
        if (str_starts(value, STR("#:")))
            value = str_make(value.p + 2, value.n - 2);
        return nil ? ST_OK : name_of(arena, value, &s->prefix);
    }
    // Without a value the name is the usual one.
    bool own = value.n > 0;
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

bool structure_has_slot(const struct structure *structure, struct str name)
{
    for (size_t i = 0; i < structure->slot_count; i++)
        if (token_same_name(structure->slots[i], name))
            return true;
    return false;
}
