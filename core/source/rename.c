/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename.c: see rename.h. A package is what defpackage says about it; those
   that no text defines export nothing that is known. */
#include "source/rename.h"

#include "base/limits.h"
#include "source/package.h"

/* What the texts say; A and B depend on the kind. */
enum fact_kind {
    FACT_PACKAGE,  /* it is defined */
    FACT_NICKNAME, /* A is another name of it */
    FACT_LOCAL,    /* A means the package B in it */
    FACT_USE,      /* it uses A */
    FACT_EXPORT,   /* it exports the name A */
    FACT_IMPORT,   /* it imports the name A from B */
    FACT_SHADOW,   /* the name A is its own */
    FACT_DEFINED   /* the symbol is defined in it */
};

struct rename_fact {
    struct rename_fact *next;
    enum fact_kind kind;
    struct str package;
    struct str a;
    struct str b;
};

struct rename_facts {
    struct rename_fact *first; /* the newest */
};

/* Packages that a chain of imports and uses may lead through. */
#define CHAIN 8

/* --- What is asked ------------------------------------------------------- */

static bool is_number(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return true;
}

/* Whether TEXT is one symbol, as a token. */
static bool is_symbol(struct str text)
{
    struct tokens tokens;

    tokens_init(&tokens, text);
    struct token token = tokens_next(&tokens);
    return token.kind == TOKEN_ATOM && token.mark == TOKEN_WORD &&
           token.fault == TOKEN_FINE && token.end == text.n &&
           token.start == 0 && !is_number(text);
}

enum status rename_init(struct rename *rename, struct arena *arena,
                        struct str symbol, struct str to, const char **why)
{
    struct token_name split = token_split(symbol);

    *rename = (struct rename){.arena = arena};
    if (!is_symbol(symbol) || symbol.p[0] == ':') {
        *why =
            "symbol must be the name of a symbol, with or without its package";
        return ST_INVALID;
    }
    if (!is_symbol(to) || token_split(to).name.n != to.n) {
        *why = "to must be the name of a symbol, without a package";
        return ST_INVALID;
    }
    enum status status = package_spell(arena, split.name, &rename->name);
    if (status == ST_OK)
        status = package_spell(arena, split.package, &rename->package);
    if (status == ST_OK)
        status = package_spell(arena, to, &rename->to);
    if (status == ST_OK)
        status = arena_str(arena, split.name, &rename->name_text);
    if (status == ST_OK)
        status = arena_str(arena, to, &rename->to_text);
    rename->named = arena_array(arena, RENAME_BUCKETS, sizeof *rename->named);
    rename->names = arena_array(arena, RENAME_BUCKETS, sizeof *rename->names);
    if (!rename->named || !rename->names)
        return ST_NOMEM;
    if (status == ST_OK && str_eq(rename->name, rename->to)) {
        *why = "both names are the same symbol";
        return ST_INVALID;
    }
    return status;
}

/* --- Facts --------------------------------------------------------------- */

static bool is_about_name(enum fact_kind kind)
{
    return kind == FACT_EXPORT || kind == FACT_SHADOW || kind == FACT_IMPORT ||
           kind == FACT_NICKNAME || kind == FACT_LOCAL;
}

static enum status add(struct rename *rename, struct rename_fact fact)
{
    struct rename_fact *kept;
    struct arena *arena = rename->arena;

    if (fact.package.n == 0)
        return ST_OK;
    if (rename->fact_count == LIMIT_RENAME_FACTS)
        return ST_LIMIT;
    kept = arena_alloc(arena, sizeof *kept);
    if (!kept || arena_str(arena, fact.package, &fact.package) != ST_OK ||
        arena_str(arena, fact.a, &fact.a) != ST_OK ||
        arena_str(arena, fact.b, &fact.b) != ST_OK)
        return ST_NOMEM;
    bool about_name = is_about_name(fact.kind);
    struct rename_fact **list =
        about_name ? &rename->named[rename_hash(fact.a)].first : &rename->facts;
    fact.next = *list;
    *kept = fact;
    *list = kept;
    rename->fact_count++;
    rename->package_facts += !about_name;
    return ST_OK;
}

/* The kind of fact that a word with ROLE is, when it may be one with A alone.
 */
static bool kind_of(enum package_role role, enum fact_kind *out)
{
    static const struct {
        enum package_role role;
        enum fact_kind kind;
    } kinds[] = {
        {PACKAGE_NAME, FACT_PACKAGE},    {PACKAGE_NICKNAME, FACT_NICKNAME},
        {PACKAGE_USED, FACT_USE},        {PACKAGE_EXPORTED, FACT_EXPORT},
        {PACKAGE_SHADOWED, FACT_SHADOW}, {PACKAGE_IMPORTED, FACT_IMPORT},
        {PACKAGE_DEFINED, FACT_DEFINED}, {PACKAGE_REAL, FACT_LOCAL},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].role == role) {
            *out = kinds[i].kind;
            return true;
        }
    return false;
}

/* What the word at which WALK is says; NAME is what it designates, LOCAL the
   local nickname before it. */
static enum status learn_word(struct rename *rename,
                              const struct package_walk *walk, struct str name,
                              struct str *local)
{
    struct rename_fact fact = {.package = walk->defined, .a = name};

    if (walk->role == PACKAGE_LOCAL)
        *local = name;
    if (!kind_of(walk->role, &fact.kind))
        return ST_OK;
    if (fact.kind == FACT_DEFINED)
        fact.package = walk->current;
    if (fact.kind == FACT_IMPORT)
        fact.b = walk->source;
    if (fact.kind == FACT_LOCAL) {
        fact.a = *local;
        fact.b = name;
    }
    return add(rename, fact);
}

/* Keeps the structure that WALK has come to, when it or its slots may have the
   name. */
static enum status learn_structure(struct rename *rename,
                                   const struct package_walk *walk)
{
    struct arena *arena = rename->arena;
    struct structure read;
    enum status status = structure_read(arena, walk->tokens, &read);

    if (status != ST_OK)
        return status == ST_MISSING ? ST_OK : status;
    bool named = token_same_name(read.name, rename->name_text);
    bool slotted = structure_has_slot(&read, rename->name_text);
    struct str slot = STR("");
    enum structure_part part;
    status = structure_part_of(arena, &read, rename->name, &part, &slot);
    if (status != ST_OK ||
        (!named && !slotted && read.include.n == 0 && part == STRUCTURE_NONE))
        return status;
    bool defined =
        named || (part != STRUCTURE_NONE && part != STRUCTURE_INHERITED);
    size_t count = 1 + (named ? read.slot_count : 0);
    if (rename->fact_count + count > LIMIT_RENAME_FACTS)
        return ST_LIMIT;
    rename->fact_count += count;
    struct rename_structure *kept = arena_alloc(arena, sizeof *kept);
    if (!kept)
        return ST_NOMEM;
    *kept = (struct rename_structure){.next = rename->structures,
                                      .package = STR("CL-USER"),
                                      .structure = read,
                                      .named = named,
                                      .slotted = slotted,
                                      .part = part,
                                      .slot = slot};
    if (walk->current.n > 0)
        status = arena_str(arena, walk->current, &kept->package);
    rename->structures = kept;
    return status == ST_OK && defined
               ? add(rename, (struct rename_fact){.kind = FACT_DEFINED,
                                                  .package = walk->current})
               : status;
}

/* Whether WALK is after the first word of a list, WORD, and that is
   defstruct. */
static bool begins_structure(const struct package_walk *walk, struct str word)
{
    return walk->role == PACKAGE_CODE && walk->depth > 0 &&
           walk->depth <= PACKAGE_DEPTH &&
           walk->lists[walk->depth - 1].index == 1 &&
           token_same_name(token_split(word).name, STR("defstruct"));
}

enum status rename_learn(struct rename *rename, struct str text)
{
    struct arena arena = {.strand = rename->arena->strand};
    struct package_walk walk;
    struct str local = STR("");
    enum status status = ST_OK;

    package_walk_init(&walk, &arena, text);
    while (status == ST_OK) {
        status = package_walk_next(&walk);
        struct str word = tokens_text(&walk.tokens, walk.token);
        struct str name;
        if (status == ST_OK && begins_structure(&walk, word))
            status = learn_structure(rename, &walk);
        if (status != ST_OK || walk.role == PACKAGE_CODE ||
            walk.role == PACKAGE_STRING ||
            (walk.role == PACKAGE_DEFINED &&
             !token_same_name(word, rename->name_text)))
            continue;
        status = package_designate(&arena, word, &name);
        if (status == ST_OK)
            status = learn_word(rename, &walk, name, &local);
    }
    arena_release(&arena);
    return status == ST_MISSING ? ST_OK : status;
}

/* The next fact of KIND about PACKAGE, after FACT or, when that is NULL, the
   first. */
static const struct rename_fact *find(const struct rename *rename,
                                      const struct rename_fact *fact,
                                      enum fact_kind kind, struct str package)
{
    fact = fact ? fact->next : rename->facts;
    while (fact && (fact->kind != kind || !str_eq(fact->package, package)))
        fact = fact->next;
    return fact;
}

/* The newest fact of KIND about the name A in PACKAGE, or NULL. */
static const struct rename_fact *find_named(const struct rename *rename,
                                            enum fact_kind kind,
                                            struct str package, struct str a)
{
    const struct rename_fact *fact = rename->named[rename_hash(a)].first;

    while (fact && (fact->kind != kind || !str_eq(fact->package, package) ||
                    !str_eq(fact->a, a)))
        fact = fact->next;
    return fact;
}

/* The real name of the package that is written NAME in the package CURRENT. */
struct str rename_real_name(const struct rename *rename, struct str name,
                            struct str current)
{
    for (const struct rename_fact *fact =
             rename->named[rename_hash(name)].first;
         fact; fact = fact->next) {
        if (fact->kind == FACT_LOCAL && str_eq(fact->package, current) &&
            str_eq(fact->a, name))
            return fact->b;
        if (fact->kind == FACT_NICKNAME && str_eq(fact->a, name))
            return fact->package;
    }
    if (str_eq(name, STR("COMMON-LISP-USER")))
        return STR("CL-USER");
    return str_eq(name, STR("COMMON-LISP")) ? STR("CL") : name;
}

static bool is_defined(const struct rename *rename, struct str package)
{
    return find(rename, NULL, FACT_PACKAGE, package) ||
           str_eq(package, STR("CL-USER")) || str_eq(package, STR("CL")) ||
           str_eq(package, STR("KEYWORD"));
}

/* --- Which symbol it is -------------------------------------------------- */

/* The package in which the symbol is at home that NAME is in PACKAGE. */
struct str rename_home(const struct rename *rename, struct str package,
                       struct str name)
{
    for (int i = 0; i < CHAIN; i++) {
        const struct rename_fact *fact =
            find_named(rename, FACT_IMPORT, package, name);
        struct str next = STR("");

        if (find_named(rename, FACT_SHADOW, package, name))
            return package;
        if (fact)
            next = rename_real_name(rename, fact->b, package);
        fact = fact ? NULL : find(rename, NULL, FACT_USE, package);
        for (; fact && next.n == 0;
             fact = find(rename, fact, FACT_USE, package)) {
            struct str used = rename_real_name(rename, fact->a, package);
            if (!str_eq(used, package) &&
                find_named(rename, FACT_EXPORT, used, name))
                next = used;
        }
        if (next.n == 0)
            return package;
        package = next;
    }
    return package;
}

/* Whether PACKAGE uses HOME, which no text defines: then it is not known what
   that exports. */
static bool uses_unknown(const struct rename *rename, struct str home,
                         struct str package)
{
    const struct rename_fact *fact = find(rename, NULL, FACT_USE, package);

    if (is_defined(rename, home))
        return false;
    while (fact && !str_eq(rename_real_name(rename, fact->a, package), home))
        fact = find(rename, fact, FACT_USE, package);
    return fact != NULL;
}

enum rename_verdict rename_judge(const struct rename *rename, struct str home,
                                 struct str package, struct str name)
{
    if (package.n == 0)
        return str_eq(home, STR("CL-USER")) ? RENAME_YES : RENAME_UNKNOWN;
    if (str_eq(rename_home(rename, package, name), home))
        return RENAME_YES;
    if (!is_defined(rename, package) || uses_unknown(rename, home, package))
        return RENAME_UNKNOWN;
    return RENAME_NO;
}

enum status rename_judge_word(const struct rename *rename, struct arena *arena,
                              struct str current, struct str word,
                              const struct rename_target *as,
                              enum rename_verdict *out)
{
    struct token_name split = token_split(word);
    struct str package = rename_real_name(rename, current, STR(""));
    enum status status = ST_OK;

    if (split.package.n > 0) {
        struct str written;
        status = package_spell(arena, split.package, &written);
        if (status == ST_OK)
            package = rename_real_name(rename, written, package);
    }
    if (status == ST_OK)
        *out = rename_judge(rename, as->package, package, as->name);
    return status;
}

/* --- Names that a structure makes ---------------------------------------- */

/* Why the symbol, which the structure S makes of other names, is not renamed by
   itself: nothing would define the new name. */
static struct str word_part(const struct rename *rename,
                            const struct rename_structure *s)
{
    struct str name = s->structure.name;
    struct str slot = s->slot;
    struct str rest;
    enum structure_part part;

    if (s->part != STRUCTURE_ACCESSOR && s->part != STRUCTURE_INHERITED)
        return arena_printf(
            rename->arena,
            "defstruct makes it from the name of the structure %.*s, so "
            "nothing would define the new name; rename %.*s, or give it an "
            "option (:%s NEW-NAME) and change the calls",
            STR_ARG(name), STR_ARG(name),
            s->part == STRUCTURE_MAKER    ? "constructor"
            : s->part == STRUCTURE_COPIER ? "copier"
                                          : "predicate");
    struct structure with = s->structure;
    with.include = STR("a structure"); // any slot will do
    if (structure_part_of(rename->arena, &with, rename->to, &part, &rest) !=
        ST_OK)
        return STR("");
    struct str what = arena_printf(
        rename->arena,
        "defstruct makes it from the slot %.*s%s of the structure %.*s, so "
        "nothing would define the new name; ",
        STR_ARG(slot),
        s->part == STRUCTURE_INHERITED ? ", which is included," : "",
        STR_ARG(name));
    if (rest.n > 0)
        return arena_printf(rename->arena,
                            "%.*srename the slot: symbol %.*s, to %.*s",
                            STR_ARG(what), STR_ARG(slot), STR_ARG(rest));
    return arena_printf(rename->arena,
                        "%.*sthe name of a slot always follows the prefix of "
                        "the structure, which (:conc-name PREFIX) changes",
                        STR_ARG(what));
}

/* Whether a structure makes the symbol, and no text defines it besides; then
 *WHY says so. */
static enum status check_parts(const struct rename *rename, struct str *why)
{
    const struct rename_structure *s = rename->structures;
    bool defined = false;

    for (const struct rename_fact *fact = rename->facts; fact;
         fact = fact->next)
        defined = defined || fact->kind == FACT_DEFINED;
    for (; s; s = s->next) {
        struct str package = rename_real_name(rename, s->package, STR(""));
        if (s->part == STRUCTURE_NONE ||
            (s->part == STRUCTURE_INHERITED && defined) ||
            !str_eq(rename_home(rename, package, rename->name),
                    rename->package))
            continue;
        *why = word_part(rename, s);
        return why->n > 0 ? ST_INVALID : ST_NOMEM;
    }
    return ST_OK;
}

enum status rename_settle(struct rename *rename, struct str package,
                          struct str *why)
{
    struct arena *arena = rename->arena;
    struct str other = STR("");
    enum status status = ST_OK;

    if (rename->package.n == 0 && package.n > 0)
        status = package_designate(arena, package, &rename->package);
    for (const struct rename_fact *fact = rename->facts;
         fact && rename->package.n == 0 && other.n == 0; fact = fact->next) {
        if (fact->kind == FACT_DEFINED)
            other = rename_real_name(rename, fact->package, STR(""));
    }
    for (const struct rename_fact *fact = rename->facts;
         fact && other.n > 0 && status == ST_OK; fact = fact->next) {
        struct str one = rename_real_name(rename, fact->package, STR(""));
        if (fact->kind != FACT_DEFINED || str_eq(one, other))
            continue;
        *why = arena_printf(arena,
                            "it is defined in the packages %.*s and %.*s; say "
                            "which is meant: package",
                            STR_ARG(one), STR_ARG(other));
        return why->n > 0 ? ST_INVALID : ST_NOMEM;
    }
    if (rename->package.n == 0)
        rename->package = other;
    if (rename->package.n == 0) {
        *why = STR("no file defines it after an in-package; say in which "
                   "package it is: package");
        return ST_INVALID;
    }
    rename->package = rename_real_name(rename, rename->package, STR(""));
    rename->package = rename_home(rename, rename->package, rename->name);
    if (status == ST_OK)
        status = check_parts(rename, why);
    return status == ST_OK ? rename_derive(rename) : status;
}
