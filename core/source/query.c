/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.c: see query.h. */
#include "source/query.h"

#include "source/datum.h"
#include "source/nesting.h"

bool query_is_method(struct str kind)
{
    return datum_same_symbol(kind, STR("defmethod"));
}

static bool is_setf(struct str name)
{
    return datum_same_symbol(datum_head(name), STR("setf"));
}

bool query_names(struct str name, struct str wanted)
{
    if (datum_equal(name, wanted))
        return true;
    struct str head = datum_head(name);
    return head.n > 0 && !is_setf(name) && datum_equal(head, wanted);
}

/* Whether the specialisers of LIST, a lambda list, are those of WANTED. */
static bool same_specialisers(struct str list, struct str wanted)
{
    struct datum_specialisers have;
    struct datum_specialisers want;
    datum_specialisers_init(&have, list, true);
    datum_specialisers_init(&want, wanted, false);
    for (;;) {
        struct str a = datum_specialiser(&have);
        struct str b = datum_specialiser(&want);
        if (a.n == 0 || b.n == 0)
            return a.n == b.n;
        if (!datum_equal(a, b))
            return false;
    }
}

bool query_same_rest(struct tokens form, struct str wanted, bool method)
{
    struct tokens want;
    tokens_init(&want, wanted);
    struct str b = datum_next(&want);
    for (; b.n > 0; b = datum_next(&want)) {
        struct str a = datum_next(&form);
        if (a.n == 0)
            return false;
        if (method && datum_is_list(a) && datum_is_list(b))
            return same_specialisers(a, b) && datum_next(&want).n == 0;
        if (!datum_equal(a, b))
            return false;
    }
    // Qualifiers alone: a method with more of them is a different one.
    return wanted.n == 0 || !method || datum_is_list(datum_next(&form));
}

/* Cuts "@12" off the end of NAME. */
static struct str cut_line(struct str name, uint32_t *line)
{
    size_t at = name.n;
    uint32_t number = 0;
    while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9')
        at--;
    if (at == name.n || name.n - at > 9 || at < 3 || name.p[at - 1] != '@' ||
        !str_is_space(name.p[at - 2]))
        return name;
    for (size_t i = at; i < name.n; i++)
        number = number * 10 + (uint32_t)(name.p[i] - '0');
    *line = number;
    return str_make(name.p, at - 1);
}

/* ST_INVALID unless TEXT can be a row of objects: none is open at its end, and
   none is closed before it was opened. */
static enum status check_readable(struct str text)
{
    struct nesting nesting = {0};
    struct nesting_step step;
    struct tokens tokens;
    enum status status = ST_OK;
    tokens_init(&tokens, text);
    struct token token = tokens_next(&tokens);
    for (; status == ST_OK && token.kind != TOKEN_END;
         token = tokens_next(&tokens)) {
        status = nesting_take(&nesting, token, &step);
        if (status == ST_OK && step.fault != TOKEN_FINE)
            status = ST_INVALID;
    }
    if (status == ST_OK && nesting.depth > 0)
        status = ST_INVALID;
    nesting_release(&nesting);
    return status;
}

enum status query_read(struct str kind, struct str name, struct query *query)
{
    struct tokens tokens;
    query->kind = str_trim(kind);
    name = cut_line(str_trim(name), &query->line);
    enum status status = check_readable(name);
    if (status == ST_OK)
        status = check_readable(query->kind);
    if (status != ST_OK)
        return status;
    tokens_init(&tokens, name);
    query->name = datum_next(&tokens);
    query->rest = str_trim(str_make(name.p + tokens.at, name.n - tokens.at));
    return query->name.n > 0 ? ST_OK : ST_INVALID;
}
