/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename_derive.c: the names that change with that of a structure or slot. */
#include "source/package.h"
#include "source/rename.h"

/* What is around the name in a derived one. */
struct affix {
    struct str head;
    struct str tail;
    bool sure;
};

static bool is_target(const struct rename *rename, struct str name,
                      struct str package)
{
    const struct rename_target *target = rename->targets;

    while (target &&
           !(str_eq(target->name, name) && str_eq(target->package, package)))
        target = target->next;
    return target != NULL;
}

static struct str wrap(const struct rename *rename, const struct affix *affix,
                       struct str name)
{
    return arena_printf(rename->arena, "%.*s%.*s%.*s", STR_ARG(affix->head),
                        STR_ARG(name), STR_ARG(affix->tail));
}

/* Adds the symbol with AFFIX that PACKAGE has, at the end. */
static enum status add(struct rename *rename, struct str package,
                       const struct affix *affix)
{
    struct arena *arena = rename->arena;
    struct rename_target *target = arena_alloc(arena, sizeof *target);
    struct rename_target **end = &rename->targets;

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
        target->package = rename_home(rename, package, target->name);
    if (status != ST_OK || is_target(rename, target->name, target->package))
        return status;
    while (*end)
        end = &(*end)->next;
    *end = target;
    rename->target_count++;
    return ST_OK;
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

/* The accessor of the structure S for the slot. */
static enum status derive_accessor(struct rename *rename,
                                   struct rename_structure *s,
                                   struct str package)
{
    const struct structure *structure = &s->structure;
    struct affix affix = {structure->prefix, STR(""), structure->sure};

    if (s->done)
        return ST_OK;
    s->done = true;
    rename->is_slot = true;
    if (!structure->own_prefix) {
        affix.head =
            arena_printf(rename->arena, "%.*s-", STR_ARG(structure->name));
        if (affix.head.n == 0)
            return ST_NOMEM;
    }
    return add(rename, package, &affix);
}

/* Whether S extends a structure of PACKAGE whose accessor is a target. */
static bool inherits(const struct rename *rename,
                     const struct rename_structure *s, struct str package)
{
    const struct rename_structure *other = rename->structures;

    while (
        other &&
        !(other->done &&
          token_same_name(other->structure.name, s->structure.include) &&
          str_eq(rename_real_name(rename, other->package, STR("")), package)))
        other = other->next;
    return other && s->structure.include.n > 0;
}

/* Until no structure has inherited the slot: each pass knows more, and there
   are at most as many as there are structures in a chain. */
static enum status derive_inherited(struct rename *rename)
{
    enum status status = ST_OK;
    size_t before = 0;

    while (status == ST_OK && before != rename->target_count) {
        before = rename->target_count;
        for (struct rename_structure *s = rename->structures;
             s && status == ST_OK; s = s->next) {
            struct str package = rename_real_name(rename, s->package, STR(""));
            status = arena_spend(rename->arena, rename->fact_count);
            if (status == ST_OK && inherits(rename, s, package))
                status = derive_accessor(rename, s, package);
        }
    }
    return status;
}

enum status rename_derive(struct rename *rename)
{
    const struct affix none = {STR(""), STR(""), true};
    enum status status = add(rename, rename->package, &none);

    for (struct rename_structure *s = rename->structures; s && status == ST_OK;
         s = s->next) {
        struct str package = rename_real_name(rename, s->package, STR(""));
        bool same = rename_judge(rename, rename->package, package,
                                 rename->name) == RENAME_YES;
        if (same && s->named)
            status = derive_from_name(rename, s, package);
        if (same && s->slotted && status == ST_OK)
            status = derive_accessor(rename, s, package);
    }
    return status == ST_OK ? derive_inherited(rename) : status;
}
