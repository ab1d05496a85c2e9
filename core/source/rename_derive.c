/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename_derive.c: the names that change with that of a structure or slot. */
#include <string.h>

#include "base/fnv.h"
#include "source/package.h"
#include "source/rename.h"

/* What is around the name in a derived one. */
struct affix {
    struct str head;
    struct str tail;
    bool sure;
};

/* --- Names by their hash ------------------------------------------------- */

size_t rename_hash(struct str name)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; i < name.n; i++)
        hash = fnv_add(hash, (unsigned char)name.p[i]);
    return hash % RENAME_BUCKETS;
}

size_t rename_hash_word(struct str word)
{
    struct token_spelling spelling = {.text = word};
    uint32_t hash = FNV_START;
    bool plain;
    int c;

    while ((c = token_spelling_next(&spelling, &plain)) >= 0)
        hash = fnv_add(hash, (unsigned char)c);
    return hash % RENAME_BUCKETS;
}

/* Puts ENTRY into the list of NAME, at its end. */
static enum status enter(struct rename *rename, struct str name,
                         struct rename_entry entry)
{
    struct rename_entry *kept = arena_alloc(rename->arena, sizeof *kept);
    struct rename_bucket *bucket = &rename->names[rename_hash(name)];

    if (!kept)
        return ST_NOMEM;
    *kept = entry;
    if (bucket->last)
        bucket->last->next = kept;
    else
        bucket->first = kept;
    bucket->last = kept;
    return ST_OK;
}

static bool is_target(const struct rename *rename, struct str name,
                      struct str package)
{
    const struct rename_entry *entry = rename->names[rename_hash(name)].first;

    while (entry && !(entry->target && !entry->is_new &&
                      str_eq(entry->target->name, name) &&
                      str_eq(entry->target->package, package)))
        entry = entry->next;
    return entry != NULL;
}

/* --- Targets ------------------------------------------------------------- */

bool rename_is_part_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-+*/<>=!?%&$_^~", c) != NULL);
}

static bool is_odd(struct str name)
{
    size_t i = 0;

    while (i < name.n && rename_is_part_of_name(name.p[i]))
        i++;
    return i < name.n;
}

static struct str wrap(const struct rename *rename, const struct affix *affix,
                       struct str name)
{
    return arena_printf(rename->arena, "%.*s%.*s%.*s", STR_ARG(affix->head),
                        STR_ARG(name), STR_ARG(affix->tail));
}

/* Keeps TARGET, the last one so far. There are at most as many as facts, or a
   few for each. */
static enum status keep(struct rename *rename, struct rename_target *target)
{
    enum status status =
        enter(rename, target->name, (struct rename_entry){.target = target});

    if (status == ST_OK)
        status = enter(rename, target->to,
                       (struct rename_entry){.target = target, .is_new = true});
    if (rename->last_target)
        rename->last_target->next = target;
    else
        rename->targets = target;
    rename->last_target = target;
    if (is_odd(target->name_text)) {
        target->next_odd = rename->odd;
        rename->odd = target;
        rename->odd_count++;
    }
    return status;
}

/* Adds the symbol with AFFIX that PACKAGE has, unless it is there. */
static enum status add(struct rename *rename, struct str package,
                       const struct affix *affix)
{
    struct arena *arena = rename->arena;
    struct rename_target *target = arena_alloc(arena, sizeof *target);

    if (!target)
        return ST_NOMEM;
    *target = (struct rename_target){
        .name_text = wrap(rename, affix, rename->name_text),
        .to_text = wrap(rename, affix, rename->to_text),
        .offset = affix->head.n,
        .derived = affix->head.n + affix->tail.n > 0,
        .sure = affix->sure};
    if (target->name_text.n == 0 || target->to_text.n == 0)
        return ST_NOMEM;
    enum status status = package_spell(arena, target->name_text, &target->name);
    if (status == ST_OK)
        status = package_spell(arena, target->to_text, &target->to);
    if (status == ST_OK)
        status = arena_spend(arena, 8 * rename->package_facts);
    if (status == ST_OK)
        target->package = rename_home(rename, package, target->name);
    if (status != ST_OK || is_target(rename, target->name, target->package))
        return status;
    return keep(rename, target);
}

/* The names that have that of the structure S in them. A name that an option
   replaces may be the usual one all the same: it is not certain. */
static enum status derive_from_name(struct rename *rename,
                                    const struct rename_structure *s,
                                    struct str package)
{
    const struct structure *structure = &s->structure;
    const bool sure = structure->sure;
    const struct affix affixes[] = {
        {STR("make-"), STR(""), sure && !structure->own_maker},
        {STR("copy-"), STR(""), sure && !structure->own_copier},
        {STR(""), STR("-p"), sure && !structure->own_predicate}};
    enum status status = ST_OK;

    for (size_t i = 0; i < sizeof affixes / sizeof *affixes && status == ST_OK;
         i++)
        status = add(rename, package, &affixes[i]);
    for (size_t i = 0; i < structure->slot_count && status == ST_OK; i++) {
        const struct affix affix = {
            STR(""),
            arena_printf(rename->arena, "-%.*s", STR_ARG(structure->slots[i])),
            sure && !structure->own_prefix};
        status = affix.tail.n > 0 ? add(rename, package, &affix) : ST_NOMEM;
    }
    return status;
}

/* --- Slots --------------------------------------------------------------- */

/* Adds what makes structures with the slot: NAME in PACKAGE, whose keywords
   begin at FIRST, 0: it has none. */
static enum status add_maker(struct rename *rename, struct str package,
                             struct str name, size_t first, bool literal)
{
    struct arena *arena = rename->arena;
    struct rename_maker *maker = arena_alloc(arena, sizeof *maker);

    if (first == 0)
        return ST_OK;
    if (!maker)
        return ST_NOMEM;
    *maker = (struct rename_maker){
        .name_text = name, .first = first, .literal = literal};
    enum status status = package_spell(arena, name, &maker->name);
    if (status != ST_OK)
        return status;
    maker->package = rename_home(rename, package, maker->name);
    return enter(rename, maker->name, (struct rename_entry){.maker = maker});
}

/* What makes structures like S. */
static enum status derive_makers(struct rename *rename,
                                 const struct structure *s, struct str package)
{
    const struct structure_maker *maker = s->makers;
    enum status status = ST_OK;

    if (!s->sure)
        return ST_OK;
    if (!s->own_maker) {
        struct str name =
            arena_printf(rename->arena, "make-%.*s", STR_ARG(s->name));
        status =
            name.n > 0 ? add_maker(rename, package, name, 1, false) : ST_NOMEM;
    }
    for (; maker && status == ST_OK; maker = maker->next) {
        size_t first =
            maker->parameters.n == 0
                ? 1
                : structure_keywords(maker->parameters, rename->name_text);
        status = add_maker(rename, package, maker->name, first, false);
    }
    return status == ST_OK ? add_maker(rename, package, s->name, 1, true)
                           : status;
}

/* Structures that extend one with a name of a certain hash. */
struct likes {
    struct rename_structure *first;
};

/* The structures that have the slot, in the order in which they are found. */
struct found {
    struct rename_structure *first;
    struct rename_structure *last;
};

/* The structure S has the slot: its accessor, and what makes it. */
static enum status derive_slot(struct rename *rename,
                               struct rename_structure *s, struct found *found)
{
    const struct structure *structure = &s->structure;
    struct str package = rename_real_name(rename, s->package, STR(""));
    struct affix affix = {structure->prefix, STR(""), structure->sure};

    if (s->done)
        return ST_OK;
    s->done = true;
    rename->is_slot = true;
    if (found->last)
        found->last->next_done = s;
    else
        found->first = s;
    found->last = s;
    if (!structure->own_prefix) {
        affix.head =
            arena_printf(rename->arena, "%.*s-", STR_ARG(structure->name));
        if (affix.head.n == 0)
            return ST_NOMEM;
    }
    enum status status = add(rename, package, &affix);
    return status == ST_OK ? derive_makers(rename, structure, package) : status;
}

/* Finds the homes of the names of S and of what it extends, which brings it
   into one of LISTS. */
static enum status find_home(struct rename *rename, struct rename_structure *s,
                             struct likes *lists)
{
    struct arena *arena = rename->arena;
    struct str package = rename_real_name(rename, s->package, STR(""));
    struct str name;
    struct str where = package;
    enum status status = package_spell(arena, s->structure.name, &name);

    if (status == ST_OK)
        status = arena_spend(arena, 16 * rename->package_facts);
    if (status == ST_OK)
        s->home = rename_home(rename, package, name);
    if (status != ST_OK || s->structure.include.n == 0)
        return status;
    if (s->structure.include_package.n > 0) {
        status = package_spell(arena, s->structure.include_package, &where);
        where = rename_real_name(rename, where, package);
    }
    if (status == ST_OK)
        status = package_spell(arena, s->structure.include, &name);
    if (status != ST_OK)
        return status;
    s->include_home = rename_home(rename, where, name);
    struct likes *list = &lists[rename_hash(name)];
    s->next_like = list->first;
    list->first = s;
    return ST_OK;
}

/* The structures that extend those which have the slot have it, too. */
static enum status derive_inherited(struct rename *rename, struct found *found)
{
    struct arena *arena = rename->arena;
    struct likes *lists = arena_array(arena, RENAME_BUCKETS, sizeof *lists);
    enum status status = lists ? ST_OK : ST_NOMEM;

    for (struct rename_structure *s = rename->structures; s && status == ST_OK;
         s = s->next)
        status = find_home(rename, s, lists);
    for (struct rename_structure *s = found->first; s && status == ST_OK;
         s = s->next_done) {
        struct rename_structure *other =
            lists[rename_hash_word(s->structure.name)].first;

        for (; other && status == ST_OK; other = other->next_like)
            if (str_eq(other->include_home, s->home) &&
                token_same_name(other->structure.include, s->structure.name))
                status = derive_slot(rename, other, found);
        if (status == ST_OK)
            status = arena_spend(arena, 64);
    }
    return status;
}

enum status rename_derive(struct rename *rename)
{
    const struct affix none = {STR(""), STR(""), true};
    struct found found = {NULL, NULL};
    enum status status = add(rename, rename->package, &none);

    for (struct rename_structure *s = rename->structures; s && status == ST_OK;
         s = s->next) {
        struct str package = rename_real_name(rename, s->package, STR(""));
        bool same = rename_judge(rename, rename->package, package,
                                 rename->name) == RENAME_YES;
        if (same && s->named)
            status = derive_from_name(rename, s, package);
        if (same && s->slotted && status == ST_OK)
            status = derive_slot(rename, s, &found);
        if (status == ST_OK)
            status = arena_spend(rename->arena, 8 * rename->package_facts);
    }
    return status == ST_OK && found.first ? derive_inherited(rename, &found)
                                          : status;
}
