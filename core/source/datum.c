/* SPDX-License-Identifier: GPL-3.0-or-later */
/* datum.c: see datum.h. */
#include "source/datum.h"

/* See datum_is_wrapper. */
static const char *const wrappers[] = {
    "progn", "eval-when", "locally", "macrolet", "symbol-macrolet",
    "let",   "let*",      "flet",    "labels"};

/* Whether TOKEN is a symbol, as far as its characters show. */
static bool is_symbol(struct token token)
{
    return token.kind == TOKEN_ATOM &&
           (token.mark == TOKEN_WORD || token.mark == ':');
}

static bool same_package(struct str a, struct str b)
{
    return a.n == 0 || b.n == 0 || token_same_name(a, b);
}

static bool same_token(struct token a, struct str a_text, struct token b,
                       struct str b_text)
{
    if (a.kind != b.kind)
        return false;
    if (is_symbol(a) && is_symbol(b))
        return datum_same_symbol(a_text, b_text);
    if (is_symbol(a) && b.mark == '"')
        return token_string_names(b_text, token_split(a_text).name);
    if (is_symbol(b) && a.mark == '"')
        return token_string_names(a_text, token_split(b_text).name);
    if (a.kind == TOKEN_ATOM)
        return str_eq(a_text, b_text);
    return a.mark == b.mark;
}

/* Whether the lambda list LIST has an element that can only be a parameter: a
   list that does not begin with eql. */
static bool has_parameter(struct str list)
{
    struct tokens tokens;
    tokens_init(&tokens, list);
    (void)tokens_next(&tokens); // its parenthesis
    struct str element = datum_next(&tokens);
    for (; element.n > 0; element = datum_next(&tokens))
        if (datum_is_list(element) &&
            !datum_same_symbol(datum_head(element), STR("eql")))
            return true;
    return false;
}

struct str datum_next(struct tokens *tokens)
{
    size_t depth = 0;
    struct tokens before = *tokens;
    struct token token = tokens_next(tokens);
    size_t start = token.start;
    if (token.kind == TOKEN_CLOSE || token.kind == TOKEN_END) {
        *tokens = before;
        return STR("");
    }
    for (;; token = tokens_next(tokens)) {
        if (token.kind == TOKEN_OPEN)
            depth++;
        if (token.kind == TOKEN_CLOSE && depth > 0)
            depth--;
        if (token.kind == TOKEN_END ||
            (depth == 0 && token.kind != TOKEN_PREFIX))
            return str_make(tokens->text.p + start, token.end - start);
    }
}

struct str datum_head(struct str datum)
{
    struct tokens tokens;
    tokens_init(&tokens, datum);
    if (tokens_next(&tokens).kind != TOKEN_OPEN)
        return STR("");
    return datum_next(&tokens);
}

bool datum_is_list(struct str datum)
{
    return datum.n > 0 && datum.p[0] == '(';
}

bool datum_same_symbol(struct str a, struct str b)
{
    struct token_name left = token_split(a);
    struct token_name right = token_split(b);
    return token_same_name(left.name, right.name) &&
           same_package(left.package, right.package);
}

bool datum_is_wrapper(struct str operator)
{
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (datum_same_symbol(operator, str_from(wrappers[i])))
            return true;
    return false;
}

bool datum_equal(struct str a, struct str b)
{
    struct tokens left;
    struct tokens right;
    struct token l;
    struct token r;
    tokens_init(&left, a);
    tokens_init(&right, b);
    do {
        l = tokens_next(&left);
        r = tokens_next(&right);
        if (!same_token(l, tokens_text(&left, l), r, tokens_text(&right, r)))
            return false;
    } while (l.kind != TOKEN_END);
    return true;
}

void datum_specialisers_init(struct datum_specialisers *specialisers,
                             struct str list, bool parameters)
{
    tokens_init(&specialisers->tokens, list);
    (void)tokens_next(&specialisers->tokens); // its parenthesis
    specialisers->bare = !parameters && !has_parameter(list);
}

struct str datum_specialiser(struct datum_specialisers *specialisers)
{
    struct str element = datum_next(&specialisers->tokens);
    if (specialisers->bare || element.n == 0 || element.p[0] == '&')
        return element.n > 0 && element.p[0] == '&' ? STR("") : element;
    if (!datum_is_list(element))
        return STR("t");
    struct tokens parameter;
    tokens_init(&parameter, element);
    (void)tokens_next(&parameter);
    (void)datum_next(&parameter); // its variable
    struct str found = datum_next(&parameter);
    return found.n > 0 ? found : STR("t");
}
