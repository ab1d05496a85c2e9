/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename.c: see rename.h. A package is what defpackage says about it; those
   that no text defines export nothing that is known. */
#include "source/rename.h"

#include <string.h>

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

/* Packages that a chain of imports and uses may lead through. */
#define CHAIN 8

enum verdict { NO, YES, UNKNOWN };

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
        *why = "symbol is not the name of a symbol, maybe with its package";
        return ST_INVALID;
    }
    if (!is_symbol(to) || token_split(to).name.n != to.n) {
        *why = "to is not the name of a symbol without a package";
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
    if (status == ST_OK && str_eq(rename->name, rename->to)) {
        *why = "both names are the same symbol";
        return ST_INVALID;
    }
    return status;
}

/* --- Facts --------------------------------------------------------------- */

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
    fact.next = rename->facts;
    *kept = fact;
    rename->facts = kept;
    rename->fact_count++;
    return ST_OK;
}

/* Whether NAME is one of the two that matter. */
static bool matters(const struct rename *rename, struct str name)
{
    return str_eq(name, rename->name) || str_eq(name, rename->to);
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
    bool about_name = fact.kind == FACT_EXPORT || fact.kind == FACT_SHADOW ||
                      fact.kind == FACT_IMPORT;
    if (about_name && !matters(rename, name))
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

static bool has(const struct rename *rename, enum fact_kind kind,
                struct str package, struct str a)
{
    const struct rename_fact *fact = find(rename, NULL, kind, package);

    while (fact && !str_eq(fact->a, a))
        fact = find(rename, fact, kind, package);
    return fact != NULL;
}

/* The real name of the package that is written NAME in the package CURRENT. */
static struct str real_name(const struct rename *rename, struct str name,
                            struct str current)
{
    for (const struct rename_fact *fact = rename->facts; fact;
         fact = fact->next) {
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
static struct str home_of(const struct rename *rename, struct str package,
                          struct str name)
{
    for (int i = 0; i < CHAIN; i++) {
        const struct rename_fact *fact =
            find(rename, NULL, FACT_IMPORT, package);
        struct str next = STR("");

        if (has(rename, FACT_SHADOW, package, name))
            return package;
        while (fact && !str_eq(fact->a, name))
            fact = find(rename, fact, FACT_IMPORT, package);
        if (fact)
            next = real_name(rename, fact->b, package);
        fact = fact ? NULL : find(rename, NULL, FACT_USE, package);
        for (; fact && next.n == 0;
             fact = find(rename, fact, FACT_USE, package)) {
            struct str used = real_name(rename, fact->a, package);
            if (!str_eq(used, package) && has(rename, FACT_EXPORT, used, name))
                next = used;
        }
        if (next.n == 0)
            return package;
        package = next;
    }
    return package;
}

/* Whether PACKAGE uses the home of the symbol, which no text defines: then it
   is not known what that exports. */
static bool uses_unknown(const struct rename *rename, struct str package)
{
    const struct rename_fact *fact = find(rename, NULL, FACT_USE, package);

    if (is_defined(rename, rename->package))
        return false;
    while (fact &&
           !str_eq(real_name(rename, fact->a, package), rename->package))
        fact = find(rename, fact, FACT_USE, package);
    return fact != NULL;
}

/* Whether NAME in PACKAGE, a real name or empty, is a symbol of the home. */
static enum verdict judge(const struct rename *rename, struct str package,
                          struct str name)
{
    if (package.n == 0)
        return str_eq(rename->package, STR("CL-USER")) ? YES : UNKNOWN;
    if (str_eq(home_of(rename, package, name), rename->package))
        return YES;
    if (!is_defined(rename, package) || uses_unknown(rename, package))
        return UNKNOWN;
    return NO;
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
            other = real_name(rename, fact->package, STR(""));
    }
    for (const struct rename_fact *fact = rename->facts;
         fact && other.n > 0 && status == ST_OK; fact = fact->next) {
        struct str one = real_name(rename, fact->package, STR(""));
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
    rename->package = real_name(rename, rename->package, STR(""));
    rename->package = home_of(rename, rename->package, rename->name);
    return status;
}

/* --- Looking through ----------------------------------------------------- */

struct scan {
    const struct rename *rename;
    struct arena *arena;
    struct str text;
    rename_visit *visit;
    void *context;
    struct package_walk walk;
    size_t passed; /* bytes in which comments were looked for */
};

static bool is_part_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-+*/<>=!?%&$_^~", c) != NULL);
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether the name stands at AT as a word of its own. */
static bool stands_at(const struct scan *s, size_t at, size_t end)
{
    struct str name = s->rename->name_text;

    if (end - at < name.n || (at > 0 && is_part_of_name(s->text.p[at - 1])) ||
        (at + name.n < s->text.n && is_part_of_name(s->text.p[at + name.n])))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (upper(s->text.p[at + i]) != upper(name.p[i]))
            return false;
    return true;
}

/* Mentions in the text from START, which is in LINE, to END. */
static enum status find_mentions(const struct scan *s, size_t start, size_t end,
                                 uint32_t line)
{
    enum status status = ST_OK;

    for (size_t i = start; i < end && status == ST_OK; i++) {
        const struct rename_place place = {RENAME_MENTION, i, i, line, STR("")};
        if (s->text.p[i] == '\n')
            line++;
        else if (stands_at(s, i, end))
            status = s->visit(s->context, &place);
    }
    return status == ST_OK ? arena_spend(s->arena, end - start) : status;
}

/* The end, at most END, of the comment at AT; AT when there is none. */
static size_t skip_comment(struct str text, size_t at, size_t end)
{
    const char *until = text.p[at] == ';' ? "\n" : "|#";
    size_t n = strlen(until);

    if (text.p[at] != ';' &&
        (end - at < 2 || memcmp(text.p + at, "#|", 2) != 0))
        return at;
    for (at++; at + n <= end; at++)
        if (memcmp(text.p + at, until, n) == 0)
            return at;
    return end;
}

/* Looks for the name in the comments since the last word. */
static enum status look_back(struct scan *s, const struct token *token)
{
    struct str text = s->text;
    size_t start = s->passed;
    uint32_t line = token->line;
    enum status status = ST_OK;

    s->passed = token->end;
    for (size_t i = start; i < token->start; i++)
        line -= text.p[i] == '\n';
    for (size_t i = start; i < token->start && status == ST_OK; i++) {
        size_t end = skip_comment(text, i, token->start);

        if (text.p[i] == '#' && i + 1 < token->start && text.p[i + 1] == '\\')
            i += 2; // a character
        else if (end > i)
            status = find_mentions(s, i, end, line);
        for (; i + 1 < end; i++)
            line += text.p[i] == '\n';
        line += i < token->start && text.p[i] == '\n';
    }
    return status;
}

/* The new name, written as the old one OLD is. */
static struct str write_name(const struct rename *rename, struct str old)
{
    bool upper_only = false;

    for (size_t i = 0; i < old.n; i++) {
        char c = old.p[i];
        if ((c >= 'a' && c <= 'z') || c == '|' || c == '\\')
            return rename->to_text;
        upper_only = upper_only || (c >= 'A' && c <= 'Z');
    }
    return upper_only ? rename->to : rename->to_text;
}

static enum status tell(const struct scan *s, enum verdict verdict,
                        struct str name, bool new_name)
{
    const struct token *token = &s->walk.token;
    struct rename_place place = {.start = (size_t)(name.p - s->text.p),
                                 .line = token->line};

    place.end = place.start + name.n;
    if (verdict == NO || (new_name && verdict != YES))
        return ST_OK;
    place.kind = new_name ? RENAME_TAKEN
                          : (verdict == YES ? RENAME_SURE : RENAME_UNSURE);
    place.text =
        token->mark == '"' ? s->rename->to : write_name(s->rename, name);
    return s->visit(s->context, &place);
}

/* The package in which the word is read, and its verdict. */
static enum status judge_code(const struct scan *s, struct token_name split,
                              struct str name, enum verdict *out)
{
    const struct rename *rename = s->rename;
    struct str current = real_name(rename, s->walk.current, STR(""));
    struct str package = current;
    enum status status = ST_OK;

    if (split.package.n > 0) {
        status = package_spell(s->arena, split.package, &package);
        if (status == ST_OK)
            package = real_name(rename, package, current);
    }
    if (status == ST_OK)
        *out = judge(rename, package, name);
    return status;
}

/* The verdict about a name in an option of defpackage. */
static enum verdict judge_option(const struct scan *s, struct str name)
{
    const struct rename *rename = s->rename;
    struct str package = real_name(rename, s->walk.defined, STR(""));

    if (s->walk.role == PACKAGE_EXPORTED || s->walk.role == PACKAGE_SHADOWED)
        return judge(rename, package, name);
    if (s->walk.role == PACKAGE_IMPORTED)
        return judge(rename, real_name(rename, s->walk.source, package), name);
    return NO;
}

/* What is between the quotes of STRING, which may lack the second one. */
static struct str inside(struct str string)
{
    return string.n < 2 ? STR("") : str_make(string.p + 1, string.n - 2);
}

static enum status look_at(struct scan *s)
{
    const struct rename *rename = s->rename;
    const struct token *token = &s->walk.token;
    struct str word = tokens_text(&s->walk.tokens, *token);
    struct token_name split = token_split(word);
    bool string = token->mark == '"';
    bool code = s->walk.role == PACKAGE_CODE ||
                s->walk.role == PACKAGE_STRING ||
                s->walk.role == PACKAGE_DEFINED;
    struct str name = string ? inside(word) : split.name;
    enum verdict verdict = NO;
    enum status status = ST_OK;

    if (code && string)
        return find_mentions(s, token->start, token->end, token->line);
    if (code && (word.p[0] == ':' || token->mark == ':'))
        return ST_OK; // a keyword, or uninterned
    bool old = string ? str_eq(name, rename->name)
                      : token_same_name(name, rename->name_text);
    bool new = string ? str_eq(name, rename->to)
                      : token_same_name(name, rename->to_text);
    if (!old && !new)
        return ST_OK;
    struct str wanted = old ? rename->name : rename->to;
    status = arena_spend(s->arena, 8 * rename->fact_count);
    if (status != ST_OK)
        return status;
    if (code)
        status = judge_code(s, split, wanted, &verdict);
    else
        verdict = judge_option(s, wanted);
    return status == ST_OK ? tell(s, verdict, name, !old) : status;
}

enum status rename_scan(const struct rename *rename, struct arena *arena,
                        struct str text, rename_visit *visit, void *context)
{
    struct scan s = {.rename = rename,
                     .arena = arena,
                     .text = text,
                     .visit = visit,
                     .context = context};
    enum status status = ST_OK;

    package_walk_init(&s.walk, arena, text);
    while (status == ST_OK) {
        status = package_walk_next(&s.walk);
        if (status == ST_OK || status == ST_MISSING) {
            enum status before = look_back(&s, &s.walk.token);
            status = before == ST_OK ? status : before;
        }
        if (status == ST_OK)
            status = look_at(&s);
    }
    return status == ST_MISSING ? ST_OK : status;
}
