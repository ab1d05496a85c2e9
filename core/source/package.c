/* SPDX-License-Identifier: GPL-3.0-or-later */
/* package.c: see package.h. */
#include "source/package.h"

#include "source/datum.h"

/* What the first word of a list makes of it. */
enum list_kind {
    LIST_OTHER,
    LIST_IN_PACKAGE,
    LIST_DEFPACKAGE,
    LIST_DEFINITION,
    LIST_NICKNAMES,
    LIST_USE,
    LIST_EXPORT,
    LIST_IMPORT,
    LIST_SHADOW,
    LIST_LOCALS,
    LIST_LOCAL, /* one of them */
    LIST_REST   /* another option */
};

/* Options of defpackage, and of the like of UIOP. */
static const struct {
    const char *name;
    enum list_kind kind;
} options[] = {
    {"nicknames", LIST_NICKNAMES},    {"use", LIST_USE},
    {"use-reexport", LIST_USE},       {"mix", LIST_USE},
    {"mix-reexport", LIST_USE},       {"export", LIST_EXPORT},
    {"import-from", LIST_IMPORT},     {"shadowing-import-from", LIST_IMPORT},
    {"shadow", LIST_SHADOW},          {"intern", LIST_SHADOW},
    {"local-nicknames", LIST_LOCALS},
};

enum status package_spell(struct arena *arena, struct str word, struct str *out)
{
    struct token_spelling spelling = {.text = word};
    struct buf name = BUF_EMPTY;
    bool plain;
    int c;

    while ((c = token_spelling_next(&spelling, &plain)) >= 0)
        buf_byte(&name, (char)c);
    return arena_take(arena, &name, out);
}

enum status package_designate(struct arena *arena, struct str text,
                              struct str *out)
{
    if (text.n >= 2 && text.p[0] == '"') {
        *out = str_make(text.p + 1, text.n - 2);
        return arena_str(arena, *out, out);
    }
    return package_spell(arena, token_split(text).name, out);
}

void package_walk_init(struct package_walk *walk, struct arena *arena,
                       struct str text)
{
    *walk = (struct package_walk){.arena = arena};
    tokens_init(&walk->tokens, text);
    walk->tokens.strand = arena->strand;
}

/* The list around the next element; NULL at the top level, or too deep. */
static struct package_list *list_of(struct package_walk *walk)
{
    return walk->depth > 0 && walk->depth <= PACKAGE_DEPTH
               ? &walk->lists[walk->depth - 1]
               : NULL;
}

static enum list_kind kind_around(const struct package_walk *walk)
{
    return walk->depth > 1 && walk->depth <= PACKAGE_DEPTH
               ? (enum list_kind)walk->lists[walk->depth - 2].kind
               : LIST_OTHER;
}

static enum list_kind option_of(struct str word)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (token_same_name(token_split(word).name, str_from(options[i].name)))
            return options[i].kind;
    return LIST_REST;
}

/* What WORD, the first in its list, makes of it. */
static enum list_kind kind_of(const struct package_walk *walk, struct str word)
{
    struct str name = token_split(word).name;

    if (kind_around(walk) == LIST_DEFPACKAGE)
        return option_of(word);
    if (token_same_name(name, STR("in-package")))
        return LIST_IN_PACKAGE;
    if (token_same_name(name, STR("defpackage")) ||
        token_same_name(name, STR("define-package")))
        return LIST_DEFPACKAGE;
    if (name.n > 3 && token_same_name(str_make(name.p, 3), STR("def")))
        return LIST_DEFINITION;
    return LIST_OTHER;
}

static void open_list(struct package_walk *walk)
{
    struct package_list *around = list_of(walk);
    bool local = around && around->kind == LIST_LOCALS;

    if (around)
        around->index++;
    walk->depth++;
    struct package_list *list = list_of(walk);
    if (list)
        *list = (struct package_list){
            local ? LIST_LOCAL : LIST_OTHER, 0, walk->prefix,
            walk->prefix == '\'' || (around && around->quoted)};
}

static void close_list(struct package_walk *walk)
{
    const struct package_list *list = list_of(walk);

    if (list && list->kind == LIST_DEFPACKAGE)
        walk->defined = STR("");
    walk->depth -= walk->depth > 0;
}

/* The role of element INDEX, not the first, of a list of KIND. */
static enum package_role role_in(enum list_kind kind, size_t index)
{
    switch (kind) {
    case LIST_DEFPACKAGE:
        return index == 1 ? PACKAGE_NAME : PACKAGE_OTHER;
    case LIST_DEFINITION:
        return index == 1 ? PACKAGE_DEFINED : PACKAGE_CODE;
    case LIST_NICKNAMES:
        return PACKAGE_NICKNAME;
    case LIST_USE:
        return PACKAGE_USED;
    case LIST_EXPORT:
        return PACKAGE_EXPORTED;
    case LIST_IMPORT:
        return index == 1 ? PACKAGE_SOURCE : PACKAGE_IMPORTED;
    case LIST_SHADOW:
        return PACKAGE_SHADOWED;
    case LIST_LOCAL:
        return index == 0 ? PACKAGE_LOCAL : PACKAGE_REAL;
    case LIST_IN_PACKAGE:
    case LIST_REST:
    case LIST_LOCALS:
        return PACKAGE_OTHER;
    case LIST_OTHER:
        break;
    }
    return PACKAGE_CODE;
}

/* The token is an atom: finds its role, and what follows from it. */
static enum status take_atom(struct package_walk *walk, struct str text)
{
    struct package_list *list = list_of(walk);
    bool word = walk->token.mark == TOKEN_WORD;
    size_t index = list ? list->index++ : 0;

    walk->role = PACKAGE_CODE;
    if (!list)
        return ST_OK;
    if (index == 0 && word && list->kind != LIST_LOCAL) {
        if (list->prefix != PACKAGE_NEVER)
            list->kind = (int)kind_of(walk, text);
        return ST_OK;
    }
    walk->role = role_in((enum list_kind)list->kind, index);
    if (list->kind == LIST_IN_PACKAGE && index == 1)
        return package_designate(walk->arena, text, &walk->current);
    if (walk->role == PACKAGE_NAME)
        return package_designate(walk->arena, text, &walk->defined);
    if (walk->role == PACKAGE_SOURCE)
        return package_designate(walk->arena, text, &walk->source);
    return ST_OK;
}

/* The token is a prefix: returns what is kept of it; a feature is skipped. */
static char take_prefix(struct package_walk *walk)
{
    struct token token = walk->token;

    if (token.mark == '\'')
        return token.end - token.start > 1 ? 'f' : token.mark;
    if (token.mark != '+' && token.mark != '-')
        return token.mark;
    struct str feature = datum_next(&walk->tokens);
    bool never = token_same_name(token_split(feature).name, STR("nil")) ||
                 token_same_name(feature, STR("(or)"));
    return token.mark == '+' && never ? PACKAGE_NEVER : token.mark;
}

/* Whether the token is a symbol, a number or a string. */
static bool is_of_interest(struct token token)
{
    return token.kind == TOKEN_ATOM &&
           (token.mark == TOKEN_WORD || token.mark == ':' || token.mark == '"');
}

enum status package_walk_next(struct package_walk *walk)
{
    for (;;) {
        struct token token = tokens_next(&walk->tokens);

        walk->token = token;
        if (token.kind == TOKEN_END)
            return arena_spend(walk->arena, 1) == ST_OK ? ST_MISSING : ST_NOMEM;
        if (token.kind == TOKEN_OPEN)
            open_list(walk);
        else if (token.kind == TOKEN_CLOSE)
            close_list(walk);
        walk->prefix = token.kind == TOKEN_PREFIX ? take_prefix(walk) : '\0';
        if (!is_of_interest(token)) {
            struct package_list *list = list_of(walk);
            if (token.kind == TOKEN_ATOM && list)
                list->index++;
            continue;
        }
        enum status status = take_atom(walk, tokens_text(&walk->tokens, token));
        if (token.mark == '"' && walk->role == PACKAGE_CODE)
            walk->role = PACKAGE_STRING;
        return status;
    }
}
